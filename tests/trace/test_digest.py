"""The digest sees everything in a trace, and nothing else; the arrays only what they come to, but in every 128th."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import fields

from framework.interface import Code, DryRuns, Status
from framework.trace.attempt import AttemptTrace, PostFilterOutcome, ScoreTrace
from framework.trace.digest import START, WHOLE_EVERY, digest, encoded_content
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.trace.attempts import Attempts
from tests.trace.histories import Histories


def chained(attempts: list[AttemptTrace]) -> str:
    current = START
    for attempt in attempts:
        current = digest(attempt, current)
    return current


def test_equal_runs_have_equal_digests() -> None:
    assert chained(Attempts(1).mixed(50)) == chained(Attempts(1).mixed(50))


def test_storing_changes_nothing() -> None:
    attempts = Attempts(2).mixed(50)
    assert chained(decode_attempts(encode_attempts(attempts))) == chained(attempts)


def test_order_matters() -> None:
    attempts = Attempts(3).mixed(10)
    assert chained(attempts) != chained(attempts[::-1])


def other(value: Any) -> Any:
    """Some other value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    if isinstance(value, tuple):
        return (*value, "x")
    if isinstance(value, dict):
        return {**value, "x": 1.0}
    return Status(Code.ERROR, ("x",)) if value is None else None


LATER = ("more_passes",)
"""What traces did not have when digests were stored that have to come out again."""
PLAIN = [each.name for each in fields(AttemptTrace) if each.name not in ("filter", "scores", "content", *LATER)]


@pytest.mark.parametrize("name", PLAIN)
def test_every_field_counts(name: str) -> None:
    trace = Attempts(4).waiting()
    changed = copy.deepcopy(trace)
    setattr(changed, name, other(getattr(trace, name)))
    assert digest(changed) != digest(trace)


def test_what_came_later_does_not_count() -> None:
    trace = Attempts(4).waiting()
    outcome = PostFilterOutcome("DefaultPreemption", Status(), None, (), (), ())
    trace.post_filter = (outcome,)
    changed = copy.deepcopy(trace)
    changed.more_passes = (("NodeName", "Unschedulable", 1),)
    changed.post_filter = (outcome._replace(dry_runs=DryRuns(1, 2, 3, 4)),)
    assert digest(changed) == digest(trace)
    assert encoded_content(changed) != encoded_content(trace)
    another = copy.deepcopy(trace)
    another.content, another.post_filter = None, (outcome._replace(not_tried=("n1",)),)
    assert digest(another) != digest(trace)


def test_a_batched_attempt_has_the_digest_it_ever_had() -> None:
    """Runs that are stored have to come out again: an attempt that looked at a node twice, and preempted nobody."""
    trace = Attempts(4).waiting()
    trace.more_passes, trace.post_filter = (("NodeName", "Unschedulable", 1),), ()
    assert digest(trace) == "5a95599906321be2b0f1b984d630fca2"


def _verdict(trace: AttemptTrace) -> None:
    assert trace.filter is not None
    trace.filter.verdict[3] = 1 - int(trace.filter.verdict[3])


def _reason(trace: AttemptTrace) -> None:
    assert trace.filter is not None
    trace.filter.verdicts[1] = Status(Code.UNSCHEDULABLE, ("Insufficient memory",), "NodeResourcesFit")


def _raw(trace: AttemptTrace) -> None:
    assert trace.scores is not None
    trace.scores.plugins[0].raw[2] += 1


def _normalized(trace: AttemptTrace) -> None:
    assert trace.scores is not None
    trace.scores.plugins[1].normalized[2] += 1


def _weight(trace: AttemptTrace) -> None:
    assert trace.scores is not None
    trace.scores.plugins[1].weight += 1


def _total(trace: AttemptTrace) -> None:
    assert trace.scores is not None
    trace.scores.total[0] += 1


def _order(trace: AttemptTrace) -> None:
    scores = trace.scores
    assert scores is not None
    trace.scores = ScoreTrace(scores.positions[::-1], scores.plugins, scores.total, scores.candidates)


def _ties(trace: AttemptTrace) -> None:
    scores = trace.scores
    assert scores is not None
    trace.scores = ScoreTrace(scores.positions, scores.plugins, scores.total, scores.positions[:3])


@pytest.mark.parametrize("change", [_verdict, _reason, _raw, _normalized, _weight, _total, _order, _ties])
def test_every_number_per_node_counts(change: Callable[[AttemptTrace], None]) -> None:
    trace = Attempts(5).bound()
    changed = copy.deepcopy(trace)
    change(changed)
    assert digest(changed) != digest(trace)


def test_between_whole_cycles_the_arrays_count_by_what_they_come_to() -> None:
    trace = Attempts(5).bound()
    trace.cycle = WHOLE_EVERY
    reason, ties, raw = (copy.deepcopy(trace) for _ in range(3))
    _reason(reason)
    _ties(ties)
    _raw(raw)
    assert digest(trace) == digest(raw)
    assert digest(trace) not in (digest(reason), digest(ties))


def test_recorded_attempts_have_the_digest_of_their_arrays() -> None:
    histories = Histories(3)
    attempts = [histories.bound() for _ in range(WHOLE_EVERY + 2)]
    assert chained(attempts) == chained(copy.deepcopy(attempts)) == chained(decode_attempts(encode_attempts(attempts)))
