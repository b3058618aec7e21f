"""When a run was at which step, and how many pods each queue had there: kept beside the run, so that looking along its
timeline needs no replay.

The engine notes a step after every operation, and after every extension point at which a cycle can be stood at; a cycle
at full speed is one operation, so no step within it is noted. A batch stores its steps as one blob.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import msgspec
import zstandard

from schedweb.engine.player import Player
from schedweb.engine.shapes import QUEUES

_LARGEST: Final = 1 << 30


class Step(msgspec.Struct, array_like=True, frozen=True):
    """The run at `position`, before the commands that have their place there, as a moment is (moments.py)."""

    position: int
    clock: int
    """Run time in nanoseconds."""
    counts: tuple[int, ...]
    """Pods per queue, in the order of the blob's `columns`."""


class Steps(msgspec.Struct, array_like=True, frozen=True):
    columns: tuple[str, ...]
    steps: tuple[Step, ...]
    """In order of their positions."""


_DECODER: Final = msgspec.msgpack.Decoder(Steps)


class StepLog:
    """The engine's side."""

    def __init__(self) -> None:
        self.last = -1
        self.steps: list[Step] = []

    def note(self, player: Player) -> None:
        """What is noted of a position first stays: what comes after it there are commands."""
        position = player.position
        if position > self.last:
            self.last = position
            self.steps.append(Step(position, player.now, player.projection.board.numbers()))

    def start(self, position: int) -> None:
        """What comes up to here is stored already."""
        self.last, self.steps = position, []

    def take(self) -> tuple[int, bytes] | None:
        """(position of the first, the blob) of the steps since the last call; None when there are none."""
        if not self.steps:
            return None
        steps, self.steps = tuple(self.steps), []
        return steps[0].position, zstandard.compress(msgspec.msgpack.encode(Steps(QUEUES, steps)), 3)


def first_clock_in(blob: bytes) -> int:
    """Run time, in nanoseconds, of a blob's first step."""
    return _opened(blob).steps[0].clock


def position_at(blob: bytes, clock: int) -> int:
    """Of the last step of a blob that is not after ``clock``, nanoseconds of run time.

    Raises LookupError when its first one is."""
    steps = _opened(blob).steps
    place = bisect_right(steps, clock, key=lambda step: step.clock)
    if place == 0:
        raise LookupError(f"no step at or before {clock}")
    return steps[place - 1].position


def _opened(blob: bytes) -> Steps:
    return _DECODER.decode(zstandard.ZstdDecompressor().decompress(blob, max_output_size=_LARGEST))


def step_in(blob: bytes, position: int) -> tuple[int, int, dict[str, int]]:
    """(position, clock, pods per queue) of the last step of a blob that is not after `position`.

    Raises LookupError when its first one is."""
    columns, steps = (found := _opened(blob)).columns, found.steps
    place = bisect_right(steps, position, key=lambda step: step.position)
    if place == 0:
        raise LookupError(f"no step at or before {position}")
    step = steps[place - 1]
    return step.position, step.clock, dict(zip(columns, step.counts, strict=True))
