"""Plugins beside the default profile, each with the objects that it reads: what SchedulingBasic costs with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from framework.cli.bench.objects import ZONE, Manifest
from framework.objects.catalogue import AppGroup

Objects = Callable[[int], list[Manifest]]
"""How many nodes there are → the objects."""
ZONES: Final = 3
MEASURED_AT: Final = 1_767_225_000


@dataclass(frozen=True, slots=True)
class Beside:
    args: Manifest = field(default_factory=dict)
    objects: Objects = lambda nodes: []
    pod: Manifest = field(default_factory=dict)
    """Added to the measured pods' template."""
    queue_sort: bool = False
    """It takes the place of PrioritySort."""
    instead_of: str = ""
    """A plugin of the default profile that is off."""


def custom(api_version: str, kind: str, name: str, namespace: str = "", **rest: Any) -> Manifest:
    metadata = {"name": name, "uid": f"uid-{kind}-{name}"} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def quotas(nodes: int) -> list[Manifest]:
    """The namespace of the pods may use the whole cluster and is guaranteed half of it."""
    least, most = ({"cpu": str(part * nodes), "memory": f"{8 * part * nodes}Gi"} for part in (2, 4))
    return [custom("scheduling.x-k8s.io/v1alpha1", "ElasticQuota", "team", "default", spec={"min": least, "max": most})]


def load(nodes: int) -> list[Manifest]:
    """Nodes are between 10 and 60 percent busy."""
    figures = (("CPU", "AVG", 10), ("CPU", "STD", 3), ("Memory", "AVG", 20), ("Memory", "STD", 2))
    measured = {
        f"node-{number}": {
            "metrics": [
                {"name": type_, "type": type_, "operator": operator, "rollup": "15m"}
                | {"value": least + (number % 51 if operator == "AVG" else number % 7)}
                for type_, operator, least in figures
            ]
        }
        for number in range(nodes)
    }
    about: Manifest = {
        "timestamp": MEASURED_AT,
        "window": {"duration": "15m", "start": MEASURED_AT - 900, "end": MEASURED_AT},
    }
    return [
        custom("load-watcher.paypal.com/v1", "LoadMetrics", "load-watcher", **about, data={"NodeMetricsMap": measured})
    ]


def numa_zones(nodes: int) -> list[Manifest]:
    """Two zones per node, one with more room than the other."""

    def zone(number: int, cpu: str, memory: str) -> Manifest:
        amounts = (("cpu", cpu), ("memory", memory))
        resources = [
            {"name": name, "capacity": amount, "allocatable": amount, "available": amount} for name, amount in amounts
        ]
        return {"name": f"node-{number}", "type": "Node", "resources": resources}

    attributes = [
        {"name": "topologyManagerPolicy", "value": "single-numa-node"},
        {"name": "topologyManagerScope", "value": "pod"},
    ]
    zones = [zone(0, "2", "16Gi"), zone(1, "1", "8Gi")]
    return [
        custom(
            "topology.node.k8s.io/v1alpha2",
            "NodeResourceTopology",
            f"node-{number}",
            attributes=attributes,
            zones=zones,
        )
        for number in range(nodes)
    ]


def app_group(nodes: int) -> list[Manifest]:
    """The measured pods talk to the ones that are there, which are in every zone."""

    def workload(name: str) -> Manifest:
        return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "namespace": "default", "name": name, "selector": name}

    depends = {"workload": workload("back"), "minBandwidth": "100Mi", "maxNetworkCost": 8}
    members = [{"workload": workload("front"), "dependencies": [depends]}, {"workload": workload("back")}]
    order = [{"workload": workload(name), "index": place} for place, name in enumerate(("back", "front"), start=1)]
    names = [f"zone{number}" for number in range(1, ZONES + 1)]
    origins = [
        {"origin": here, "costList": [{"destination": to, "networkCost": 5} for to in names if to != here]}
        for here in names
    ]
    listed = {"name": "UserDefined", "topologyList": [{"topologyKey": ZONE, "originList": origins}]}
    group = {"numMembers": 2, "topologySortingAlgorithm": "KahnSort", "workloads": members}
    return [
        custom(AppGroup.api_version, "AppGroup", "app", "default", spec=group, status={"topologyOrder": order}),
        custom(
            "networktopology.diktyo.x-k8s.io/v1alpha1",
            "NetworkTopology",
            "costs",
            "default",
            spec={"configmapName": "netperf", "weights": [listed]},
        ),
    ]


