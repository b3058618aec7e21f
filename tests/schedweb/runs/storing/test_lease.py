"""Leases where clocks are wrong and answers are lost."""

from __future__ import annotations

import datetime
import threading
from functools import partial

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from schedweb.runs.models import Run
from schedweb.runs.playing.dispatch import runs_held, waiting_runs
from schedweb.runs.storing.lease import Claim, claim, give_back, renew
from schedweb.worker.playing import RUNNING, play_run
from schedweb.worker.supervisor import Supervisor
from tests.schedweb.runs.conftest import Game, eventually

pytestmark = pytest.mark.django_db(transaction=True)


def set_own_clock(monkeypatch: pytest.MonkeyPatch, hours: float) -> None:
    """This host's; the database has its own."""
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + datetime.timedelta(hours=hours))


def test_a_host_whose_clock_is_ahead_takes_nobodys_lease(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    game.command("play", speed="max")
    assert claim(game.id, "first") is not None
    with monkeypatch.context() as ahead:
        set_own_clock(ahead, 1)
        assert claim(game.id, "second") is None
        assert not waiting_runs().exists()
        assert runs_held() == {game.run.started_by_id: 1}


def test_a_lease_that_a_host_took_whose_clock_is_ahead_runs_out_in_time(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    game.command("play", speed="max")
    with monkeypatch.context() as ahead:
        set_own_clock(ahead, 1)
        lease = claim(game.id, "first")
        assert lease is not None
        renew(lease)
    game.run.refresh_from_db()
    assert game.run.lease_expires is not None
    assert game.run.lease_expires < timezone.now() + datetime.timedelta(minutes=30)


def test_a_host_whose_clock_is_behind_sees_that_a_lease_ran_out(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    game.command("play", speed="max")
    assert claim(game.id, "first") is not None
    Run.objects.filter(pk=game.id).update(lease_expires=timezone.now() - datetime.timedelta(seconds=1))
    set_own_clock(monkeypatch, -1)
    assert waiting_runs().exists()
    lease = claim(game.id, "second")
    assert lease is not None
    assert (lease.epoch, lease.taken_over) == (2, True)


def test_a_claim_whose_answer_was_lost_is_not_somebody_elses(game: Game) -> None:
    game.command("play", speed="max")
    claiming = Claim(game.id, "first")
    lease = claiming.once()
    assert lease is not None
    assert claiming.once() == lease
    assert Claim(game.id, "first").once() is None, "another thread of the same worker"
    give_back(lease)
    again = claiming.once()
    assert again is not None
    assert again.epoch == lease.epoch + 1


def test_of_several_that_could_not_write_one_gets_the_lease(game: Game) -> None:
    """Threads of one worker that all tried while the database was read-only have one owner's name."""
    game.command("play", speed="max")
    claims = [Claim(game.id) for _ in range(3)]
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA query_only = ON")
        for each in claims:
            with pytest.raises(OperationalError):
                each.once()
        cursor.execute("PRAGMA query_only = OFF")
    leases = [each.once() for each in claims]
    assert [lease is None for lease in leases] == [False, True, True]
    assert claims[0].once() == leases[0], "its answer may have been lost"


def test_a_supervisor_that_ends_by_surprise_gives_its_run_back(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprised(self: Supervisor) -> None:
        raise RuntimeError("a defect")

    game.command("play", speed="max")
    with monkeypatch.context() as broken:
        broken.setattr(Supervisor, "play", surprised)
        with pytest.raises(RuntimeError):
            play_run(game.id)
    game.run.refresh_from_db()
    assert (game.run.lease_owner, game.run.wanted) == ("", True)
    game.play()
    assert game.run.attempts


def test_a_worker_that_got_its_own_run_again_tells_it_to_end(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its first lease ran out while the database was away; the supervisor of that one ends when the next plays."""
    begun: list[threading.Event] = []

    def begun_are(number: int) -> bool:
        return len(begun) == number

    def plays(self: Supervisor) -> None:
        begun.append(ended := threading.Event())
        assert ended.wait(60)

    monkeypatch.setattr(Supervisor, "play", plays)
    game.command("play")
    threads = []
    for number in (1, 2):
        Run.objects.filter(pk=game.id).update(lease_expires=timezone.now() - datetime.timedelta(hours=1))
        threads.append(threading.Thread(target=play_run, args=(game.id,), daemon=True))
        threads[-1].start()
        eventually(partial(begun_are, number))
    second = RUNNING[game.id]
    begun[0].set()
    threads[0].join(60)
    assert {game.id: second} == RUNNING, "a worker that is stopped tells those in it"
    begun[1].set()
    threads[1].join(60)
    assert not RUNNING
