"""Processes that are started before anybody needs them: Python and what they import take most of a second.

A spare waits for its first message on standard input. It ends when that is closed, so also when this process dies.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from typing import Final

from schedweb.environment import ROOT

if sys.platform == "linux":
    import fcntl

ENGINE: Final = "schedweb.engine.child"
READER: Final = "schedweb.snapshots.reader"
END_SECONDS: Final = 5
PIPE_BYTES: Final = 1 << 20
"""A batch fits, so an engine need not stand still until it is read."""


def started(module: str, *, complaints: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """`python -m module`, with pipes as its standard streams; `complaints` is where its standard error goes."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        cwd=ROOT,
        env=environment,
        close_fds=True,
        # A Ctrl C is for the server: it ends what it started itself, an engine with a checkpoint.
        start_new_session=True,
    )
    if sys.platform == "linux" and process.stdout is not None:
        # Who has very many pipes is refused the room, and goes on with what a pipe has by itself.
        with contextlib.suppress(OSError):
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return process


class Spares:
    """At most one of each kind. Without ``keep`` there are none, and every process is started when it is asked for."""

    def __init__(self) -> None:
        self._kept: tuple[str, ...] = ()
        self._waiting: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def keep(self, *modules: str) -> None:
        """From now on, until ``close``."""
        with self._lock:
            self._kept = modules
        self.refill()

    def refill(self) -> None:
        """To be called when what was taken has done its first work, so that a new spare does not hold it up."""
        with self._lock:
            for module in self._kept:
                waiting = self._waiting.get(module)
                if waiting is None or waiting.poll() is not None:
                    self._waiting[module] = started(module)

    def take(self, module: str) -> subprocess.Popen[bytes]:
        """A process of the caller's own."""
        with self._lock:
            waiting = self._waiting.pop(module, None)
        return waiting if waiting is not None and waiting.poll() is None else started(module)

    def close(self) -> None:
        with self._lock:
            self._kept = ()
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for process in waiting:
            try:
                process.communicate(timeout=END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


SPARES: Final = Spares()
"""Of this process: a worker keeps some."""
