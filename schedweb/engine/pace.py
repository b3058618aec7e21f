"""Pace: whether the run plays, how fast, and how far a step goes. It never changes what is decided.

Replay feeds it the same commands and happenings as the live run did, so that a step that was promised and not yet
done is done after a takeover.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from schedweb.engine import commands
from schedweb.engine.breakpoints import Breakpoints, Hit
from schedweb.engine.frames import State
from schedweb.engine.player import Happened, Player

CYCLES_PER_SECOND: Final = {"one": 1.0, "10": 10.0, "100": 100.0}
Mode = Literal["created", "playing", "paused", "stopped"]


@dataclass(slots=True)
class Pace:
    speed: str = "10"
    mode: Mode = "created"
    step: Literal["cycle", "point"] | None = None
    breakpoints: Breakpoints = field(default_factory=Breakpoints)
    resting: Happened | None = None
    """WAITS or FINISHED: playing goes on when something changes."""

    def obey(self, command: commands.AnyCommand) -> str:
        """A pacing command; what the journal keeps as its result."""
        match command:
            case commands.BreakpointSet():
                self.breakpoints.set(command)
                return ""
            case commands.BreakpointRemove(id_):
                self.breakpoints.remove(id_)
                return ""
            case commands.Play(speed):
                self.mode, self.step = "playing", None
                if speed is not None:
                    self.speed = speed
            case commands.Pause():
                self.mode, self.step = "paused", None
            case commands.Step(what):
                self.mode, self.step = "paused", what
            case commands.SetSpeed(speed):
                self.speed = speed
            case commands.Stop():
                self.mode, self.step = "stopped", None
        self.resting, self.breakpoints.hit = None, None
        return ""

    def stirred(self) -> None:
        """A command changed the machine: there may be something to do again."""
        self.resting = None

    def happened(self, what: Happened) -> None:
        if what in (Happened.WAITS, Happened.FINISHED, Happened.IDLE):
            self.step = None
            self.resting = what if what is not Happened.IDLE else None
        elif what is Happened.ERRORS:
            self.mode, self.step = "paused", None
        elif what is Happened.CYCLE or (what is Happened.POINT and self.step == "point"):
            self.step = None

    def look(self, player: Player, what: Happened) -> Hit | None:
        """After every operation: pauses at a breakpoint that it hit."""
        if not self.breakpoints.known:
            return None
        hit = self.breakpoints.look(player, what)
        if hit is not None:
            self.mode, self.step, self.breakpoints.hit = "paused", None, hit
        return hit

    @property
    def wants_operations(self) -> bool:
        return self.step is not None or (self.mode == "playing" and self.resting is None)

    @property
    def cycle_seconds(self) -> float:
        """How long a cycle should take on the wall; 0: as fast as possible."""
        rate = CYCLES_PER_SECOND.get(self.speed)
        return 0.0 if rate is None or self.step is not None else 1.0 / rate

    @property
    def state(self) -> State:
        if self.resting is Happened.FINISHED and self.mode != "stopped":
            return "finished"
        if self.resting is Happened.WAITS and self.mode == "playing":
            return "waiting_for_person"
        return self.mode
