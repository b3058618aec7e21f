"""The four plugins that score by measured load."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

from framework.plugins.trimaran import lowrisk
from framework.plugins.trimaran.beta import Beta, probability_below, regularized_incomplete_beta
from tests.plugins.catalogue.worlds import (
    SEEDS,
    START,
    Manifest,
    World,
    check_scores,
    clock,
    container,
    exact,
    less_is_better,
    node,
    pod,
    simple,
    some,
)

WATCHER = "http://load-watcher:2020"
CPUS = ("500m", "1", "1500m", "4", "8")
SIZES = {"cpu": ("100m", "333m", "1", "3"), "memory": ("64Mi", "1Gi", "3Gi")}
OPERATORS = ("AVG", "STD", "Latest", "", "P95")


def measured(rng: random.Random, names: list[str]) -> Manifest:
    """load-watcher's answer. Some nodes are left out, some have nothing."""
    nodes: Manifest = {}
    for name in names:
        if rng.random() < 0.1:
            continue
        entries = [(kind, rng.choice(OPERATORS)) for kind in rng.choices(["CPU", "Memory"], k=rng.randint(0, 5))]
        if rng.random() < 0.7:
            entries += [("CPU", "AVG"), ("CPU", "STD"), ("Memory", "AVG"), ("Memory", "STD")]
        nodes[name] = {"metrics": [metric(kind, of, rng.choice([0, 5, 20.5, 47, 80, 99, 100])) for kind, of in entries]}
    end = START + rng.choice([-300, -60, -59, 0, 30])
    return {"window": {"duration": "15m", "start": end - 900, "end": end}, "data": {"NodeMetricsMap": nodes}}


def metric(kind: str, operator: str, value: float) -> Manifest:
    return {"name": f"host.{kind.lower()}", "type": kind, "operator": operator, "rollup": "", "value": value}


def some_pod(rng: random.Random, name: str, on: str = "") -> Manifest:
    more: Manifest = {}
    if rng.random() < 0.3:
        more["initContainers"] = [container(some(rng, SIZES, 0.7), some(rng, SIZES, 0.3))]
    if rng.random() < 0.2:
        more["overhead"] = {"cpu": "250m", "memory": "128Mi"}
    asked = [container(some(rng, SIZES, 0.6), some(rng, SIZES, 0.3)) for _ in range(rng.randint(1, 2))]
    for each in asked:
        # An API server refuses requests above limits, and takes limits for requests that are not given.
        requests, limits = each["resources"]["requests"], each["resources"]["limits"]
        for resource, limit in limits.items():
            if resource not in requests or exact(requests[resource]) > exact(limit):
                requests[resource] = limit
    for each in more.get("initContainers", ()):
        each["resources"]["limits"] = {}
    return pod(name, *asked, on=on, **more)


def busy_world(rng: random.Random, plugin: str, args: Manifest) -> World:
    world = World(plugin, args)
    for i in range(rng.randint(2, 5)):
        each = node(f"n{i}", {"cpu": rng.choice(CPUS), "memory": rng.choice(["2Gi", "8Gi"])})
        each["status"]["capacity"] = {**each["status"]["capacity"], "cpu": rng.choice(CPUS)}
        world.nodes.append(each)
    names = [each["metadata"]["name"] for each in world.nodes]
    world.placed = [some_pod(rng, f"r{i}", rng.choice(names)) for i in range(rng.randint(0, 6))]
    world.incoming = [some_pod(rng, f"p{i}") for i in range(4)]
    world.metrics = measured(rng, names) if rng.random() < 0.95 else None
    world.events = {2: [{"type": "metrics", "metrics": measured(rng, names)}], 3: [clock(START + 45)]}
    if world.placed:
        world.events[1] = [{"type": "delete", "object": rng.choice(world.placed)}]
    return world


def entries_of(world: World, name: str) -> list[Manifest]:
    found: Manifest = (world.metrics or {"data": {"NodeMetricsMap": {}}})["data"]["NodeMetricsMap"]
    return list(found.get(name, {}).get("metrics", ()))


