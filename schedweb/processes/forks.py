"""Asking a process for copies of itself, and replacing it when it dies or stands still."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import IO, Final

from schedweb.environment import ROOT
from schedweb.processes.forked import Forked, is_readable
from schedweb.processes.plain import Process, environment, make_room, started

log = logging.getLogger(__name__)
SERVER: Final = "schedweb.processes.fork_server"
LOOK: Final = b"look"
REFUSED: Final = b"refused: "
REPLY_BYTES: Final = 1 << 12
READY_SECONDS: Final = 10.0
"""So long after its start a fork server's imports are waited for; who comes later starts processes without it."""
HOPELESS_SECONDS: Final = 60.0
"""One that is not ready by then is replaced; so long after it one that died before it was ready."""
ANSWER_SECONDS: Final = 3.0
"""One that does not answer by then stands still."""
AGAIN_SECONDS: Final = 5.0
"""The least time between the starts of two."""


class Refused(Exception):
    """The fork server is well, but the system gives it no further process."""


class Gone(Exception):
    """It ended, or stands still."""


class ForkServer:
    """The process that forks, and the socket on which it is asked, by one thread at a time."""

    def __init__(self) -> None:
        """Raises OSError."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(ANSWER_SECONDS)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", SERVER, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=ROOT,
                env=environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._began = time.monotonic()
        self.was_ready = False

    def is_ready(self, *, waits: bool) -> bool:
        """Raises Gone."""
        age = time.monotonic() - self._began
        if not self.was_ready and is_readable(self._control.fileno(), READY_SECONDS - age if waits else 0):
            self._answer()
            self.was_ready = True
        if not self.was_ready and age > HOPELESS_SECONDS:
            raise Gone(f"it is not ready after {age:.0f} s")
        return self.was_ready

    def look(self) -> None:
        """Raises Gone."""
        if self.is_ready(waits=False):
            self._ask(LOOK, [])

    def forked(self, module: str, complaints: int, variables: Mapping[str, str] | None) -> Forked:
        """Raises Gone, Refused, and OSError when this process can open no more."""
        words = [module, *(f"{name}={value}" for name, value in environment(variables).items())]
        with ExitStack() as theirs, ExitStack() as ours:
            handed: list[int] = []

            def pipe(*, inward: bool) -> IO[bytes]:
                """Our end of one whose other end is the child's."""
                reading, writing = os.pipe()
                reader, writer = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")
                handed.append(reading if inward else writing)
                theirs.enter_context(reader if inward else writer)
                return ours.enter_context(writer if inward else reader)

            pipes = [pipe(inward=True), pipe(inward=False)]
            make_room(pipes[1].fileno())
            if complaints == subprocess.PIPE:
                pipes.append(pipe(inward=False))
            elif complaints == subprocess.DEVNULL:
                handed.append(theirs.enter_context(open(os.devnull, "wb")).fileno())
            else:
                handed.append(complaints)
            status = pipe(inward=False)
            told, handles = self._ask(b"\0".join(map(os.fsencode, words)), handed)
            ours.pop_all()
        return Forked(module, int(told), os.fdopen(handles[0], "rb", buffering=0), status, pipes)

    def _ask(self, message: bytes, handed: list[int]) -> tuple[bytes, list[int]]:
        try:
            socket.send_fds(self._control, [message], handed)
        except OSError as error:
            raise Gone(str(error)) from error
        return self._answer()

    def _answer(self) -> tuple[bytes, list[int]]:
        try:
            told, received, _, _ = socket.recv_fds(self._control, REPLY_BYTES, 1)
        except OSError as error:
            raise Gone(str(error)) from error
        if not told:
            raise Gone("it ended")
        for each in received:
            os.set_inheritable(each, False)
        if told.startswith(REFUSED):
            raise Refused(told.removeprefix(REFUSED).decode(errors="replace"))
        return told, received

    def end(self) -> None:
        """What it forked goes on. It has nothing that could be lost."""
        self._control.close()
        self.process.kill()
        self.process.wait()


class Forks:
    """Of this process: without ``keep`` there is no fork server, and processes are started by `python -m`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keeper: int | None = None
        """The process that keeps one. A copy of it would talk in between."""
        self._server: ForkServer | None = None
        self._not_before = 0.0
        """Another one, of time.monotonic."""

    def keep(self, *, at_once: bool = True) -> None:
        """From now on, until ``close``; begun `at_once`, or when it is needed first."""
        with self._lock:
            self._keeper = os.getpid() if sys.platform == "linux" else None
            if at_once:
                self._present()

    def started(
        self, module: str, *, complaints: int = subprocess.PIPE, variables: Mapping[str, str] | None = None
    ) -> Process:
        """As the function of this name; of KINDS, a copy of the process that has their imports behind it."""
        with self._lock:
            # One that turns out to be gone is replaced, once.
            for _ in range(2):
                try:
                    server = self._present()
                    if server is None or not server.is_ready(waits=True):
                        break
                    return server.forked(module, complaints, variables)
                except Gone as error:
                    self._give_up(error)
                except Refused as error:
                    log.warning("nothing is forked: %s", error)
                    break
        return started(module, complaints=complaints, variables=variables)

    def look(self) -> None:
        """To be called now and then, so that one that is gone is replaced before it is needed."""
        if self._lock.acquire(blocking=False):  # else somebody finds out anyway
            try:
                if (server := self._present()) is not None:
                    server.look()
            except Gone as error:
                self._give_up(error)
                self._present()
            finally:
                self._lock.release()

    def close(self) -> None:
        with self._lock:
            self._keeper = None
            if self._server is not None:
                self._server.end()
                self._server = None

    def _present(self) -> ForkServer | None:
        """Begins one, unless none is kept or it is too soon: what cannot live is not begun again and again."""
        if self._keeper != os.getpid():
            return None
        if self._server is None and (now := time.monotonic()) >= self._not_before:
            self._not_before = now + AGAIN_SECONDS
            try:
                self._server = ForkServer()
            except OSError as error:
                log.warning("the fork server is not started: %s", error)
        return self._server

    def _give_up(self, why: Gone) -> None:
        assert self._server is not None
        log.warning("the fork server is replaced: %s", why)
        if not self._server.was_ready:
            self._not_before = time.monotonic() + HOPELESS_SECONDS
        self._server.end()
        self._server = None


FORKS: Final = Forks()
"""Of this process: a worker keeps one."""
