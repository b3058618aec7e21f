"""A scheduler of a real cluster in one process: watches in, decisions by the framework, writes out, while the Lease is
held. It keeps no journal; who wants to see what was written hands in ``record``.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal

from framework.configuration.effective import EffectiveConfiguration
from framework.extenders import Answer
from framework.plugins.registry import Registry
from framework.reading.addresses import without_credentials
from framework.scheduler import Scheduler
from framework.scheduler.observer import Observer
from framework.sentences import Words, sentence
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import DEFAULT_SCHEDULER, LEASE_NAMESPACE, lease_of
from schedweb.clusters.scheduling.cluster import LiveCluster
from schedweb.clusters.scheduling.informers import Changed, Informers
from schedweb.clusters.writing.access import WritingAccess
from schedweb.clusters.writing.events import Events
from schedweb.clusters.writing.lease import Lease, LeaseHolder
from schedweb.clusters.writing.permission import Permission
from schedweb.clusters.writing.sending import Limits, Record, Writer
from schedweb.engine.asked import Asking, asking_of
from schedweb.writes.events import became_leader

FOR_EVER: Final = 10.0**9
"""Seconds: what became of a binding is asked until somebody answers, as nothing can be decided before."""
_CHANGES_AT_ONCE: Final = 200
_LONGEST_WAIT: Final = 0.5
"""Seconds until it is looked whether it was stopped, or the Lease came."""
_ANSWER_WAIT: Final = 0.02
"""Seconds that an extender's answer is waited for at once; in between it is heard what arrives."""
_SECOND: Final = 10**9

AskExtenders = Callable[[Sequence[Asking]], Sequence[Answer]]
"""The answers in the requests' order, when all are there; whatever goes wrong is in them."""
Ended = Literal["stopped", "lease_lost"]


