"""The log of seven pods, line by line as kube-scheduler 1.36.2 printed it."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from framework.objects import Node, Pod
from framework.reports import klog
from framework.reports.log import SchedulerLog
from framework.scheduler import Scheduler
from tests.reports.recorded import create, node, play_seven_pods, pod, recorded, scheduler_of, step_all, without_times


def log_of_seven_pods(verbosity: int) -> list[str]:
    entries: list[str] = []
    log = SchedulerLog(entries.append, verbosity)
    play_seven_pods(log, log.start)
    log.finish()
    return without_times(entries)


def test_level_4_is_the_recorded_log() -> None:
    assert log_of_seven_pods(4) == recorded("log.v4.txt")


def test_level_10_is_the_recorded_log() -> None:
    assert _with_waiting_pods_by_name(log_of_seven_pods(10)) == _with_waiting_pods_by_name(recorded("log.v10.txt"))


#: What is written of a pod that waits and of an event: its pods stand in a Go map, in an order of chance.
OF_WAITING_POD = re.compile(
    r'^(?:fit\.go:415|scheduling_queue\.go:1325|backoff_queue\.go:321)\].*? pod="([^"]+)".*?(?: event="(\w+)")?'
)


def _with_waiting_pods_by_name(lines: list[str]) -> list[str]:
    """The lines of neighbouring waiting pods in the order of the pods' names; all other lines stay where they are."""
    ordered: list[str] = []
    waiting: list[tuple[str, str]] = []
    for line in [*lines, ""]:
        found = OF_WAITING_POD.match(line)
        if found is not None:
            waiting.append((found[1], line))
            continue
        ordered += [each for _, each in sorted(waiting, key=lambda pair: pair[0])]
        waiting = []
        ordered.append(line)
    return ordered[:-1]


@pytest.mark.parametrize(("verbosity", "lines"), [(1, 0), (2, 18), (3, 60)])
def test_lower_levels_print_fewer_of_the_same_lines(verbosity: int, lines: int) -> None:
    found = log_of_seven_pods(verbosity)
    higher = iter(log_of_seven_pods(4))
    assert all(line in higher for line in found)
    assert len(found) == lines


def test_nodes_and_placed_pods_that_change_and_go_are_named() -> None:
    entries: list[str] = []
    log = SchedulerLog(entries.append, 4)
    scheduler = scheduler_of(log)
    log.start(scheduler)
    create(scheduler.cluster, node("east"))
    create(scheduler.cluster, pod("placed", "1"))
    step_all(scheduler)
    _change_and_remove(scheduler)
    names = [line.split('"')[1] for line in without_times(entries)]
    assert names[-5:] == [
        "Update event for node",
        "Update event for scheduled pod",
        "Delete event for scheduled pod",
        "Delete event for node",
        "Removed node from NodeTree",
    ]


def _change_and_remove(scheduler: Scheduler) -> None:
    cluster = scheduler.cluster
    east = cluster.get(Node, "", "east")
    placed = cluster.get(Pod, "default", "placed")
    assert east is not None
    assert placed is not None
    cluster.replace(replace(east, metadata=replace(east.metadata, labels={"zone": "b"})))
    cluster.replace(replace(placed, metadata=replace(placed.metadata, labels={"app": "b"})))
    cluster.delete(placed)
    cluster.delete(east)


def test_a_value_of_several_lines_is_written_as_klog_does() -> None:
    line = klog.line(1_700_000_000_123_456_789, "dumper.go:52", "Dump", nodes="one\n\ntwo\n", count=2, names=["a"])
    assert (
        line == 'I1114 22:13:20.123456       1 dumper.go:52] "Dump" nodes=<\n\tone\n\t\n\ttwo\n > count=2 names=["a"]'
    )
