"""Processes that are started before anybody needs them: Python and what they import take most of a second.

A spare waits for its first message on standard input. It ends when that is closed, so also when this process dies.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Final

from schedweb.environment import ROOT

if sys.platform == "linux":
    import fcntl

ENGINE: Final = "schedweb.engine.child"
READER: Final = "schedweb.snapshots.reader"
MOST: Final = 4
"""Of one kind."""
EXPECTED_SECONDS: Final = 30.0
"""So long those that were expected are kept."""
PIPE_BYTES: Final = 1 << 20
"""A batch fits, so an engine need not stand still until it is read."""


def started(
    module: str, *, complaints: int = subprocess.PIPE, variables: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """`python -m module`, with pipes as its standard streams; `complaints` is where its standard error goes.

    `variables`: of its environment, beside this process' own.
    """
    environment = {
        **os.environ,
        **(variables or {}),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
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
    """One of each kind, and more where many are about to be needed. Without ``keep`` there are none, and every process
    is started when it is asked for."""

    def __init__(self) -> None:
        self._kept: tuple[str, ...] = ()
        self._waiting: dict[str, list[subprocess.Popen[bytes]]] = {}
        self._lock = threading.Lock()
        self._expected_at = 0.0
        """When more than one of a kind was expected last, of time.monotonic."""

    def keep(self, *modules: str) -> None:
        """From now on, until ``close``."""
        with self._lock:
            self._kept = modules
        self.refill()

    def expect(self, module: str, count: int) -> None:
        """So many may be needed at once, soon: they are started now, up to MOST. Where no more than one is expected,
        ``refill`` says when it is started; those that are too many are ended after a while."""
        with self._lock:
            if module not in self._kept:
                return
            living = [each for each in self._waiting.get(module, []) if each.poll() is None]
            if count > 1:
                self._expected_at = time.monotonic()
                living += [started(module) for _ in range(min(count, MOST) - len(living))]
            # Who was thought to be gone may be heard of only now and then.
            is_over = time.monotonic() - self._expected_at > EXPECTED_SECONDS
            left = max(count, 1) if is_over else len(living)
            self._waiting[module], too_many = living[:left], living[left:]
        end(too_many)

    def refill(self) -> None:
        """To be called when what was taken has done its first work, so that a new spare does not hold it up."""
        with self._lock:
            for module in self._kept:
                living = [each for each in self._waiting.get(module, []) if each.poll() is None]
                self._waiting[module] = living or [started(module)]

    def take(self, module: str) -> subprocess.Popen[bytes]:
        """A process of the caller's own."""
        return self.taken(module) or started(module)

    def taken(self, module: str) -> subprocess.Popen[bytes] | None:
        """One that waits, if there is one and it seems to live. It may die before it hears its first message."""
        with self._lock:
            waiting = self._waiting.get(module, [])
            while waiting:
                oldest = waiting.pop(0)
                if oldest.poll() is None:
                    return oldest
        return None

    def close(self) -> None:
        with self._lock:
            self._kept = ()
            waiting = [each for kind in self._waiting.values() for each in kind]
            self._waiting.clear()
        end(waiting)


def end(waiting: list[subprocess.Popen[bytes]]) -> None:
    for process in waiting:
        # It has nothing that could be lost, and may be in the middle of its imports.
        process.kill()
        process.communicate()


SPARES: Final = Spares()
"""Of this process: a worker keeps some."""
