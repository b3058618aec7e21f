"""What became of writes, on its way to the engine: nothing is lost where an engine ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from schedweb.engine.commands import WriteOutcome
from schedweb.engine.frames import Batch
from schedweb.engine.real_rows import HeardRow
from schedweb.worker.outcomes import MOST_AT_ONCE, Outcomes
from schedweb.writes.writes import Outcome


def outcome(number: int) -> WriteOutcome:
    return WriteOutcome(number, Outcome("done"))


def batch(*heard: int) -> Batch:
    rows = [HeardRow("id", 0, 0, "write_outcomes", "{}", 0, tuple(map(outcome, heard)))] if heard else []
    return cast("Batch", SimpleNamespace(heard=rows))


def numbers(outcomes: Any) -> list[int]:
    return [each.number for each in outcomes]


def given(outcomes: Outcomes) -> list[int]:
    return [number for part in outcomes.give() for number in numbers(part)]


def test_the_supervisor_is_told_once_until_it_looks() -> None:
    waiting = Outcomes()
    assert [waiting.put(outcome(each), is_awaited=True) for each in (1, 2)] == [True, False]
    assert given(waiting) == [1, 2]
    assert waiting.put(outcome(3), is_awaited=True)
    assert not waiting.put(outcome(4), is_awaited=False), "nobody waits for it"


def test_another_engine_hears_what_no_batch_had() -> None:
    waiting = Outcomes()
    for each in (1, 2, 3):
        waiting.put(outcome(each), is_awaited=True)
    assert given(waiting) == [1, 2, 3]
    waiting.is_stored(batch(2))
    waiting.put(outcome(4), is_awaited=True)
    waiting.engine_ends()
    assert given(waiting) == [1, 3, 4]
    assert given(waiting) == []
    waiting.engine_ends()
    assert given(waiting) == [1, 3, 4]


def test_what_is_only_stored_waits_for_a_batch() -> None:
    waiting = Outcomes()
    waiting.put(outcome(1), is_awaited=False)
    assert numbers(waiting.told()) == [1]
    assert numbers(waiting.told()) == [1], "until it is stored"
    waiting.is_stored(batch())
    assert numbers(waiting.told()) == []


def test_the_rest_is_everything_that_is_stored_nowhere() -> None:
    waiting = Outcomes()
    many = MOST_AT_ONCE + 5
    for each in range(many):
        waiting.put(outcome(each), is_awaited=True)
    waiting.put(outcome(many), is_awaited=False)
    next(iter(waiting.give()))
    waiting.engine_ends()
    assert sorted(numbers(waiting.rest())) == list(range(many + 1))
