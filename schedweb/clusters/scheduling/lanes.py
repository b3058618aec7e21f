"""Writes that are under way at once. Those for one pod follow each other in a lane of their own; Events have another,
as nobody waits for them.

What the scheduler waits for and what was not carried out fails, and is decided anew. What is only told (conditions,
nominations, Events) stays true, so it is kept in its lane and tried again.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from framework.scheduler.cluster import not_found
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.reducing import FileRefused, Reducer
from schedweb.clusters.writing.events import Events
from schedweb.clusters.writing.sending import Writer
from schedweb.engine.commands import WriteOutcome
from schedweb.engine.live import WriteRow
from schedweb.writes.claims import READ_AGAIN, RESOURCE
from schedweb.writes.writes import Outcome, Write

LANES: Final = 8
LOOK_SECONDS: Final = 0.2
TICK_SECONDS: Final = 10.0
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
"""Until what was kept is tried again, in seconds; doubled while it fails."""
NOT_CARRIED_OUT: Final = frozenset(("unreached", "busy", "withheld", "unknown"))
"""Or not known to be."""


class Scheduling(Protocol):
    """Whose writes they are. Called by the lanes' threads."""

    def is_live(self) -> bool:
        """Whether pods and nodes are known as they are: until then nothing is sent."""

    def is_leader(self) -> bool: ...

    def may_go_on(self) -> bool:
        """Whether nobody said Stop, and nobody else goes on with it."""

    def is_answered(self, row: WriteRow, outcome: WriteOutcome) -> None: ...

    def was_refused(self) -> None:
        """A right is missing."""

    def ended_by_surprise(self, row: WriteRow, error: Exception) -> Outcome:
        """What that means."""

    def thread_ends(self) -> None: ...


class _Item(msgspec.Struct, frozen=True):
    row: WriteRow
    again: bool = False
    """It may have been sent: by another worker, or by an earlier try."""


def _pod_of(item: _Item) -> tuple[str, str]:
    return item.row.write.about.namespace, item.row.write.about.name


class _Kept:
    """What is only told and was not carried out, of a lane. Those of one pod keep their order."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self._pause, self._not_before = FIRST_PAUSE, 0.0

    def has(self, item: _Item) -> bool:
        return any(_pod_of(each) == _pod_of(item) for each in self.items)

    def try_again(self, do: Callable[[_Item], bool]) -> None:
        """``do``: whether that was all."""
        if not self.items or time.monotonic() < self._not_before:
            return
        items, self.items = self.items, []
        for each in items:
            if self.has(each) or not do(each):
                self.items.append(each)
        self._pause = min(2 * self._pause, LONGEST_PAUSE) if self.items else FIRST_PAUSE
        self._not_before = time.monotonic() + self._pause


class Lanes:
    def __init__(self, scheduling: Scheduling, writer: Writer, events_writer: Writer, name: str) -> None:
        """``name`` is in threads' names."""
        self._scheduling, self._writer, self._events_writer = scheduling, writer, events_writer
        self._events = Events(events_writer.send)
        self._lanes: list[queue.SimpleQueue[_Item | None]] = [queue.SimpleQueue() for _ in range(LANES)]
        self._events_lane: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        targets = [(each, self._send) for each in self._lanes] + [(self._events_lane, self._send_event)]
        self._threads = [
            threading.Thread(target=self._work, args=target, name=f"writing-{name}", daemon=True) for target in targets
        ]
        for thread in self._threads:
            thread.start()

    def put(self, row: WriteRow, *, again: bool = False) -> None:
        """``again``: it may have been sent."""
        write = row.write
        lane = self._events_lane
        if write.purpose != "event":
            lane = self._lanes[zlib.crc32(f"{write.about.namespace}/{write.about.name}".encode()) % LANES]
        lane.put(_Item(row, again))

    def close(self, seconds: float | None = None) -> None:
        """What is under way is finished, the rest is left. Of writers that are stopped. ``seconds``: what has no answer
        by then is left, too."""
        self._closing.set()
        for lane in (*self._lanes, self._events_lane):
            lane.put(None)
        until = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))

    # --- the threads --------------------------------------------------------------------------------------------------

    def _work(self, lane: queue.SimpleQueue[_Item | None], act: Callable[[_Item], Outcome]) -> None:
        kept, scheduling = _Kept(), self._scheduling
        try:
            while True:
                item = None
                with contextlib.suppress(queue.Empty):
                    item = lane.get(timeout=FIRST_PAUSE if kept.items else TICK_SECONDS)
                    if item is None:
                        return
                if kept.items and scheduling.is_live() and scheduling.is_leader():
                    kept.try_again(lambda each: self._do(each, act))
                if item is not None:
                    if (kept.has(item) and not item.row.is_awaited) or not self._do(item, act):
                        kept.items.append(replace(item, again=True))
                elif lane is self._events_lane and scheduling.is_live():
                    self._events.tick(time.time_ns())
        finally:
            scheduling.thread_ends()

    def _do(self, item: _Item, act: Callable[[_Item], Outcome]) -> bool:
        """Whether that was all: what is only told and was not carried out is to be done again."""
        row = item.row
        try:
            self._wait_until_live()
            if self._closing.is_set():
                return True
            outcome = act(item)
        except Exception as error:  # noqa: BLE001 - a lane whose thread ends would hold its pods for ever
            outcome = self._scheduling.ended_by_surprise(row, error)
        found = None
        if outcome.result == "conflict" and row.write.purpose in READ_AGAIN:
            outcome, found = self._read_again(row.write, outcome)
        if self._closing.is_set() and outcome.result in NOT_CARRIED_OUT:
            return True  # whoever goes on looks at it
        if not row.is_awaited and outcome.result in NOT_CARRIED_OUT and self._may_come_later(row.write):
            return False
        self._scheduling.is_answered(row, WriteOutcome(row.number, outcome, time.time_ns(), found))
        return True

    def _read_again(self, write: Write, outcome: Outcome) -> tuple[Outcome, dict[str, Any] | None]:
        """A claim that is not as the scheduler knew it: (what that means, the claim as a watch would tell it)."""
        try:
            found = self._writer.read(write)
        except ClusterProblem:
            return outcome, None  # it was stopped
        if found is None:
            return replace(outcome, result="gone", message=not_found(RESOURCE, write.about.name)), None
        reducer = Reducer()
        fields = {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in found.items()}
        try:
            manifest: dict[str, Any] = msgspec.json.decode(reducer.whole(reducer.reduce(fields).text))
        except FileRefused:
            return outcome, None  # as a watch's is left out
        return outcome, manifest

    def _may_come_later(self, write: Write) -> bool:
        return self._writer.allows(write) and self._scheduling.may_go_on()

    def _wait_until_live(self) -> None:
        while not self._scheduling.is_live():
            if self._closing.wait(LOOK_SECONDS) or not self._scheduling.may_go_on():
                return

    def _send(self, item: _Item) -> Outcome:
        write = item.row.write
        if item.again and (seen := self._writer.look(write)) is not None:
            return replace(seen, looked=True)
        return self._heard(self._writer.send(write))

    def _send_event(self, item: _Item) -> Outcome:
        if item.again:
            outcome = self._heard(self._events_writer.send(item.row.write))
            return replace(outcome, result="done") if outcome.result == "exists" else outcome
        # None: it is only counted, and told with its series.
        return self._heard(self._events.take(item.row.write, time.time_ns()) or Outcome("done"))

    def _heard(self, outcome: Outcome) -> Outcome:
        if outcome.result == "forbidden":
            self._scheduling.was_refused()
        return outcome
