"""What a run hears of its real cluster, from watches and as answers to its writes. It is done at once, and comes into
the journal with the batch that has what follows from it: nothing of that leaves the worker before it is stored. What
was not stored is heard again: the cluster is listed anew, and answers are kept, or writes looked at.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Final

import msgspec

from schedweb.engine.commands import ClusterChanges, ObservedChange, WriteOutcome, WriteOutcomes, plain
from schedweb.engine.frames import Entry
from schedweb.engine.obey import validate
from schedweb.engine.pace import Pace
from schedweb.engine.player import Player
from schedweb.engine.real_rows import HeardRow
from schedweb.engine.replay import do

MOST: Final = 500
"""Changes in one entry of the journal."""
_JSON: Final = msgspec.json.Encoder()


class Hearing:
    def __init__(self, player: Player, pace: Pace) -> None:
        self._player, self._pace = player, pace
        self._rows: list[HeardRow] = []
        """Done, and in no batch."""

    def changes(self, changes: Sequence[ObservedChange]) -> None:
        """They have their own time."""
        for first in range(0, len(changes), MOST):
            self._do(ClusterChanges(time.time_ns(), tuple(changes[first : first + MOST])))

    def outcomes(self, outcomes: Sequence[WriteOutcome]) -> None:
        self._do(WriteOutcomes(tuple(outcomes)))

    def take(self) -> list[HeardRow]:
        """For a batch."""
        rows, self._rows = self._rows, []
        return rows

    def _do(self, command: ClusterChanges | WriteOutcomes) -> None:
        """As replay does it, from what the journal will have."""
        player = self._player
        assert validate(player, command) is None
        content = plain(command)
        entry = Entry(str(uuid.uuid4()), player.position, player.now, "", content)
        done = do(player, self._pace, entry)
        assert done is not None
        assert done.status == "applied", done
        known = command.outcomes if isinstance(command, WriteOutcomes) else ()
        changes = len(command.changes) if isinstance(command, ClusterChanges) else 0
        text = _JSON.encode(content).decode()
        row = HeardRow(entry.id, entry.position, entry.clock, content["type"], text, changes, known)
        self._rows.append(row)
