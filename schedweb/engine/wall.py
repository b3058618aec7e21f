"""The clock of a run that goes with the wall's: the journal has each move of it."""

from __future__ import annotations

import time
from typing import Final

from schedweb.engine.pace import Pace
from schedweb.engine.player import Player
from schedweb.engine.steps import StepLog

TICK: Final = 20_000_000
"""Nanoseconds. Cycles within one have one time, so the journal gets at most this many moves a second."""


class WallClock:
    def __init__(self, player: Player, pace: Pace, steps: StepLog) -> None:
        self._player, self._pace, self._steps = player, pace, steps
        self._anchor: tuple[float, int] | None = None
        """(wall, run time) when it began to run."""
        self._moves: list[tuple[int, int]] = []

    @property
    def is_real(self) -> bool:
        return not self._player.virtual

    def now(self) -> int:
        """Run time: it stands while the run does. A cluster that is followed has one itself."""
        player = self._player
        if player.is_of_real_cluster:
            return max(player.now, time.time_ns())
        if not self.is_real or self._pace.mode != "playing":
            self._anchor = None
            return player.now
        if self._anchor is None:
            self._anchor = (time.monotonic(), player.now)
        wall, run = self._anchor
        return max(player.now, run + int((time.monotonic() - wall) * 1e9))

    def follow(self) -> None:
        """By ticks, and to what falls due."""
        to = self.now()
        due = self._player.next_instant()
        if to - self._player.now >= TICK or (due is not None and self._player.now < due <= to):
            self._move(to)

    def catch_up(self) -> None:
        """For a command, which comes now."""
        if self.is_real and (to := self.now()) > self._player.now:
            self._move(to)

    def take(self) -> list[tuple[int, int]]:
        """Moves since the last batch: the position at which, and to when."""
        moves, self._moves = self._moves, []
        return moves

    def _move(self, to: int) -> None:
        self._moves.append((self._player.position, to))
        self._player.advance(to)
        self._steps.note(self._player)
