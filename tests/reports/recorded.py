"""The recorded texts, and the cluster that the recorded log is about, played here."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from framework.cli.clusters import admitted_from
from framework.configuration import load_value
from framework.objects.decode import decode_manifest
from framework.objects.timestamps import SECOND
from framework.plugins.registry import built_in_registry
from framework.queue.queued_pod import QueuePlace
from framework.scheduler import Cluster, Observer, Scheduler

DATA: Final = Path(__file__).parent.parent / "data" / "kube-scheduler"
BLANKED: Final = "IMMDD hh:mm:ss.uuuuuu PID "
PREFIX: Final = re.compile(r"^[IE]\d{4} [\d:]{8}\.\d{6} +\d+ ")


def recorded(name: str) -> list[str]:
    """Lines without times."""
    text = (DATA / name).read_text(encoding="utf-8").replace(BLANKED, "")
    return text.splitlines()


def without_times(entries: list[str]) -> list[str]:
    return [line for entry in entries for line in PREFIX.sub("", entry).split("\n")]


def node(name: str, **allocatable: str) -> dict[str, Any]:
    offered = {"cpu": "2", "memory": "8Gi", "pods": "110"} | allocatable
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": offered, "allocatable": offered},
    }


def pod(name: str, cpu: str, *, memory: str = "256Mi", phase: str = "Pending", **spec: Any) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": memory}
    containers = [{"name": "c", "image": "i", "resources": {"requests": requests}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, **spec},
        "status": {"phase": phase},
    }


HIGH: Final = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 100,
}
GATES: Final = [{"name": "example.com/gate"}]
SEVEN_PODS: Final = (
    pod("first", "500m"),
    pod("big", "64"),
    *(pod(f"filler-{number}", "1500m") for number in range(3)),
    pod("gated", "100m", schedulingGates=GATES),
    pod("important", "1500m", priorityClassName="high"),
)


def scheduler_of(observer: Observer) -> Scheduler:
    registry = built_in_registry()
    loaded = load_value(None, registry)
    assert loaded.effective is not None
    return Scheduler(loaded.effective, registry, start=0, seed=0, ties="smallest", observer=observer)


def create(cluster: Cluster, manifest: dict[str, Any]) -> None:
    cluster.create_admitted(admitted_from("test", decode_manifest(manifest), cluster))


def play_seven_pods(observer: Observer, started: Callable[[Scheduler], object]) -> Scheduler:
    scheduler = scheduler_of(observer)
    started(scheduler)
    for manifest in (HIGH, *(node(f"node-{number}") for number in range(3)), *SEVEN_PODS):
        create(scheduler.cluster, manifest)
        while scheduler.core.queue.counts()[QueuePlace.ACTIVE]:
            scheduler.step()
    # As recorded: nobody took a pod from backoff before its time, and all came back with one flush.
    scheduler.advance(10 * SECOND)
    step_all(scheduler)
    return scheduler


def step_all(scheduler: Scheduler) -> None:
    while scheduler.step() is not None:
        pass
