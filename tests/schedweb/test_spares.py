"""Spares: processes that are there before they are needed, and never in the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from schedweb.snapshots.reader import Answer, Request
from schedweb.spares import ENGINE, MOST, READER, Spares

PATIENCE = 30


@pytest.fixture
def spares() -> Iterator[Spares]:
    made = Spares()
    yield made
    made.close()


def test_what_was_kept_is_taken_once_and_filled_up_on_request(spares: Spares) -> None:
    spares.keep(READER)
    [kept] = spares._waiting[READER]
    spares.refill()
    assert spares._waiting[READER] == [kept]
    taken = spares.take(READER)
    assert taken is kept
    assert not spares._waiting[READER]
    spares.refill()
    assert taken not in spares._waiting[READER]
    request = msgspec.json.encode(Request(task="read", source="nowhere", target="nowhere"))
    told, complaints = taken.communicate(request, timeout=PATIENCE)
    assert taken.returncode != 0
    assert b"nowhere" in complaints
    assert not told


def test_without_keeping_processes_are_started_when_they_are_asked_for(spares: Spares, tmp_path: Path) -> None:
    spares.refill()
    assert not spares._waiting
    taken = spares.take(READER)
    source = tmp_path / "empty.json"
    source.write_text("")
    request = msgspec.json.encode(Request(task="read", source=str(source), target="nowhere"))
    told, _ = taken.communicate(request, timeout=PATIENCE)
    assert str(msgspec.json.decode(told, type=Answer).error) == "The file is empty."


def test_a_dead_spare_is_replaced(spares: Spares) -> None:
    spares.keep(ENGINE)
    [dead] = spares._waiting[ENGINE]
    dead.kill()
    dead.communicate(timeout=PATIENCE)
    taken = spares.take(ENGINE)
    assert taken.pid != dead.pid
    taken.communicate(timeout=PATIENCE)
    assert taken.returncode == 0


def test_spares_are_gone_when_nobody_needed_them() -> None:
    spares = Spares()
    spares.keep(ENGINE, READER)
    waiting = dict(spares._waiting)
    spares.close()
    assert waiting.keys() == {ENGINE, READER}
    assert all(process.returncode is not None for kind in waiting.values() for process in kind)
    spares.refill()
    assert not spares._waiting


def test_where_many_are_expected_there_are_more_until_they_are_not(
    spares: Spares, monkeypatch: pytest.MonkeyPatch
) -> None:
    spares.expect(ENGINE, 3)
    assert not spares._waiting, "nobody keeps any"
    spares.keep(ENGINE, READER)
    first = spares._waiting[ENGINE][0]
    spares.expect(ENGINE, 3)
    before = list(spares._waiting[ENGINE])
    assert before[0] is first
    assert len(before) == 3
    assert len(spares._waiting[READER]) == 1
    spares.expect(ENGINE, MOST + 5)
    assert len(spares._waiting[ENGINE]) == MOST
    assert spares.take(ENGINE) is first
    spares.expect(ENGINE, 0)
    assert len(spares._waiting[ENGINE]) == MOST - 1, "who is not expected any more may be so again soon"
    monkeypatch.setattr("schedweb.spares.EXPECTED_SECONDS", -1.0)
    spares.expect(ENGINE, 0)
    assert spares._waiting[ENGINE] == [before[1]]
    assert before[2].returncode is not None
    assert first.poll() is None, "what was taken is nobody's spare"
    spares.take(ENGINE).communicate(timeout=PATIENCE)
    spares.expect(ENGINE, 1)
    assert not spares._waiting[ENGINE], "a single one is started by refill, when what was taken has begun"
    first.communicate(timeout=PATIENCE)
