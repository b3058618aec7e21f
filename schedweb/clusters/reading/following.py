"""A cluster that is looked at: a reflector per kind, what the credentials may do, and what of it is told to people."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from framework.sentences import Sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import EVENTS, Resource, kinds_of
from schedweb.clusters.reading.listing import STREAMS
from schedweb.clusters.reading.problems import ClusterProblem, Code
from schedweb.clusters.reading.reflector import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    KindState,
    Listener,
    ListListener,
    Reflector,
    of_one_cluster,
)
from schedweb.clusters.reading.rejected import Rejected, rejected_for_room
from schedweb.clusters.reading.rights import Rights, ask

MISSING_SECONDS: Final = 30.0
GRANTED_SECONDS: Final = 600.0
"""How often it is asked what the credentials may do, while something is missing and while nothing is."""
RATE_SECONDS: Final = 10.0
REJECTED_SECONDS: Final = 30.0
"""How often a run beside the cluster asks which pods were rejected by their kubelets."""


class ClusterState(msgspec.Struct):
    """As it is stored and told; times are seconds since 1970."""

    at: float
    version: str = ""
    kinds: list[KindState] = []
    nodes: int = 0
    pods: int = 0
    pending: int = 0
    rights: Rights | None = None
    problem: Sentence | str = ""
    """Why nothing at all can be read."""
    code: Code | None = None
    since: float | None = None
    """Of the problem."""
    again_at: float | None = None
    tries: int = 0
    rate: float = 0.0
    """Changes a second, of all kinds, within the last ten seconds."""
    clock_ahead: float | None = None
    bytes_read: int = 0
    rejected: list[Rejected] = []
    """Of a run beside the cluster: by their kubelets, for want of room; the newest first."""
    is_insecure: bool = False
    """The server's certificate is not looked at (insecure-skip-tls-verify)."""


class Following:
    """Begins in a thread of its own and never gives up; ``state`` may be asked at any time."""

    def __init__(self, context: str, listener: Listener | None = None, on_list: ListListener | None = None) -> None:
        self.context = context
        self.reflectors: list[Reflector] = []
        self._listener, self._on_list = listener, on_list
        self._access: Access | None = None
        self._kinds: tuple[Resource, ...] = ()
        self._state = ClusterState(at=time.time())
        self._changes: deque[tuple[float, int]] = deque()
        self._stop = threading.Event()
        self._now = threading.Event()
        """Somebody asked for the rights to be asked again, or for a try now."""

    def start(self) -> None:
        threading.Thread(target=self._run, name=f"cluster-{self.context}", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()
        self._now.set()
        for each in self.reflectors:
            each.stop()

    def ask_again(self) -> None:
        self._now.set()
        for each in self.reflectors:
            each.try_now()

    def state(self) -> ClusterState:
        state = self._state
        state.at = time.time()
        state.kinds = [each.state for each in self.reflectors]
        by_plural = {each.resource.plural: each for each in self.reflectors}
        if pods := by_plural.get("pods"):
            state.pods, state.pending = len(pods.objects), pods.pending
            state.nodes = len(by_plural["nodes"].objects)
        state.rate = self._rate(state.at, sum(each.changes for each in state.kinds))
        if self._access is not None:
            state.clock_ahead, state.bytes_read = self._access.ahead, self._access.bytes_read
        return state

    def _rate(self, now: float, changes: int) -> float:
        self._changes.append((now, changes))
        while len(self._changes) > 1 and self._changes[0][0] < now - RATE_SECONDS:
            self._changes.popleft()
        first, before = self._changes[0]
        return (changes - before) / (now - first) if now > first else 0.0

    def _run(self) -> None:
        self._until_it_works(self._begin)
        while not self._stop.is_set():
            self._until_it_works(self._ask)
            rights = self._state.rights
            is_missing = rights is not None and bool(rights.missing("look"))
            self._now.wait(MISSING_SECONDS if is_missing else GRANTED_SECONDS)
            self._now.clear()

    def _until_it_works(self, what: Callable[[], None]) -> None:
        state = self._state
        while not self._stop.is_set():
            try:
                what()
            except ClusterProblem as problem:
                if state.since is None:
                    state.since = time.time()
                state.problem, state.code = problem.words, problem.code
                state.tries += 1
                pause = problem.wait or min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(state.tries - 1, 10))
                state.again_at = time.time() + pause
                self._now.wait(pause)
                self._now.clear()
            else:
                state.problem, state.code, state.since, state.again_at, state.tries = "", None, None, None, 0
                return

    def _begin(self) -> None:
        access = Access(self.context)
        self._state.version, numbers = access.version()
        self._kinds = kinds_of(access)
        self._access, self._state.is_insecure = access, access.is_insecure
        streams = numbers >= STREAMS
        self.reflectors = [
            Reflector(access, each, streams=streams, listener=self._listener, on_list=self._on_list)
            for each in self._kinds
            if each != EVENTS
        ]
        for each in of_one_cluster(self.reflectors):
            each.start()
        if self._on_list is not None:
            threading.Thread(target=self._look_for_rejected, args=(access,), name="rejected", daemon=True).start()

    def _look_for_rejected(self, access: Access) -> None:
        while not self._stop.wait(REJECTED_SECONDS):
            # What is wrong with the connection the reflectors say.
            with contextlib.suppress(ClusterProblem):
                self._state.rejected = rejected_for_room(access)

    def _ask(self) -> None:
        assert self._access is not None
        self._state.rights = ask(self._access, self._kinds)