def statistics(entries: list[Manifest], kind: str) -> tuple[float, float] | None:
    """Average and deviation in percent: AVG wins over Latest and no operator, the last of equals counts."""
    of_kind = [each for each in entries if each["type"] == kind]
    averages = [each["value"] for each in of_kind if each["operator"] == "AVG"]
    latest: list[float] = []
    for each in of_kind:
        if each["operator"] == "AVG":
            break
        if each["operator"] in ("Latest", ""):
            latest.append(each["value"])
    deviations = [each["value"] for each in of_kind if each["operator"] == "STD"]
    if not of_kind:
        return None
    return float([0, *latest, *averages][-1]), float([0, *deviations][-1])


def amount(manifest: Manifest, resource: str, of: str = "requests") -> float:
    number = simple(manifest, of).get(resource, 0)
    return float(number * 1000) if resource == "cpu" else float(number)


def capacity_of(each: Manifest, resource: str, where: str = "allocatable") -> float:
    number = exact(each["status"][where].get(resource, "0"))
    return float(number * 1000) if resource == "cpu" else float(number)


def clamp(number: float) -> float:
    return max(0.0, min(1.0, number))


def nearest(number: float) -> int:
    """Half away from zero."""
    return int(number + 0.5) if number >= 0 else -int(-number + 0.5)


# --- TargetLoadPacking ------------------------------------------------------------------------------------------------


def predicted(manifest: Manifest, multiplier: float, default: float) -> float:
    total = amount({"spec": {"containers": [], "overhead": manifest["spec"].get("overhead", {})}}, "cpu")
    for each in manifest["spec"]["containers"]:
        asked = each["resources"]
        if "cpu" in asked.get("limits", {}):
            total += float(exact(asked["limits"]["cpu"]) * 1000)
        elif "cpu" in asked.get("requests", {}):
            total += nearest(float(exact(asked["requests"]["cpu"]) * 1000) * multiplier)
        else:
            total += default
    return total


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_target_load_packing(seed: int) -> None:
    rng = random.Random(seed)
    target, multiplier, default = (
        rng.choice([1, 40, 75, 100]),
        rng.choice(["1", "1.5", "2.25"]),
        rng.choice([200, 1000]),
    )
    args = {"watcherAddress": WATCHER, "targetUtilization": target, "defaultRequestsMultiplier": multiplier}
    world = busy_world(rng, "TargetLoadPacking", {**args, "defaultRequests": {"cpu": f"{default}m"}})
    since = {each["metadata"]["name"]: START for each in world.placed}
    for tried, result in world.attempts():
        raw = {}
        end = world.metrics["window"]["end"] if world.metrics else 0
        for each in world.nodes:
            name = each["metadata"]["name"]
            loads = [
                m["value"] for m in entries_of(world, name) if m["type"] == "CPU" and m["operator"] in ("AVG", "Latest")
            ]
            if not loads:
                raw[name] = 0
                continue
            new = [p for p in world.on(name) if end - since[p["metadata"]["name"]] < 60]
            more = sum(predicted(p, float(multiplier), default) for p in (tried, *new))
            capacity = capacity_of(each, "cpu", "capacity")
            used = 100 * (loads[-1] / 100 * capacity + more) / capacity
            if used > 100:
                raw[name] = 0
            elif used > target:
                raw[name] = nearest(target * (100 - used) / (100 - target))
            else:
                raw[name] = nearest((100 - target) * used / target + target)
        check_scores(world, result, raw)
        since[tried["metadata"]["name"]] = world.clock


# --- LoadVariationRiskBalancing ---------------------------------------------------------------------------------------