class Driver:
    def __init__(
        self,
        permission: Permission,
        configuration: EffectiveConfiguration,
        registry: Registry,
        *,
        scheduler_names: Sequence[str],
        limits: Limits,
        record: Record,
        seed: int,
        ask: AskExtenders,
        complain: Callable[[Words], None] = lambda why: None,
        may_bind: Callable[[], bool] = lambda: True,
    ) -> None:
        """``complain`` hears why the Lease cannot be had, where nobody else has it; without ``may_bind`` nothing is
        decided. Raises ClusterProblem, also for configurations that cannot be played without a run."""
        _check(configuration, scheduler_names)
        self.limits = limits
        self.ended: Ended | None = None
        self.scheduler: Scheduler | None = None
        self._configuration, self._registry, self._seed = configuration, registry, seed
        access = WritingAccess(permission)
        self._informers = Informers(access)
        self._stop = threading.Event()
        self._said: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        host = socket.gethostname()
        names = set(scheduler_names)
        self.component = DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in names else min(names)
        self.lease = LeaseHolder(
            access,
            namespace=LEASE_NAMESPACE,
            name=lease_of(names),
            identity=f"{host}_{uuid.uuid4()}",
            on_acquired=self._leads,
            on_lost=self._lost,
            on_problem=complain,
        )
        self.writer = Writer(access, is_held=self.is_leader, record=record, limits=limits, patience=FOR_EVER)
        self._events = Events(self.writer.send, host)
        self._now, self._may_bind = 0, may_bind
        self._ask = ask
        self._answers: queue.SimpleQueue[Sequence[Answer]] = queue.SimpleQueue()
        self._is_asking = False
        self._failure: Exception | None = None
        """Of the thread that writes Events, or of one that asks extenders."""

    def is_leader(self) -> bool:
        """A dry run changes nothing, so it needs no Lease, and may stand beside whoever holds it."""
        return self.limits.dry_run or self.lease.is_held()

    def stop(self, why: Ended = "stopped") -> None:
        """Before the next write. May be called from any thread and from a signal's handler."""
        self.ended = self.ended or why
        self.writer.stop()
        self._stop.set()

    def run(self) -> Ended:
        """Until it is stopped or the Lease is lost. Raises ClusterProblem and ProfileError."""
        events = threading.Thread(target=self._write_events, name="events", daemon=True)
        events.start()
        self._informers.start()
        try:
            scheduler = self._begun()
            if not self.limits.dry_run:
                self.lease.start()
            while scheduler is not None and not self._stop.is_set():
                self._turn(scheduler)
        finally:
            self.stop()
            self._informers.stop()
            self._said.put(None)
            events.join()
            self.lease.stop()
        if self._failure is not None:
            raise self._failure
        assert self.ended is not None
        return self.ended

    # The machine's thread

    def _begun(self) -> Scheduler | None:
        """With what is there when all kinds are listed; None when it was stopped before."""
        while not self._informers.are_listed():
            if self._stop.wait(0.02):
                return None
        cluster = LiveCluster(self.writer, lambda *said: self._said.put(partial(self._events.write, *said)))
        for change in self._arrived(0.0):
            cluster.hear(change)
        self.scheduler = Scheduler(
            self._configuration,
            self._registry,
            start=self._clock(),
            seed=self._seed,
            ties="seeded",
            observer=Observer(),
            cluster=cluster,
        )
        _check_profiles(self.scheduler)
        return self.scheduler

    def _turn(self, scheduler: Scheduler) -> None:
        """What arrived, then one pod; where there is none, until something arrives or falls due."""
        cluster = scheduler.cluster
        assert isinstance(cluster, LiveCluster)
        for change in self._arrived(0.0):
            scheduler.advance(self._clock())
            cluster.hear(change)
        scheduler.advance(self._clock())
        if self._may_go_on() and scheduler.step() is not None:
            return
        if scheduler.asks:
            self._hear_extenders(scheduler)
            return
        due = scheduler.next_timer()
        wait = _LONGEST_WAIT if due is None else min(_LONGEST_WAIT, max(0.0, (due - self._clock()) / _SECOND))
        for change in self._arrived(wait):
            scheduler.advance(self._clock())
            cluster.hear(change)

    def _hear_extenders(self, scheduler: Scheduler) -> None:
        """They are asked once, by another thread; the cycle stands until all have answered."""
        if not self._is_asking:
            self._is_asking = True
            asked = asking_of(scheduler)
            threading.Thread(target=self._ask_extenders, args=(asked,), name="extenders", daemon=True).start()
        try:
            answers = self._answers.get(timeout=_ANSWER_WAIT)
        except queue.Empty:
            return
        self._is_asking = False
        scheduler.advance(self._clock())
        scheduler.answer(answers)

    def _may_go_on(self) -> bool:
        return (
            self._may_bind() and self.is_leader() and self._informers.are_live() and not self.writer.binding_free_in()
        )

    def _arrived(self, wait: float) -> list[Changed]:
        found: list[Changed] = []
        try:
            found.append(self._informers.changes.get(timeout=wait) if wait else self._informers.changes.get_nowait())
            while len(found) < _CHANGES_AT_ONCE or self.scheduler is None:
                found.append(self._informers.changes.get_nowait())
        except queue.Empty:
            pass
        return found

    def _clock(self) -> int:
        """Nanoseconds, and never back."""
        self._now = max(self._now, time.time_ns())
        return self._now

    # Other threads

    def _ask_extenders(self, asked: Sequence[Asking]) -> None:
        try:
            self._answers.put(self._ask(asked))
        except Exception as error:  # noqa: BLE001 - without an answer the machine stands, so it ends and says why
            self._failure = error
            self.stop()

    def _write_events(self) -> None:
        """In the order in which they were said."""
        try:
            while (said := self._next_said()) is not None:
                said()
        except Exception as error:  # noqa: BLE001 - what cannot be recorded is not written, so nothing may be
            self._failure = error
            self.stop()

    def _next_said(self) -> Callable[[], object] | None:
        while True:
            try:
                return self._said.get(timeout=10.0)
            except queue.Empty:
                self._events.tick(time.time_ns())

    def _leads(self, lease: Lease) -> None:
        write = became_leader(lease, self.lease.identity, self.component, time.time_ns())
        # By another thread: a renewal must not wait for it.
        self._said.put(partial(self.writer.send, write))

    def _lost(self) -> None:
        self.stop("lease_lost")


def _check(configuration: EffectiveConfiguration, scheduler_names: Sequence[str]) -> None:
    names = [profile.scheduler_name for profile in configuration.profiles]
    if set(names) != set(scheduler_names):
        words = sentence(
            "The configuration schedules for {names}; name each of them with --scheduler-name, and no others.",
            names=", ".join(names),
        )
        raise ClusterProblem(words, "not_allowed")
    if binding := [without_credentials(each.url_prefix) for each in configuration.extenders if each.bind_verb]:
        words = sentence(
            "Extenders that bind pods themselves ({extenders}) cannot be asked: neither a stop nor a dry run would "
            "keep them from it. Take their bindVerb out of the configuration.",
            extenders=", ".join(binding),
        )
        raise ClusterProblem(words, "not_allowed")


def _check_profiles(scheduler: Scheduler) -> None:
    """Raises ClusterProblem for plugins that wait for a person: their inbox is a run's."""
    for profile in scheduler.profiles.values():
        if profile.enabled.asks_before_evicting:
            words = sentence(
                "{plugin} asks a person before pods are evicted, which needs a run.", plugin="EvictionApproval"
            )
            raise ClusterProblem(words, "not_allowed")
        if profile.enabled.asking:
            words = sentence(
                "{plugin} waits for a person on Permit, which needs a run.", plugin=", ".join(profile.enabled.asking)
            )
            raise ClusterProblem(words, "not_allowed")
