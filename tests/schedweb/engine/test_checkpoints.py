"""A checkpoint is made in a copy of the engine's process, and the engine goes on meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from schedweb.engine import checkpoint, frames
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.child import begun
from schedweb.engine.loop import Engine
from schedweb.engine.pace import Pace
from schedweb.engine.payload import encode_payload
from schedweb.engine.player import Player
from tests.schedweb.engine.test_engine import Supervising
from tests.schedweb.engine.worlds import DEFAULT, START, node, pod

PATIENCE = 60.0
PODS = 300


def a_run(**changes: Any) -> frames.Begin:
    """That plays as fast as it can, and whose checkpoints are due after every batch."""
    begin = frames.Begin(
        payload=encode_payload([node("a", "64"), *(pod(f"web-{index}", "100m") for index in range(PODS))]),
        configuration=DEFAULT, seed=7, ties="seeded", approvals="hold", clock="virtual", start=START, speed="max",
        journal=[frames.Entry("play", 0, START, "mira", {"type": "play"})],
        position=0, digest="", is_stored=False, checkpoint=None, checkpoint_seconds=0.0,
    )  # fmt: skip
    return replace(begin, **changes)


@pytest.fixture
def playing() -> Iterator[tuple[Engine, Supervising]]:
    hears, answers = os.pipe()
    supervising = Supervising(answers)
    with os.fdopen(hears, "rb", buffering=0) as inward:
        _, engine = begun(a_run(), (frames.Exactly(inward), supervising))
        engine.checkpoints.cost = 0.0
        engine.emit(whole=True)
        yield engine, supervising
        engine.checkpoints.give_up()
    os.close(answers)


def kept_by(supervising: Supervising) -> list[frames.Kept]:
    return [each for each in supervising.told if isinstance(each, frames.Kept)]


def play(engine: Engine, until: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < deadline
        engine.go_round()


def done(supervising: Supervising, id_: str) -> list[frames.Batch]:
    """The batch that tells what became of the command."""
    batches = [each for each in supervising.told if isinstance(each, frames.Batch)]
    return [each for each in batches if any(outcome.id == id_ for outcome in each.outcomes)]


def test_a_command_is_done_while_a_checkpoint_is_made(
    playing: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine, supervising = playing
    go_on = tmp_path / "go on"

    def slow(player: Player, pace: Pace) -> bytes:
        deadline = time.monotonic() + PATIENCE
        while not go_on.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return save_checkpoint(player, pace)

    monkeypatch.setattr(checkpoint, "save_checkpoint", slow)
    play(engine, lambda: engine.checkpoints.copy)
    begun = engine.player.position
    supervising.say(frames.Offer("pause", "mira", {"type": "pause"}))
    play(engine, lambda: done(supervising, "pause"))
    assert done(supervising, "pause")[0].state == "paused"
    assert not kept_by(supervising)
    go_on.touch()
    play(engine, lambda: kept_by(supervising))
    [kept] = kept_by(supervising)
    assert kept.position == begun
    player, _ = load_checkpoint(kept.data)
    assert (player.position, player.digest) == (begun, kept.digest)
    stored = {each.position: each.digest for each in supervising.told if isinstance(each, frames.Batch)}
    assert stored[begun] == kept.digest, "it is of a position that was told before"


def test_where_copies_die_checkpoints_are_made_by_the_engine_itself(
    playing: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, supervising = playing
    own = os.getpid()

    def dying(player: Player, pace: Pace) -> bytes:
        if os.getpid() != own:
            os._exit(9)
        return save_checkpoint(player, pace)

    monkeypatch.setattr(checkpoint, "save_checkpoint", dying)
    play(engine, lambda: kept_by(supervising))
    assert not engine.checkpoints.makes_copies


def test_where_no_process_can_be_made_checkpoints_are_made_by_the_engine_itself(
    playing: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, supervising = playing

    def refused() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr(os, "fork", refused)
    play(engine, lambda: kept_by(supervising))
    assert engine.checkpoints.copy is None


def test_the_copy_of_a_run_that_ends_is_ended_too(
    playing: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, supervising = playing
    monkeypatch.setattr(checkpoint, "save_checkpoint", lambda player, pace: time.sleep(PATIENCE))
    play(engine, lambda: engine.checkpoints.copy)
    assert engine.checkpoints.copy is not None
    child = engine.checkpoints.copy._child
    monkeypatch.setattr(checkpoint, "save_checkpoint", save_checkpoint)
    engine.finish()
    last = [each for each in supervising.told if isinstance(each, frames.Batch)][-1]
    assert last.checkpoint is not None
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_who_plays_much_has_one_made_sooner_than_who_plays_a_little(
    playing: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = playing
    checkpoints = engine.checkpoints
    checkpoints.seconds = 1000.0
    checkpoints.begin_anew()
    due = [checkpoints.is_due]
    monkeypatch.setattr(checkpoints, "played_from", time.process_time() - 300)
    due.append(checkpoints.is_due)
    checkpoints.cost = 40.0
    due.append(checkpoints.is_due)
    assert due == [False, True, False], "300 seconds would have to be played again; unless it takes long itself"


def test_what_an_engine_had_to_replay_counts_as_played(playing: tuple[Engine, Supervising]) -> None:
    """Engines that die soon one after the other would have more to replay each time."""
    engine, _ = playing
    play(engine, lambda: engine.player.position > PODS)
    stored = a_run(
        position=engine.player.position, digest=engine.player.digest, is_stored=True, checkpoint_seconds=1000.0
    )
    prepared, again = begun(stored, (engine.inward, engine.outward))
    assert prepared.replayed > PODS
    assert time.process_time() - again.checkpoints.played_from >= prepared.replay_seconds > 0
