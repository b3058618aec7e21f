"""Shared cluster: teams with ElasticQuotas on nodes with two NUMA zones, an AppGroup, and the load of every node.

Three pods find no place: one asks for more than all quotas guarantee, one for more than its namespace may use, and one
for more cpu than any NUMA zone has free.
"""

from __future__ import annotations

from typing import Any

from framework.sentences import noted
from schedweb.snapshots.samples.manifests import (
    START,
    Arrival,
    Manifest,
    SampleCluster,
    Workload,
    metadata,
    namespace,
    node,
    priority_class,
)

REGION = "eu-1"
ZONES = ("eu-1a", "eu-1b", "eu-1c")
ZONE_CPU, ZONE_MEMORY = 24, 96
FREE = ((8, 14), (9, 13), (12, 10), (14, 8), (7, 15), (11, 11))
"""Cpu of each zone, per node: what the pods below leave."""
GROUP, WORKLOAD = "appgroup.diktyo.x-k8s.io", "appgroup.diktyo.x-k8s.io.workload"

TRAINER = Workload("trainer", "ml", {"cpu": "6", "memory": "24Gi"}, "registry.example.com/ml/trainer:24.09")
LARGE_TRAINER = Workload("sweep", "ml", {"cpu": "20", "memory": "96Gi"}, "registry.example.com/ml/sweep:3")
ETL = Workload("etl", "batch", {"cpu": "2", "memory": "6Gi"}, "registry.example.com/batch/etl:18")
WEB = Workload("web", "shop", {"cpu": "2", "memory": "4Gi"}, "registry.example.com/shop/web:81")
LAB = Workload("notebook", "lab", {"cpu": "2", "memory": "8Gi"}, "registry.example.com/lab/notebook:5")
LARGE_LAB = Workload("analysis", "lab", {"cpu": "4", "memory": "16Gi"}, "registry.example.com/lab/analysis:2")


def _talking(name: str, cpu: str) -> Workload:
    labels = {GROUP: "checkout", WORKLOAD: name}
    return Workload(name, "shop", {"cpu": cpu, "memory": "2Gi"}, f"registry.example.com/shop/{name}:7", labels=labels)


PRICING, BASKET = _talking("pricing", "500m"), _talking("basket", "500m")


def shared_cluster() -> SampleCluster:
    numa = [_node(f"numa-{i}", ZONES[i % 3], "numa") for i in range(1, 7)]
    general = [_node(f"general-{i}", ZONES[i % 3], "general") for i in range(1, 3)]
    names = [each["metadata"]["name"] for each in numa]
    objects: list[Manifest] = [
        *(namespace(name) for name in ("ml", "batch", "shop", "lab", "sim")),
        _kept("patient", 1_000, minimum=20_000, seconds=600),
        priority_class("urgent", 10_000),
        _quota("ml", "64", "128", "320Gi", "640Gi"),
        _quota("batch", "64", "96", "256Gi", "384Gi"),
        _quota("shop", "52", "64", "128Gi", "192Gi"),
        _quota("lab", "8", "8", "48Gi", "64Gi"),
        *numa,
        *general,
        *(_topology(name, FREE[i]) for i, name in enumerate(names)),
        _app_group(),
        _network_topology(),
        _seccomp_profile(),
        _load([*names, "general-1", "general-2"]),
        *TRAINER.controller(13),
        *LARGE_TRAINER.controller(1),
        *ETL.controller(31),
        *WEB.controller(17),
        *LAB.controller(3),
        *LARGE_LAB.controller(1),
        *PRICING.controller(1),
        *BASKET.controller(2),
        *(TRAINER.pod(i, on=names[i % 6]) for i in range(12)),
        TRAINER.pod(12, on="general-1"),
        *(ETL.pod(i, on=names[i % 6]) for i in range(30)),
        ETL.pod(30, on="general-2"),
        *(WEB.pod(i, on=names[i % 6]) for i in range(12)),
        *(WEB.pod(12 + i, on=f"general-{i % 2 + 1}") for i in range(5)),
        *(LAB.pod(i, on="general-2") for i in range(3)),
        PRICING.pod(0, on="numa-3"),
        LARGE_TRAINER.pod(0, created=START),
        LARGE_LAB.pod(0, created=START),
        _pinned("mesh-sim", "16", "32Gi"),
        _pinned("grid-sim", "6", "16Gi"),
        *(BASKET.pod(i, created=START) for i in range(2)),
    ]
    return SampleCluster(
        name="Shared cluster",
        description=noted("Elastic quotas, NUMA zones, network costs and measured load."),
        configuration="shared-cluster",
        objects=objects,
        arrivals=[Arrival(120, ETL.pod(0), delete=True)],
    )


def _node(name: str, zone: str, pool: str) -> Manifest:
    price = {"numa": "3.2", "general": "2.1"}[pool]
    made = node(
        name,
        zone=zone,
        pool=pool,
        instance_type=f"{pool}.48",
        capacity={"cpu": str(2 * ZONE_CPU), "memory": f"{2 * ZONE_MEMORY}Gi"},
    )
    labels = made["metadata"]["labels"]
    labels.update({"example.com/price": price, "topology.kubernetes.io/region": REGION})
    return made


