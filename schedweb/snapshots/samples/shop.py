"""Three-zone shop: 12 nodes and 64 pods, where 18 more arrive; a gang of six and pods that ask a person.

Every queue gets a visitor within two minutes: a gated export, a job too large for any node, a preemption by the
ingress, spreading over zones, a gang that waits for its sixth member, and a database that needs an approval.
"""

from __future__ import annotations

from schedweb.snapshots.samples.manifests import (
    START,
    Arrival,
    Manifest,
    SampleCluster,
    Workload,
    disruption_budget,
    namespace,
    node,
    pod_group,
    priority_class,
    spread_over,
    taint,
    toleration,
)

ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
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
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": {"matchLabels": {"app": "postgres"}}, "topologyKey": HOST}
                ]
            }
        },
    },
)
CART_CACHE = Workload(
    "cart-cache",
    "shop",
    {"cpu": "250m", "memory": "2Gi"},
    "registry.example.com/redis:8.2",
    priority_class="business",
    labels={"scheduling.x-k8s.io/pod-group": "cart-cache"},
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
        priority_class("batch", -10),
        pod_group("cart-cache", "shop", min_member=6, timeout_seconds=60),
        disruption_budget("reports", "batch", "reports", allowed=2),
        *nodes,
        *WEB.controller(18),
        *CHECKOUT.controller(6),
        *SEARCH.controller(9),
        *REPORTS.controller(14),
        *AGENT.controller(12),
        *DATABASE.controller(4),
        *CART_CACHE.controller(6),
        *INGRESS.controller(3),
        *EXPORT.controller(1),
        *HUGE.controller(1),
        *(AGENT.pod(i, on=name) for i, name in enumerate([*general, *data])),
        *(WEB.pod(i, on=general[i % 9]) for i in range(18)),
        *(CHECKOUT.pod(i, on=general[i]) for i in range(6)),
        *(SEARCH.pod(i, on=general[i]) for i in range(9)),
        *(REPORTS.pod(i, on=general[(i * 2) % 9]) for i in range(14)),
        DATABASE.pod(0, on=data[0]),
        DATABASE.pod(1, on=data[1]),
        EXPORT.pod(0, created=START),
        HUGE.pod(0, created=START),
        WEB.pod(18, created=START),
    ]
    arrivals = [
        *(Arrival(1 + i, CART_CACHE.pod(i, created=START)) for i in range(5)),
        Arrival(6, DATABASE.pod(2, created=START)),
        *(Arrival(8 + i, WEB.pod(19 + i, created=START)) for i in range(4)),
        *(Arrival(14 + 2 * i, INGRESS.pod(i, created=START)) for i in range(3)),
        *(Arrival(24 + i, REPORTS.pod(14 + i, created=START)) for i in range(3)),
        Arrival(35, CART_CACHE.pod(5, created=START)),
        Arrival(40, DATABASE.pod(3, created=START)),
    ]
    return SampleCluster(
        name="Three-zone shop",
        description="A gang of six and one approval. Two minutes to see every queue.",
        configuration="default-approvals",
        objects=objects,
        arrivals=arrivals,
    )


def _general_nodes() -> list[Manifest]:
    return [
        node(
            f"shop-{zone[-1]}-{number}",
            zone=zone,
            pool="general",
            instance_type="m7i.2xlarge",
            capacity={"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi"},
            allocatable={"cpu": "7910m", "memory": "30Gi", "ephemeral-storage": "90Gi"},
            cordoned=(zone, number) == (ZONES[2], 3),
            images={WEB_IMAGE: 212_000_000} if number < 3 else None,
        )
        for number in range(1, 4)
        for zone in ZONES
    ]


def _data_nodes() -> list[Manifest]:
    return [
        node(
            f"data-{zone[-1]}-1",
            zone=zone,
            pool="data",
            instance_type="r7i.xlarge",
            capacity={"cpu": "4", "memory": "32Gi", "ephemeral-storage": "200Gi"},
            allocatable={"cpu": "3920m", "memory": "30Gi", "ephemeral-storage": "180Gi"},
            taints=[taint("dedicated", "data")],
        )
        for zone in ZONES
    ]
