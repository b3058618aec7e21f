"""Hints that promise to treat equal pods alike are asked once for all of them, and the same pods wake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    NodeInfo,
    QueueingHint,
    Status,
)
from framework.objects import KubeObject, Node, Pod
from framework.queue import scheduling_queue
from framework.queue.queued_pod import QueuedPodInfo, QueueMove
from tests.builders import make_node, make_pod
from tests.cycle.small import FILTERS, SmallCluster
from tests.cycle.test_reuse import SETTINGS, Digests, RandomRun


@contextmanager
def many(number: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scheduling_queue, "MANY", number)
        yield


class Moves(Digests):
    def __init__(self) -> None:
        super().__init__()
        self.moves: list[Any] = []

    def queue_moved(self, move: QueueMove) -> None:
        self.moves.append((move.pod.key, move.to, move.event, move.plugin))


def moves_of(seed: int) -> list[Any]:
    run = RandomRun(seed, "used", 100)
    observed = Moves()
    run.observer = run.scheduler.observer = run.scheduler.core.observer = observed
    run.scheduler.core.queue._observer = observed
    run.play(80)
    assert observed.moves
    return [*observed.moves, *observed.attempts]


@SETTINGS
@given(seed=st.integers(0, 10**6))
def test_the_same_pods_wake(seed: int) -> None:
    with many(0):
        once = moves_of(seed)
    with many(1 << 30):
        assert moves_of(seed) == once


asked: list[str] = []


class Waits(FilterPlugin, EnqueueExtensions):
    name = "Waits"
    promise = True

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return Status.unschedulable("not yet")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        event = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(event, self.after_label, of_equal_pods=self.promise),)

    def after_label(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        asked.append(pod.metadata.name)
        assert isinstance(new, Node)
        called = new.metadata.labels.get("call") == pod.metadata.labels["app"]
        return QueueingHint.QUEUE if called else QueueingHint.SKIP


class WaitsAlone(Waits):
    promise = False


@pytest.mark.parametrize(("plugin", "questions"), [(Waits, 3), (WaitsAlone, 60)])
def test_one_question_for_equal_pods(plugin: type[Waits], questions: int) -> None:
    cluster = SmallCluster([make_node("n")], more=[plugin], points={"filter": (*FILTERS, plugin.name)})
    for number in range(60):
        assert not cluster.schedule(make_pod(f"p{number}", labels={"app": f"a{number % 3}"})).selected
    asked.clear()
    node = cluster.scheduler.cluster.list(Node)[0]
    cluster.scheduler.cluster.replace(replace(node, metadata=replace(node.metadata, labels={"call": "a1"})))
    assert len(asked) == questions
    waiting: list[QueuedPodInfo] = list(cluster.scheduler.core.queue._unschedulable)
    assert len(waiting) == 40
    assert {pod.pod.metadata.labels["app"] for pod in waiting} == {"a0", "a2"}
