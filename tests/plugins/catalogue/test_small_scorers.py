"""NodeResourcesAllocatable, PodState, NodeMetadata and SySched."""

from __future__ import annotations

import random
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings

from tests.plugins.catalogue.worlds import (
    FIRST,
    GPU,
    SEEDS,
    START,
    Manifest,
    World,
    between_bounds,
    check_scores,
    clock,
    container,
    cut,
    metadata,
    node,
    pod,
    some,
    whole,
)

OFFERS = {
    "cpu": ("1", "2", "3920m", "16"),
    "memory": ("1Gi", "15892Mi", "64Gi"),
    "ephemeral-storage": ("10Gi", "0"),
    GPU: ("0", "1", "8"),
}
REQUESTS = {"cpu": ("100m", "1"), "memory": ("64Mi", "1Gi")}
INCOMING = 4


def some_nodes(rng: random.Random, **more: Any) -> list[Manifest]:
    return [node(f"n{i}", some(rng, OFFERS, 0.8), **more) for i in range(rng.randint(2, 5))]


def some_pods(rng: random.Random) -> list[Manifest]:
    return [pod(f"p{i}", container(some(rng, REQUESTS, 0.5))) for i in range(INCOMING)]


# --- NodeResourcesAllocatable -----------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_allocatable_counts_what_nodes_offer_whoever_uses_it(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample([*OFFERS, "example.com/unknown"], rng.randint(1, 4))
    resources: list[Manifest] = [{"name": name, "weight": rng.choice([1, 3, 1 << 20])} for name in names]
    mode = rng.choice(["Least", "Most", ""])
    world = World("NodeResourcesAllocatable", {"resources": resources, **({"mode": mode} if mode else {})})
    if rng.random() < 0.3:
        world.args = None
        resources = [{"name": "cpu", "weight": 1 << 20}, {"name": "memory", "weight": 1}]
        mode = "Least"
    world.nodes, world.incoming = some_nodes(rng), some_pods(rng)
    grown = deepcopy(rng.choice(world.nodes))
    grown["status"]["allocatable"]["cpu"] = "32"
    world.events = {2: [{"type": "update", "object": grown}]}
    sign = 1 if mode == "Most" else -1
    for _, result in world.attempts():
        raw = {}
        for each in world.nodes:
            offered = each["status"]["allocatable"]
            parts = [sign * whole(r["name"], offered.get(r["name"], "0")) * r["weight"] for r in resources]
            raw[each["metadata"]["name"]] = cut(sum(parts), sum(r["weight"] for r in resources))
        check_scores(world, result, raw, between_bounds(raw))


# --- PodState ---------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_pod_state_counts_who_leaves_and_who_is_expected(seed: int) -> None:
    rng = random.Random(seed)
    world = World("PodState", nodes=some_nodes(rng), incoming=some_pods(rng))
    names = [each["metadata"]["name"] for each in world.nodes]
    leaving: Manifest = {"metadata": {"deletionTimestamp": "2026-01-01T12:00:00Z", "finalizers": ["example.com/wait"]}}
    for i in range(rng.randint(0, 8)):
        more = leaving if rng.random() < 0.6 else {}
        world.placed.append(pod(f"r{i}", on=rng.choice(names), **deepcopy(more)))
    for i in range(rng.randint(0, 4)):
        world.nominated.append(pod(f"x{i}", status={"nominatedNodeName": rng.choice(names)}))
    if world.placed:
        goes, starts = rng.choice(world.placed), deepcopy(rng.choice(world.placed))
        starts["metadata"].update(leaving["metadata"])
        world.events[1] = [{"type": "update", "object": starts}]
        world.events[3] = [{"type": "delete", "object": goes}]
    for _, result in world.attempts():
        raw = {}
        for name in names:
            terminating = sum("deletionTimestamp" in each["metadata"] for each in world.on(name))
            raw[name] = terminating - sum(each["status"]["nominatedNodeName"] == name for each in world.nominated)
        check_scores(world, result, raw, between_bounds(raw))


# --- NodeMetadata -----------------------------------------------------------------------------------------------------

NUMBERS = {
    "3": 3,
    "-7": -7,
    "2.9": 2,
    "-2.9": -2,
    "1e3": 1000,
    "0x1p4": 16,
    "1_000": 1000,
    "+5": 5,
    "": None,
    "x": None,
}
AGES = (0, 1, 59, 3600, 86400 * 400, -30)


