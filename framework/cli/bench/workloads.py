"""The workloads: those that kube-scheduler was measured with, with its figures, and some of ours.

kube-scheduler v1.36.2, its own algorithm in one process without an API server, parallelism 16, default profile, on 2
cores of an AMD EPYC virtual machine. *Adaptive*: percentageOfNodesToScore 0, it looks at a part of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from framework.cli.bench.beside import BESIDE, ZONES
from framework.cli.bench.distinct import distinct_pods
from framework.cli.bench.objects import (
    HOSTNAME,
    NAMESPACES,
    ZONE,
    Manifest,
    node_affinity,
    plain,
    pod_affinity,
    spreading,
    workload_pod,
)

Templates = Callable[[int, int], list[Manifest]]
"""(number of the first pod, how many) → what each pod is made from."""
ONE_NAMESPACE: Final = ("default", "default")


@dataclass(frozen=True, slots=True)
class Workload:
    name: str
    says: str
    nodes: int
    init_pods: int
    """Placed round robin before the measured pods come, untimed."""
    pods: int
    measured: Templates
    init: Templates
    zones: int = 0
    """Nodes are spread over this many; 0 for nodes without a zone label."""
    adaptive: float | None = None
    """kube-scheduler's pods per second when it looks at a part of the nodes."""
    every_node: float | None = None
    target: float | None = None
    """Pods per second where no figure of kube-scheduler's sets one."""
    namespaces: tuple[str, str] = ONE_NAMESPACE
    """Of the init pods and of the measured ones."""
    one_by_one: bool = False
    """Each pod comes when the one before it is done; else all of them are queued first."""
    defaulting_type: str = ""
    """PodTopologySpread's argument; "" keeps the default profile as it is."""
    plugin: str = ""
    """A third party's plugin in the profile: ``score`` or ``filter``."""
    beside: str = ""
    """A plugin beside the default profile, with its objects (``BESIDE``)."""
    init_per_node: int = 0
    """When the number of nodes is changed the init pods follow it."""

    def resized(self, nodes: int | None, init_pods: int | None, pods: int | None) -> Workload:
        """The same with other numbers; None keeps."""
        chosen = self.nodes if nodes is None else nodes
        placed = self.init_per_node * chosen if self.init_per_node else self.init_pods
        return replace(
            self,
            nodes=chosen,
            init_pods=placed if init_pods is None else init_pods,
            pods=self.pods if pods is None else pods,
        )


def same(template: Callable[[], Manifest]) -> Templates:
    return lambda first, count: [template() for _ in range(count)]


def in_turn(workloads: int) -> Templates:
    return lambda first, count: [workload_pod(f"workload-{n % workloads}") for n in range(first, first + count)]


def _affine(kind: str, color: str, key: str, *, preferred: bool) -> Templates:
    return same(lambda: pod_affinity(kind, color, key, preferred=preferred))


_ANTI: Final = _affine("podAntiAffinity", "green", HOSTNAME, preferred=False)
_AFFINITY: Final = _affine("podAffinity", "blue", ZONE, preferred=False)
_PREFERRED: Final = _affine("podAffinity", "red", HOSTNAME, preferred=True)
_PREFERRED_ANTI: Final = _affine("podAntiAffinity", "yellow", HOSTNAME, preferred=True)
_KINDS: Final = (same(plain), _AFFINITY, _ANTI, _PREFERRED, _PREFERRED_ANTI)


