"""Three-zone shop: 12 nodes and 64 pods, where 18 more arrive; a gang of six and pods that ask a person.

Every queue gets a visitor within two minutes: a gated export, a job too large for any node, a preemption by the
ingress, spreading over zones, a gang whose sixth member finds no place until a sync job ends, and two databases that
need an approval.
"""

from __future__ import annotations

from framework.sentences import noted
from schedweb.snapshots.samples.manifests import (
    START,
    Arrival,
    Manifest,
    SampleCluster,
    Workload,
    disruption_budget,
    namespace,
    node,
    one_per_node,
    pod_group,
    priority_class,
    spread_over,
    taint,
    toleration,
)

ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
ZONE = "topology.kubernetes.io/zone"
WEB_IMAGE = "registry.example.com/shop/web:3.2.0"

WEB = Workload("web", "shop", {"cpu": "500m", "memory": "512Mi"}, WEB_IMAGE)
CHECKOUT = Workload(
    "checkout",
    "shop",
    {"cpu": "750m", "memory": "1Gi"},
    "registry.example.com/shop/checkout:1.9.4",
    priority_class="business",
    spec={"topologySpreadConstraints": [spread_over(ZONE, "checkout", max_skew=1, hard=True)]},
)
SEARCH = Workload("search", "shop", {"cpu": "1", "memory": "3Gi"}, "registry.example.com/shop/search:0.8.1")
REPORTS = Workload(
    "reports",
    "batch",
    {"cpu": "1500m", "memory": "2Gi"},
    "registry.example.com/batch/reports:5",
    priority_class="batch",
)
AGENT = Workload("node-agent", "monitoring", {"cpu": "100m", "memory": "128Mi"}, "registry.example.com/agent:2.0.1")
DATABASE = Workload(
    "postgres",
    "data",
    {"cpu": "2", "memory": "16Gi"},
    "registry.example.com/postgres:17.6",
    kind="StatefulSet",
    priority_class="business",
    spec={
        "nodeSelector": {"pool": "data"},
        "tolerations": [toleration("dedicated")],
        "affinity": one_per_node("postgres"),
    },
)
CART_CACHE = Workload(
    "cart-cache",
    "shop",
    {"cpu": "250m", "memory": "2Gi"},
    "registry.example.com/redis:8.2",
    priority_class="patient",
    labels={"scheduling.x-k8s.io/pod-group": "cart-cache"},
    spec={"nodeSelector": {"disk": "nvme"}, "affinity": one_per_node("cart-cache")},
)
SYNC = Workload(
    "stock-sync",
    "batch",
    {"cpu": "500m", "memory": "20Gi"},
    "registry.example.com/batch/sync:4",
    priority_class="business",
)
INGRESS = Workload(
    "ingress",
    "shop",
    {"cpu": "3", "memory": "1Gi"},
    "registry.example.com/ingress:1.14.0",
    priority_class="critical",
    spec={"topologySpreadConstraints": [spread_over(ZONE, "ingress", max_skew=1)]},
)
EXPORT = Workload(
    "nightly-export",
    "data",
    {"cpu": "1", "memory": "2Gi"},
    "registry.example.com/batch/export:2",
    spec={"schedulingGates": [{"name": "data.example.com/quota"}]},
)
HUGE = Workload(
    "legacy-report",
    "batch",
    {"cpu": "24", "memory": "96Gi"},
    "registry.example.com/batch/legacy:1",
    priority_class="batch",
)