def _quota(team: str, least: str, most: str, least_memory: str, most_memory: str) -> Manifest:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": metadata("ElasticQuota", team, team),
        "spec": {"min": {"cpu": least, "memory": least_memory}, "max": {"cpu": most, "memory": most_memory}},
    }


def _topology(name: str, free: tuple[int, int]) -> Manifest:
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": metadata("NodeResourceTopology", name),
        "attributes": [
            {"name": "topologyManagerPolicy", "value": "single-numa-node"},
            {"name": "topologyManagerScope", "value": "pod"},
        ],
        "zones": [_zone(number, cpu) for number, cpu in enumerate(free)],
    }


def _zone(number: int, cpu: int) -> Manifest:
    whole = {"cpu": str(ZONE_CPU), "memory": f"{ZONE_MEMORY}Gi"}
    free = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi"}
    costs = [{"name": f"node-{other}", "value": 10 if other == number else 21} for other in range(2)]
    return {
        "name": f"node-{number}",
        "type": "Node",
        "costs": costs,
        "resources": [
            {"name": name, "capacity": amount, "allocatable": amount, "available": free[name]}
            for name, amount in whole.items()
        ],
    }


def _pinned(name: str, cpu: str, memory: str) -> Manifest:
    """Guaranteed, so that its cpus come from one zone."""
    amounts = {"cpu": cpu, "memory": memory}
    container = {
        "name": "main",
        "image": "registry.example.com/sim/mesh:4",
        "resources": {"requests": dict(amounts), "limits": amounts},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata("Pod", name, "sim", START, labels={"app": name}),
        "spec": {"containers": [container], "nodeSelector": {"pool": "numa"}, "priorityClassName": "patient"},
        "status": {"phase": "Pending"},
    }


def _kept(name: str, value: int, *, minimum: int, seconds: int) -> Manifest:
    """A class whose pods PreemptionToleration spares."""
    prefix = "preemption-toleration.scheduling.x-k8s.io/"
    made = priority_class(name, value)
    made["metadata"]["annotations"] = {
        f"{prefix}minimum-preemptable-priority": str(minimum),
        f"{prefix}toleration-seconds": str(seconds),
    }
    return made


def _app_group() -> Manifest:
    def workload(name: str) -> Manifest:
        about = {"kind": "ReplicaSet", "apiVersion": "apps/v1", "namespace": "shop"}
        return {**about, "name": name, "selector": name}

    depends = {"workload": workload("pricing"), "minBandwidth": "100Mi", "maxNetworkCost": 5}
    order = [{"workload": workload(name), "index": place} for place, name in enumerate(("pricing", "basket"), start=1)]
    return {
        "apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1",
        "kind": "AppGroup",
        "metadata": metadata("AppGroup", "checkout", "shop"),
        "spec": {
            "numMembers": 2,
            "topologySortingAlgorithm": "KahnSort",
            "workloads": [
                {"workload": workload("basket"), "dependencies": [depends]},
                {"workload": workload("pricing"), "dependencies": []},
            ],
        },
        "status": {"topologyOrder": order},
    }


def _network_topology() -> Manifest:
    costs = {("eu-1a", "eu-1b"): 4, ("eu-1a", "eu-1c"): 12, ("eu-1b", "eu-1c"): 9}
    origins = [
        {
            "origin": here,
            "costList": [
                {"destination": there, "networkCost": costs[min(here, there), max(here, there)]}
                for there in ZONES
                if there != here
            ],
        }
        for here in ZONES
    ]
    listed = {"topologyKey": "topology.kubernetes.io/zone", "originList": origins}
    return {
        "apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1",
        "kind": "NetworkTopology",
        "metadata": metadata("NetworkTopology", "nt-default", "shop"),
        "spec": {
            "configmapName": "netperf-metrics",
            "weights": [{"name": "UserDefined", "topologyList": [listed]}],
        },
    }


def _seccomp_profile() -> Manifest:
    calls = ["read", "write", "openat", "close", "mmap", "futex", "epoll_wait", "sendto", "recvfrom"]
    return {
        "apiVersion": "security-profiles-operator.x-k8s.io/v1beta1",
        "kind": "SeccompProfile",
        "metadata": metadata("SeccompProfile", "all-syscalls", "shop"),
        "spec": {"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"action": "SCMP_ACT_ALLOW", "names": calls}]},
    }


def _load(names: list[str]) -> Manifest:
    """Of the last quarter of an hour, per node."""
    cpu = (33, 20, 62, 40, 71, 55, 12, 28)
    measured: dict[str, Any] = {}
    for name, percent in zip(names, cpu, strict=True):
        values = (("CPU", "AVG", percent), ("CPU", "STD", 2 + percent // 12), ("Memory", "AVG", 30 + percent // 2))
        measured[name] = {
            "metrics": [
                {"name": f"host.{type_.lower()}.utilisation", "type": type_, "operator": operator, "rollup": "15m"}
                | {"value": value}
                for type_, operator, value in values
            ]
        }
    end = 1_795_168_800
    return {
        "apiVersion": "load-watcher.paypal.com/v1",
        "kind": "LoadMetrics",
        "metadata": metadata("LoadMetrics", "load-watcher"),
        "timestamp": end,
        "window": {"duration": "15m", "start": end - 900, "end": end},
        "source": "Prometheus",
        "data": {"NodeMetricsMap": measured},
    }
