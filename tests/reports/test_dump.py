"""Cache and queue in words, as kube-scheduler 1.36.2 wrote them on SIGUSR2."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from framework.cli.clusters import admitted_from
from framework.interface.node_info import PodInfo
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
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


def recorded_after(signal: int) -> list[str]:
    theirs = recorded("dump.txt")
    begins = [at for at, line in enumerate(theirs) if line.startswith("---- signal ")]
    return theirs[begins[signal - 1] + 1 : [*begins, len(theirs)][signal]]


def until_the_first_signal(scheduler: Scheduler) -> None:
    nominate(scheduler, "nominated", "node-2")
    assume(scheduler, "assumed", "node-3")
    for name in ("waiting-b", "waiting-a"):
        create(scheduler.cluster, pod(name, "100m"))
    gone = scheduler.cluster.get(Node, "", "node-2")
    assert gone is not None
    scheduler.cluster.delete(gone)


def test_a_dump_is_the_recorded_one(dumped: Scheduler) -> None:
    until_the_first_signal(dumped)
    assert sorted(without_times(list(debugger_log(dumped)))) == sorted(recorded_after(1))


def test_what_cache_and_queue_have_missed_is_told_as_recorded(dumped: Scheduler) -> None:
    """The second signal: of a node and a pod that came, and of some that went, nobody told the scheduler."""
    until_the_first_signal(dumped)
    node_1, bound_0 = dumped.cluster.get(Node, "", "node-1"), dumped.cluster.get(Pod, "default", "bound-0")
    assert node_1 is not None
    assert bound_0 is not None
    dumped.cluster.remove(node_1)
    dumped.cluster.remove(bound_0)
    dumped.cluster.put(admitted_from("test", decode_manifest(node("node-9")), dumped.cluster))
    unseen = admitted_from("test", decode_manifest(pod("unseen", "100m")), dumped.cluster)
    dumped.cluster.put(replace(unseen, metadata=replace(unseen.metadata, uid="pods.default.unseen")))
    ours, theirs = without_times(list(debugger_log(dumped))), recorded_after(2)
    mismatches = [line for line in theirs if "missed" in line]
    assert [line for line in ours if "missed" in line] == mismatches
    assert len(mismatches) == 2
    assert sorted(ours) == sorted(theirs)
