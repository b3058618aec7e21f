"""The cluster that a run follows: read by a process of its own, whose lines wait here until the engine looks at them.

Whoever begins to read lists everything, and the engine says what its world does not have yet (schedweb/engine/
observed.py). So nothing is remembered here: where a process, an engine or a worker ends, the next one lists again.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec
from django.db import DatabaseError, InterfaceError, close_old_connections

from framework.sentences import Words, sentence
from schedweb.clusters.offered import may_be_read
from schedweb.clusters.processes import child, own_folder
from schedweb.clusters.reading.child import Observe
from schedweb.clusters.reading.following import ClusterState
from schedweb.engine.commands import WriteOutcome
from schedweb.engine.frames import Answers, Batch, Deciding, Look, Seen
from schedweb.processes.plain import Process
from schedweb.runs.following.changes import store_state
from schedweb.runs.models import Run
from schedweb.runs.storing.lease import Lease, close_own_connection
from schedweb.runs.storing.patience import patiently
from schedweb.worker.following import FIRST_PAUSE, LONGEST_PAUSE, SILENT_SECONDS, STORE_SECONDS, end, why

log = logging.getLogger(__name__)
MOST_SEEN: Final = 500
MOST_BYTES: Final = 1_000_000
"""What the engine is given to look at at once, and so what one entry of the journal holds at most."""
MOST_WAITING: Final = 20_000
"""Lines. A process that has more to say waits, and its API server with it."""
LOOK_SECONDS: Final = 0.5


class _Line(msgspec.Struct, array_like=True):
    """As observing.py writes it."""

    what: Literal["added", "modified", "deleted", "list", "listed", "whole"]
    manifest: msgspec.Raw
    asked_at: int = 0


_LINE: Final = msgspec.json.Decoder(_Line)


class _Kind(msgspec.Struct):
    apiVersion: str
    kind: str


_KIND: Final = msgspec.json.Decoder(_Kind)


class Watching:
    """``wake`` is called when something waits. All but ``take`` may be called at any time, and again."""

    def __init__(self, run: Run, lease: Lease, wake: Callable[[], None]) -> None:
        self.run = run
        self.lease = lease
        self.wake = wake
        self.is_looked_at = False
        """The engine has been given something and has not answered."""
        self._waiting: queue.Queue[Seen] = queue.Queue(MOST_WAITING)
        self._left_over: Seen | None = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._told = False
        self._stored = 0.0
        self._behind: set[tuple[str, str]] = set()
        """(group, kind) of lists that the engine has not looked at to their end."""
        self._looked_at: list[tuple[str, str]] = []
        """Those whose end it is looking at."""
        self._done: list[tuple[str, str]] = []
        """Those that it has looked at, and whose batch is not stored."""

    def look(self, send: Callable[[Look | Answers | Deciding], None]) -> None:
        """Has the engine look at what waits, unless it is looking."""
        self.begin()
        if not self.is_looked_at and (seen := self.take()):
            self.is_looked_at = True
            send(Look(seen))

    def was_looked_at(self, changes: int) -> None:
        """``changes``: how many the next batch has."""
        self.is_looked_at = False
        self._done += self._looked_at
        self._looked_at.clear()
        if not changes:
            self._are_stored()

    def _are_stored(self) -> None:
        self._behind.difference_update(self._done)
        self._done.clear()

    def begin(self) -> None:
        if self._thread is None:
            self._ended, self._waiting = threading.Event(), queue.Queue(MOST_WAITING)
            self._left_over, self._told, self.is_looked_at = None, False, False
            self._behind, self._looked_at, self._done = set(), [], []
            about = (self._ended, self._waiting)
            self._thread = threading.Thread(target=self._read, args=about, name=f"watching-{self.run.pk}", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """What waits is forgotten: whoever begins lists again."""
        self._ended.set()
        self._thread, self.is_looked_at = None, False

    def begins_anew(self, *, reading: bool) -> None:
        """An engine is made ready and will list again: until it has, nobody is to read that it was live before.
        ``reading``: meanwhile, what the engine hears when it is ready."""
        self.end()
        patiently(lambda: store_state(self.lease, msgspec.json.encode(ClusterState(at=time.time())).decode()))
        if reading:
            self.begin()

    def close(self) -> None:
        """For good."""
        self.end()

    def told(self) -> Sequence[WriteOutcome]:
        """What became of writes that the run does not wait for: the next batch is stored with it."""
        return ()

    def is_stored(self, batch: Batch) -> None:
        """With what ``told`` said. What is only followed is not written to."""
        self._are_stored()

    def settle(self) -> None:
        """What no batch was stored with is stored. Raises LeaseLost."""

    def take(self) -> list[Seen]:
        """In the order in which it came, as much as may be looked at at once."""
        self._told = False
        taken: list[Seen] = []
        size = 0
        while len(taken) < MOST_SEEN:
            seen = self._left_over
            self._left_over = None
            if seen is None:
                try:
                    seen = self._waiting.get_nowait()
                except queue.Empty:
                    break
            size += len(seen.manifest)
            if taken and size > MOST_BYTES:
                self._left_over = seen
                break
            if seen.what == "whole":
                self._looked_at.append(_kind_of(seen))
            taken.append(seen)
        return taken

    # --- the thread -------------------------------------------------------------------------------------------------

    def _read(self, ended: threading.Event, waiting: queue.Queue[Seen]) -> None:
        failures = 0
        try:
            while not ended.is_set():
                began = time.monotonic()
                problem = self._until_it_ends(ended, waiting)
                if ended.is_set():
                    return
                failures = 1 if time.monotonic() - began > LONGEST_PAUSE else failures + 1
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures - 1, 10))
                now = time.time()
                state = ClusterState(
                    at=now, problem=problem, code="broken", since=now, again_at=now + pause, tries=failures
                )
                self._store(msgspec.json.encode(state), ended)
                ended.wait(pause)
        except Exception:
            log.exception("%s: reading %s ended by surprise", self.run, self.run.follows)
        finally:
            close_own_connection()

    def _until_it_ends(self, ended: threading.Event, waiting: queue.Queue[Seen]) -> Words:
        context = self.run.follows
        if not may_be_read(context):
            return sentence("The context {context} is not offered here.", context=context)
        with own_folder() as folder, (folder / "complaints").open("wb") as complaints:
            process = child(folder, complaints.fileno())
            alive = _Alive(process)
            try:
                assert process.stdin is not None
                with contextlib.suppress(OSError):
                    process.stdin.write(msgspec.json.encode(Observe(context)) + b"\n")
                    process.stdin.flush()
                threading.Thread(target=alive.watch, args=(ended,), name="watching-alive", daemon=True).start()
                assert process.stdout is not None
                for line in process.stdout:
                    alive.hears()
                    if line.startswith(b"["):
                        self._put(line, ended, waiting, alive.hears)
                    else:
                        self._store(line, ended)
                    if ended.is_set():
                        return ""
            finally:
                alive.over.set()
                end(process)
            return "" if ended.is_set() else why(process, folder / "complaints")

    def _put(self, line: bytes, ended: threading.Event, waiting: queue.Queue[Seen], hears: Callable[[], None]) -> None:
        told = _LINE.decode(line)
        seen = Seen(told.what, bytes(told.manifest), told.asked_at)
        if seen.what == "list":
            self._behind.add(_kind_of(seen))
        while not ended.is_set():
            try:
                waiting.put(seen, timeout=LOOK_SECONDS)
            except queue.Full:
                hears()  # it is not silent: the engine has not looked at what waits
                continue
            break
        if not self._told:
            self._told = True
            self.wake()

    def _store(self, line: bytes, ended: threading.Event) -> None:
        """What is known of the reading, for people; not more often than they look."""
        if time.monotonic() - self._stored < STORE_SECONDS or ended.is_set():
            return
        self._stored = time.monotonic()
        try:
            close_old_connections()
            store_state(self.lease, self._as_far_as_looked_at(line).decode())
        except (DatabaseError, InterfaceError) as error:
            log.warning("%s: what is read of %s is not stored: %s", self.run, self.run.follows, str(error).strip())
            close_own_connection()

    def _as_far_as_looked_at(self, line: bytes) -> bytes:
        """A kind is caught up with when the run has its list, not when the reader has it."""
        if not (behind := set(self._behind)):
            return line
        state = msgspec.json.decode(line, type=ClusterState)
        for each in state.kinds:
            if (each.group, each.kind) in behind and each.state == "live":
                each.state = "catching_up"
        return msgspec.json.encode(state)


def _kind_of(seen: Seen) -> tuple[str, str]:
    about = _KIND.decode(seen.manifest)
    return about.apiVersion.rpartition("/")[0], about.kind


class _Alive:
    """Ends a process whose reader is told to end, or that says nothing: it tells its state every second."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.heard = time.monotonic()
        self.over = threading.Event()

    def hears(self) -> None:
        self.heard = time.monotonic()

    def watch(self, ended: threading.Event) -> None:
        while not self.over.wait(LOOK_SECONDS):
            if ended.is_set() or time.monotonic() - self.heard > SILENT_SECONDS:
                self.process.kill()
                return
