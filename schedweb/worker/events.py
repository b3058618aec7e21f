"""What a supervisor waits for, beside what its engine says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from schedweb.engine import frames
from schedweb.engine.commands import ExtenderAnswers
from schedweb.runs.models import JournalEntry
from schedweb.worker.process import Died


class Wake:
    """Look for commands."""


class Told:
    """A real cluster told something, or answered."""


class Lost:
    """The lease is somebody else's."""


class Shutdown:
    """This worker stops; another one plays on."""


@dataclass(frozen=True)
class Answered:
    """Extenders did, or did not in time."""

    command: ExtenderAnswers


Event = frames.FromChild | Died | Wake | Told | Lost | Shutdown | Answered
NO_ENGINE: Final = 0


@dataclass
class Offered:
    entry: JournalEntry
    placed: bool = False
