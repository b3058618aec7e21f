"""Random runs of the default plugins with approvals, preemption and changing nodes (property tests)."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.examples import examples
from tests.scheduler.real_runs import Operation, RealRun, operations

SETTINGS = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SETTINGS
@given(listed=operations)
def test_stepping_by_points_and_saving_in_between_decide_the_same(listed: list[Operation]) -> None:
    """One trace, byte for byte; on the way no pod is lost and no node is overfull."""
    plain = RealRun("steps").play(listed)
    assert RealRun("points").play(listed) == plain
    assert RealRun("pickled").play(listed) == plain


@SETTINGS
@given(listed=operations)
def test_jumping_from_timer_to_timer_is_as_good_as_ticking_every_second(listed: list[Operation]) -> None:
    """Nothing happens between two timers that ``next_timer`` gives."""
    run = RealRun("steps")
    run.play(listed)
    scheduler = run.scheduler
    due = scheduler.next_timer()
    if due is None:
        due = scheduler.now + 400 * 1_000_000_000
    moves = len(run.traces.moves)
    scheduler.advance(due - 1)
    assert len(run.traces.moves) == moves
    state = scheduler.queue_state()
    scheduler.advance(due)
    moved = len(run.traces.moves) > moves
    assert moved or scheduler.queue_state() != state or scheduler.next_timer() != due