def _five_kinds(first: int, count: int) -> list[Manifest]:
    """Equal shares, one kind after the other."""
    share = -(-count // len(_KINDS))
    return [template for kind in _KINDS for template in kind(first, share)][:count]


def _large(cpu: str) -> Templates:
    return same(lambda: {"cpu": cpu})


_PLAIN: Final = same(plain)
_QUARTERS: Final = same(lambda: {"cpu": "900m", "priority": 0})
_URGENT: Final = same(lambda: {"cpu": "3", "priority": 10})

WORKLOADS: Final = (
    Workload("SchedulingBasic500", "equal pods, 500 nodes", 500, 500, 1000, _PLAIN, _PLAIN, 0, 2435, 1258),
    Workload("SchedulingBasic", "equal pods", 5000, 1000, 1000, _PLAIN, _PLAIN, 0, 1148, 188),
    Workload("SchedulingBasic10000Pods", "equal pods", 5000, 1000, 10000, _PLAIN, _PLAIN, 0, 1069, 194),
    Workload("SchedulingBasic15000", "equal pods, 15,000 nodes", 15000, 1000, 1000, _PLAIN, _PLAIN, 0, 771, 49),
    Workload(
        "TopologySpreading",
        "DoNotSchedule over 3 zones",
        5000,
        5000,
        2000,
        same(lambda: spreading("DoNotSchedule")),
        _PLAIN,
        3,
        650,
        150,
    ),
    Workload(
        "PreferredTopologySpreading",
        "ScheduleAnyway over 3 zones",
        5000,
        5000,
        2000,
        same(lambda: spreading("ScheduleAnyway")),
        _PLAIN,
        3,
        686,
        120,
    ),
    Workload(
        "SchedulingPodAntiAffinity",
        "required, hostname, two namespaces",
        5000,
        1000,
        1000,
        _ANTI,
        _ANTI,
        0,
        346,
        124,
        namespaces=NAMESPACES,
    ),
    Workload(
        "SchedulingPodAffinity",
        "required, one zone",
        5000,
        5000,
        1000,
        _AFFINITY,
        _AFFINITY,
        1,
        177,
        81,
        namespaces=NAMESPACES,
    ),
    Workload(
        "SchedulingPreferredPodAffinity",
        "hostname",
        5000,
        5000,
        1000,
        _PREFERRED,
        _PREFERRED,
        0,
        177,
        80,
        namespaces=NAMESPACES,
    ),
    Workload(
        "SchedulingPreferredPodAntiAffinity",
        "hostname",
        5000,
        5000,
        1000,
        _PREFERRED_ANTI,
        _PREFERRED_ANTI,
        0,
        173,
        73,
        namespaces=NAMESPACES,
    ),
    Workload(
        "SchedulingNodeAffinity",
        "required, zone In",
        5000,
        5000,
        1000,
        same(node_affinity),
        same(node_affinity),
        1,
        938,
        126,
    ),
    Workload(
        "MixedSchedulingBasePod",
        "equal pods among five kinds",
        5000,
        10000,
        1000,
        _PLAIN,
        _five_kinds,
        1,
        408,
        138,
        namespaces=NAMESPACES,
    ),
    Workload("OnePodPerNode", "pods of 3 cpu", 5000, 1000, 1000, _large("3"), _large("3"), 0, 1206, 216),
    Workload(
        "OnePodPerNodeList",
        "the same, defaultingType List (kube-scheduler batches)",
        5000,
        1000,
        1000,
        _large("3"),
        _large("3"),
        0,
        36688,
        19736,
        target=12000,
        defaulting_type="List",
    ),
    Workload(
        "Preemption",
        "failed try, dry run, victims out, retry",
        5000,
        20000,
        500,
        _URGENT,
        _QUARTERS,
        0,
        120,
        113,
        one_by_one=True,
        init_per_node=4,
    ),
    Workload("Unschedulable", "pods of 9 cpu: failed tries", 5000, 100, 500, _large("9"), _PLAIN, 0, 333, 317),
    Workload("AllDistinct", "no two pods alike", 5000, 1000, 2000, distinct_pods, distinct_pods, 3, target=1150),
    Workload(
        "AllDistinct10000Pods", "no two pods alike", 5000, 1000, 10000, distinct_pods, distinct_pods, 3, target=1150
    ),
    Workload("Deployments1", "one workload, host and zone spreading", 5000, 1000, 5000, in_turn(1), in_turn(1), 3),
    Workload("Deployments100", "100 workloads in turn", 5000, 1000, 5000, in_turn(100), in_turn(100), 3),
    Workload(
        "Deployments1000", "1,000 workloads in turn", 5000, 1000, 5000, in_turn(1000), in_turn(1000), 3, target=3000
    ),
    Workload("Deployments500", "500 workloads in turn", 5000, 1000, 2000, in_turn(500), in_turn(500), 3),
    Workload(
        "Deployments500Placed", "the same with 150,000 pods placed", 5000, 150_000, 2000, in_turn(500), in_turn(500), 3
    ),
    Workload(
        "ThirdPartyScore",
        "equal pods, a node-by-node Score plugin",
        5000,
        1000,
        1000,
        _PLAIN,
        _PLAIN,
        target=1500,
        plugin="score",
    ),
    Workload(
        "ThirdPartyFilter",
        "equal pods, a node-by-node Filter plugin",
        5000,
        1000,
        1000,
        _PLAIN,
        _PLAIN,
        target=1500,
        plugin="filter",
    ),
)


def _with(plugin: str) -> Workload:
    return Workload(
        f"With{plugin}",
        f"equal pods, {plugin} beside the default profile",
        5000,
        1000,
        1000,
        same(lambda: dict(BESIDE[plugin].pod)),
        _PLAIN,
        ZONES,
        beside=plugin,
    )


CATALOGUE: Final = tuple(_with(plugin) for plugin in BESIDE)
"""SchedulingBasic with one more plugin each: no row is to be less than half of it."""
BY_NAME: Final = {workload.name: workload for workload in (*WORKLOADS, *CATALOGUE)}
GROWTH_NODES: Final = (500, 5000, 15000, 50000)