def three_zone_shop() -> SampleCluster:
    nodes = [*_general_nodes(), *_data_nodes()]
    general = [n["metadata"]["name"] for n in nodes if n["metadata"]["labels"]["pool"] == "general"]
    data = [n["metadata"]["name"] for n in nodes if n["metadata"]["labels"]["pool"] == "data"]
    objects: list[Manifest] = [
        *(namespace(name) for name in ("shop", "data", "batch", "monitoring")),
        priority_class("critical", 100_000),
        priority_class("business", 10_000),
        priority_class("patient", 5_000, never_preempts=True),
        priority_class("batch", -10),
        pod_group("cart-cache", "shop", min_member=6, timeout_seconds=60),
        disruption_budget("reports", "batch", "reports", allowed=2),
        *nodes,
        *WEB.controller(17),
        *CHECKOUT.controller(6),
        *SEARCH.controller(9),
        *REPORTS.controller(14),
        *AGENT.controller(12),
        *DATABASE.controller(4),
        *CART_CACHE.controller(6),
        *SYNC.controller(1),
        *INGRESS.controller(3),
        *EXPORT.controller(1),
        *HUGE.controller(1),
        *(AGENT.pod(i, on=name) for i, name in enumerate([*general, *data])),
        *(WEB.pod(i, on=general[i % 8]) for i in range(17)),
        *(CHECKOUT.pod(i, on=general[i]) for i in range(6)),
        *(SEARCH.pod(i, on=general[i % 8]) for i in range(9)),
        *(REPORTS.pod(i, on=general[(i * 3) % 8]) for i in range(14)),
        SYNC.pod(0, on="shop-b-2"),
        DATABASE.pod(0, on=data[0]),
        DATABASE.pod(1, on=data[1]),
        EXPORT.pod(0, created=START),
        HUGE.pod(0, created=START),
        WEB.pod(18, created=START),
    ]
    arrivals = [
        *(Arrival(1 + i, CART_CACHE.pod(i, created=START)) for i in range(6)),
        Arrival(7, DATABASE.pod(2, created=START)),
        *(Arrival(8 + i, WEB.pod(19 + i, created=START)) for i in range(4)),
        *(Arrival(14 + 2 * i, INGRESS.pod(i, created=START)) for i in range(3)),
        *(Arrival(24 + i, REPORTS.pod(14 + i, created=START)) for i in range(3)),
        Arrival(35, SYNC.pod(0), delete=True),
        Arrival(40, DATABASE.pod(3, created=START)),
    ]
    return SampleCluster(
        name="Three-zone shop",
        description=noted("A gang of six and two approvals. Two minutes to see every queue."),
        configuration="default-approvals",
        objects=objects,
        arrivals=arrivals,
    )


NVME = {"shop-a-1", "shop-b-1", "shop-c-1", "shop-a-2", "shop-b-2", "shop-b-3"}


def _general_nodes() -> list[Manifest]:
    """Eight: three each in zones a and b, two in zone c, of which one is cordoned."""
    places = [(number, zone) for number in range(1, 4) for zone in ZONES if (number, zone) != (3, ZONES[2])]
    nodes = [
        node(
            f"shop-{zone[-1]}-{number}",
            zone=zone,
            pool="general",
            instance_type="m7i.2xlarge",
            capacity={"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi"},
            allocatable={"cpu": "7910m", "memory": "30Gi", "ephemeral-storage": "90Gi"},
            cordoned=(number, zone) == (2, ZONES[2]),
            images={WEB_IMAGE: 212_000_000} if number < 3 else None,
        )
        for number, zone in places
    ]
    for made in nodes:
        if made["metadata"]["name"] in NVME:
            made["metadata"]["labels"]["disk"] = "nvme"
    return nodes


def _data_nodes() -> list[Manifest]:
    return [
        node(
            f"data-{zone[-1]}-{number}",
            zone=zone,
            pool="data",
            instance_type="r7i.xlarge",
            capacity={"cpu": "4", "memory": "32Gi", "ephemeral-storage": "200Gi"},
            allocatable={"cpu": "3920m", "memory": "30Gi", "ephemeral-storage": "180Gi"},
            taints=[taint("dedicated", "data")],
        )
        for number, zone in ((1, ZONES[0]), (1, ZONES[1]), (1, ZONES[2]), (2, ZONES[0]))
    ]
