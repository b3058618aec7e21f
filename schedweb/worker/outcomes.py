"""What became of writes to a real cluster, on its way from the threads that write to the engine and the database."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Iterator, Sequence
from typing import Final

from schedweb.engine.commands import WriteOutcome
from schedweb.engine.frames import Batch

MOST_AT_ONCE: Final = 200
"""In one entry of the journal."""
LONG_SECONDS: Final = 0.5


class Outcomes:
    """All but ``put`` is the supervisor's thread's."""

    def __init__(self) -> None:
        self._awaited: queue.SimpleQueue[WriteOutcome] = queue.SimpleQueue()
        self._others: queue.SimpleQueue[WriteOutcome] = queue.SimpleQueue()
        self._given: dict[int, WriteOutcome] = {}
        """Those that the engine has, and no batch that is stored."""
        self._again: list[WriteOutcome] = []
        """Those that an engine had that ended."""
        self._told: list[WriteOutcome] = []
        """Of others, to be stored."""
        self._settled = time.monotonic()
        self._is_known = False
        """Whether the supervisor was told that something waits, and has not looked."""

    def put(self, outcome: WriteOutcome, *, is_awaited: bool) -> bool:
        """``is_awaited``: the run waits for it. Whether the supervisor is to be told that it is there."""
        if not is_awaited:
            self._others.put(outcome)
            return False
        self._awaited.put(outcome)
        was_known, self._is_known = self._is_known, True
        return not was_known

    def give(self) -> Iterator[list[WriteOutcome]]:
        """What the engine is to be told, in parts. It may have to be told again."""
        self._is_known = False
        while outcomes := self._come():
            self._given.update((each.number, each) for each in outcomes)
            yield outcomes

    def told(self) -> Sequence[WriteOutcome]:
        """What is only stored."""
        self._told += _taken(self._others)
        return self._told

    def is_stored(self, batch: Batch) -> None:
        """With all that ``told`` said."""
        self.are_settled()
        for heard in batch.heard:
            for each in heard.outcomes:
                self._given.pop(each.number, None)

    @property
    def wait_long(self) -> bool:
        """What is only stored has waited long for a batch to be stored with."""
        return time.monotonic() - self._settled > LONG_SECONDS

    def are_settled(self) -> None:
        """All that ``told`` said is stored."""
        self._told, self._settled = [], time.monotonic()

    def engine_ends(self) -> None:
        self._again, self._given = [*self._given.values(), *self._again], {}

    def rest(self) -> Sequence[WriteOutcome]:
        """Everything, of an engine that ended."""
        rest = [*self._again, *self.told()]
        while more := [*_taken(self._awaited), *_taken(self._others)]:
            rest += more
        return rest

    def _come(self) -> list[WriteOutcome]:
        again, self._again = self._again, []
        return again or _taken(self._awaited)


def _taken(waiting: queue.SimpleQueue[WriteOutcome]) -> list[WriteOutcome]:
    taken: list[WriteOutcome] = []
    with contextlib.suppress(queue.Empty):
        while len(taken) < MOST_AT_ONCE:
            taken.append(waiting.get_nowait())
    return taken
