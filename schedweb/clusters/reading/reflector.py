"""One kind of a cluster, kept up to date: listed, watched, listed again where the watch was lost.

How kube-scheduler's informers do it (client-go, Reflector) was recorded on the wire: docs/live-clusters.md.
A thread per kind: what costs is decoding, not waiting.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

import msgspec
from urllib3 import BaseHTTPResponse

from framework.sentences import Sentence, sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import Resource
from schedweb.clusters.reading.listing import (
    FIELDS,
    IDENTIFIED,
    LINES,
    NOT_STREAMED,
    Line,
    error_in,
    is_end_of_list,
    lines_of,
    pages,
    version_of,
    watch_query,
)
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.reducing import FileRefused, Key, Reduced, Reducer, key_of

State = Literal["catching_up", "live", "stale", "refused", "absent"]
WATCH_SECONDS: Final = (300, 600)
"""How long the server is asked to keep a watch open: at random between these, so that all kinds do not come at once."""
SILENT_SECONDS: Final = 180.0
"""A watch that brings nothing for so long is opened again: bookmarks come every minute, so its connection is dead."""
FIRST_PAUSE: Final = 0.8
LONGEST_PAUSE: Final = 30.0
ABSENT_PAUSE: Final = 60.0
"""A resource that the server does not have may be added."""
QUICK_SECONDS: Final = 1.0
QUICK_ENDS: Final = 3
"""So many watches that end at once without a word: the version is too old, and this server does not say so (kubernetes
#137089)."""
WHOLE_SECONDS: Final = 2.0
"""How exactly times are known: those of objects and of answers have whole seconds."""
MEASURED_SECONDS: Final = 1.0
"""Between two looks at how late changes come, for people."""
TOGETHER_SECONDS: Final = 30.0
"""How long pods wait for lists of the other kinds after the cluster went back to an earlier state."""
TOGETHER_PAUSE: Final = 0.05
REFUSALS: Final = 3
"""An API server that starts refuses good credentials for about a second: only what is refused so often is refused."""

Change = Literal["ADDED", "MODIFIED", "DELETED"]
Listener = Callable[[Resource, Change, Key, Reduced | None], None]
"""Told of every change, also of those that are found by comparing after a list."""
ListListener = Callable[[Resource, int | None], None]
"""Told before all that a list has is told as added, with when it was asked for (nanoseconds since 1970), and
afterwards, with None."""


class KindState(msgspec.Struct):
    """For people; times are seconds since 1970."""

    kind: str
    plural: str
    group: str
    state: State = "catching_up"
    since: float = 0.0
    """Of the state."""
    objects: int = 0
    read: int = 0
    """Objects of a list that is under way."""
    changes: int = 0
    """Since the beginning, without those of the first list."""
    changed_at: float | None = None
    """When the last change came."""
    heard_at: float | None = None
    """When the last line came, a bookmark included."""
    lag: float | None = None
    """Seconds from the last change that says when it was made to its arrival, at most: objects have whole seconds."""
    problem: Sentence | str = ""
    tries: int = 0
    """In vain, since it was live last."""
    again_at: float | None = None
    lists: int = 0
    streams: bool = True
    """Whether lists are streaming lists."""
    unreadable: int = 0
    """Objects that were left out."""


class _Managed(msgspec.Struct):
    class Metadata(msgspec.Struct):
        class Entry(msgspec.Struct):
            time: str = ""

        creationTimestamp: str | None = None
        managedFields: list[Entry] = []

    metadata: Metadata = msgspec.field(default_factory=Metadata)


_MANAGED: Final = msgspec.json.Decoder(_Managed)


class Reflector:
    def __init__(
        self,
        access: Access,
        resource: Resource,
        *,
        streams: bool,
        listener: Listener | None = None,
        on_list: ListListener | None = None,
    ) -> None:
        self.access = access
        self.resource = resource
        self.objects: dict[Key, Reduced] = {}
        self.pending = 0
        self.others: Sequence[Reflector] = ()
        """Those of the cluster's other kinds: when it went back to an earlier state, all are listed anew."""
        self.state = KindState(resource.kind, resource.plural, resource.group, since=time.time(), streams=streams)
        self._listener = listener
        self._on_list = on_list
        self._asked_at = 0
        """When the list that is told, or under way, was asked for; nanoseconds since 1970."""
        self._is_told = False
        """The listener has heard of a list."""
        self.reducer = Reducer()
        self._version: str | None = None
        """Where a watch goes on; None: it has to be listed."""
        self._known = ""
        """The last version that was heard of."""
        self._told_at = self._broke_at = self._anew_since = 0
        """When the list that was told last was asked for, when it was last found that a watch has ended, and since when
        no older list counts; nanoseconds since 1970."""
        self._response: BaseHTTPResponse | None = None
        self._newest = 0.0
        """The latest time that a change had, else when it was listed; seconds since 1970 by the server's clock."""
        self._measures_at = 0.0
        """When lag is looked at again; seconds of the monotonic clock."""
        self._was_listed = False
        self._was_broken = False
        self._refusals = 0
        self._quick_ends = 0
        self._stop = threading.Event()
        self._again = threading.Event()
        """Somebody wants it to be tried now."""

    # --- the thread -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        threading.Thread(target=self.run, name=f"reflector-{self.resource.plural}", daemon=True).start()

    def stop(self) -> None:
        """It ends with its next line."""
        self._stop.set()
        self._again.set()

    def try_now(self) -> None:
        self._again.set()

    def run(self) -> None:
        while not self._stop.is_set():
            try:
                self._once()
            except ClusterProblem as problem:
                self._failed(problem)
            except Exception as error:  # noqa: BLE001 - nobody is there to start this thread again
                self._failed(self._broken(error))

    def _once(self) -> None:
        """Until a watch ends, as they do every few minutes. Raises ClusterProblem."""
        if self._is_outdated():
            self._version = None
        if self._version is not None and self._was_broken and self._went_back(self._version):
            self._version = None
        if self._version is None and not self.state.streams:
            self._list()
        seconds = random.randint(*WATCH_SECONDS)
        began, heard = time.monotonic(), self.state.heard_at
        try:
            self._watch(seconds)
        except ClusterProblem as problem:
            if self._version is None and problem.code in NOT_STREAMED and self.state.streams:
                self.state.streams = False
                return
            raise
        self._ended(time.monotonic() - began, self.state.heard_at != heard)

    def _went_back(self, known: str) -> bool:
        """Whether the server is at an earlier version than this: etcd was restored from a backup. A watch from a
        version that is still to come stays silent."""
        now = version_of(self.access, self.resource)
        return now.isdigit() and known.isdigit() and int(now) < int(known)

    def _ended(self, lasted: float, was_heard: bool) -> None:
        """The server closed a watch in order."""
        self._broke_at = time.time_ns()
        if was_heard:
            self._quick_ends = 0
            return
        self._quick_ends += lasted < QUICK_SECONDS
        if lasted >= QUICK_SECONDS or self._quick_ends >= QUICK_ENDS:
            # Silent without even a bookmark: its version may be from before a backup was put back.
            self._version, self._quick_ends = None, 0
        elif self._stop.wait(FIRST_PAUSE):
            return

    def _failed(self, problem: ClusterProblem) -> None:
        state, now = self.state, time.time()
        state.problem = problem.words
        state.tries += 1
        self._was_broken, self._broke_at = True, time.time_ns()
        self._refusals = self._refusals + 1 if problem.code == "forbidden" else 0
        if problem.code in ("too_old", "forbidden", "absent", "not_streamed"):
            self._version = None
        if problem.code == "absent":
            self._replace({})
            self._enter("absent")
        elif self._refusals >= REFUSALS:
            self._enter("refused")
        elif problem.code == "too_old" and state.tries == 1:
            self._enter("catching_up")
        elif state.state != "refused" or problem.code != "forbidden":
            self._enter("stale" if self._was_listed else "catching_up")
        pause = ABSENT_PAUSE if problem.code == "absent" else self._pause(problem)
        state.again_at = now + pause
        self._again.wait(pause)
        self._again.clear()
        state.again_at = None

    def _pause(self, problem: ClusterProblem) -> float:
        """Seconds: what the server asked for, else twice as long each time, up to half a minute."""
        if problem.wait is not None:
            return problem.wait
        longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self.state.tries - 1, 10))
        return longest * random.uniform(0.75, 1.0)

    def _enter(self, state: State) -> None:
        if self.state.state != state:
            self.state.state, self.state.since = state, time.time()

    def _is_live(self) -> None:
        self._enter("live")
        self._refusals = self.state.tries = 0
        self._was_broken = False
        self.state.problem = ""

    # --- lists ------------------------------------------------------------------------------------------------------

    def _list(self) -> None:
        """In pages."""
        found: dict[Key, Reduced] = {}
        self.state.read = 0
        self._asked_at = time.time_ns()
        version = ""
        for page in pages(self.access, self.resource, self.resource.selector):
            for item in page.items:
                self._take(item, found)
            version = page.version
        self._listed(found, version)

    def _take(self, item: dict[str, msgspec.Raw], into: dict[Key, Reduced]) -> None:
        metadata = IDENTIFIED.decode(b'{"metadata":' + item["metadata"] + b"}").metadata
        if (reduced := self._reduced(item)) is not None:
            into[metadata.namespace, metadata.name] = reduced
        self.state.read += 1

    def _reduced(self, item: dict[str, msgspec.Raw]) -> Reduced | None:
        try:
            return self.reducer.reduce(item)
        except FileRefused as error:
            self.state.unreadable += 1
            self.state.problem = error.words
            return None

    def _listed(self, found: dict[Key, Reduced], version: str) -> None:
        first = not self._was_listed
        if since := self._back_since(version):
            self._list_all_anew(since)
        self._replace(found, counted=not first)
        self._version, self._known, self._was_listed, self._told_at = version, version, True, self._asked_at
        if not self._is_outdated():
            self._anew_since = 0
        self._newest = self._now_there() - WHOLE_SECONDS
        self.state.lists += 1
        self.state.read = 0
        self._heard()
        self._is_live()

    def _replace(self, found: dict[Key, Reduced], *, counted: bool = True) -> None:
        """What differs from before is told as changes; whoever hears of lists is told all that this one has: what
        they made of earlier changes may be wrong by now, although no version here is another."""
        before, self.objects = self.objects, found
        self.state.objects, self.pending = len(found), sum(each.pending for each in found.values())
        for change, key, reduced in _differences(before, found):
            if counted:
                self._counted(time.time())
            if self._listener is not None and self._on_list is None:
                self._listener(self.resource, change, key, reduced)
        if self._on_list is not None and self._listener is not None and (found or before or not self._is_told):
            self._on_list(self.resource, self._asked_at)
            for key, reduced in found.items():
                self._listener(self.resource, "ADDED", key, reduced)
            self._on_list(self.resource, None)
        self._is_told = True

    # --- an earlier state -------------------------------------------------------------------------------------------

    def _back_since(self, version: str) -> int:
        """When the cluster was found to be at an earlier state, in nanoseconds since 1970; 0: it is not."""
        if self._anew_since:
            return self._anew_since
        known = self._known
        return self._broke_at if version.isdigit() and known.isdigit() and int(version) < int(known) else 0

    def _list_all_anew(self, since: int) -> None:
        """Also kinds whose watch goes on, for what was written after a backup can have the versions of what was lost.
        Pods are told last: whoever hears of one that is not bound any more has to know its volumes as they are."""
        for each in self.others:
            each.list_anew(since)
        if self.resource.plural != "pods":
            return
        deadline = time.monotonic() + TOGETHER_SECONDS
        while any(each._is_awaited(since) for each in self.others) and time.monotonic() < deadline:
            if self._stop.wait(TOGETHER_PAUSE):
                return

    def list_anew(self, since: int) -> None:
        """Unless a list was asked for since then, nanoseconds since 1970."""
        if self._asked_at >= since:
            return
        self._anew_since = max(self._anew_since, since)
        response = self._response
        if response is not None:
            with contextlib.suppress(OSError, RuntimeError, ValueError):  # it ended by itself meanwhile
                response.shutdown()
        self.try_now()

    def _is_awaited(self, since: int) -> bool:
        return self._told_at < since and self.state.state not in ("refused", "absent")

    def _is_outdated(self) -> bool:
        return self._told_at < self._anew_since

    # --- watches ----------------------------------------------------------------------------------------------------

    def _watch(self, seconds: int) -> None:
        """From the version that is known, else with a streaming list in front."""
        query = watch_query(self._version, seconds, selector=self.resource.selector)
        if self._version is None:
            self._asked_at = time.time_ns()
        response = self.access.get(self.resource.path, query, read_seconds=SILENT_SECONDS)
        lines = lines_of(self.access, response)
        self._response = response
        try:
            if self._version is None:
                self._read_list(lines)
            else:
                self._is_live()
            while not self._is_outdated() and (text := next(lines, None)) is not None:
                self._follow(LINES.decode(text))
                if self._stop.is_set():
                    return
        finally:
            self._response = None
            response.close()

    def _read_list(self, lines: Iterator[bytes]) -> None:
        """What a streaming list begins with."""
        found: dict[Key, Reduced] = {}
        self.state.read = 0
        for text in lines:
            line = LINES.decode(text)
            if line.type == "ERROR":
                raise error_in(self.access, line)
            if is_end_of_list(line):
                self._listed(found, IDENTIFIED.decode(line.object).metadata.resourceVersion)
                return
            if line.type == "BOOKMARK":
                continue
            if line.type == "DELETED":
                found.pop(key_of(line.object)[0], None)
            else:
                self._take(FIELDS.decode(line.object), found)
        words = sentence(
            "The list of {kind} from {server} ended before it was whole.",
            kind=self.resource.plural,
            server=self.access.server,
        )
        raise ClusterProblem(words, "unreachable")

    def _follow(self, line: Line) -> None:
        if line.type == "ERROR":
            raise error_in(self.access, line)
        key, version = key_of(line.object)
        self._heard()
        if version:
            self._version = self._known = version
        match line.type:
            case "ADDED" | "MODIFIED":
                reduced = self._reduced(FIELDS.decode(line.object))
                if reduced is not None:
                    self._put(key, reduced)
            case "DELETED":
                self._remove(key)
            case _:
                return
        if time.monotonic() >= self._measures_at:
            self._measure(line)

    def _put(self, key: Key, reduced: Reduced) -> None:
        before = self.objects.get(key)
        self.objects[key] = reduced
        self.pending += reduced.pending - (before is not None and before.pending)
        self._changed("ADDED" if before is None else "MODIFIED", key, reduced)

    def _remove(self, key: Key) -> None:
        before = self.objects.pop(key, None)
        if before is not None:
            self.pending -= before.pending
            self._changed("DELETED", key, None)

    def _changed(self, change: Change, key: Key, reduced: Reduced | None) -> None:
        self.state.objects = len(self.objects)
        self._counted(time.time())
        if self._listener is not None:
            self._listener(self.resource, change, key, reduced)

    def _counted(self, now: float) -> None:
        self.state.changes += 1
        self.state.changed_at = now

    def _heard(self) -> None:
        self.state.heard_at = time.time()

    def _measure(self, line: Line) -> None:
        """Of a deletion nothing tells when it was, nor of a binding or of a pod that begins to terminate: what they
        leave has the times of older writes."""
        if line.type == "DELETED":
            return
        metadata = _MANAGED.decode(line.object).metadata
        written = max((each.time for each in metadata.managedFields), default="") or metadata.creationTimestamp
        try:
            moment = msgspec.convert(written, type=datetime.datetime).timestamp() if written else None
        except msgspec.ValidationError:
            return
        if moment is not None and moment >= self._newest:
            self._newest = moment
            self.state.lag = max(0.0, self._now_there() - moment)
            self._measures_at = time.monotonic() + MEASURED_SECONDS

    def _now_there(self) -> float:
        return time.time() + (self.access.ahead or 0.0)

    def _broken(self, error: Exception) -> ClusterProblem:
        words = sentence(
            "What the API server at {server} sent cannot be read: {why}",
            server=self.access.server,
            why=str(error) or type(error).__name__,
        )
        return ClusterProblem(words, "broken")


def of_one_cluster(reflectors: Sequence[Reflector]) -> Sequence[Reflector]:
    """They learn from each other that it went back to an earlier state."""
    for each in reflectors:
        each.others = [other for other in reflectors if other is not each]
    return reflectors


def _differences(before: dict[Key, Reduced], found: dict[Key, Reduced]) -> Iterator[tuple[Change, Key, Reduced | None]]:
    gone = ((key, None) for key in before if key not in found)
    new = ((key, one) for key, one in found.items() if key not in before)
    other = ((key, one) for key, one in found.items() if key in before and before[key].version != one.version)
    deleted: Iterator[tuple[Change, Key, Reduced | None]] = (("DELETED", *each) for each in gone)
    return itertools.chain(deleted, (("ADDED", *each) for each in new), (("MODIFIED", *each) for each in other))
