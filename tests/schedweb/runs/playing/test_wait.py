"""Waiting for the end of a run: answered when it rests, and never later than asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from schedweb.engine.commands import WriteOutcome
from schedweb.engine.frames import Batch
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing import resting
from schedweb.runs.storing.batches import BatchWriter, Stored
from tests.schedweb.runs.conftest import Game, Start
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db(transaction=True)


def wait(client: Client, run: object, seconds: int = 0, status: int = 200) -> Any:
    answer = client.get(f"/api/v1/runs/{run}/wait/?seconds={seconds}")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_the_answer_comes_when_the_run_has_ended(game: Game, client: Client, in_background: Start) -> None:
    """Asked before a worker had even taken it."""
    game.command("play", speed="max")
    answers: list[Any] = []
    waiting = in_background(lambda: answers.append(wait(client, game.id, 50)))
    assert not answers
    game.play()
    waiting.join(60)
    [answer] = answers
    check_shape("/api/v1/runs/{run}/wait/", answer)
    assert (answer["rests"], answer["run"]["state"]) == (True, "waiting_for_person")
    assert answer["run"]["counts"]["waiting"] == 2


def test_a_command_on_its_way_is_waited_for(game: Game, client: Client) -> None:
    """Its state still is that of before, whoever looks first."""
    game.play()
    assert wait(client, game.id)["rests"] is True
    game.command("play", speed="max")
    answer = wait(client, game.id)
    assert (answer["rests"], answer["run"]["state"]) == (False, "created")
    game.play()
    assert wait(client, game.id)["rests"] is True


def test_a_fork_that_is_to_play_rests_only_when_it_has_played(played: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked after everything that is stored: the journal has a command as applied before the engine does it."""
    changes = [{"type": "node_cordon", "name": "a"}]
    fork = run_fork(parent=played.run, user=played.user, changes=changes, played=True)
    seen: list[tuple[bool, str, bool]] = []
    store = BatchWriter.store

    def looked_at(writer: BatchWriter, batch: Batch, told: Sequence[WriteOutcome]) -> Stored:
        stored = store(writer, batch, told)
        seen.append((resting.rests(fork.pk), batch.state, batch.place is not None))
        return stored

    monkeypatch.setattr(BatchWriter, "store", looked_at)
    Game(fork, played.user).play()
    assert [placed for _, _, placed in seen].count(True) == 2
    resting_states = {state for rests, state, _ in seen if rests}
    assert resting_states == {"waiting_for_person"}
    assert resting.rests(fork.pk)


def test_a_batch_that_is_stored_while_it_is_looked_at(game: Game) -> None:
    """The run's row is read, a worker stores that it has taken the command, and only then the journal is read."""
    game.command("play")
    statements: list[str] = []

    def stored_between(execute: Callable[..., object], sql: str, params: object, many: bool, context: object) -> object:
        statements.append(sql)
        if len(statements) == 2:
            JournalEntry.objects.filter(run=game.id).update(status="applied")
            Run.objects.filter(pk=game.id).update(obeying=True)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(stored_between):
        assert not resting.rests(game.run.pk)
    assert statements


@pytest.mark.parametrize(
    ("state", "unwritten", "at_rest"),
    [
        ("created", 0, True),
        ("playing", 0, False),
        ("paused", 0, True),
        ("waiting_for_person", 0, True),
        ("finished", 0, True),
        ("finished", 5, False),
        ("stopped", 5, True),
        ("parked", 5, True),
    ],
)
def test_which_states_are_rest(game: Game, client: Client, state: str, unwritten: int, at_rest: bool) -> None:
    Run.objects.filter(pk=game.id).update(state=state, unwritten=unwritten, seq=1)
    assert wait(client, game.id)["rests"] is at_rest


def test_a_parked_run_is_not_waited_for_although_a_command_is_left(game: Game, client: Client) -> None:
    game.command("play")
    Run.objects.filter(pk=game.id).update(state="parked")
    assert JournalEntry.objects.filter(status="pending").exists()
    assert wait(client, game.id, 50)["rests"] is True


def test_it_waits_no_longer_than_asked_for(game: Game, client: Client) -> None:
    game.command("play")
    assert wait(client, game.id, 1)["rests"] is False


def test_a_run_that_is_deleted_meanwhile(game: Game, client: Client, in_background: Start) -> None:
    Run.objects.filter(pk=game.id).update(state="playing")
    answers: list[Any] = []
    waiting = in_background(lambda: answers.append(wait(client, game.id, 50, status=404)))
    Run.objects.filter(pk=game.id).delete()
    waiting.join(60)
    assert answers[0]["error"]["code"] == "not_found"


def test_there_is_an_end_to_those_who_wait(game: Game, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds a thread. Who need not wait is answered."""
    monkeypatch.setattr(resting, "_places", threading.BoundedSemaphore(1))
    resting._places.acquire()
    game.play()
    assert wait(client, game.id, 50)["rests"] is True
    game.command("play")
    refused = client.get(f"/api/v1/runs/{game.id}/wait/")
    assert (refused.status_code, refused["Retry-After"]) == (429, "1")
    resting._places.release()
    assert wait(client, game.id, 0)["rests"] is False


@pytest.mark.parametrize("seconds", ["-1", "soon"])
def test_a_time_that_is_none(game: Game, client: Client, seconds: str) -> None:
    answer = client.get(f"/api/v1/runs/{game.id}/wait/?seconds={seconds}")
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "seconds")


def test_a_viewer_may_wait(game: Game, viewer: User) -> None:
    game.play()
    browser = Client()
    browser.force_login(viewer)
    assert wait(browser, game.id)["rests"] is True
