"""Recording as a run does it: every attempt's digest, and a compressed chunk of attempts every now and then."""

from __future__ import annotations

from framework.scheduler import Observer
from framework.trace.attempt import AttemptTrace
from framework.trace.digest import START, digest
from framework.trace.encoding import encode_attempts

CHUNK = 250
"""Attempts per chunk. A run writes ten chunks a second, so fast ones have more in a chunk and slow ones less."""


class Recorder(Observer):
    """``record`` False only counts."""

    def __init__(self, *, record: bool) -> None:
        self._record = record
        self._waiting: list[AttemptTrace] = []
        self.digest = START
        self.bound = self.failed = 0
        self.bytes = 0
        """Compressed size of all chunks."""

    def attempt(self, trace: AttemptTrace) -> None:
        if trace.result == "waiting":
            return
        self.bound += trace.result == "bound"
        self.failed += trace.result == "failed"
        if self._record:
            self.digest = digest(trace, self.digest)
            self._waiting.append(trace)

    @property
    def has_chunk(self) -> bool:
        return len(self._waiting) >= CHUNK

    def write(self) -> None:
        if self._waiting:
            self.bytes += len(encode_attempts(self._waiting))
            self._waiting = []
