"""The two scenarios whose metrics kube-scheduler 1.36.2 told, played here.

Steps, names, outcomes and queue sizes are recorded (scenario.*.txt); what the nodes offer and the pods ask for is
chosen so that they come out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from framework.configuration import load_value
from framework.objects import Node, Pod, Taint
from framework.objects.timestamps import SECOND
from framework.plugins.registry import built_in_registry
from framework.queue.queued_pod import QueuePlace
from framework.reports.metrics import SchedulerMetrics
from framework.scheduler import Cluster, Scheduler
from tests.reports.recorded import DATA, GATES, HIGH, create, node, pod

MILLISECOND: Final = 1_000_000
STEP: Final = re.compile(r"^(.*?)  ->  activeQ:(\d+); backoffQ:(\d+); unschedulablePods:(\d+)$", re.MULTILINE)
TAINT: Final = {"key": "example.com/kept", "value": "yes", "effect": "NoSchedule"}
#: Of nodes that cost the same the one whose victim began last is taken. Nobody set start times in the record, so each
#: had the moment at which it was looked at: these are such that the same nodes come out.
BEGAN_LAST: Final = ("a15", "a14", "s9", "s8", "s7", "s6", "s4", "s3", "s2")
#: Of h0 to h6 in "churn" each later one outranks those before it. No record says so, but its counts of Filter plugins
#: come out only if h1 to h6 outrank h0 (where it is bound, their dry runs look at it as a victim) and h1 is the last of
#: them to be tried (g1, beside its victim, is spared in the dry runs before).
RANKS: Final = 7
CONFIGURATION: Final = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"schedulerName": "default-scheduler"},
        {
            "schedulerName": "second",
            "plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}},
        },
    ],
}


class RefusingCluster(Cluster):
    """The API server says no to the first binding of ``unbound`` and to the first ``deletions`` of pods."""

    def __init__(self, unbound: str = "", deletions: int = 0) -> None:
        super().__init__()
        self.unbound, self.deletions = unbound, deletions

    def bind(self, pod: Pod, node_name: str) -> str | None:
        if pod.metadata.name != self.unbound:
            return super().bind(pod, node_name)
        self.unbound = ""
        return "bind refused"

    def delete_pod(self, pod: Pod) -> str | None:
        if not self.deletions:
            return super().delete_pod(pod)
        self.deletions -= 1
        return "delete refused"


def played(
    scenario: str,
    checked: Callable[[str, tuple[int, int, int], tuple[int, int, int]], object] = lambda *_: None,
    metrics: SchedulerMetrics | None = None,
) -> SchedulerMetrics:
    """``checked`` is told of every step, the recorded sizes of the queue and those here."""
    churns = scenario == "churn"
    cluster = RefusingCluster("s3", 2) if churns else RefusingCluster()
    metrics = SchedulerMetrics() if metrics is None else metrics
    loaded = load_value(CONFIGURATION if churns else None, built_in_registry())
    assert loaded.effective is not None
    scheduler = Scheduler(
        loaded.effective, built_in_registry(), start=0, seed=0, ties="upstream", observer=metrics, cluster=cluster
    )
    metrics.start(scheduler)
    create(cluster, HIGH)
    for rank in range(RANKS):
        create(cluster, {**HIGH, "metadata": {"name": f"rank-{rank}"}, "value": 100 + rank})
    create(cluster, {**HIGH, "metadata": {"name": "meek"}, "preemptionPolicy": "Never"})
    for step, sizes in steps(scenario):
        done(scheduler, step, churns=churns)
        counts = scheduler.core.queue.counts()
        unschedulable = counts[QueuePlace.UNSCHEDULABLE] + counts[QueuePlace.GATED]
        checked(step, sizes, (counts[QueuePlace.ACTIVE], counts[QueuePlace.BACKOFF], unschedulable))
    return metrics


def steps(scenario: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    text = (DATA / f"scenario.{scenario}.txt").read_text(encoding="utf-8")
    for step, active, backoff, unschedulable in STEP.findall(text):
        yield step, (int(active), int(backoff), int(unschedulable))


def done(scheduler: Scheduler, step: str, *, churns: bool) -> None:
    cluster = scheduler.cluster
    verb, *rest = step.split()
    if verb == "ScheduleOne":
        scheduler.step()
        return
    if verb == "clock":
        scheduler.advance(scheduler.now + seconds(rest[0]) * SECOND)
        return
    scheduler.advance(scheduler.now + MILLISECOND)
    kind, name = rest
    if verb == "delete":
        found = cluster.get(Node, "", name) if kind == "nodes" else cluster.get(Pod, "default", name)
        assert found is not None
        cluster.delete(found)
    elif kind == "Node":
        put_node(cluster, name, churns=churns)
    elif kind == "Pod":
        known = cluster.get(Pod, "default", name)
        if known is not None:
            cluster.replace(replace(known, spec=replace(known.spec, scheduling_gates=[])))
        else:
            create(cluster, begun(pod_of_churn(name) if churns else pod_of_mix(name)))


def seconds(text: str) -> int:
    minutes, whole = re.fullmatch(r"\+(?:(\d+)m)?(\d+)s,", text).groups()  # type: ignore[union-attr]
    return 60 * int(minutes or 0) + int(whole)


def put_node(cluster: Cluster, name: str, *, churns: bool) -> None:
    known = cluster.get(Node, "", name)
    if known is not None:
        cluster.replace(replace(known, spec=replace(known.spec, taints=[Taint(**TAINT)])))
        return
    manifest = node(name, cpu="4")
    if not churns and name == "n8":
        manifest["spec"] = {"taints": [TAINT]}
    elif not churns and name == "n9":
        manifest["spec"] = {"unschedulable": True}
    create(cluster, manifest)


def pod_of_mix(name: str) -> dict[str, Any]:
    tolerated = [{"key": TAINT["key"], "operator": "Exists"}]
    selector = {"labelSelector": {"matchLabels": {"app": "none"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [selector]}}
    made: dict[str, Callable[[], dict[str, Any]]] = {
        "a": lambda: pod(name, "1300m"),
        "b": lambda: pod(name, "3500m"),
        "c": lambda: (
            pod(name, "2", tolerations=tolerated) if name == "c1" else pod(name, "100m", nodeSelector={"no": "node"})
        ),
        "d": lambda: pod(name, "100m", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}]),
        "e": lambda: pod(name, "100m", affinity=affinity),
        "g": lambda: pod(name, "100m", schedulingGates=GATES),
        "h": lambda: pod(name, "2700m", priorityClassName="high"),
        "i": lambda: pod(name, "3500m", priorityClassName="meek"),
        "p": lambda: with_port(pod(name, "100m")),
    }
    return made[name[0]]()


def begun(manifest: dict[str, Any]) -> dict[str, Any]:
    name = manifest["metadata"]["name"]
    later = len(BEGAN_LAST) - BEGAN_LAST.index(name) if name in BEGAN_LAST else 0
    manifest["status"]["startTime"] = f"1970-01-01T00:00:{later:02}Z"
    return manifest


def with_port(manifest: dict[str, Any]) -> dict[str, Any]:
    manifest["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    return manifest


def pod_of_churn(name: str) -> dict[str, Any]:
    kind, is_odd = name[0], int(name[1:]) % 2 == 1
    more: dict[str, Any] = {"schedulerName": "second"} if kind in "su" and is_odd else {}
    if kind == "g":
        more["schedulingGates"] = GATES
    if kind == "h":
        more["priorityClassName"] = f"rank-{name[1:]}"
    return pod(name, {"s": "3", "u": "2", "g": "200m", "h": "3"}[kind], **more)