def some_value(rng: random.Random, kind: str) -> str | None:
    if rng.random() < 0.2:
        return None
    if kind == "Number":
        return rng.choice(list(NUMBERS))
    if rng.random() < 0.1:
        return "yesterday"
    return datetime.fromtimestamp(START - rng.choice(AGES), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def value_of(text: str | None, strategy: str, now: int) -> int | None:
    if strategy in ("Highest", "Lowest"):
        # A label cannot hold every text, an annotation can.
        number = None if text is None else NUMBERS[text]
        return number if number is None or strategy == "Highest" else -number
    try:
        age = now - int(datetime.fromisoformat(text or "").timestamp())
    except ValueError:
        return None
    return age if strategy == "Oldest" else -age


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_node_metadata_reads_numbers_and_ages(seed: int) -> None:
    rng = random.Random(seed)
    strategy = rng.choice(["Highest", "Lowest", "Newest", "Oldest"])
    kind = "Number" if strategy in ("Highest", "Lowest") else "Timestamp"
    args = {"metadataKey": "rank", "metadataSource": "Annotation", "metadataType": kind, "scoringStrategy": strategy}
    world = World("NodeMetadata", args, incoming=some_pods(rng))
    for i in range(rng.randint(2, 6)):
        text = some_value(rng, kind)
        world.nodes.append(node(f"n{i}", {"cpu": "4"}, annotations={} if text is None else {"rank": text}))
    changed = deepcopy(rng.choice(world.nodes))
    changed["metadata"]["annotations"] = {"rank": some_value(rng, kind) or "x"}
    world.events = {1: [{"type": "update", "object": changed}], 2: [clock(START + 100)]}
    for _, result in world.attempts():
        known = {}
        for each in world.nodes:
            known[each["metadata"]["name"]] = value_of(
                each["metadata"]["annotations"].get("rank"), strategy, world.clock
            )
        raw = {name: -(2**63) if value is None else value for name, value in known.items()}
        values = [value for value in known.values() if value is not None]
        points = dict.fromkeys(known, 0)
        for name, value in known.items():
            if value is not None:
                apart = max(values) - min(values)
                points[name] = 1 if apart == 0 else cut((value - min(values)) * 99, apart) + 1
        check_scores(world, result, raw, points)


# --- SySched ----------------------------------------------------------------------------------------------------------

CALLS = ("read", "write", "open", "socket", "fork", "ptrace")


def profile(rng: random.Random, name: str) -> Manifest:
    actions = ("SCMP_ACT_ALLOW", "SCMP_ACT_LOG", "SCMP_ACT_ERRNO")
    lists = [{"action": rng.choice(actions), "names": rng.sample(CALLS, rng.randint(0, 4))} for _ in range(2)]
    return {
        "apiVersion": "security-profiles-operator.x-k8s.io/v1beta1",
        "kind": "SeccompProfile",
        "metadata": metadata(name, "default"),
        "spec": {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": lists},
    }


def confined(rng: random.Random, name: str, on: str = "") -> Manifest:
    def context() -> Manifest:
        if rng.random() < 0.5:
            return {}
        of = rng.choice(["a", "b", "c", "missing"])
        path = rng.choice(["operator/default/{}.json", "default/{}.json"]).format(of)
        return {"securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": path}}}

    return pod(name, context(), context(), on=on, **context())


def calls_of(manifest: Manifest, profiles: list[Manifest]) -> set[str]:
    def of(name: str) -> set[str]:
        lists = [s for p in profiles if p["metadata"]["name"] == name for s in p["spec"]["syscalls"]]
        return {call for each in lists if each["action"] != "SCMP_ACT_ERRNO" for call in each["names"]}

    found: set[str] = set()
    for holder in (manifest["spec"], *manifest["spec"]["containers"]):
        path = holder.get("securityContext", {}).get("seccompProfile", {}).get("localhostProfile")
        if path:
            found |= of(path.rsplit("/", 1)[1].removesuffix(".json"))
    return found or of("all-syscalls")


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_sysched_counts_calls_that_somebody_is_allowed_beyond_need(seed: int) -> None:
    rng = random.Random(seed)
    world = World("SySched", nodes=some_nodes(rng))
    names = [each["metadata"]["name"] for each in world.nodes]
    world.others = [profile(rng, name) for name in ("a", "b", "c", "all-syscalls") if rng.random() < 0.8]
    world.placed = [confined(rng, f"r{i}", rng.choice(names)) for i in range(rng.randint(0, 6))]
    world.incoming = [confined(rng, f"p{i}") for i in range(INCOMING)]
    if world.placed:
        world.events = {2: [{"type": "delete", "object": rng.choice(world.placed)}]}
    for tried, result in world.attempts():
        own, raw = calls_of(tried, world.others), {}
        for name in names:
            there = [calls_of(each, world.others) for each in world.on(name)]
            host: set[str] = set().union(*there)
            raw[name] = len(host - own) + sum(len((host | own) - each) for each in there)
        if not own:
            raw = dict.fromkeys(names, 2**63 - 1)
        most = max(raw.values())
        points = {name: 100 - cut(value * 100, most) if most else 100 for name, value in raw.items()}
        # Upstream's product overflows there, and everybody gets the most.
        check_scores(world, result, raw, points if own else dict.fromkeys(names, 100))


def test_objects_of_a_world_are_created_a_second_apart() -> None:
    assert START - FIRST == 86400
