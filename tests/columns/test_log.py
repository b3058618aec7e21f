"""Logs tell a reader exactly what happened since it last looked, or that it has to start over."""

from __future__ import annotations

from framework.columns.incremental import KEPT, Log, RowLog
from framework.columns.sights import Sights


def test_a_reader_gets_the_entries_after_its_version() -> None:
    log: Log[str] = Log()
    log.append("a")
    version = log.version
    log.append("b")
    log.append("c")
    assert log.since(version) == ["b", "c"]
    assert log.since(log.version) == []


def test_rows_are_distinct_and_ascending() -> None:
    log = RowLog()
    for row in (3, 1, 3, 2):
        log.append(row)
    changed = log.changed_since(0)
    assert changed is not None
    assert changed.tolist() == [1, 2, 3]


def test_a_reader_from_before_the_oldest_entry_starts_over() -> None:
    log = RowLog()
    early = log.version
    for row in range(2 * KEPT):
        log.append(row)
    assert log.changed_since(early) is None
    late = log.version
    log.append(7)
    changed = log.changed_since(late)
    assert changed is not None
    assert changed.tolist() == [7]


def test_everything_makes_every_reader_start_over() -> None:
    log = RowLog()
    log.append(1)
    version = log.version
    log.everything()
    assert log.changed_since(version) is None
    assert log.changed_since(log.version) is not None


def test_keys_are_known_again_for_a_while() -> None:
    sights = Sights(10)
    assert not any(sights.again(("first", number)) for number in range(10))
    assert all(sights.again(("first", number)) for number in range(10))
    assert not any(sights.again(("then", number)) for number in range(25))
    # The last ten at least, and not for ever.
    assert all(sights.again(("then", number)) for number in range(15, 25))
    assert not sights.again(("first", 0))
