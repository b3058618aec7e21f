"""Engines of tests: forked from a process that has imported what they need, because Python's start and their imports
take most of a second each.

Each is a process of its own with pipes, as the product's; only how it begins differs. Tests of how engines are started
use the product's own way.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from typing import IO

from schedweb.engine.child import main as engine
from schedweb.environment import ROOT
from schedweb.spares import ENGINE

ASKED = b"fork"
PIPES = 3
PID_BYTES = 4


class ForkedEngine:
    """What EngineProcess asks of a Popen."""

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        self.pid = pid
        self.stdin: IO[bytes] = os.fdopen(stdin, "wb", buffering=0)
        self.stdout: IO[bytes] = os.fdopen(stdout, "rb")
        self.stderr: IO[bytes] = os.fdopen(stderr, "rb")
        self.returncode: int | None = None
        try:
            self._handle: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self._handle = None

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its status is its parent's to know; who asks here learns that it is gone."""
        if self.returncode is None:
            if self._handle is not None:
                if not select.select([self._handle], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(ENGINE, timeout or 0)
                os.close(self._handle)
                self._handle = None
            self.returncode = -signal.SIGKILL
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self._handle is not None:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that is forked is started when it is needed first, and ends when nobody can ask it any more."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def started(self, module: str) -> ForkedEngine:
        assert module == ENGINE
        if self._socket is None:
            self._socket = self._begun()
        (child_in, ours_in), (ours_out, child_out), (ours_err, child_err) = os.pipe(), os.pipe(), os.pipe()
        theirs = [child_in, child_out, child_err]
        socket.send_fds(self._socket, [ASKED], theirs)
        for each in theirs:
            os.close(each)
        return ForkedEngine(int.from_bytes(self._socket.recv(PID_BYTES), "big"), ours_in, ours_out, ours_err)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    @staticmethod
    def _begun() -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
                env={**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
        return ours


def main(descriptor: int) -> int:
    """Forks whenever it is asked, until nobody can ask any more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    while True:
        message, pipes, _, _ = socket.recv_fds(control, len(ASKED), PIPES)
        if not message:
            return 0
        if (pid := os.fork()) == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            for number, each in enumerate(pipes):
                os.dup2(each, number)
                os.close(each)
            os.setsid()
            return engine()
        for each in pipes:
            os.close(each)
        control.sendall(pid.to_bytes(PID_BYTES, "big"))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
