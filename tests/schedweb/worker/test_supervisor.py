"""What happens to a supervisor at bad moments: while it parks, while it ends, when its engine talks nonsense."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import DataError

from schedweb.api.errors import ApiError
from schedweb.engine import frames
from schedweb.engine.commands import AnyCommand, WriteOutcome, command_from
from schedweb.processes.forks import FORKS
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing import commands
from schedweb.runs.storing.batches import BatchWriter, Stored
from schedweb.runs.storing.lease import Lease, give_back
from schedweb.stopping import STOPPING
from schedweb.worker import supervisor as module
from schedweb.worker import tasks
from schedweb.worker.playing import RUNNING
from schedweb.worker.supervisor import Supervisor
from scripts.site import eventually
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_command_that_comes_while_a_run_is_parked_is_done_where_the_run_stood(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine that begins anew begins at what is stored now, not at what was when the supervisor came."""
    game.command("play", speed="max")
    parked: list[int] = []
    late: list[JournalEntry] = []

    def after_a_command(lease: Lease, *, only_if_idle: bool = False) -> bool:
        game.run.refresh_from_db()
        parked.append(game.run.position)
        if not late:
            late.append(game.decide("approve", "asks-1"))
        return give_back(lease, only_if_idle=only_if_idle)

    monkeypatch.setattr(module, "give_back", after_a_command)
    game.play()
    late[0].refresh_from_db()
    assert late[0].position == parked[0]
    assert (game.run.state, game.places()["asks-1"]) == ("waiting_for_person", "bound")
    assert len(parked) == 2
    assert parked[1] > parked[0]


def test_a_worker_that_stops_while_a_run_is_parked_leaves_new_commands_to_the_next_one(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, late = Supervisor.send, list[JournalEntry]()

    def stopping(self: Supervisor, message: frames.ToChild) -> None:
        if isinstance(message, frames.End) and not late:
            self.shut_down()
            late.append(game.decide("approve", "asks-1"))
        send(self, message)

    monkeypatch.setattr(Supervisor, "send", stopping)
    game.command("play", speed="max")
    game.play()
    late[0].refresh_from_db()
    assert (late[0].status, game.run.lease_owner, game.run.wanted) == ("pending", "", True)
    game.play()
    assert game.places()["asks-1"] == "bound"


def test_a_command_is_offered_before_the_engine_may_send_another_batch(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would wait for that one, too."""
    store, send = BatchWriter.store, Supervisor.send
    sent: list[frames.ToChild] = []

    def storing(self: BatchWriter, batch: frames.Batch, told: Sequence[WriteOutcome] = ()) -> Stored:
        stored = store(self, batch)
        if batch.attempts and not any(isinstance(each, frames.Offer) for each in sent[1:]):
            del sent[:]
            game.decide("approve", "asks-1")
            sent.append(frames.Go())
        return stored

    def sending(self: Supervisor, message: frames.ToChild) -> None:
        sent.append(message)
        send(self, message)

    monkeypatch.setattr(BatchWriter, "store", storing)
    monkeypatch.setattr(Supervisor, "send", sending)
    game.command("play", speed="max")
    game.play()
    assert [type(each) for each in sent[:3]] == [frames.Go, frames.Offer, frames.Ack]


def test_a_run_that_cannot_be_stored_is_parked_and_not_tried_for_ever(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(self: BatchWriter, batch: frames.Batch, told: Sequence[WriteOutcome] = ()) -> Stored:
        raise DataError("value too long for type character varying(128)")

    monkeypatch.setattr(BatchWriter, "store", refusing)
    game.play()
    assert (game.run.state, game.run.wanted, game.run.lease_owner) == ("parked", False, "")
    assert str(game.run.error) == "What came about cannot be stored: value too long for type character varying(128)"


def test_what_was_commanded_after_a_stop_is_refused_and_not_done(game: Game) -> None:
    stop, late = game.command("stop"), [game.command("node_cordon", name="a"), game.command("play", speed="max")]
    game.play()
    assert (game.run.state, game.run.attempts) == ("stopped", 0)
    assert answered(stop) == ("applied", "")
    assert [answered(each) for each in late] == [("refused", f"{game.run} was stopped and takes no commands.")] * 2


def test_a_command_whose_outcome_cannot_be_stored_is_set_aside(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that the engine dies of: the run goes on with those after it."""
    store = BatchWriter.store

    def refusing(self: BatchWriter, batch: frames.Batch, told: Sequence[WriteOutcome] = ()) -> Stored:
        if any(outcome.id == str(bad.pk) for outcome in batch.outcomes):
            raise DataError("it is too long")
        return store(self, batch)

    bad, good = game.command("node_cordon", name="a"), game.command("node_cordon", name="b")
    monkeypatch.setattr(BatchWriter, "store", refusing)
    game.play()
    why = "The engine stopped 3 times while it did this (node_cordon), and goes on without it."
    assert [answered(bad), answered(good)] == [("refused", why), ("applied", "")]
    assert dict(game.run.node_records.values_list("name", "cordoned")) == {"a": False, "b": True}


def test_a_command_that_comes_while_its_run_ends_is_refused(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was looked at while the run took commands still."""

    def slowly(content: object) -> AnyCommand:
        game.run.state = Run.State.STOPPED
        game.run.save(update_fields=["state"])
        return command_from(content)

    monkeypatch.setattr(commands, "checked", slowly)
    with pytest.raises(ApiError, match="was stopped and takes no commands"):
        game.command("play")
    assert not JournalEntry.objects.exists()


def answered(entry: JournalEntry) -> tuple[str, str]:
    entry.refresh_from_db()
    return entry.status, str(entry.text)


def test_a_run_that_was_found_by_looking_is_given_back_before_its_worker_ends(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task of the broker plays it, so nobody else waits for it."""
    monkeypatch.setattr(FORKS, "close", lambda: None)
    game.command("play", speed="one")
    tasks.RUNS.look_beside()
    eventually("it is played", lambda: True if Run.objects.get(pk=game.id).position else None)
    try:
        tasks.stop_playing()
    finally:
        STOPPING.clear()
    game.run.refresh_from_db()
    assert game.run.lease_owner == ""
    assert game.id not in RUNNING
