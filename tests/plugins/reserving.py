"""Reservations, pods that may use them or may not, and runs with them."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from framework.objects import KubeObject, Pod
from framework.objects.decode import decode_manifest
from framework.objects.reservations import (
    RESERVATION_AFFINITY,
    RESERVATION_ALLOCATED,
    Reservation,
)
from framework.objects.timestamps import format_timestamp
from tests.builders import make_pod
from tests.plugins.playing import START, Play

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Reservation, weight: 5000}]}}
"""
WITHOUT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
GPU = {"gpu": "yes"}


def reservation(
    name: str,
    cpu: str = "2",
    *,
    owners: dict[str, str] | list[dict[str, Any]] | None = None,
    template: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> Reservation:
    """``owners``: labels, or the list as a manifest has it."""
    listed = owners if isinstance(owners, list) else [{"labelSelector": {"matchLabels": owners or GPU}}]
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    manifest = {
        "apiVersion": Reservation.api_version,
        "kind": "Reservation",
        "metadata": {
            "name": name,
            "uid": f"r-{name}",
            "labels": labels or {},
            "creationTimestamp": format_timestamp(START),
        },
        "spec": {"template": {"spec": {"containers": [container], **(template or {})}}, "owners": listed, **spec},
        "status": status or {},
    }
    decoded = decode_manifest(manifest)
    assert isinstance(decoded, Reservation)
    return decoded


def held(name: str, node: str, cpu: str = "2", **more: Any) -> Reservation:
    status = {"phase": "Available", "nodeName": node, "allocatable": {"cpu": cpu}}
    return reservation(name, cpu, status=status, **more)


def owner(name: str, cpu: str = "1", *, must: dict[str, Any] | None = None, **more: Any) -> Pod:
    pod = make_pod(name, labels=GPU, requests={"cpu": cpu}, **more)
    if must is None:
        return pod
    return replace(pod, metadata=replace(pod.metadata, annotations={RESERVATION_AFFINITY: json.dumps(must)}))


def stranger(name: str, cpu: str = "1", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **more)


def using(pod: Pod, name: str) -> Pod:
    text = json.dumps({"name": name, "uid": f"r-{name}"})
    return replace(pod, metadata=replace(pod.metadata, annotations={RESERVATION_ALLOCATED: text}))


def found(play: Play, name: str) -> Reservation:
    known = play.scheduler.cluster.get(Reservation, "", name)
    assert known is not None
    return known


def play_of(*objects: KubeObject, configuration: str = CONFIGURATION) -> Play:
    play = Play(configuration, objects)
    play.cycles()
    return play