def variation_score(each: Manifest, entries: list[Manifest], tried: Manifest, margin: float, sensitivity: float) -> int:
    scores = []
    for resource, kind in (("cpu", "CPU"), ("memory", "Memory")):
        found = statistics(entries, kind)
        if found is None:
            continue
        # Memory is reckoned in MiB.
        unit = 1 if resource == "cpu" else 1 / 1024 / 1024
        capacity = capacity_of(each, resource) * unit
        average, deviation = (min(max(value * capacity / 100, 0), capacity) for value in found)
        mu = clamp((average + amount(tried, resource) * unit) / capacity)
        sigma = clamp(deviation / capacity)
        sigma = clamp(sigma ** (1 / sensitivity) * margin)
        scores.append((1 - (mu + sigma) / 2) * 100)
    return nearest(min(scores) if len(scores) == 2 else max([0.0, *scores]))


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_load_variation_risk_balancing(seed: int) -> None:
    rng = random.Random(seed)
    margin, sensitivity = rng.choice([0.5, 1.0, 3.0]), rng.choice([0.5, 1.0, 2.0])
    args = {"watcherAddress": WATCHER, "safeVarianceMargin": margin, "safeVarianceSensitivity": sensitivity}
    world = busy_world(rng, "LoadVariationRiskBalancing", args)
    for tried, result in world.attempts():
        raw = {}
        for each in world.nodes:
            entries = entries_of(world, each["metadata"]["name"])
            raw[each["metadata"]["name"]] = variation_score(each, entries, tried, margin, sensitivity) if entries else 0
        check_scores(world, result, raw)


# --- LowRiskOverCommitment --------------------------------------------------------------------------------------------

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(400)


def beta_below(a: float, b: float, x: float) -> float:
    """The beta distribution by Gauss's quadrature, away from 1; where t^(a-1) is infinite at 0, of u = t^a."""
    if x > 0.5:
        return 1 - beta_below(b, a, 1 - x)
    if x <= 0:
        return 0.0
    if a >= 1:
        t = (POINTS + 1) * x / 2
        area = float(np.sum(WEIGHTS * t ** (a - 1) * (1 - t) ** (b - 1))) * x / 2
    else:
        u = (POINTS + 1) * x**a / 2
        area = float(np.sum(WEIGHTS * (1 - u ** (1 / a)) ** (b - 1))) * x**a / 2 / a
    return area / math.exp(math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.3), (0.5, 0.5), (1, 1), (2, 5), (9, 0.7), (40, 60)])
def test_the_beta_distribution(a: float, b: float) -> None:
    for x in (0.01, 0.2, 0.5, 0.73, 0.99):
        assert regularized_incomplete_beta(a, b, x) == pytest.approx(beta_below(a, b, x), abs=1e-6)


def probability(mu: float, sigma: float, requested: float, limit: float | None) -> float:
    """That the load is at most what is requested; ``limit``: given that it is at most this."""
    if limit == 0:
        return 1.0
    if mu == 0 or (sigma == 0 and mu <= requested):
        return 1.0
    if sigma == 0:
        return 0.0
    t = mu * (1 - mu) / sigma**2 - 1
    below = beta_below(mu * t, (1 - mu) * t, requested)
    within = None if limit is None else beta_below(mu * t, (1 - mu) * t, limit)
    return clamp(below / within) if within else below


def risk(
    resource: str, each: Manifest, there: list[Manifest], entries: list[Manifest], tried: Manifest, args: Any
) -> float:
    def committed(pods: list[Manifest]) -> tuple[float, float]:
        requests = [amount(p, resource) for p in pods]
        limits = [max(amount(p, resource, "limits"), amount(p, resource)) for p in pods]
        return min(sum(requests), capacity), sum(limits)

    capacity = capacity_of(each, resource)
    (request, limit), (request_before, limit_before) = committed([*there, tried]), committed(there)
    by_limits = (limit - capacity) / (limit - request) if limit > capacity else 0.0
    by_load, found = 0.0, statistics(entries, "CPU" if resource == "cpu" else "Memory")
    if found is not None:
        mu, sigma = clamp(found[0] / 100), clamp(found[1] / 100)
        sigma = min(sigma * math.sqrt(args["smoothingWindowSize"]), math.sqrt(0.99 * mu * (1 - mu)))
        given_limit = limit_before / capacity if limit_before < capacity and request_before <= limit_before else None
        by_load = 1 - probability(mu, sigma, clamp(request_before / capacity), given_limit)
    weight = args["riskLimitWeights"][resource]
    return clamp(weight * by_limits + (1 - weight) * by_load)


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_low_risk_over_commitment(seed: int) -> None:
    rng = random.Random(seed)
    weights = {"cpu": rng.choice([0.0, 0.5, 1.0]), "memory": rng.choice([0.0, 0.25, 0.5])}
    args = {"smoothingWindowSize": rng.choice([1, 5, 9]), "riskLimitWeights": weights}
    world = busy_world(rng, "LowRiskOverCommitment", {"watcherAddress": WATCHER, **args})
    for tried, result in world.attempts():
        asks = any(amount(tried, resource, of) for resource in ("cpu", "memory") for of in ("requests", "limits"))
        if len(result["feasible"]) < 2:
            continue
        for each in world.nodes:
            name = each["metadata"]["name"]
            entries, there, want = entries_of(world, name), world.on(name), 0.0
            if asks and entries:
                want = (1 - max(risk(r, each, there, entries, tried, args) for r in ("cpu", "memory"))) * 100
            # Another way to the same number: only what lies on the edge between two may be rounded to either.
            assert abs(result["score"]["LowRiskOverCommitment"][name] - want) <= 0.5 + 1e-4


