"""Backoff: durations, whole seconds, the two heaps (docs/semantics/queue.md#backoff)."""

from __future__ import annotations

import pytest

from framework.interface import PodInfo
from framework.objects.timestamps import SECOND
from framework.queue import QueuedPodInfo, QueueOrder
from framework.queue.queues import BackoffQueue
from tests.builders import make_pod

ORDER = QueueOrder(lambda a, b: a.sequence < b.sequence)


def queue(initial: float = 1, maximum: float = 10) -> BackoffQueue:
    return BackoffQueue(
        round(initial * SECOND), round(maximum * SECOND), QueueOrder(lambda a, b: a.sequence < b.sequence)
    )


def pod(name: str, *, at: float = 0, rejected: int = 0, errors: int = 0, sequence: int = 0) -> QueuedPodInfo:
    info = QueuedPodInfo(PodInfo(make_pod(name)), round(at * SECOND), sequence=sequence)
    info.unschedulable_count, info.consecutive_errors_count = rejected, errors
    if rejected and not errors:
        info.unschedulable_plugins = {"A"}
    return info


@pytest.mark.parametrize(
    ("initial", "maximum", "count", "want"),
    [
        (1, 10, 1, 1),
        (1, 10, 2, 2),
        (1, 10, 3, 4),
        (1, 10, 4, 8),
        (1, 10, 5, 10),
        (1, 10, 80, 10),
        (3, 10, 2, 6),
        (20, 10, 1, 10),
    ],
)
def test_duration_doubles_up_to_the_maximum(initial: int, maximum: int, count: int, want: int) -> None:
    assert queue(initial, maximum).duration(count) == want * SECOND


@pytest.mark.parametrize(
    ("made", "now", "want"),
    [
        (pod("never-tried"), 0, False),
        (pod("rejected-once", rejected=1), 1.9, True),
        (pod("free-in-the-second-after", rejected=1), 2.0, False),
        (pod("cut-to-whole-seconds", at=0.9, rejected=1), 2.0, False),
        (pod("errors-count-before-rejections", rejected=1, errors=3), 4.9, True),
        (pod("errors-count-before-rejections", rejected=1, errors=3), 5.0, False),
    ],
)
def test_backing_off_until_the_first_whole_second_after_the_expiration(
    made: QueuedPodInfo, now: float, want: bool
) -> None:
    assert queue().is_backing_off(made, round(now * SECOND)) is want


def test_a_maximum_of_zero_means_no_backoff_at_all() -> None:
    assert not queue(maximum=0).is_backing_off(pod("p", rejected=7), 0)


def test_only_rejected_pods_may_leave_early_and_the_timer_sees_both_heaps() -> None:
    backoff = queue()
    backoff.add(pod("error", at=0.2, errors=1))
    assert backoff.pop_rejected() is None
    backoff.add(pod("rejected", at=3, rejected=1, sequence=2))
    assert backoff.next_completion(SECOND // 2) == 2 * SECOND
    assert [p.pod.name for p in backoff.pop_completed(2 * SECOND)] == ["error"]
    assert backoff.next_completion(2 * SECOND) == 5 * SECOND
    early = backoff.pop_rejected()
    assert early is not None
    assert early.pod.name == "rejected"
    assert backoff.next_completion(2 * SECOND) is None


def test_without_the_gate_nothing_is_cut_and_nobody_leaves_early() -> None:
    start = round(0.3 * SECOND)
    backoff = BackoffQueue(SECOND, 10 * SECOND, ORDER, start=start, pops_early=False)
    late, early = pod("late", at=0.9, rejected=1, sequence=1), pod("early", at=0.1, rejected=1, sequence=2)
    backoff.add(late)
    backoff.add(early)
    # By the very time, not by the second and then by priority.
    assert [p.pod.name for p in backoff.rejected_in_pop_order()] == ["early", "late"]
    assert (backoff.has_rejected, backoff.pop_rejected()) == (False, None)
    assert backoff.is_backing_off(early, round(1.1 * SECOND))
    assert not backoff.is_backing_off(early, round(1.1 * SECOND) + 1)
    # Looked at every second from the start on.
    assert backoff.next_completion(start) == start + SECOND
    assert [p.pod.name for p in backoff.pop_completed(start + SECOND)] == ["early"]
    assert backoff.next_completion(start + SECOND) == start + 2 * SECOND


def test_pods_of_one_second_leave_in_the_order_of_the_active_queue() -> None:
    backoff = queue()
    backoff.add(pod("late-entry", at=0.9, rejected=1, sequence=1))
    backoff.add(pod("early-entry", at=0.1, rejected=1, sequence=2))
    assert [p.pod.name for p in backoff.rejected_in_pop_order()] == ["late-entry", "early-entry"]
