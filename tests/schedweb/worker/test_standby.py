"""Engines made ready while a holder is not heard of: taken over if nothing came between, ended else."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from functools import partial
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from schedweb.engine.frames import Begin
from schedweb.processes.forks import FORKS
from schedweb.processes.plain import ENGINE, Process
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import Run
from schedweb.runs.playing.dispatch import runs_unheard_of
from schedweb.runs.storing.lease import OWNER, claim
from schedweb.worker import standby as module
from schedweb.worker import supervisor
from schedweb.worker.playing import RUNNING, play_run
from schedweb.worker.process import EngineProcess, Heard
from schedweb.worker.standby import Standbys
from scripts.site import eventually
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, Start, prepared

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def standbys(monkeypatch: pytest.MonkeyPatch, settings: Settings, _short_waits: None) -> Iterator[Standbys]:
    """That the supervisors of this test ask."""
    settings.ENGINE_RENEW_SECONDS = 0.5
    made = Standbys()
    monkeypatch.setattr(supervisor, "STANDBYS", made)
    yield made
    made.end()


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """All that are started."""
    found, start = list[Process](), FORKS.started

    def started(kind: str) -> Process:
        child = start(kind)
        if kind == ENGINE:
            found.append(child)
        return child

    monkeypatch.setattr(FORKS, "started", started)
    return found


def lost(game: Game) -> None:
    """Held by somebody who has missed renewals, when a person decides."""
    game.decide("approve", "asks-1")
    assert claim(game.id, "another") is not None
    Run.objects.update(lease_expires=timezone.now() + datetime.timedelta(seconds=2))


def made_ready(game: Game, standbys: Standbys) -> None:
    standbys.look(runs_unheard_of(OWNER), 1)
    eventually("an engine is made ready", lambda: True if game.id in standbys._ready else None)


def has_made(game: Game, attempts: int) -> bool | None:
    return Run.objects.get(pk=game.id).attempts >= attempts or None


def ran_out() -> None:
    Run.objects.update(lease_expires=timezone.now() - datetime.timedelta(seconds=1))


def test_who_takes_over_goes_on_with_the_engine_that_was_made_ready(
    game: Game, standbys: Standbys, engines: list[Process]
) -> None:
    game.command("play", speed="max")
    game.play()
    assert len(engines) == 1
    lost(game)
    made_ready(game, standbys)
    standbys.look(runs_unheard_of(OWNER), 1)
    ran_out()
    standbys.look(runs_unheard_of(OWNER), 1)
    game.play()
    assert game.places()["asks-1"] == "bound"
    assert len(engines) == 2, "the one that was made ready, and no other"
    assert engines[1].poll() is not None, "it ended with its run's rest"


def test_an_engine_that_was_made_ready_before_another_one_stored_more_is_not_gone_on_with(
    game: Game, standbys: Standbys, engines: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    game.command("play", speed="max")
    game.play()
    lost(game)
    made_ready(game, standbys)
    ran_out()
    monkeypatch.setattr(supervisor, "STANDBYS", Standbys())
    game.play()
    moved = game.run.position
    monkeypatch.setattr(supervisor, "STANDBYS", standbys)
    game.decide("approve", "asks-2")
    game.play()
    assert engines[1].poll() is not None
    assert len(engines) == 4
    assert game.run.position > moved
    assert game.places()["asks-1"] == "bound"


def test_an_engine_of_a_run_whose_holder_is_heard_of_again_ends(
    game: Game, standbys: Standbys, engines: list[Process]
) -> None:
    game.command("play", speed="max")
    game.play()
    lost(game)
    made_ready(game, standbys)
    Run.objects.update(lease_expires=timezone.now() + datetime.timedelta(minutes=5))
    standbys.look(runs_unheard_of(OWNER), 1)
    assert engines[1].poll() is not None
    assert game.id not in standbys._ready


def test_nothing_is_made_ready_where_no_place_is_free_or_nothing_can_be_read(
    game: Game, standbys: Standbys, engines: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost_runs = [game.id]
    standbys.look(lost_runs, 0)
    assert not standbys._being_made
    monkeypatch.setattr(module, "begin_for", lambda run: (_ for _ in ()).throw(OSError("no more processes")))
    standbys.look(lost_runs, 1)
    eventually("it was tried", lambda: None if standbys._being_made else True)
    assert not standbys._ready
    assert not engines


def test_a_run_that_is_taken_over_in_the_middle_again_and_again_decides_as_one_that_is_not(
    operator: User, standbys: Standbys, in_background: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pods = [pod(f"web-{index}", "100m") for index in range(80)]
    game = prepared(operator, [node("a", "16"), node("b", "16"), *pods])
    calm = Game(run_fork(parent=game.run, user=operator, position=0), operator)
    calm.command("play", speed="max")
    calm.play()
    taken: list[bool] = []
    take = standbys.take

    def taking(run: UUID, begin: Begin, hear: Callable[[Heard], None]) -> EngineProcess | None:
        engine = take(run, begin, hear)
        taken.append(engine is not None)
        return engine

    monkeypatch.setattr(standbys, "take", taking)
    game.command("play", speed="100")
    for attempts in (10, 30, 50):
        playing = in_background(lambda: play_run(game.id))
        eventually("it plays", partial(has_made, game, attempts))
        # As when its worker is killed: nothing more is stored, nothing given back.
        RUNNING[game.id].lose()
        playing.join()
        Run.objects.filter(pk=game.id).update(
            lease_owner="another", lease_expires=timezone.now() + datetime.timedelta(seconds=2)
        )
        made_ready(game, standbys)
        Run.objects.filter(pk=game.id).update(lease_expires=timezone.now() - datetime.timedelta(seconds=1))
    game.play()
    calm.run.refresh_from_db()
    assert taken == [False, True, True, True]
    assert (game.run.attempts, game.run.state) == (80, "finished")
    assert game.run.digest == calm.run.digest
