"""How often engines of a run died where, and what they were doing: whether to try once more, and with what.

Commands are done one at a time, and the journal knows which one is under way. So the command that engines die of is
found by trying once without it: if the engine lives then, it is set aside; if not, the run is parked and keeps it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from framework.sentences import Sentence, sentence
from schedweb.runs.models import JournalEntry

BLAMED_AFTER: Final = 3
"""Deaths in a row within one command, before it is tried without it."""
PAUSES: Final = (0.0, 0.5, 1.5, 3.0)
"""Seconds before the engine is started again, death by death; there is one more death than pauses before the run is
parked. What makes processes die (memory, most likely) may pass."""
PROBATION_SECONDS: Final = 2.0
"""So long at least an engine without the command has to live."""


@dataclass
class Deaths:
    """At one position; somewhere else it counts anew."""

    position: int = -1
    count: int = 0
    command: UUID | None = None
    in_a_row: int = 0
    """Within that command."""

    def another(self, position: int, command: UUID | None) -> None:
        if position != self.position:
            self.position, self.count, self.in_a_row = position, 0, 0
        self.count += 1
        self.in_a_row = self.in_a_row + 1 if command == self.command else 1
        self.command = command

    @property
    def blames_command(self) -> bool:
        return self.command is not None and self.in_a_row >= BLAMED_AFTER

    @property
    def are_too_many(self) -> bool:
        return self.count > len(PAUSES)

    @property
    def pause(self) -> float:
        """Seconds, until it is tried again."""
        return PAUSES[min(self.count, len(PAUSES)) - 1]


@dataclass
class Probe:
    """An engine without the command that is blamed. Nothing that it says is stored."""

    entry: JournalEntry
    seconds: float
    """Of the longest life of those with it, at least."""
    rests: bool = False
    lives_since: float | None = field(default=None)
    """Its first batch, of time.monotonic."""

    @property
    def has_lived(self) -> bool:
        """A run that rests has nothing further to survive."""
        if self.lives_since is None:
            return False
        return self.rests or time.monotonic() - self.lives_since >= self.seconds


def set_aside_words(command: str, author: str, times: int) -> tuple[Sentence, Sentence]:
    """Of a command that the engine died of so often: what its author is told, and what the run's feed says."""
    return (
        sentence(
            "The engine stopped {times} times while it did this ({type}), and goes on without it.",
            times=times,
            type=command,
        ),
        sentence(
            "A command of {author} ({type}) was set aside: the engine stopped {times} times while it did it.",
            author=author,
            type=command,
            times=times,
        ),
    )
