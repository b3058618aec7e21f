"""A scheduler of a real cluster in one process: watches in, decisions by the framework, writes out, while the Lease is
held. It keeps no journal; who wants to see what was written hands in ``record``.

The machine never waits for a write: lanes send them, and answers come into its inbox as changes do. Who brings a pod
that waits for a node runs the machine itself where nobody does: waking another thread takes as long as placing the pod.
"""

from __future__ import annotations

import logging
import queue
import socket
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Literal

from framework.configuration.effective import EffectiveConfiguration
from framework.extenders import Answer
from framework.objects import KubeObject, Pod
from framework.plugins.registry import Registry
from framework.reading.addresses import without_credentials
from framework.scheduler import Scheduler
from framework.scheduler import options as scheduler_options
from framework.scheduler.observer import Observer
from framework.sentences import Sentence, Words, sentence
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import DEFAULT_SCHEDULER, LEASE_NAMESPACE, lease_of
from schedweb.clusters.scheduling.hearing import hear_change
from schedweb.clusters.scheduling.informers import Changed, Informers
from schedweb.clusters.scheduling.lanes import Lanes
from schedweb.clusters.writing.access import WritingAccess
from schedweb.clusters.writing.lease import Lease, LeaseHolder
from schedweb.clusters.writing.permission import Permission
from schedweb.clusters.writing.sending import Limits, Record, Writer
from schedweb.engine.asked import Asking, asking_of
from schedweb.engine.commands import WriteOutcome
from schedweb.engine.live import LiveCluster, Scheduling, WriteRow
from schedweb.engine.written import hear_outcome
from schedweb.writes.events import became_leader
from schedweb.writes.writes import Outcome, Write

log = logging.getLogger(__name__)
FOR_EVER: Final = 10.0**9
"""Seconds: what became of a binding is asked until somebody answers, as nothing can be decided before."""
ENDING_SECONDS: Final = 3.0
"""For answers to what is under way when it is stopped. What has none then is looked at by whoever schedules next."""
_CHANGES_AT_ONCE: Final = 200
_LONGEST_WAIT: Final = 0.5
"""Seconds until it is looked whether it was stopped, or the Lease came."""
_ANSWER_WAIT: Final = 0.02
"""Seconds that an extender's answer is waited for at once; in between it is heard what arrives."""
_SHORTEST_WAIT: Final = 0.0001
"""Seconds, where something is due that the clock has not reached."""
_SECOND: Final = 10**9

