"""Attempts that scored many nodes, and the same ones made by the engine with other weights."""

from __future__ import annotations

import random
from typing import Any

from framework.configuration import load_value
from framework.objects import Namespace, ObjectMeta
from framework.plugins.registry import built_in_registry
from framework.profiles import TieRule
from framework.scheduler import Cluster, Observer, Scheduler
from framework.trace.attempt import AttemptTrace
from tests.advice.worlds import HOSTNAME, ZONE
from tests.builders import make_node, make_pod

SCORERS = (
    "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit",
    "NodeResourcesBalancedAllocation", "ImageLocality",
)  # fmt: skip
RULES: tuple[TieRule, ...] = ("seeded", "upstream", "smallest")


def random_cluster(rng: random.Random) -> Cluster:
    """Nodes and placed pods that give every Score plugin something to say; one pod waits."""
    cluster = Cluster()
    cluster.put(Namespace(metadata=ObjectMeta(name="default")))
    names = [f"n{i:02}" for i in range(rng.randint(5, 14))]
    for name in names:
        taints = [{"key": "spot", "effect": "PreferNoSchedule"}] if rng.random() < 0.3 else []
        labels = {HOSTNAME: name, ZONE: rng.choice("abc"), "disk": rng.choice(["ssd", "hdd"])}
        images = [{"names": ["app:1"], "sizeBytes": rng.choice([50, 400, 900]) << 20}] if rng.random() < 0.5 else []
        cpu, memory = rng.choice(["2", "4", "8"]), rng.choice(["4Gi", "8Gi"])
        cluster.put(make_node(name, labels=labels, taints=taints, cpu=cpu, memory=memory, pods="110", images=images))
    for i in range(rng.randint(0, 12)):
        requests = {"cpu": rng.choice(["100m", "500m"]), "memory": rng.choice(["64Mi", "1Gi"])}
        cluster.put(make_pod(f"placed-{i}", labels={"app": "web"}, requests=requests, node_name=rng.choice(names)))
    requests = {"cpu": "250m", "memory": "128Mi"}
    cluster.put(make_pod("asked", labels={"app": "web"}, requests=requests, **random_wishes(rng)))
    return cluster


def random_wishes(rng: random.Random) -> dict[str, Any]:
    app = {"matchLabels": {"app": "web"}}
    affinity: dict[str, Any] = {}
    spec: dict[str, Any] = {"affinity": affinity}
    if rng.random() < 0.5:
        term: dict[str, Any] = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        affinity["nodeAffinity"] = {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": term}]
        }
    if rng.random() < 0.4:
        term = {"weight": 3, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": app}}
        affinity["podAntiAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    if rng.random() < 0.4:
        constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": app}
        spec["topologySpreadConstraints"] = [constraint]
    return spec


def random_weights(rng: random.Random) -> dict[str, int]:
    """Some plugins weigh otherwise, some are off."""
    chosen = rng.sample(SCORERS, rng.randint(1, len(SCORERS)))
    return {plugin: rng.choice([0, 0, 1, 2, 3, 5, 10, 100]) for plugin in chosen}


def scheduler_with(cluster: Cluster, weights: dict[str, int], *, rule: TieRule, seed: int) -> Scheduler:
    """The default profile, with these weights."""
    score = {
        "enabled": [{"name": name, "weight": weight} for name, weight in weights.items() if weight],
        "disabled": [{"name": name} for name in weights],
    }
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": {"score": score}}],
    }
    registry = built_in_registry()
    loaded = load_value(document, registry)
    assert loaded.effective is not None, loaded.config_error
    copy = Cluster()
    for each in cluster.all():
        copy.put(each)
    return Scheduler(loaded.effective, registry, start=0, seed=seed, ties=rule, observer=Observer(), cluster=copy)


def attempt_with(cluster: Cluster, weights: dict[str, int], *, rule: TieRule, seed: int) -> AttemptTrace:
    """The engine's own first attempt."""
    made = scheduler_with(cluster, weights, rule=rule, seed=seed).step()
    assert made is not None
    assert made.result == "bound", made.message
    return made


def totals_of(trace: AttemptTrace) -> dict[str, int]:
    assert trace.scores is not None
    assert trace.filter is not None
    names = [trace.filter.nodes[position] for position in trace.scores.positions.tolist()]
    return dict(zip(names, trace.scores.total.tolist(), strict=True))
