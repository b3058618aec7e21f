"""Cache and queue in words, as kube-scheduler 1.36.2 wrote them on SIGUSR2."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from framework.interface.node_info import PodInfo
from framework.objects import Node, Pod
from framework.reports.dump import debugger_log
from framework.scheduler import Observer, Scheduler
from tests.reports.recorded import GATES, create, node, pod, recorded, scheduler_of, step_all, without_times


@pytest.fixture
def dumped() -> Scheduler:
    """The cluster of the recording: a node that is gone with its pod left, a pod assumed, one nominated."""
    scheduler = scheduler_of(Observer())
    cluster = scheduler.cluster
    for number in range(3):
        create(cluster, node(f"node-{number}"))
    more = {"ephemeral-storage": "10Gi", "example.com/gpu": "2"}
    create(cluster, node("node-3", cpu="4", **more))
    for number in range(4):
        create(cluster, pod(f"bound-{number}", "1500m", phase="Running", nodeName=f"node-{number}"))
    create(cluster, pod("gated", "100m", schedulingGates=GATES))
    create(cluster, pod("too-big", "64"))
    create(cluster, pod("nominated", "3"))
    step_all(scheduler)
    return scheduler


def assume(scheduler: Scheduler, name: str, node_name: str) -> None:
    create(scheduler.cluster, pod(name, "2"))
    queued = scheduler.core.queue.pop()
    assert queued is not None
    scheduler.core.cache.assume_pod(PodInfo(replace(queued.pod, spec=replace(queued.pod.spec, node_name=node_name))))


def nominate(scheduler: Scheduler, name: str, node_name: str) -> None:
    known = scheduler.cluster.get(Pod, "default", name)
    assert known is not None
    scheduler.cluster.replace(replace(known, status=replace(known.status, nominated_node_name=node_name)))


def test_a_dump_is_the_recorded_one(dumped: Scheduler) -> None:
    nominate(dumped, "nominated", "node-2")
    assume(dumped, "assumed", "node-3")
    for name in ("waiting-b", "waiting-a"):
        create(dumped.cluster, pod(name, "100m"))
    gone = dumped.cluster.get(Node, "", "node-2")
    assert gone is not None
    dumped.cluster.delete(gone)
    theirs = recorded("dump.txt")
    first = theirs[1 : next(at for at, line in enumerate(theirs) if line.startswith("---- signal 2"))]
    assert sorted(without_times(list(debugger_log(dumped)))) == sorted(first)
