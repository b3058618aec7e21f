"""Small random clusters with pending pods that resources, spreading, affinity and taints keep from their nodes."""

from __future__ import annotations

import random
from typing import Any

from framework.configuration import load_value
from framework.objects import Namespace, Node, ObjectMeta, Pod
from framework.plugins.registry import built_in_registry
from framework.scheduler import Cluster, Observer, Scheduler
from tests.builders import make_node, make_pod

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def random_spec(rng: random.Random) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    kind = rng.random()
    app = {"matchLabels": {"app": rng.choice(["web", "db"])}}
    if kind < 0.25:
        term = {"topologyKey": rng.choice([HOSTNAME, ZONE]), "labelSelector": app}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind < 0.45:
        constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": app}
        spec["topologySpreadConstraints"] = [constraint]
    elif kind < 0.55:
        spec["nodeSelector"] = {ZONE: rng.choice("abc")}
    if rng.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    return spec


def random_pod(rng: random.Random, name: str, node: str = "") -> Pod:
    requests = {"cpu": rng.choice(["100m", "500m", "1", "3"]), "memory": rng.choice(["64Mi", "1Gi"])}
    labels = {"app": rng.choice(["web", "db"])}
    priority = rng.choice([0, 0, 10, 100])
    return make_pod(name, labels=labels, requests=requests, node_name=node, priority=priority, **random_spec(rng))


def random_node(rng: random.Random, name: str) -> Node:
    taints = [{"key": key, "effect": "NoSchedule"} for key in ("dedicated", "spot") if rng.random() < 0.2]
    labels = {HOSTNAME: name, ZONE: rng.choice("ab")}
    cpu, pods = rng.choice(["1", "2", "4"]), rng.choice("239")
    return make_node(name, labels=labels, taints=taints, cpu=cpu, pods=pods, unschedulable=rng.random() < 0.15)


def random_scheduler(rng: random.Random, *, pending: int) -> Scheduler:
    """``pending`` pods wait in its queue; nothing was tried yet."""
    cluster = Cluster()
    cluster.put(Namespace(metadata=ObjectMeta(name="default")))
    nodes = [f"n{i}" for i in range(rng.randint(1, 4))]
    for name in nodes:
        cluster.put(random_node(rng, name))
    for i in range(rng.randint(0, 5)):
        cluster.put(random_pod(rng, f"placed-{i}", rng.choice(nodes)))
    for i in range(pending):
        cluster.put(random_pod(rng, f"pending-{i}"))
    return scheduler_over(cluster, rng.randint(0, 99))


def scheduler_over(cluster: Cluster, seed: int = 0) -> Scheduler:
    registry = built_in_registry()
    loaded = load_value(None, registry)
    assert loaded.effective is not None
    return Scheduler(
        loaded.effective, registry, start=0, seed=seed, ties="seeded", observer=Observer(), cluster=cluster
    )
