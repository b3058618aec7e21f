"""The engine's loop in this process, where a supervisor's side of the pipe can be bent."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from framework.sentences import ENGLISH, in_words
from schedweb.engine import frames
from schedweb.engine.child import prepare
from schedweb.engine.loop import Engine
from schedweb.engine.payload import encode_payload
from tests.schedweb.engine.worlds import DEFAULT, START, node, pod


class Supervising:
    """The end of the pipe that the engine writes to; every batch is answered with ``answers``, Ack and, where a command
    has its place in it, Commit."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.told: list[frames.FromChild] = []
        self.before_ack: list[frames.ToChild] = []
        self._buffer = b""

    def write(self, data: bytes) -> None:
        self._buffer += data

    def flush(self) -> None:
        message = frames.read_from_child(Text(self._buffer))
        self._buffer = b""
        self.told.append(message)
        if isinstance(message, frames.Batch):
            for each in (*self.before_ack, frames.Ack(message.number)):
                self.say(each)
            if message.place is not None:
                self.say(frames.Commit(message.place.id))

    def say(self, message: frames.ToChild) -> None:
        with os.fdopen(os.dup(self.answers), "wb") as pipe:
            frames.write(pipe, message)

    @property
    def failure(self) -> str:
        assert isinstance(self.told[-1], frames.Failure)
        return in_words(self.told[-1].text, ENGLISH)


class Text:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def read(self, size: int) -> bytes:
        part, self.content = self.content[:size], self.content[size:]
        return part


@pytest.fixture
def engine() -> Iterator[tuple[Engine, Supervising]]:
    """A run that plays as fast as it can."""
    begin = frames.Begin(
        payload=encode_payload([node("a", "64"), *(pod(f"web-{index}", "100m") for index in range(20))]),
        configuration=DEFAULT, seed=7, ties="seeded", approvals="hold", clock="virtual", start=START, speed="max",
        journal=[frames.Entry("play", 0, START, "mira", {"type": "play"})],
        position=0, digest="", is_stored=False, checkpoint=None, checkpoint_seconds=1000.0,
    )  # fmt: skip
    hears, answers = os.pipe()
    supervising = Supervising(answers)
    prepared = prepare(begin)
    with os.fdopen(hears, "rb", buffering=0) as inward:
        yield Engine(prepared.player, prepared.pace, begin, (frames.Exactly(inward), supervising)), supervising
    os.close(answers)


def raising(*args: Any, **kwargs: Any) -> Any:
    raise OverflowError("a number that no message holds")


def test_a_batch_that_cannot_be_made_fails_the_run_instead_of_waiting_for_its_acknowledgement(
    engine: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch
) -> None:
    player, supervising = engine
    made = player.gatherer.cycle
    monkeypatch.setattr(player.gatherer, "cycle", lambda **how: raising() if player.acknowledged == 1 else made(**how))
    player.run()
    # How far it comes until then is a question of how fast it is.
    assert re.fullmatch(
        r"The run stopped at cycle \d+: OverflowError: a number that no message holds", supervising.failure
    )


def test_a_command_that_is_offered_while_a_plugin_fails_does_not_hide_why(
    engine: tuple[Engine, Supervising], monkeypatch: pytest.MonkeyPatch
) -> None:
    player, supervising = engine
    supervising.before_ack = [frames.Offer("pause", "mira", {"type": "pause"})]
    monkeypatch.setattr(player.player, "operate", raising)
    monkeypatch.setattr(player, "listen", lambda wait: None)
    player.run()
    assert supervising.failure == "The run stopped at cycle 0: OverflowError: a number that no message holds"
