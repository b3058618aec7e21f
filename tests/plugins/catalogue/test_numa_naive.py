"""NodeResourceTopologyMatch, with what the API server says and with requests taken off until the next resync."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from statistics import variance

from hypothesis import given, settings

from tests.plugins.catalogue.worlds import (
    GPU,
    SEEDS,
    Manifest,
    World,
    check_scores,
    container,
    exact,
    metadata,
    node,
    pod,
    simple,
)

SIZES = {"cpu": ("500m", "1", "2", "3"), "memory": ("1Gi", "2Gi", "5Gi"), GPU: ("1", "2")}
FREE = {"cpu": ("0", "1500m", "2", "4"), "memory": ("1Gi", "4Gi", "8Gi"), GPU: ("0", "1", "2")}
Zone = dict[str, Fraction]
Request = dict[str, Fraction]


def topology(rng: random.Random, name: str) -> Manifest:
    count = rng.randint(1, 4)
    zones = []
    for i in range(count):
        offered = {resource: rng.choice(FREE[resource]) for resource in FREE if resource != GPU or rng.random() < 0.7}
        resources = [{"name": k, "capacity": "8", "allocatable": "8", "available": v} for k, v in offered.items()]
        costs = [{"name": f"node-{j}", "value": 10 if i == j else rng.choice([20, 30])} for j in range(count)]
        zones.append({"name": f"node-{i}", "type": "Node", "resources": resources, "costs": costs})
    policy, scope = rng.choice(["single-numa-node"] * 4 + ["none"]), rng.choice(["pod", "container"])
    attributes = {"topologyManagerPolicy": policy, "topologyManagerScope": scope}
    if rng.random() < 0.3:
        # More than int64 holds, and what is no number, are passed over.
        attributes["topologyManagerMaxNUMANodes"] = rng.choice(["4", "1", "9" * 20, "x"])
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": metadata(name),
        "zones": zones,
        "attributes": [{"name": key, "value": value} for key, value in attributes.items()],
    }


def some_pod(rng: random.Random, name: str) -> Manifest:
    guaranteed = rng.random() < 0.7

    def asked() -> Manifest:
        requests = {key: rng.choice(SIZES[key]) for key in ("cpu", "memory") if guaranteed or rng.random() < 0.5}
        devices = {GPU: rng.choice(SIZES[GPU])} if rng.random() < 0.3 else {}
        return container({**requests, **devices}, {**(requests if guaranteed else {}), **devices})

    more: Manifest = {}
    if rng.random() < 0.3:
        more["initContainers"] = [asked() | ({"restartPolicy": "Always"} if rng.random() < 0.4 else {})]
    return pod(name, *[asked() for _ in range(rng.randint(1, 2))], **more)


def quality(manifest: Manifest) -> str:
    asked = [
        each["resources"] for each in (*manifest["spec"]["containers"], *manifest["spec"].get("initContainers", ()))
    ]
    cpu_and_memory = ("cpu", "memory")
    if not any(each["requests"].get(name) for each in asked for name in cpu_and_memory):
        return "BestEffort"
    same = all(each["requests"].get(n) == each["limits"].get(n) is not None for each in asked for n in cpu_and_memory)
    return "Guaranteed" if same else "Burstable"


def request_of(each: Manifest) -> Request:
    return {name: exact(amount) for name, amount in each["resources"]["requests"].items()}


def zones_of(manifest: Manifest, taken: list[Request]) -> list[Zone]:
    zones = []
    for each in manifest["zones"]:
        zone = {resource["name"]: exact(resource["available"]) for resource in each["resources"]}
        for request in taken:
            zone = {name: max(free - request.get(name, 0), Fraction(0)) for name, free in zone.items()}
        zones.append(zone)
    return zones


def exempt(guaranteed: bool, name: str) -> bool:
    return not guaranteed and name in ("cpu", "memory")


def fitting(request: Request, guaranteed: bool, offers: Manifest, zones: list[Zone]) -> int | None:
    suitable = set(range(len(zones)))
    for name, amount in request.items():
        if not amount:
            continue
        if name == GPU and GPU not in offers:
            return None
        listing = {i for i, zone in enumerate(zones) if name in zone}
        if not listing and name == GPU:
            continue
        suitable &= {i for i in listing if exempt(guaranteed, name) or zones[i][name] >= amount}
    return min(suitable, default=None)


def refusal(tried: Manifest, about: Manifest, offers: Manifest, zones: list[Zone]) -> str | None:
    attributes = {each["name"]: each["value"] for each in about["attributes"]}
    of = quality(tried)
    every = [*tried["spec"].get("initContainers", ()), *tried["spec"]["containers"]]
    if of == "BestEffort" and not any(GPU in each["resources"]["requests"] for each in every):
        return None
    if attributes["topologyManagerPolicy"] != "single-numa-node":
        return None
    guaranteed = of == "Guaranteed"
    if attributes["topologyManagerScope"] == "pod":
        return "cannot align pod" if fitting(simple(tried), guaranteed, offers, zones) is None else None
    for each in tried["spec"].get("initContainers", ()):
        if fitting(request_of(each), guaranteed, offers, zones) is None:
            return f"cannot align {'sidecar' if 'restartPolicy' in each else 'init'} container"
    for each in tried["spec"]["containers"]:
        place = fitting(request_of(each), guaranteed, offers, zones)
        if place is None:
            return "cannot align container"
        for name, amount in request_of(each).items():
            if not exempt(guaranteed, name) and name in zones[place]:
                zones[place][name] -= amount
    return None


# --- points -----------------------------------------------------------------------------------------------------------


def up(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


def zone_points(strategy: str, request: Request, zone: Zone) -> int:
    if strategy == "BalancedAllocation":
        fractions = []
        for name, amount in request.items():
            free = up(zone.get(name, Fraction(0)))
            fractions.append(up(amount) / free if free else 1.0)
        return 0 if max(fractions) > 1 else int((1 - variance(fractions)) * 100)
    total = 0
    for name, amount in request.items():
        room = zone.get(name, Fraction(0))
        if room and amount <= room:
            total += (up(room) - up(amount) if strategy == "LeastAllocated" else up(amount)) * 100 // up(room)
    return total // len(request)


def node_points(strategy: str, request: Request, zones: list[Zone]) -> int:
    return min([points for zone in zones if (points := zone_points(strategy, request, zone))], default=0)


def fewest(request: Request, zones: list[Zone], costs: list[list[int]]) -> tuple[tuple[int, ...], bool] | None:
    for size in range(1, len(zones) + 1):
        groups = list(combinations(range(len(zones)), size))

        def apart(group: tuple[int, ...], size: int = size) -> Fraction:
            return Fraction(sum(costs[a][b] for a in group for b in group), size * size)

        able = [
            group
            for group in groups
            if all(
                all(n in zones[i] for i in group) and sum(zones[i][n] for i in group) >= a for n, a in request.items()
            )
        ]
        if able:
            best = min(able, key=apart)
            return best, apart(best) == min(map(apart, groups))
    return None


def fewest_points(requests: list[Request], zones: list[Zone], about: Manifest, *, drains: bool) -> int:
    text = {each["name"]: each["value"] for each in about["attributes"]}.get("topologyManagerMaxNUMANodes", "")
    step = 100 // (4 if text == "4" else 8)
    costs = [[cost["value"] for cost in each["costs"]] for each in about["zones"]]
    most, nearest = 0, True
    for request in requests:
        if not any(name in zone for name in request for zone in zones):
            continue
        found = fewest(request, zones, costs)
        if found is None:
            return 0
        most, nearest = max(most, len(found[0])), nearest and found[1]
        for name, amount in request.items() if drains else ():
            for i in found[0]:
                taken = min(amount, zones[i][name])
                zones[i][name] -= taken
                amount -= taken
    return 100 if not most else 100 - most * step + (step // 2 if nearest else 0)


def points(strategy: str, tried: Manifest, about: Manifest, zones: list[Zone]) -> int:
    if quality(tried) != "Guaranteed":
        return 100
    attributes = {each["name"]: each["value"] for each in about["attributes"]}
    whole = attributes["topologyManagerScope"] == "pod"
    every = [*tried["spec"].get("initContainers", ()), *tried["spec"]["containers"]]
    requests = [simple(tried)] if whole else [request_of(each) for each in every]
    if strategy == "LeastNUMANodes":
        return fewest_points(requests, zones, about, drains=not whole)
    if attributes["topologyManagerPolicy"] != "single-numa-node":
        return 0
    each = [node_points(strategy, request, zones) for request in requests]
    return int(sum(each) / len(each))


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_one_zone_has_room_and_the_best_node_is_taken(seed: int) -> None:
    rng = random.Random(seed)
    strategy = rng.choice(["LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"])
    remembers = rng.random() < 0.5
    args: Manifest = {"scoringStrategy": {"type": strategy, "resources": []}}
    if remembers:
        args["cacheResyncPeriodSeconds"] = 5
    world = World("NodeResourceTopologyMatch", args)
    for i in range(rng.randint(2, 4)):
        devices = {GPU: "4"} if rng.random() < 0.8 else {}
        world.nodes.append(node(f"n{i}", {"cpu": "32", "memory": "64Gi", **devices}))
    known = {each["metadata"]["name"]: topology(rng, each["metadata"]["name"]) for each in world.nodes}
    if rng.random() < 0.2:
        known.pop("n0")
    world.others = list(known.values())
    world.incoming = [some_pod(rng, f"p{i}") for i in range(4)]
    taken: dict[str, list[Request]] = {}
    for tried, result in world.attempts():
        raw = {}
        for each in world.nodes:
            name = each["metadata"]["name"]
            if name not in known:
                want, raw[name] = None, 100 if quality(tried) != "Guaranteed" else 0
            else:
                offers = each["status"]["allocatable"]
                want = refusal(tried, known[name], offers, zones_of(known[name], taken.get(name, [])))
                raw[name] = points(strategy, tried, known[name], zones_of(known[name], taken.get(name, [])))
            got = result["filter"][name]
            assert (None if got is None else got["reasons"]) == (None if want is None else [want])
        check_scores(world, result, raw)
        if result.get("bound") and remembers:
            taken.setdefault(result["selected"], []).append(simple(tried))
