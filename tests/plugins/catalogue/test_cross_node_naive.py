"""CrossNodePreemption: all sets of pods as upstream goes through them, each tried in a cluster that lacks the pods."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from hypothesis import given, settings

from framework.cli.cases import parse_case
from framework.cli.decide import decide
from framework.configuration import load
from framework.configuration.presets import PRESETS
from framework.interface import NodeInfo, PodInfo
from framework.plugins.crossnodepreemption.search import Search
from framework.plugins.registry import built_in_registry
from tests.builders import make_node, make_pod
from tests.plugins.catalogue.worlds import REGISTRY, SEEDS, Manifest, World, container, node, pod, priority

BESIDE = ("NodeResourcesFit", "NodePorts", "PodTopologySpread", "InterPodAffinity")
HIGH, MIDDLE, LOW = 100, 50, 0
FOO = {"matchExpressions": [{"key": "foo", "operator": "Exists"}]}


def spread(key: str, skew: int = 1) -> Manifest:
    constraint = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": FOO}
    return {"topologySpreadConstraints": [constraint]}


def affinity(kind: str, key: str) -> Manifest:
    required = [{"topologyKey": key, "labelSelector": FOO}]
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def away_from(key: str) -> Manifest:
    return affinity("podAntiAffinity", key)


def place(name: str, zone: str, cpu: str = "4", pods: str = "110") -> Manifest:
    return node(name, {"cpu": cpu, "memory": "8Gi", "pods": pods}, {"zone": zone, "host": name})


def placed(name: str, on: str, level: int = LOW, *, foo: bool = False, cpu: str = "1", **more: Any) -> Manifest:
    return pod(name, container({"cpu": cpu}), on=on, labels={"foo": ""} if foo else {}, priority=level, **more)


def incoming(name: str = "p", cpu: str = "1", **more: Any) -> Manifest:
    return pod(name, container({"cpu": cpu}), labels={"foo": ""}, priority=MIDDLE, **more)


def random_world(rng: random.Random) -> World:
    world = World("CrossNodePreemption", beside=BESIDE)
    world.nodes = [
        place(f"n{i}", rng.choice(["a", "b"]), rng.choice(["2", "3"]), rng.choice(["2", "9"]))
        for i in range(rng.randint(2, 4))
    ]
    names = [each["metadata"]["name"] for each in world.nodes]
    with_port: set[str] = set()
    for i in range(rng.randint(2, 6)):
        on, chance = rng.choice(names), rng.random()
        more = away_from(rng.choice(["zone", "host"])) if chance < 0.3 else {}
        new = placed(f"r{i}", on, rng.choice([LOW, LOW, HIGH]), foo=rng.random() < 0.6, **more)
        # Two pods with one port on a node: without one of them it counts as free (docs/semantics/cache.md#nodeinfo).
        if rng.random() < 0.3 and on not in with_port:
            with_port.add(on)
            new["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
        if sum(priority(each) == LOW for each in world.placed) < 4 or priority(new) == HIGH:
            world.placed.append(new)
    if rng.random() < 0.2:
        world.nominated = [
            pod(
                "promised",
                container({"cpu": "1"}),
                labels={"foo": ""},
                priority=HIGH,
                status={"nominatedNodeName": rng.choice(names)},
            )
        ]
    key = rng.choice(["zone", "host"])
    asks = rng.choice([{}, spread(key), spread(key, 2), away_from(key), affinity("podAffinity", key)])
    tried = incoming(cpu=rng.choice(["1", "2"]), **asks)
    if rng.random() < 0.3:
        tried["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    world.incoming = [tried]
    return world


def sets(pods: list[Manifest]) -> Iterator[list[Manifest]]:
    """As upstream: with the first pod, then without it."""
    if not pods:
        yield []
        return
    for more in ([pods[0]], []):
        for rest in sets(pods[1:]):
            yield [*more, *rest]


def taken_off(world: World, leaving: list[Manifest], looked_at: Manifest) -> World:
    """The cluster as upstream's Filter sees it on the node of ``looked_at``: other pods that leave the same node still
    take its room, but nobody counts them any more."""
    there = looked_at["spec"]["nodeName"]
    copy = deepcopy(world)
    copy.plugin, copy.placed = "NodeName", []
    for each in world.placed:
        if each not in leaving:
            copy.placed.append(each)
        elif each is not looked_at and each["spec"]["nodeName"] == there:
            rest = deepcopy(each)
            rest["metadata"]["labels"] = {}
            rest["spec"].pop("affinity", None)
            copy.placed.append(rest)
    return copy


def candidates(world: World) -> dict[str, list[str]]:
    refused = world.decided()["results"][0]["filter"]
    possible = [name for name, status in refused.items() if status and status["code"] == "Unschedulable"]
    pods = [
        each
        for name in [each["metadata"]["name"] for each in world.nodes]
        for each in world.on(name)
        if name in possible and priority(each) < MIDDLE
    ]
    found = {}
    for leaving in sets(pods):
        for looked_at in leaving:
            name = looked_at["spec"]["nodeName"]
            status = taken_off(world, leaving, looked_at).decided()["results"][0]["filter"][name]
            if status is None:
                found[name] = [f"default/{each['metadata']['name']}" for each in leaving]
    return found


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_candidates_are_those_of_all_sets_of_pods(seed: int) -> None:
    world = random_world(random.Random(seed))
    result = world.decided()["results"][0]
    if result["feasible"]:
        return
    assert (result["postFilter"] or {}).get("candidates", {}) == candidates(world)


def test_some_worlds_need_pods_of_two_nodes() -> None:
    """So that the test above is about something."""
    several = 0
    for seed in range(200):
        world = random_world(random.Random(seed))
        on = {f"default/{each['metadata']['name']}": each["spec"]["nodeName"] for each in world.placed}
        result = world.decided()["results"][0]
        for victims in (result["postFilter"] or {}).get("candidates", {}).values():
            several += len({on[victim] for victim in victims}) > 1
    assert several > 10


# --- where DefaultPreemption finds nobody -----------------------------------------------------------------------------


def zones_that_are_taken(**asks: Any) -> World:
    """Two pods of lower priority in zone a; zone b is full of pods that may stay."""
    world = World("CrossNodePreemption", beside=(*BESIDE, "DefaultPreemption"))
    world.nodes = [place("na", "a"), place("nb", "a"), place("nx", "b", pods="1")]
    world.placed = [placed("pa", "na", foo=True), placed("pb", "nb", foo=True), placed("px", "nx", HIGH)]
    world.incoming = [incoming(**asks)]
    return world


def check_both_leave(world: World) -> None:
    first, second = world.decided()["results"]
    assert first["postFilter"]["plugin"] == "CrossNodePreemption"
    assert first["postFilter"]["candidates"] == {name: ["default/pa", "default/pb"] for name in ("na", "nb")}
    assert first["postFilter"]["victims"] == ["default/pa", "default/pb"]
    assert second["bound"]
    assert second["selected"] == first["nominatedNodeName"] == "na"
    world.plugin, world.beside = "DefaultPreemption", BESIDE
    alone = world.decided()["results"]
    assert len(alone) == 1
    assert "No preemption victims found" in alone[0]["message"]


def test_a_spread_constraint_over_zones() -> None:
    check_both_leave(zones_that_are_taken(**spread("zone")))


def test_a_required_anti_affinity_over_zones() -> None:
    check_both_leave(zones_that_are_taken(**away_from("zone")))


def test_two_pods_of_one_node_do_not_make_room_together() -> None:
    """Odd, as upstream: of each node only one victim is taken off, however many leave."""
    world = World("CrossNodePreemption", nodes=[place("n", "a", "2")], beside=BESIDE)
    world.placed = [placed("r0", "n"), placed("r1", "n")]
    world.incoming = [incoming(cpu="2")]
    result = world.decided()["results"][0]
    assert "candidates" not in result["postFilter"]
    assert result["message"].endswith("1 Insufficient cpu. 0/0 nodes are available: .")


def test_a_pod_that_never_preempts_does_not() -> None:
    world = zones_that_are_taken(**spread("zone"), preemptionPolicy="Never", priorityClassName="polite")
    world.beside = BESIDE
    polite = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "polite"}}
    world.others = [{**polite, "value": MIDDLE, "preemptionPolicy": "Never"}]
    result = world.decided()["results"][0]
    assert "victims" not in result["postFilter"]
    assert result["message"].endswith("2 node(s) didn't match pod topology spread constraints.")


def test_it_is_in_no_profile_unless_somebody_enables_it() -> None:
    enabling = []
    for each in PRESETS:
        effective = load(each.text, REGISTRY).effective
        assert effective is not None
        points = [point for profile in effective.profiles for point in profile.points.values()]
        if any(plugin.name == "CrossNodePreemption" for point in points for plugin in point.plugins):
            enabling.append(each.id)
    assert enabling == ["cross-node"]


def test_cases_are_refused_that_name_it_as_by_the_scheduler_that_lacks_it() -> None:
    """The recorded cases have such a one."""
    case = parse_case(json.dumps(zones_that_are_taken(**spread("zone")).case()), "world")
    refused = decide(case, built_in_registry())
    assert refused["results"] == []
    assert str(refused["configError"]).endswith('"CrossNodePreemption" does not exist')


# --- where the search ends ----------------------------------------------------------------------------------------


class Across:
    """Whose pods all count, and that lets the preemptor in where ``helps`` says so."""

    def __init__(self, helps: Callable[[list[str]], bool]) -> None:
        self.helps = helps
        self.asked: list[list[str]] = []

    def is_counted(self, pod: PodInfo) -> bool:
        return True

    def passes_alone(self, node: NodeInfo, leaving: PodInfo) -> bool:
        return True

    def passes(self, leaving: Any, place: int) -> bool:
        names = [each.pod.metadata.name for _, each in leaving]
        self.asked.append(names)
        return self.helps(names)


def nodes_with_pods(count: int) -> list[NodeInfo]:
    nodes = []
    for i in range(count):
        info = NodeInfo()
        info.set_node(make_node(f"n{i}"))
        info.add_pod(PodInfo(make_pod(f"p{i}", priority=LOW)))
        nodes.append(info)
    return nodes


def search(across: Across, nodes: list[NodeInfo], most: int) -> tuple[dict[str, list[str]], list[str]]:
    found = Search(across, nodes, make_pod("p", priority=MIDDLE), most).run()
    return {
        info.name: [each.pod.metadata.name for each in victims] for info, victims in found.candidates
    }, found.not_tried


def test_it_ends_after_so_many_tries_and_says_for_which_nodes() -> None:
    across = Across(lambda names: names == ["p3"])
    assert search(across, nodes_with_pods(40), most=100) == ({}, [f"n{i}" for i in range(40)])
    assert len(across.asked) <= 60
    across = Across(lambda names: names == ["p39"])
    assert search(across, nodes_with_pods(40), most=100) == ({"n39": ["p39"]}, [f"n{i}" for i in range(39)])


def test_it_ends_when_every_node_has_a_candidate() -> None:
    across = Across(lambda names: len(names) == 1)
    found, not_tried = search(across, nodes_with_pods(5), most=1000)
    assert found == {f"n{i}": [f"p{i}"] for i in range(5)}
    assert not not_tried
    # Of 32 sets 17 come before that of the first pod alone, or are it.
    assert across.asked[-1] == ["p0"]
