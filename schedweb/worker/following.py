"""Clusters that people are connected to: each is read by a process of its own, whose state this worker stores.

Which worker reads a cluster is told by a lease on its connection. A process that ends is started again, later each
time.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import Final

import msgspec
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections

from framework.sentences import Words, sentence
from schedweb.clusters.leases import Held, claim, give_back, store, waiting
from schedweb.clusters.offered import may_be_read
from schedweb.clusters.processes import child, own_folder
from schedweb.clusters.reading.child import Follow
from schedweb.clusters.reading.following import ClusterState
from schedweb.processes.plain import LOST, Process
from schedweb.runs.storing.lease import OWNER, close_own_connection
from schedweb.stopping import STOPPING

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 0.5
STORE_SECONDS: Final = 1.0
SILENT_SECONDS: Final = 30.0
"""A process that says nothing for so long stands still."""
FIRST_PAUSE: Final = 2.0
LONGEST_PAUSE: Final = 60.0
ENDING_SECONDS: Final = 2.0


class LetGo(Exception):
    """Nobody wants it any more, another worker has it, or this one ends."""


class _Follower:
    """One cluster, in a thread of its own."""

    def __init__(self, held: Held) -> None:
        self.held = held
        self.failures = 0
        self.asks = held.asks
        self.stored = 0.0

    def run(self) -> None:
        try:
            while True:
                self._read()
                self._pause()
        except LetGo as why:
            log.info("cluster %s is no longer read here: %s", self.held.context, why)
        except Exception:
            log.exception("reading cluster %s ended by surprise", self.held.context)
        finally:
            try:
                give_back(self.held)
            except (DatabaseError, InterfaceError) as error:
                log.warning("cluster %s is free when its lease runs out: %s", self.held.context, error)
            close_own_connection()

    def _read(self) -> None:
        """Until the process ends, whose end is stored. Raises LetGo."""
        if not may_be_read(self.held.context):
            self._failed(sentence("The context {context} is not offered here.", context=self.held.context))
            return
        with own_folder() as folder, (folder / "complaints").open("wb") as complaints:
            process = child(folder, complaints.fileno())
            lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
            threading.Thread(target=_pass_on, args=(process, lines), name="cluster-lines", daemon=True).start()
            try:
                self._tell(process, msgspec.json.encode(Follow(self.held.context)))
                self._follow(process, lines)
            finally:
                end(process)
            self._failed(why(process, folder / "complaints"))

    def _follow(self, process: Process, lines: queue.SimpleQueue[bytes]) -> None:
        heard = time.monotonic()
        while True:
            try:
                line = lines.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                line = None
            if STOPPING.is_set():
                raise LetGo("this worker ends")
            if line == b"":
                return
            now = time.monotonic()
            if line is not None:
                heard, self.failures = now, 0
            elif now - heard > SILENT_SECONDS:
                process.kill()
                return
            if now - self.stored >= STORE_SECONDS and self._store(line):
                self._tell(process, b"{}")

    def _store(self, line: bytes | None) -> bool:
        """Whether somebody asked for a try now. Raises LetGo."""
        state = None if line is None else msgspec.json.decode(line, type=ClusterState)
        self.stored = time.monotonic()
        try:
            close_old_connections()
            asks = store(self.held, state, "" if line is None else line.decode())
        except (DatabaseError, InterfaceError) as error:
            # The next try may succeed; when none does, the lease runs out and another worker reads.
            log.warning("the state of cluster %s is not stored: %s", self.held.context, str(error).strip())
            close_own_connection()
            return False
        if asks is None:
            raise LetGo("it is not wanted, or another worker reads it")
        asked, self.asks = asks != self.asks, asks
        return asked

    def _failed(self, why: Words) -> None:
        self.failures += 1
        now = time.time()
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self.failures - 1, 10))
        state = ClusterState(at=now, problem=why, code="broken", since=now, again_at=now + pause, tries=self.failures)
        self._store(msgspec.json.encode(state))

    def _pause(self) -> None:
        """Until it is to be started again, or somebody asks for it. Raises LetGo."""
        until = time.monotonic() + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self.failures - 1, 10))
        while time.monotonic() < until:
            if STOPPING.wait(LOOK_SECONDS):
                raise LetGo("this worker ends")
            if time.monotonic() - self.stored >= STORE_SECONDS and self._store(None):
                return

    def _tell(self, process: Process, line: bytes) -> None:
        assert process.stdin is not None
        # When it has ended, that is noticed where its lines are read.
        with contextlib.suppress(OSError):
            process.stdin.write(line + b"\n")
            process.stdin.flush()


def _pass_on(process: Process, lines: queue.SimpleQueue[bytes]) -> None:
    """Its lines, and an empty one at its end."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            lines.put(line.rstrip(b"\n") or b"{}")
    lines.put(b"")


def end(process: Process) -> None:
    """It ends with its input; one that stands still is killed."""
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()


def why(process: Process, complaints: Path) -> Words:
    """Of its last words only the kind of the error: what it says may hold anything."""
    last = complaints.read_text(errors="replace").strip().splitlines()[-1:] or [""]
    kind = last[0].partition(":")[0][:80]
    words = sentence(
        "The process that reads this cluster ended with status {status} ({kind}). It is started again.",
        status="-" if process.returncode == LOST else str(process.returncode),
        kind=kind or "-",
    )
    log.warning("cluster: %s", words)
    return words


class Followers:
    """Of this worker."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []

    def look(self) -> None:
        """For connections that nobody reads, as long as there are places."""
        self._threads = [each for each in self._threads if each.is_alive()]
        for row in waiting():
            if len(self._threads) >= settings.WORKER_CLUSTERS:
                return
            held = claim(row, OWNER)
            if held is not None:
                thread = threading.Thread(target=_Follower(held).run, name=f"cluster-{held.pk}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def wait(self, seconds: float) -> None:
        """Until all have ended, after STOPPING was set."""
        until = time.monotonic() + seconds
        for each in self._threads:
            each.join(max(0.0, until - time.monotonic()))


FOLLOWERS: Final = Followers()
