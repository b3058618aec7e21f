"""NetworkOverhead, and the three QueueSort plugins, whose order is a matrix because not all of them are strict."""

from __future__ import annotations

import random

from hypothesis import given, settings

from tests.plugins.catalogue.worlds import (
    FIRST,
    SEEDS,
    Manifest,
    World,
    check_scores,
    container,
    key_of,
    less_is_better,
    metadata,
    node,
    pod,
    priority,
)

REGION, ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"
GROUP, WORKLOAD = "appgroup.diktyo.x-k8s.io", "appgroup.diktyo.x-k8s.io.workload"
POD_GROUP = "scheduling.x-k8s.io/pod-group"
REGIONS, ZONES, WORKLOADS = ("east", "west"), ("z1", "z2", "z3"), ("front", "back", "store", "log")


def app_group(rng: random.Random) -> Manifest:
    members, order = [], []
    for index, name in enumerate(sorted(rng.sample(WORKLOADS, rng.randint(1, 4)))):
        others = rng.sample(WORKLOADS, rng.randint(0, 2))
        needs = [{"workload": {"selector": each}, "maxNetworkCost": rng.choice([0, 5, 20])} for each in others]
        members.append({"workload": {"selector": name}, "dependencies": needs})
        order.append({"workload": {"selector": name}, "index": rng.randint(0, index + 1)})
    return {
        "apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1",
        "kind": "AppGroup",
        "metadata": metadata("shop", "default"),
        "spec": {"numMembers": len(members), "workloads": members},
        "status": {"topologyOrder": order},
    }


def network(rng: random.Random) -> tuple[Manifest, dict[tuple[str, str], int]]:
    costs: dict[tuple[str, str], int] = {}
    lists = []
    for key, places in ((REGION, REGIONS), (ZONE, ZONES)):
        origins = []
        for origin in places:
            reached = {to: rng.choice([1, 5, 10, 40]) for to in places if to != origin and rng.random() < 0.8}
            costs.update({(origin, to): cost for to, cost in reached.items()})
            listed = [{"destination": to, "networkCost": cost} for to, cost in reached.items()]
            origins.append({"origin": origin, "costList": listed})
        rng.shuffle(origins)
        lists.append({"topologyKey": key, "originList": origins})
    rng.shuffle(lists)
    topology = {
        "apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1",
        "kind": "NetworkTopology",
        "metadata": metadata("nt-default", "default"),
        "spec": {"weights": [{"name": "UserDefined", "topologyList": lists}, {"name": "Others", "topologyList": []}]},
    }
    return topology, costs


def member(rng: random.Random, name: str, on: str = "") -> Manifest:
    labels = {WORKLOAD: rng.choice(WORKLOADS), **({GROUP: "shop"} if rng.random() < 0.85 else {})}
    return pod(name, on=on, labels=labels)


def reached(here: Manifest, peer: Manifest, most: int, costs: dict[tuple[str, str], int]) -> tuple[int, int, int]:
    """(satisfied, violated, cost) of one pod that the incoming one would talk to from a node."""
    if here["metadata"]["name"] == peer["metadata"]["name"]:
        return 1, 0, 0
    (region, zone), (its_region, its_zone) = (
        (each["metadata"]["labels"].get(REGION, ""), each["metadata"]["labels"].get(ZONE, "")) for each in (here, peer)
    )
    if not its_region and not its_zone:
        return 0, 1, 100
    if (region, zone) == (its_region, its_zone):
        return 1, 0, 1
    cost = costs.get((zone, its_zone) if region == its_region else (region, its_region))
    if cost is None:
        return 0, 0, 100
    return int(cost <= most), int(cost > most), cost


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_network_overhead(seed: int) -> None:
    rng = random.Random(seed)
    topology, costs = network(rng)
    group = app_group(rng)
    world = World("NetworkOverhead", others=[group, topology])
    for i in range(rng.randint(2, 6)):
        labels = {ZONE: rng.choice(ZONES)} if rng.random() < 0.8 else {}
        world.nodes.append(
            node(f"n{i}", {"cpu": "4"}, labels | ({REGION: rng.choice(REGIONS)} if rng.random() < 0.8 else {}))
        )
    by_name = {each["metadata"]["name"]: each for each in world.nodes}
    world.placed = [member(rng, f"r{i}", rng.choice(list(by_name))) for i in range(rng.randint(0, 6))]
    world.incoming = [member(rng, f"p{i}") for i in range(4)]
    if world.placed:
        world.events = {2: [{"type": "delete", "object": rng.choice(world.placed)}]}
    for tried, result in world.attempts():
        labels = tried["metadata"]["labels"]
        needs = [
            (need["workload"]["selector"], need["maxNetworkCost"])
            for each in group["spec"]["workloads"]
            if GROUP in labels and each["workload"]["selector"] == labels[WORKLOAD]
            for need in each["dependencies"]
        ]
        raw = {}
        for name, each in by_name.items():
            of_node = [
                reached(each, by_name[placed["spec"]["nodeName"]], most, costs)
                for placed in world.placed
                if GROUP in placed["metadata"]["labels"]
                for selector, most in needs
                if selector == placed["metadata"]["labels"][WORKLOAD]
            ]
            satisfied, violated, raw[name] = (
                (sum(part) for part in zip(*of_node, strict=True)) if of_node else (0, 0, 0)
            )
            refused = result["filter"][name]
            if violated > satisfied:
                text = f"Node {name} does not meet several network requirements from Workload dependencies: "
                assert refused["reasons"] == [f"{text}Satisfied: {satisfied} Violated: {violated}"]
            else:
                assert refused is None
        if len(result["feasible"]) > 1:
            check_scores(world, result, raw, less_is_better({name: raw[name] for name in result["feasible"]}))


