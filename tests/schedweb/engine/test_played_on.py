"""A moment is played on in a copy of the process, which the process that asks outlives whatever happens."""

from __future__ import annotations

import os
import signal

import pytest

from framework.advice import Operation
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Happened, Player
from tests.schedweb.engine.crowded import pvc, storage_class, using
from tests.schedweb.engine.worlds import node, play, player, pod


def game() -> Player:
    made = player([node("a"), pod("small"), pod("large", "24")])
    play(made)
    return made


def test_the_moment_stays_where_it_is() -> None:
    moment = game()
    before = (moment.position, moment.digest, len(moment.world.cluster.list(type(moment.world.node("a")))))
    played = PlayedOn(moment)([Operation("add", node("huge", "32"))])
    assert played is not None
    assert played.finished
    assert {key: state.node for key, state in played.pods.items()} == {"shop/large": "huge"}
    assert (moment.position, moment.digest, len(moment.world.cluster.list(type(moment.world.node("a"))))) == before


def test_a_change_that_is_refused_says_why() -> None:
    played = PlayedOn(game())([Operation("add", node("a", "32"))])
    assert played is not None
    assert str(played.refused) == 'nodes "a" already exists'
    assert not played.pods


def test_without_time_nothing_is_played() -> None:
    assert PlayedOn(game(), seconds=0)([]) is None


def test_a_volume_that_is_never_bound_is_no_place_when_the_time_is_over() -> None:
    """The class that is missing can be made, but no volume can be called by this claim's uid."""
    claim = pvc("data", "gone")
    claim["metadata"]["uid"] = "Not_A_Name"
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "ebs.csi.aws.com"}}
    game = player([node("a"), {**driver, "spec": {}}, claim, using(pod("db"), "data"), pod("large", "24")])
    play(game)
    made = storage_class("gone", "WaitForFirstConsumer", "ebs.csi.aws.com")
    for seconds in (0.1, 0.2, 0.4):
        played = PlayedOn(game, seconds=600, seconds_each=seconds)([Operation("add", made)])
        assert played is not None
        state = played.pods.get("shop/db")
        assert state is None or not state.node


def test_a_copy_that_fails_is_told_with_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Player, *, whole: bool) -> Happened:
        raise ZeroDivisionError(f"whole {whole}")

    moment = game()
    monkeypatch.setattr(Player, "operate", broken)
    with pytest.raises(RuntimeError, match="ZeroDivisionError: whole True"):
        PlayedOn(moment)([])


def test_a_copy_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(_: Player, *, whole: bool) -> Happened:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError(whole)

    moment = game()
    monkeypatch.setattr(Player, "operate", killed)
    with pytest.raises(MemoryError, match="has died"):
        PlayedOn(moment)([])


def test_who_is_not_asked_any_more_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that asked is gone: its copy does not play on for ever."""

    def endless(_: Player, *, whole: bool) -> Happened:
        assert whole
        return Happened.CYCLE

    moment = game()
    playing = PlayedOn(moment, seconds=600, seconds_each=600)
    playing.asked_by = 1
    monkeypatch.setattr(Player, "operate", endless)
    played = playing([])
    assert played is not None
    assert not played.finished


def test_pipes_of_the_process_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that is still playing keeps nobody waiting for the end of what the process had open."""
    reader, writer = os.pipe()

    def looks(_: Player, *, whole: bool) -> Happened:
        assert whole
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(writer)
        return Happened.FINISHED

    moment = game()
    monkeypatch.setattr(Player, "operate", looks)
    played = PlayedOn(moment)([])
    assert played is not None
    assert played.finished
    os.close(reader)
    os.close(writer)
