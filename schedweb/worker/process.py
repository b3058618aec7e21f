"""The supervisor's end of an engine process: starting it, listening to it, noticing its death at once."""

from __future__ import annotations

import collections
import contextlib
import logging
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import IO, Final

import msgspec

from framework.sentences import Sentence, sentence
from schedweb.engine import frames
from schedweb.processes.forks import FORKS
from schedweb.processes.plain import ENGINE, LOST, is_stopped, started

log = logging.getLogger(__name__)
STDERR_LINES: Final = 40
END_SECONDS: Final = 2
"""What is left of it by then is of no use to anybody: it was stored, or others will make it again."""
LOOK_SECONDS: Final = 0.5
STOPPED_LOOKS: Final = 6
"""Looks in a row, not seconds: a worker that stood still itself, with all that it started, has to see it anew."""


class Died:
    """The child's end of the pipe was closed."""


Heard = frames.FromChild | Died


class EngineProcess:
    """`hear` is called from a thread of its own with every message, and with Died once. `fresh`: it is no
    copy of a process that was there before, so nothing of that one can be what it dies of."""

    def __init__(self, begin: frames.Begin, hear: Callable[[Heard], None], *, fresh: bool = False) -> None:
        self.hear = hear
        self.stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)
        self.child = started(ENGINE) if fresh else FORKS.started(ENGINE)
        self.looked_at = time.monotonic()
        self._sending = threading.Lock()
        self.stopped = 0
        """In how many looks in a row."""
        self._readers = [
            threading.Thread(target=self._listen, name=f"engine-{self.child.pid}", daemon=True),
            threading.Thread(target=self._keep_stderr, name=f"engine-stderr-{self.child.pid}", daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        # A child that dies at once is heard of through the pipe it leaves behind.
        with contextlib.suppress(frames.Gone):
            self.send(begin)

    @property
    def pid(self) -> int:
        return self.child.pid

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe

    def send(self, message: frames.ToChild) -> None:
        """From any thread. Raises Gone."""
        with self._sending:
            frames.write(self._pipe(self.child.stdin), message)

    def look(self) -> None:
        """Ends a process that was stopped (SIGSTOP) and is not continued: it would neither play nor die. To be called
        more often than it looks."""
        if time.monotonic() - self.looked_at < LOOK_SECONDS:
            return
        self.looked_at = time.monotonic()
        self.stopped = self.stopped + 1 if is_stopped(self.pid) else 0
        if self.stopped == STOPPED_LOOKS:
            log.warning("engine %d was stopped and is not continued: it is ended", self.pid)
            self.stderr.append("It was stopped by a signal and not continued, so it was ended.")
            self.child.kill()

    def _listen(self) -> None:
        pipe = self._pipe(self.child.stdout)
        while True:
            try:
                message = frames.read_from_child(pipe)
            except frames.Gone:
                break
            except msgspec.DecodeError as error:
                # Whoever says such a thing cannot be talked to any more.
                self.child.kill()
                self.stderr.append(f"The engine's message is not understood: {error}")
                break
            self.hear(message)
        self.hear(Died())

    def _keep_stderr(self) -> None:
        for line in self._pipe(self.child.stderr):
            self.stderr.append(line.decode(errors="replace").rstrip())

    def ending(self) -> Sentence:
        """How it ended. Of a process that was closed."""
        status = self.child.returncode
        assert status is not None
        if status == LOST:
            return sentence("How it ended is not known: the process that would know did not say.")
        if status >= 0:
            return sentence("It ended with exit status {status}.", status=status)
        try:
            name = signal.Signals(-status).name
        except ValueError:
            return sentence("It was ended by signal {number}.", number=-status)
        return sentence("It was ended by signal {number} ({name}).", number=-status, name=name)

    def last_words(self) -> str:
        for reader in self._readers:
            reader.join(timeout=1)
        return "\n".join(self.stderr)

    def close(self) -> None:
        """Ends the process: closing its pipe is enough for one that is well."""
        with contextlib.suppress(OSError):
            self._pipe(self.child.stdin).close()
        try:
            self.child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.child.send_signal(signal.SIGKILL)
            self.child.wait()
        for reader in self._readers:
            reader.join(timeout=1)
