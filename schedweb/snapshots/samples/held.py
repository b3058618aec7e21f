"""Held places: two Reservations keep room for pods that come later, and a pod that may not use them finds none.

At the start both get their places; three reports take the rest and a fourth waits beside room that is held. After a
minute the nightly training comes to the place that is held for it, after two a standby uses the other one up.
"""

from __future__ import annotations

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
)

ZONES = ("eu-1a", "eu-1b", "eu-1c")
WEB = Workload("web", "shop", {"cpu": "2", "memory": "8Gi"}, "registry.example.com/shop/web:12")
REPORT = Workload("report", "batch", {"cpu": "9", "memory": "24Gi"}, "registry.example.com/batch/report:3")
NIGHTLY = Workload("nightly", "ml", {"cpu": "4", "memory": "16Gi"}, "registry.example.com/ml/nightly:8")
STANDBY = Workload("standby", "shop", {"cpu": "5", "memory": "12Gi"}, "registry.example.com/shop/web:12")


def held_places() -> SampleCluster:
    names = [f"worker-{number}" for number in range(1, 6)]
    nodes = [
        node(
            name,
            zone=ZONES[place % 3],
            pool="worker",
            instance_type="m7i.4xlarge",
            capacity={"cpu": "16", "memory": "64Gi"},
        )
        for place, name in enumerate(names)
    ]
    objects: list[Manifest] = [
        *(namespace(name) for name in ("shop", "batch", "ml")),
        *nodes,
        _reservation("nightly-training", NIGHTLY, "8", "32Gi", once=False),
        _reservation("standby-web", STANDBY, "6", "16Gi", once=True),
        *WEB.controller(15),
        *REPORT.controller(4),
        *NIGHTLY.controller(2),
        *STANDBY.controller(1),
        *(WEB.pod(number, on=names[number % 5]) for number in range(15)),
        *(REPORT.pod(number, created=START) for number in range(4)),
    ]
    return SampleCluster(
        name="Held places",
        description=noted("Reservations: room that is kept for pods to come."),
        configuration="reservations",
        objects=objects,
        arrivals=[
            *(Arrival(60 + number, NIGHTLY.pod(number, created=START)) for number in range(2)),
            Arrival(120, STANDBY.pod(0, created=START)),
        ],
    )


def _reservation(name: str, owner: Workload, cpu: str, memory: str, *, once: bool) -> Manifest:
    """Of so high a priority that it gets its place before pods that wait."""
    container = {"name": "main", "image": owner.image, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": metadata("Reservation", name, created=START),
        "spec": {
            "template": {
                "metadata": {"namespace": owner.namespace},
                "spec": {"priority": 10_000, "containers": [container]},
            },
            "owners": [{"labelSelector": {"matchLabels": dict(owner.pod_labels)}}],
            "allocateOnce": once,
            "ttl": "24h",
        },
    }