def test_what_a_load_risks_is_worked_out_once_for_all_pods_and_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float, float]] = []

    def counted(mu: float, sigma: float, threshold: float) -> tuple[float, Beta | None]:
        asked.append((mu, sigma, threshold))
        return probability_below(mu, sigma, threshold)

    monkeypatch.setattr(lowrisk, "probability_below", counted)
    lowrisk.risk_of_load.cache_clear()
    world = World("LowRiskOverCommitment", {"watcherAddress": WATCHER})
    names = ["n0", "n1", "n2", "n3"]
    world.nodes = [node(name, {"cpu": "4", "memory": "8Gi"}) for name in names]
    figures = [metric(kind, of, value) for kind in ("CPU", "Memory") for of, value in (("AVG", 47), ("STD", 20.5))]
    world.metrics = {
        "window": {"duration": "15m", "start": START - 900, "end": START},
        "data": {"NodeMetricsMap": {name: {"metrics": figures} for name in names}},
    }
    world.incoming = [pod(f"p{i}", container({"cpu": cpu})) for i, cpu in enumerate(("100m", "200m", "1"))]
    assert [len(result["feasible"]) for _, result in world.attempts()] == [4, 4, 4]
    # Cpu and memory of empty nodes once, and the cpu of the only node that changed, after the first pod and the second.
    assert [threshold for _, _, threshold in asked] == [0.0, 0.0, 0.025, 0.075]


# --- Peaks ------------------------------------------------------------------------------------------------------------


def own_cpu(manifest: Manifest) -> float:
    """Kubernetes' sum of a pod without restartable init containers; overhead is added to something only."""
    spec = {**manifest["spec"], "overhead": {}}
    bare = amount({"spec": spec}, "cpu")
    return bare + (amount(manifest, "cpu") - bare if bare else 0.0)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
@example(0)
def test_peaks(seed: int) -> None:
    rng = random.Random(seed)
    models = {
        f"n{i}": {"k0": 400.0, "k1": rng.choice([-90.5, 1.0, 0.0]), "k2": rng.choice([-0.07, 0.02])} for i in range(4)
    }
    world = busy_world(rng, "Peaks", {"WatcherAddress": WATCHER, "NodePowerModel": models})
    for tried, result in world.attempts():
        raw = {}
        for each in world.nodes:
            name = each["metadata"]["name"]
            loads = [
                m["value"] for m in entries_of(world, name) if m["type"] == "CPU" and m["operator"] in ("AVG", "Latest")
            ]
            capacity, model = capacity_of(each, "cpu", "capacity"), models.get(name)
            raw[name] = 0
            if loads and model:
                after = 100 * (loads[0] / 100 * capacity + own_cpu(tried)) / capacity
                if after <= 100:
                    power = math.exp(model["k2"] * after) - math.exp(model["k2"] * loads[0])
                    raw[name] = int(model["k1"] * power * 1e15)
        check_scores(world, result, raw, less_is_better(raw))
