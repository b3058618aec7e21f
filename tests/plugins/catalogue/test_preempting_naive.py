"""CapacityScheduling and PreemptionToleration: who is refused by a quota, and whom a node would lose."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction

from hypothesis import given, settings

from tests.plugins.catalogue.worlds import (
    GPU,
    SEEDS,
    START,
    Manifest,
    World,
    container,
    exact,
    key_of,
    metadata,
    node,
    pod,
    priority,
    simple,
)

Amounts = dict[str, Fraction]
SIZES = {"cpu": ("500m", "1", "2"), "memory": ("1Gi", "2Gi"), GPU: ("1",)}
BOUND = ("cpu", "memory")
LEVELS = (0, 10, 100)


def plus(*parts: Amounts) -> Amounts:
    return {name: sum((part.get(name, Fraction(0)) for part in parts), Fraction(0)) for part in parts for name in part}


def fits(each: Manifest, there: list[Manifest], tried: Manifest) -> bool:
    offered = each["status"]["allocatable"]
    total = plus(simple(tried), *map(simple, there))
    room = all(total[name] <= exact(offered.get(name, "0")) for name, amount in simple(tried).items() if amount)
    return room and len(there) < int(offered["pods"])


def some_pod(rng: random.Random, name: str, namespace: str, on: str = "", **more: object) -> Manifest:
    asked = {key: rng.choice(SIZES[key]) for key in ("cpu", "memory")}
    if rng.random() < 0.2:
        asked[GPU] = "1"
    return pod(name, container(asked, {GPU: "1"} if GPU in asked else {}), namespace=namespace, on=on, **more)


def some_nodes(rng: random.Random) -> list[Manifest]:
    return [
        node(f"n{i}", {"cpu": rng.choice(["3", "5"]), "memory": "8Gi", GPU: "2", "pods": rng.choice(["3", "9"])})
        for i in range(rng.randint(1, 3))
    ]


def let_back(potential: list[Manifest], stays: Callable[[Manifest], bool]) -> list[str]:
    """Names of the victims: the most important pods are let back first, those that came first among equals."""
    return [key_of(each) for each in potential if not stays(each)]


# --- CapacityScheduling -----------------------------------------------------------------------------------------------


class Quotas:
    """Of all namespaces, with what is used of them, as one attempt sees them."""

    def __init__(self, quotas: list[Manifest], placed: list[Manifest]) -> None:
        self.least: dict[str, Amounts] = {}
        self.most: dict[str, Amounts | None] = {}
        for each in quotas:
            name, spec = each["metadata"]["namespace"], each["spec"]
            self.least[name] = {key: exact(amount) for key, amount in spec.get("min", {}).items()}
            most = spec.get("max")
            self.most[name] = None if most is None else {key: exact(amount) for key, amount in most.items()}
        self.used: dict[str, Amounts] = {name: {} for name in self.least}
        for each in placed:
            self.move(each, 1)

    def move(self, each: Manifest, sign: int) -> None:
        name = each["metadata"]["namespace"]
        if name in self.used:
            self.used[name] = plus(self.used[name], {key: sign * amount for key, amount in simple(each).items()})

    def over_least(self, name: str, request: Amounts | None = None) -> bool:
        asked = plus(self.used[name], request or {})
        looked_at = {*BOUND, *(self.used[name] if request is None else request)}
        return any(asked.get(key, 0) > self.least[name].get(key, 0) for key in looked_at)

    def over_most(self, name: str, request: Amounts) -> bool:
        most, asked = self.most[name], plus(self.used[name], request)
        if most is None:
            return False
        return any(asked.get(key, 0) > most.get(key, 0) for key in BOUND) or any(
            asked[key] > most[key] for key in request if key in most and key not in BOUND
        )

    def all_over_least(self, request: Amounts) -> bool:
        asked, least = plus(*self.used.values(), request), plus(*self.least.values())
        return any(amount > least.get(key, 0) for key, amount in asked.items())


def some_quota(rng: random.Random, namespace: str) -> Manifest:
    least = {key: rng.choice(["1", "2", "4"]) if key == "cpu" else rng.choice(["2Gi", "6Gi"]) for key in BOUND}
    if rng.random() < 0.4:
        least[GPU] = "1"
    spec: Manifest = {"min": least}
    if rng.random() < 0.7:
        spec["max"] = {"cpu": rng.choice(["3", "5"])} | ({"memory": "9Gi"} if rng.random() < 0.9 else {})
        spec["max"] |= {GPU: "1"} if rng.random() < 0.3 else {}
    head = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota"}
    return {**head, "metadata": metadata("quota", namespace), "spec": spec}


def capacity_victims(world: World, each: Manifest, tried: Manifest) -> list[str]:
    """Of one node, where nobody is nominated; [] where it is no candidate."""
    quotas, own, request = Quotas(world.others, world.placed), tried["metadata"]["namespace"], simple(tried)
    has_quota = own in quotas.used
    borrows = has_quota and quotas.over_least(own, request)
    there = world.on(each["metadata"]["name"])

    def may_go(other: Manifest) -> bool:
        its, lower = other["metadata"]["namespace"], priority(other) < priority(tried)
        if not has_quota or its not in quotas.used:
            return not has_quota and its not in quotas.used and lower
        return its == own and lower if borrows else its != own and quotas.over_least(its)

    place = {key_of(other): i for i, other in enumerate(world.placed)}
    potential = []
    for other in sorted(there, key=lambda other: (priority(other), -place[key_of(other)])):
        if may_go(other):
            potential.append(other)
            quotas.move(other, -1)
    left = [other for other in there if other not in potential]
    if not potential or not fits(each, left, tried):
        return []

    def exceeded() -> bool:
        return has_quota and (quotas.over_most(own, request) or quotas.all_over_least(request))

    if exceeded():
        return []

    def stays(other: Manifest) -> bool:
        left.append(other)
        quotas.move(other, 1)
        if fits(each, left, tried) and not exceeded():
            return True
        left.remove(other)
        quotas.move(other, -1)
        return False

    return let_back(potential[::-1], stays)


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_capacity_scheduling(seed: int) -> None:
    rng = random.Random(seed)
    world = World("CapacityScheduling", nodes=some_nodes(rng), beside=("NodeResourcesFit",))
    namespaces = ("a", "b", "free")
    world.others = [some_quota(rng, name) for name in ("a", "b") if rng.random() < 0.9]
    for i in range(rng.randint(0, 7)):
        each = rng.choice(world.nodes)
        new = some_pod(rng, f"r{i}", rng.choice(namespaces), each["metadata"]["name"], priority=rng.choice(LEVELS))
        if fits(each, world.on(each["metadata"]["name"]), new):
            world.placed.append(new)
    world.incoming = [some_pod(rng, f"p{i}", rng.choice(namespaces), priority=rng.choice(LEVELS)) for i in range(4)]
    waiting: dict[str, Manifest] = {}
    for tried, result in world.attempts():
        own, request = tried["metadata"]["namespace"], simple(tried)
        quotas = Quotas(world.others, world.placed)
        others = [each for key, each in waiting.items() if key != key_of(tried)]
        said = result["preFilter"].get("CapacityScheduling", {"code": "Success"})
        if own in quotas.used:
            mine = [o for o in others if o["metadata"]["namespace"] == own and priority(o) >= priority(tried)]
            theirs = [o for o in others if (n := o["metadata"]["namespace"]) != own and n in quotas.used]
            within = [o for o in theirs if not quotas.over_least(o["metadata"]["namespace"])]
            in_quota = plus(request, *map(simple, mine))
            why = f"Pod {key_of(tried)} is rejected in PreFilter because "
            if quotas.over_most(own, in_quota):
                assert said == {"code": "Unschedulable", "reasons": [f"{why}ElasticQuota {own} is more than Max"]}
            elif quotas.all_over_least(plus(in_quota, *map(simple, within))):
                assert said["reasons"] == [f"{why}total ElasticQuota used is more than min"]
            else:
                assert said == {"code": "Success"}
        else:
            assert said == {"code": "Success"}
        after = result.get("postFilter")
        if after is not None and not others and not tried_before(result, waiting):
            want = {each["metadata"]["name"]: capacity_victims(world, each, tried) for each in world.nodes}
            assert after.get("candidates", {}) == {name: victims for name, victims in want.items() if victims}
        if after is not None:
            gone = set(after.get("victims", ()))
            world.placed = [each for each in world.placed if key_of(each) not in gone]
        waiting.pop(key_of(tried), None)
        if result.get("nominatedNodeName"):
            waiting[key_of(tried)] = tried


def tried_before(result: Manifest, waiting: dict[str, Manifest]) -> bool:
    """Whether the pod holds a nomination already."""
    return result["pod"] in waiting


# --- PreemptionToleration ---------------------------------------------------------------------------------------------

PREFIX = "preemption-toleration.scheduling.x-k8s.io/"


def priority_class(rng: random.Random, value: int) -> Manifest:
    about = {}
    if rng.random() < 0.7:
        about[f"{PREFIX}minimum-preemptable-priority"] = rng.choice(["0", "50", "1000", "many"])
    if rng.random() < 0.7:
        about[f"{PREFIX}toleration-seconds"] = rng.choice(["-1", "0", "600", "7200", "1.5"])
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**head, "metadata": metadata(f"level-{value}", annotations=about), "value": value}


def spared(victim: Manifest, tried: Manifest, classes: dict[str, Manifest]) -> bool:
    name = victim["spec"].get("priorityClassName")
    if name is None:
        return False
    about = classes[name]["metadata"]["annotations"]
    try:
        minimum = int(about.get(f"{PREFIX}minimum-preemptable-priority", classes[name]["value"] + 1))
        seconds = int(about.get(f"{PREFIX}toleration-seconds", "0"))
    except ValueError:
        return False
    if priority(tried) >= minimum:
        return False
    conditions = victim["status"].get("conditions", [])
    if seconds < 0 or not conditions or conditions[0]["status"] != "True":
        return True
    since = int(datetime.fromisoformat(conditions[0]["lastTransitionTime"]).timestamp())
    return since + seconds > START


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_preemption_toleration(seed: int) -> None:
    rng = random.Random(seed)
    world = World("PreemptionToleration", nodes=some_nodes(rng), beside=("NodeResourcesFit",))
    classes = {f"level-{value}": priority_class(rng, value) for value in LEVELS}
    world.others = list(classes.values())
    for i in range(rng.randint(2, 9)):
        each, level = rng.choice(world.nodes), rng.choice(LEVELS[:2])
        more: Manifest = {"priority": level} | ({"priorityClassName": f"level-{level}"} if rng.random() < 0.8 else {})
        status: Manifest = {"phase": "Running"}
        if rng.random() < 0.8:
            since = datetime.fromtimestamp(START - rng.choice([60, 600, 3600]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            scheduled = {"type": "PodScheduled", "status": rng.choice(["True", "True", "False"])}
            status["conditions"] = [{**scheduled, "lastTransitionTime": since}]
        if "priorityClassName" not in more and level:
            more["priority"] = 0
        new = some_pod(rng, f"r{i}", "default", each["metadata"]["name"], status=status, **more)
        if fits(each, world.on(each["metadata"]["name"]), new):
            world.placed.append(new)
    # One pod: what is bound later has no condition that the world could tell.
    level = rng.choice(LEVELS[1:])
    world.incoming = [some_pod(rng, "p", "default", priority=level, priorityClassName=f"level-{level}")]
    place = {key_of(each): i for i, each in enumerate(world.placed)}
    for tried, result in world.attempts():
        if result.get("postFilter") is None:
            continue
        want = {}
        for each in world.nodes:
            there = world.on(each["metadata"]["name"])
            potential = [o for o in there if priority(o) < priority(tried) and not spared(o, tried, classes)]
            left = [o for o in there if o not in potential]
            if not potential or not fits(each, left, tried):
                continue

            def stays(
                other: Manifest, left: list[Manifest] = left, each: Manifest = each, tried: Manifest = tried
            ) -> bool:
                left.append(other)
                if not fits(each, left, tried):
                    left.remove(other)
                return other in left

            potential.sort(key=lambda other: (-priority(other), place[key_of(other)]))
            want[each["metadata"]["name"]] = let_back(potential, stays)
        assert result["postFilter"].get("candidates", {}) == {
            name: victims for name, victims in want.items() if victims
        }
        return