AskExtenders = Callable[[Sequence[Asking]], Sequence[Answer]]
"""The answers in the requests' order, when all are there; whatever goes wrong is in them."""
Ended = Literal["stopped", "lease_lost"]
Turn = Literal["decided", "awaits"]
"""Whether an answer of the API server is awaited."""


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
        listed: Callable[[], None] = lambda: None,
    ) -> None:
        """``complain`` hears why the Lease cannot be had, where nobody else has it; without ``may_bind`` nothing is
        decided; ``listed`` is called once, when the cluster is known. Raises ClusterProblem, also for configurations
        that cannot be played without a run."""
        _check(configuration, scheduler_names)
        self.limits = limits
        self.ended: Ended | None = None
        self.scheduler: Scheduler | None = None
        self._configuration, self._registry, self._seed = configuration, registry, seed
        access = WritingAccess(permission)
        self._inbox: deque[Changed | WriteOutcome] = deque()
        self._machine = threading.Lock()
        """Held by whoever runs it."""
        self._wake = threading.Event()
        """For the machine's own thread, where there may be something to do."""
        self._informers = Informers(access, self._changed)
        self._stop = threading.Event()
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
        self._terms = Scheduling(
            instance=host,
            schedulers=tuple(scheduler_names),
            namespaces=tuple(sorted(limits.namespaces)),
            bindings_per_minute=limits.bindings_per_minute,
            dry_run=limits.dry_run,
            victims_in_turn=True,
            writes_claims=True,
            writes_pod_groups=True,
        )
        self._lanes: Lanes | None = None
        self._now = self._ticks = 0
        """When the clock was last looked at: nanoseconds since 1970, and of the monotonic clock."""
        self._may_bind, self._listed = may_bind, listed
        self._ask = ask
        self._answers: queue.SimpleQueue[Sequence[Answer]] = queue.SimpleQueue()
        self._is_asking = False
        self._failure: Exception | None = None
        """Of a thread that writes, or of one that asks extenders."""

    def is_leader(self) -> bool:
        """A dry run changes nothing, so it needs no Lease, and may stand beside whoever holds it."""
        return self.limits.dry_run or self.lease.is_held()

    def stop(self, why: Ended = "stopped") -> None:
        """Before the next write. May be called from any thread and from a signal's handler."""
        self.ended = self.ended or why
        self.writer.stop()
        self._stop.set()
        self._wake.set()

    def run(self) -> Ended:
        """Until it is stopped or the Lease is lost. Raises ClusterProblem and ProfileError."""
        self._informers.start()
        try:
            with self._machine:
                scheduler = self._begun()
            if not self.limits.dry_run:
                self.lease.start()
            while scheduler is not None and not self._stop.is_set():
                with self._machine:
                    wait = 0.0 if self._turn(scheduler) else self._idle_for(scheduler)
                if wait and self._wake.wait(wait):
                    self._wake.clear()
        finally:
            self.stop()
            self._informers.stop()
            if self._lanes is not None:
                self._lanes.close(ENDING_SECONDS)
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
        cluster = LiveCluster(self._terms)
        cluster.sees_bindings = False
        while self._inbox:
            said = self._inbox.popleft()
            assert isinstance(said, Changed)
            hear_change(cluster, said)
        self.scheduler = Scheduler(
            self._configuration,
            self._registry,
            start=self._clock(),
            seed=self._seed,
            ties="seeded",
            observer=Observer(),
            cluster=cluster,
            options=replace(scheduler_options.DEFAULT, sends_secrets=False),
        )
        _check_profiles(self.scheduler)
        self._listed()
        self._lanes = Lanes(self, self.writer, self.writer, self.component)
        return self.scheduler

    def _turn(self, scheduler: Scheduler) -> Turn | None:
        """What arrived, then one pod; None where none could be decided."""
        scheduler.advance(self._clock())
        self._hear(scheduler)
        decided = self._may_decide(scheduler) and scheduler.step() is not None
        is_awaited = self._send(scheduler)
        if not decided:
            return None
        return "awaits" if is_awaited else "decided"

    def _idle_for(self, scheduler: Scheduler) -> float:
        """Seconds, unless something arrives. Extenders are waited for here."""
        if scheduler.asks:
            self._hear_extenders(scheduler)
            return 0.0
        if not scheduler.mid_cycle:
            # Nobody waits for it now; the next pod would.
            scheduler.core.cache.preload(scheduler.core.snapshot)
        due = scheduler.next_timer()
        wait = _LONGEST_WAIT if due is None else min(_LONGEST_WAIT, (due - self._clock()) / _SECOND)
        return max(wait, _SHORTEST_WAIT)

    def _hear(self, scheduler: Scheduler) -> None:
        cluster = scheduler.cluster
        assert isinstance(cluster, LiveCluster)
        for _ in range(min(len(self._inbox), _CHANGES_AT_ONCE)):
            said = self._inbox.popleft()
            if isinstance(said, WriteOutcome):
                hear_outcome(scheduler, cluster, said, _warn)
            else:
                hear_change(cluster, said, scheduler)

    def _send(self, scheduler: Scheduler) -> bool:
        """Whether any of it is to be answered."""
        cluster = scheduler.cluster
        assert isinstance(cluster, LiveCluster)
        assert self._lanes is not None
        rows, cluster.outbox = cluster.outbox, []
        for row in rows:
            self._lanes.put(row)
        return any(row.is_awaited for row in rows)

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

    def _may_decide(self, scheduler: Scheduler) -> bool:
        if not (self._may_bind() and self.is_leader() and self._informers.are_live()):
            return False
        # Where bindings are limited the next one waits for the one that is on its way.
        is_limited = self.limits.bindings_per_minute and scheduler.core.standing
        return not is_limited and not self.writer.binding_free_in()

    def _clock(self) -> int:
        """Nanoseconds since 1970, and never back. Where the wall's clock is set back, time goes on from where it was:
        what falls due would wait for as long as that was."""
        before, self._ticks = self._ticks, time.monotonic_ns()
        passed = self._ticks - before if before else 0
        self._now = max(self._now + passed, time.time_ns())
        return self._now

    # Other threads

    def _changed(self, change: Changed) -> None:
        self._inbox.append(change)
        scheduler = self.scheduler
        if scheduler is None or not self._decides_now(change.new) or not self._machine.acquire(blocking=False):
            self._wake.set()
            return
        try:
            turn = self._turn(scheduler)
        except Exception as error:  # noqa: BLE001 - a reflector would take it for a fault of its watch
            turn, self._failure = None, error
            self.stop()
        finally:
            self._machine.release()
        if turn != "awaits":  # else the answer does, and until then the lane needs the interpreter
            self._wake.set()

    def _decides_now(self, new: KubeObject | None) -> bool:
        """Whether it is a pod that waits for us."""
        if not isinstance(new, Pod) or new.spec.node_name or self._stop.is_set():
            return False
        return new.spec.scheduler_name in self._terms.schedulers

    def _ask_extenders(self, asked: Sequence[Asking]) -> None:
        try:
            self._answers.put(self._ask(asked))
        except Exception as error:  # noqa: BLE001 - without an answer the machine stands, so it ends and says why
            self._failure = error
            self.stop()

    def is_live(self) -> bool:
        return self._informers.are_live()

    def may_go_on(self) -> bool:
        return not self._stop.is_set()

    def is_answered(self, row: WriteRow, outcome: WriteOutcome) -> None:
        if row.is_awaited:
            self._inbox.append(outcome)
            self._wake.set()

    def was_refused(self) -> None:
        """Rights are asked for again all the time."""

    def ended_by_surprise(self, row: WriteRow, error: Exception) -> Outcome:
        """What cannot be recorded is not written, so nothing may be."""
        self._failure = error
        self.stop()
        return Outcome("withheld")

    def thread_ends(self) -> None:
        """It has nothing to give back."""

    def _leads(self, lease: Lease) -> None:
        write = became_leader(lease, self.lease.identity, self.component, time.time_ns())
        # By another thread: a renewal must not wait for it.
        threading.Thread(target=self._say, args=(write,), name="leads", daemon=True).start()

    def _say(self, write: Write) -> None:
        try:
            self.writer.send(write)
        except Exception as error:  # noqa: BLE001 - as in a lane
            self._failure = error
            self.stop()

    def _lost(self) -> None:
        self.stop("lease_lost")


def _warn(words: Sentence) -> None:
    log.warning("%s", words)


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
