"""A Writer sends one write after another and says what became of it. It is what stands between a scheduler that decided
and a cluster that changes, so everything that may forbid a write is asked here, right before it is sent.

The rules: a write is told to ``record`` before anything else, its outcome afterwards. Nothing is sent once it was
stopped, while the Lease is not held, or for a namespace that is not allowed. 429 and 503 with Retry-After are waited
for. After a lost answer, and after a binding's 409, the object is looked at before anything is sent again; Events are
sent again at once, under the same name, for a scheduler's role may not read them.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from framework.sentences import Words, sentence
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.writing import answers
from schedweb.clusters.writing.access import AnswerLost, NotSent, WritingAccess
from schedweb.clusters.writing.configuring import ConfigurationChanged, configured
from schedweb.writes.writes import Outcome, Result, Write

Found = TypeVar("Found")
Record = Callable[[int, Write | Outcome], None]
MOST_BUSY: Final = 10
"""Tries while the server asks for patience, as client-go has it."""
MOST_LOST: Final = 3
PATIENCE: Final = 60.0
"""Seconds for which an object whose write has no answer is asked after."""
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_MINUTE: Final = 60.0


class Limits(msgspec.Struct, frozen=True):
    """What a person allowed when scheduling was switched on."""

    namespaces: frozenset[str] = frozenset()
    """Empty: all."""
    bindings_per_minute: int = 0
    """0: as many as there are."""
    dry_run: bool = False
    """Every write goes with dryRun=All: the API server says whether it would take it, and nothing changes."""


NO_LIMITS: Final = Limits()


class Writer:
    """Safe to be used by many threads; the order of one pod's writes is the caller's."""

    def __init__(
        self,
        access: WritingAccess,
        *,
        is_held: Callable[[], bool],
        record: Record,
        limits: Limits = NO_LIMITS,
        patience: float = PATIENCE,
    ) -> None:
        """``is_held``: whether the Lease is ours at this moment. ``record``: what it raises keeps the write back."""
        self.limits = limits
        self._access, self._is_held, self._record, self._patience = access, is_held, record, patience
        self._stop = threading.Event()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._bound: deque[float] = deque()
        """When bindings of the last minute were sent, in seconds of the monotonic clock."""

    def stop(self) -> None:
        """Before the next write, and for good."""
        self._stop.set()

    @property
    def is_stopped(self) -> bool:
        return self._stop.is_set()

    def binding_free_in(self) -> float:
        """Seconds until the limit allows another binding."""
        with self._lock:
            return self._free_in(time.monotonic())

    def look(self, write: Write) -> Outcome | None:
        """Of a write that somebody may have sent: what its object says; None where it says that nothing was carried
        out, and where there is nothing to look at."""
        return self._looked_at(write)

    def allows(self, write: Write) -> bool:
        """Whether it is for a namespace that is allowed."""
        return not (self.limits.namespaces and write.for_namespace) or write.for_namespace in self.limits.namespaces

    def read(self, write: Write) -> dict[str, Any] | None:
        """The object that it is about, as it is now; None where it is not there. Raises ClusterProblem, where nobody
        could be asked."""
        return self._patiently(lambda: self._read(write))

    def send(self, write: Write) -> Outcome:
        number = next(self._numbers)
        self._record(number, write)
        outcome = replace(self._sent(write), dry_run=self.limits.dry_run)
        self._record(number, outcome)
        return outcome

    def _sent(self, write: Write) -> Outcome:
        if write.purpose == "bind":
            self._wait_for_limit()
        try:
            write = self._patiently(lambda: configured(write, self._read_at))
        except ConfigurationChanged as problem:
            return Outcome("refused", message=problem.words)
        except ClusterProblem as problem:
            return Outcome("unreached", message=problem.words)
        query, body = self._request(write)
        tries = lost = 0
        while True:
            if why := self._forbidden(write):
                return _told("withheld", why, tries, lost)
            tries += 1
            said: Words
            try:
                answer = self._access.exchange(write.method, write.path, query, body, write.content_type)
            except NotSent as problem:
                return _told("unreached", problem.words, tries, lost)
            except AnswerLost as problem:
                said, status = problem.words, 0
            else:
                outcome = answers.outcome_of(write, answer)
                wait = answers.wait_asked(answer)
                if wait is not None and tries < MOST_BUSY:
                    self._stop.wait(wait)
                    continue
                if wait is not None:
                    return _told("busy", outcome.message, tries, lost, answer.status)
                if not answers.is_uncertain(answer):
                    return replace(self._certain(write, outcome, lost), tries=tries)
                said, status = outcome.message, answer.status
            lost += 1
            seen = self._looked_at(write)
            if seen is not None:
                return replace(seen, status=status, message=seen.message or said, tries=tries, looked=True)
            if lost == MOST_LOST:
                return _told("unknown", said, tries, lost, status)

    def _request(self, write: Write) -> tuple[dict[str, str], bytes]:
        """(query, body). Of a deletion that has a body API servers look at nothing else: what only its query says is
        not heard (apiserver endpoints/handlers/delete.go)."""
        if not self.limits.dry_run:
            return {}, msgspec.json.encode(write.body)
        body = {**write.body, "dryRun": ["All"]} if write.method == "DELETE" else write.body
        return {"dryRun": "All"}, msgspec.json.encode(body)

    def _certain(self, write: Write, outcome: Outcome, lost: int) -> Outcome:
        """A binding's conflict is said by what its pod looks like, which may be bound: by us or by somebody else."""
        if outcome.result == "exists" and lost:
            return replace(outcome, result="done", message="")
        if write.purpose != "bind" or outcome.result != "conflict" or self.limits.dry_run:
            return outcome
        seen = self._looked_at(write) or outcome
        said: Words = "" if seen.is_done else outcome.message
        return replace(seen, status=outcome.status, message=said or seen.message, looked=True)

    def _forbidden(self, write: Write) -> Words:
        """Why a write must not be sent now, or ""."""
        if self.is_stopped:
            return sentence("Scheduling was stopped.")
        if not self._is_held():
            return sentence("The Lease is not held any more.")
        if not self.allows(write):
            namespace = write.for_namespace
            return sentence("The namespace {namespace} is not among those that are allowed.", namespace=namespace)
        return ""

    # The limit of bindings

    def _wait_for_limit(self) -> None:
        while self.limits.bindings_per_minute and not self.is_stopped:
            with self._lock:
                now = time.monotonic()
                wait = self._free_in(now)
                if not wait:
                    self._bound.append(now)
                    return
            self._stop.wait(wait)

    def _free_in(self, now: float) -> float:
        most = self.limits.bindings_per_minute
        while self._bound and self._bound[0] <= now - _MINUTE:
            self._bound.popleft()
        return self._bound[-most] + _MINUTE - now if most and len(self._bound) >= most else 0.0

    # After a lost answer

    def _looked_at(self, write: Write) -> Outcome | None:
        """What the object says; None where it says that nothing was carried out, and where there is nothing to see."""
        if self.limits.dry_run or not write.about.read:
            return None
        try:
            return self._patiently(lambda: answers.outcome_seen(write, self._read(write)))
        except ClusterProblem as problem:
            return Outcome("unknown", message=problem.words)

    def _patiently(self, ask: Callable[[], Found]) -> Found:
        """Asks until there is an answer. Raises ClusterProblem where patience ends."""
        deadline, pause = time.monotonic() + self._patience, _FIRST_PAUSE
        while True:
            try:
                return ask()
            except ConfigurationChanged:
                raise
            except ClusterProblem:
                if self.is_stopped or time.monotonic() + pause > deadline:
                    raise
            self._stop.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _read(self, write: Write) -> dict[str, Any] | None:
        return self._read_at(write.about.read)

    def _read_at(self, path: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = msgspec.json.decode(self._access.read(path))
        except ClusterProblem as problem:
            if problem.code == "absent":
                return None
            raise
        return found


def _told(result: Result, said: Words, tries: int, lost: int, status: int = 0) -> Outcome:
    """One of which an answer was lost before is not known to have failed: it may be on its way."""
    return Outcome("unknown" if lost else result, status, said, tries=tries)
