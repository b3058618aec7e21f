"""A process that was forked by another one: what a caller has of a Popen."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import threading
import time
from contextlib import suppress
from typing import IO, Final

from schedweb.processes.plain import LOST

STATUS: Final = struct.Struct("<i")
"""As Popen.returncode, told by the process that forked it."""
STATUS_SECONDS: Final = 3.0
"""So long after its end it is waited for."""
READ_BYTES: Final = 1 << 16


def is_readable(descriptor: int, seconds: float | None) -> bool:
    """Also at its end. Within so many seconds; None: whenever."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(0.0, seconds) * 1000))


class Forked:
    """A process that was forked by another one, which waits for it and tells its status."""

    def __init__(self, module: str, pid: int, handle: IO[bytes], status: IO[bytes], pipes: list[IO[bytes]]) -> None:
        """`handle`: a pidfd, so that no other process with the same number is ever meant. `status`: a pipe in
        which that is told. `pipes`: for its input, of its output and, if that is wanted, of its complaints."""
        self.module = module
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: IO[bytes] | None = pipes[0]
        self.stdout: IO[bytes] | None = pipes[1]
        self.stderr: IO[bytes] | None = pipes[2] if len(pipes) > 2 else None
        self._handle = handle
        self._status = status
        self._ending = threading.Lock()
        self._said = (bytearray(), bytearray())
        """Output and complaints, for ``communicate``."""

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired. LOST where its status is not told soon after its end."""
        if self.returncode is None:
            if not is_readable(self._handle.fileno(), timeout):
                raise subprocess.TimeoutExpired(self.module, timeout or 0)
            told = self._status.read(STATUS.size) if is_readable(self._status.fileno(), STATUS_SECONDS) else b""
            with self._ending:
                self.returncode = STATUS.unpack(told)[0] if told else LOST
                self._handle.close()
                self._status.close()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        with self._ending, suppress(ProcessLookupError):
            if self.returncode is None:
                signal.pidfd_send_signal(self._handle.fileno(), sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, *, timeout: float | None = None) -> tuple[bytes, bytes]:
        """Closes its input and waits for its end: (output, complaints). Raises subprocess.TimeoutExpired, after which
        it may be called again: nothing is lost."""
        until = None if timeout is None else time.monotonic() + timeout
        if self.stdin is not None:
            with suppress(BrokenPipeError):
                self.stdin.close()
            self.stdin = None
        said = zip((self.stdout, self.stderr), self._said, strict=True)
        heard = {pipe.fileno(): (pipe, what) for pipe, what in said if pipe is not None and not pipe.closed}
        poll = select.poll()
        for descriptor in heard:
            poll.register(descriptor, select.POLLIN)
        while heard:
            readable = poll.poll(None if until is None else max(0.0, until - time.monotonic()) * 1000)
            if not readable:
                raise subprocess.TimeoutExpired(self.module, timeout or 0)
            for descriptor, _ in readable:
                pipe, what = heard[descriptor]
                what += (data := os.read(descriptor, READ_BYTES))
                if not data:
                    poll.unregister(descriptor)
                    del heard[descriptor]
                    pipe.close()
        self.wait(None if until is None else max(0.0, until - time.monotonic()))
        return bytes(self._said[0]), bytes(self._said[1])