# --- who is tried first -----------------------------------------------------------------------------------------------


def order_of(report: Manifest) -> dict[tuple[str, str], bool]:
    """(a, b) → whether a stands before b."""
    before = report["queueSort"]["before"]
    return {(a, b): b in before[a] for a in before for b in before if a != b}


def created_at(world: World) -> dict[str, int]:
    offset = len(world.case()["objects"])
    return {key_of(each): FIRST + offset + i for i, each in enumerate(world.incoming)}


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_qos_sort(seed: int) -> None:
    rng = random.Random(seed)
    world = World("QOSSort", sorts="", nodes=[node("n", {"cpu": "64"})])
    classes = {}
    for i in range(6):
        same = {"cpu": "1", "memory": "1Gi"}
        quality, containers = rng.choice(
            [
                (0, [container(same, same), container(same, same)]),
                (1, [container(same, same), container()]),
                (1, [container({"cpu": "1"})]),
                (2, [container()]),
            ]
        )
        world.incoming.append(pod(f"p{i}", *containers, priority=rng.choice([0, 0, 5])))
        classes[f"default/p{i}"] = (-world.incoming[-1]["spec"]["priority"], quality)
    at = created_at(world)
    for (a, b), before in order_of(world.decided()).items():
        assert before == ((*classes[a], at[a]) < (*classes[b], at[b]))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_topological_sort(seed: int) -> None:
    rng = random.Random(seed)
    group = app_group(rng)
    world = World("TopologicalSort", sorts="", nodes=[node("n", {"cpu": "64"})], others=[group])
    for i in range(6):
        world.incoming.append(member(rng, f"p{i}"))
        world.incoming[-1]["spec"]["priority"] = rng.choice([0, 5])
    pods, at = {key_of(each): each for each in world.incoming}, created_at(world)
    indices = {each["workload"]["selector"]: each["index"] for each in group["status"]["topologyOrder"]}
    for (a, b), before in order_of(world.decided()).items():
        labels = [pods[key]["metadata"]["labels"] for key in (a, b)]
        if all(GROUP in each for each in labels):
            first, second = (indices.get(each[WORKLOAD], -1) for each in labels)
            assert before == (first <= second)
        else:
            assert before == ((-priority(pods[a]), at[a]) < (-priority(pods[b]), at[b]))


# --- Coscheduling -----------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_coscheduling(seed: int) -> None:
    """Its order, whom it does not even try, and who waits for whom."""
    rng = random.Random(seed)
    world = World("Coscheduling", {"permitWaitingTimeSeconds": 30}, sorts="", nodes=[node("n", {"cpu": "64"})])
    groups: dict[str, Manifest] = {}
    for name in ("a", "b"):
        if rng.random() < 0.85:
            spec = {"minMember": rng.randint(1, 4)} | ({"scheduleTimeoutSeconds": 7} if rng.random() < 0.5 else {})
            group: Manifest = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "spec": spec}
            groups[name] = {**group, "metadata": metadata(name, "default")}
    world.others = list(groups.values())
    for i in range(7):
        labels = {POD_GROUP: rng.choice(["a", "b"])} if rng.random() < 0.8 else {}
        world.incoming.append(pod(f"p{i}", labels=labels, priority=rng.choice([0, 0, 5])))
    world.more = {"createFirst": True}
    report, at = world.decided(), created_at(world)
    of = {key_of(each): each["metadata"]["labels"].get(POD_GROUP, "") for each in world.incoming}
    higher = {key_of(each): -priority(each) for each in world.incoming}
    enqueued = {
        key: FIRST + len(world.nodes) + list(groups).index(of[key]) if of[key] in groups else at[key] for key in of
    }
    for (a, b), before in order_of(report).items():
        assert before == ((higher[a], enqueued[a], a) < (higher[b], enqueued[b], b))

    assigned: dict[str, int] = {}
    waiting: dict[str, list[str]] = {}
    for result in report["results"]:
        key, name = result["pod"], of[result["pod"]]
        siblings = sum(each == name for each in of.values())
        if name in groups and siblings < groups[name]["spec"]["minMember"]:
            assert result["preFilter"]["Coscheduling"]["reasons"] == [
                f"pre-filter pod {key.split('/')[1]} cannot find enough sibling pods, current pods number: {siblings}, "
                f"minMember of group: {groups[name]['spec']['minMember']}"
            ]
        elif name and name not in groups:
            assert (result["permit"]["plugin"], result["permit"]["code"]) == ("Coscheduling", "Unschedulable")
        elif name:
            assigned[name] = assigned.get(name, 0) + 1
            if assigned[name] < groups[name]["spec"]["minMember"]:
                assert result["permit"]["waitingFor"] == {
                    "Coscheduling": groups[name]["spec"].get("scheduleTimeoutSeconds", 30)
                }
                waiting.setdefault(name, []).append(key)
            else:
                assert result["bound"]
                released = sorted(waiting.pop(name, []))
                assert [(each["pod"], each["result"]) for each in result.get("ended", [])] == [
                    (each, "bound") for each in released
                ]
        else:
            assert result["bound"]
    assert sorted(report.get("waiting", [])) == sorted(key for keys in waiting.values() for key in keys)