def seccomp(nodes: int) -> list[Manifest]:
    """The one of the pods, and the default one with more system calls."""
    return [
        custom(
            "security-profiles-operator.x-k8s.io/v1beta1",
            "SeccompProfile",
            name,
            "default",
            spec={"syscalls": [{"action": "SCMP_ACT_ALLOW", "names": [f"call-{n}" for n in range(calls)]}]},
        )
        for name, calls in (("few", 40), ("all-syscalls", 330))
    ]


def reservations(nodes: int) -> list[Manifest]:
    """A tenth of the nodes hold a cpu for pods that do not come."""
    template = {
        "spec": {"containers": [{"name": "main", "image": "image", "resources": {"requests": {"cpu": "1"}}}]},
    }
    owners = [{"labelSelector": {"matchLabels": {"app": "nobody"}}}]
    return [
        custom(
            "scheduling.koordinator.sh/v1alpha1",
            "Reservation",
            f"held-{number}",
            spec={"template": template, "owners": owners},
            status={"phase": "Available", "nodeName": f"node-{number}", "allocatable": {"cpu": "1"}},
        )
        for number in range(0, nodes, 10)
    ]


_GUARANTEED: Final = {"cpu": "100m", "memory": "500Mi"}
_TALKS: Final = {"labels": {AppGroup.GROUP_LABEL: "app", AppGroup.WORKLOAD_LABEL: "front"}}
_NAMESPACES: Final = {"namespaces": ["default"]}
BESIDE: Final = {
    "Coscheduling": Beside(queue_sort=True),
    "CapacityScheduling": Beside(objects=quotas, instead_of="DefaultPreemption"),
    "NodeResourcesAllocatable": Beside(),
    "NodeResourceTopologyMatch": Beside(
        objects=numa_zones,
        pod={
            "containers": [
                {"name": "main", "image": "image", "resources": {"requests": _GUARANTEED, "limits": _GUARANTEED}}
            ]
        },
    ),
    "PreemptionToleration": Beside(instead_of="DefaultPreemption"),
    "CrossNodePreemption": Beside(),
    "TargetLoadPacking": Beside(objects=load),
    "LoadVariationRiskBalancing": Beside(objects=load),
    "LowRiskOverCommitment": Beside(objects=load),
    "Peaks": Beside(
        args={
            "WatcherAddress": "http://load-watcher:2020",
            "NodePowerModel": {"node-1": {"k0": 470.0, "k1": -91.0, "k2": -0.07}},
        },
        objects=load,
    ),
    "NetworkOverhead": Beside(
        args={**_NAMESPACES, "weightsName": "UserDefined", "networkTopologyName": "costs"},
        objects=app_group,
        pod=_TALKS,
    ),
    "TopologicalSort": Beside(args=_NAMESPACES, objects=app_group, pod=_TALKS, queue_sort=True),
    "SySched": Beside(
        args={"defaultProfileNamespace": "default", "defaultProfileName": "all-syscalls"},
        objects=seccomp,
        pod={
            "securityContext": {
                "seccompProfile": {"type": "Localhost", "localhostProfile": "operator/default/few.json"}
            }
        },
    ),
    "PodState": Beside(),
    "QOSSort": Beside(queue_sort=True),
    "NodeMetadata": Beside(
        args={
            "metadataKey": "kubernetes.io/hostname",
            "metadataSource": "Label",
            "metadataType": "Number",
            "scoringStrategy": "Lowest",
        }
    ),
    "LoadAwareScheduling": Beside(objects=load),
    "ElasticQuotaTree": Beside(objects=quotas),
    "Reservation": Beside(objects=reservations),
}
"""Plugin → what it needs."""


def profile_with(name: str) -> Manifest:
    """Plugins and arguments of the default profile with this one beside it."""
    beside = BESIDE[name]
    many: Manifest = {"enabled": [{"name": name}]}
    if beside.instead_of:
        many["disabled"] = [{"name": beside.instead_of}]
    plugins: Manifest = {"multiPoint": many}
    if beside.queue_sort:
        plugins["queueSort"] = {"enabled": [{"name": name}], "disabled": [{"name": "*"}]}
    return {"plugins": plugins, "pluginConfig": [{"name": name, "args": beside.args}] if beside.args else []}
