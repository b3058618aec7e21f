"""The real cluster that a run schedules: read as one that is followed, and written to by this worker alone.

What is written was stored with its batch. Right before each try it is asked whether the run's lease is ours, whether
nobody said Stop and whether the cluster's Lease is held; while pods or nodes are not known as they are nothing is sent.
What another worker left without an outcome is looked at before it is sent.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from django.db import DatabaseError, InterfaceError, close_old_connections
from msgspec.structs import replace

from framework.sentences import Words
from schedweb.clusters.reading.following import ClusterState
from schedweb.clusters.reading.kinds import NEEDED
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.rights import DEFAULT_SCHEDULER, LEASE_NAMESPACE, lease_of, rules_to_schedule
from schedweb.clusters.scheduling.driver import FOR_EVER
from schedweb.clusters.scheduling.lanes import LOOK_SECONDS, Lanes
from schedweb.clusters.writing.access import WritingAccess
from schedweb.clusters.writing.lease import Lease as HeldLease
from schedweb.clusters.writing.lease import LeaseHolder
from schedweb.clusters.writing.permission import permission
from schedweb.clusters.writing.sending import Limits, Writer
from schedweb.engine.commands import WriteOutcome
from schedweb.engine.frames import Answers, Batch, Deciding, Look
from schedweb.engine.live import Scheduling, WriteRow
from schedweb.runs.following.changes import known_lacks, store_scheduling
from schedweb.runs.following.scheduling import HeldState, SchedulingState, StateName
from schedweb.runs.models import Run
from schedweb.runs.storing.lease import Lease, LeaseLost, close_own_connection
from schedweb.runs.storing.patience import patiently
from schedweb.runs.storing.statements import may_write
from schedweb.runs.storing.writes import store_outcomes, unanswered
from schedweb.worker.outcomes import Outcomes
from schedweb.worker.rights import RightsAsked
from schedweb.worker.watching import Watching
from schedweb.writes.events import became_leader
from schedweb.writes.writes import Outcome, Write

log = logging.getLogger(__name__)
AGAIN_SECONDS: Final = 10.0
"""Until it is tried again to begin, where the cluster may not be written to."""
RENEWED_SECONDS: Final = 5.0
"""So often it is stored that the cluster's Lease was renewed, where nothing else is new."""
_STATE: Final = msgspec.json.Decoder(ClusterState)


class ClusterScheduling(Watching):
    def __init__(self, run: Run, lease: Lease, wake: Callable[[], None]) -> None:
        super().__init__(run, lease, wake)
        assert run.scheduling is not None
        self.terms = msgspec.convert(run.scheduling, Scheduling)
        self._outcomes = Outcomes()
        self._lanes: Lanes | None = None
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        self._is_live = threading.Event()
        """Pods and nodes are watched."""
        self._is_caught_up = False
        self._told_deciding: bool | None = None
        self._writer: Writer | None = None
        self._events_writer: Writer | None = None
        self._holder: LeaseHolder | None = None
        self._held_once = False
        self._rights: RightsAsked | None = None
        self._problem: Words = ""
        self._tried_at: float | None = None
        self._stored_state: tuple[object, ...] | None = None
        self._stored_at = self._since = 0.0
        self._renewed_stored = ""
        self._lacked, self._rights_back = False, 0.0

    # --- the supervisor's thread --------------------------------------------------------------------------------------

    def look(self, send: Callable[[Look | Answers | Deciding], None]) -> None:
        self._begin_writing()
        for outcomes in self._outcomes.give():
            send(Answers(outcomes))
        super().look(send)
        if not self._is_live.is_set():
            self._is_caught_up = False
        elif not self.is_looked_at and not self._behind:
            self._is_caught_up = True
        may = self._may_decide()
        if may != self._told_deciding:
            self._told_deciding = may
            send(Deciding(may))
        self._store_own_state()

    def told(self) -> Sequence[WriteOutcome]:
        return self._outcomes.told()

    def is_stored(self, batch: Batch) -> None:
        super().is_stored(batch)
        self._outcomes.is_stored(batch)
        if self._lanes is not None:  # else they are found when it may be written to the cluster
            for row in batch.writes:
                self._lanes.put(row)

    def settle(self) -> None:
        if self._outcomes.wait_long:
            self._store_outcomes(self._outcomes.told())

    def _store_outcomes(self, outcomes: Sequence[WriteOutcome]) -> None:
        if outcomes:
            patiently(lambda: store_outcomes(self.run, self.lease, outcomes))
        self._outcomes.are_settled()

    def end(self) -> None:
        """The engine begins again."""
        super().end()
        self._outcomes.engine_ends()
        self._is_live.clear()
        self._is_caught_up, self._told_deciding = False, None

    def close(self) -> None:
        """What is under way is finished; what is not sent is left to whoever goes on."""
        self.end()
        self._closing.set()
        for writer in (self._writer, self._events_writer):
            if writer is not None:
                writer.stop()
        if self._lanes is not None:
            self._lanes.close()
        for thread in self._threads:
            thread.join()
        if self._holder is not None:
            self._holder.stop()
        if self._rights is not None:
            self._rights.stop()
        # Where the lease is lost, whoever has it looks at the clusters' objects itself.
        with contextlib.suppress(LeaseLost):
            self._store_outcomes(self._outcomes.rest())

    def _may_decide(self) -> bool:
        writer, rights = self._writer, self._rights
        if writer is None or rights is None or not rights.may_bind:
            return False
        return self._is_caught_up and self.is_leader() and not writer.binding_free_in()

    def is_leader(self) -> bool:
        """A dry run changes nothing, so it needs no Lease."""
        return self.terms.dry_run or (self._holder is not None and self._holder.is_held())

    def _begin_writing(self) -> None:
        if self._writer is not None or (
            self._tried_at is not None and time.monotonic() - self._tried_at < AGAIN_SECONDS
        ):
            return
        self._tried_at = time.monotonic()
        context = self.run.follows
        try:
            access = WritingAccess(permission(context, context))
        except ClusterProblem as problem:
            self._problem = problem.words
            return
        self._problem = ""
        terms = self.terms
        limits = Limits(frozenset(terms.namespaces), terms.bindings_per_minute, terms.dry_run)
        self._writer = Writer(access, is_held=self._may_write, record=_recorded, limits=limits, patience=FOR_EVER)
        self._events_writer = Writer(
            access, is_held=self._may_write_in_time, record=_recorded, limits=limits, patience=FOR_EVER
        )
        rules = rules_to_schedule(terms.schedulers, terms.namespaces, dry_run=terms.dry_run)
        self._rights = RightsAsked(access, rules, patiently(lambda: known_lacks(self.run)), self.wake)
        self._rights.start()
        self._lanes = Lanes(self, self._writer, self._events_writer, str(self.run.pk))
        for row in patiently(lambda: unanswered(self.run)):
            self._lanes.put(row, again=True)
        if not terms.dry_run:
            self._access = access
            self._hold()

    def _hold(self) -> None:
        self._holder = LeaseHolder(
            self._access,
            namespace=LEASE_NAMESPACE,
            name=lease_of(self.terms.schedulers),
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            on_acquired=self._led,
            on_lost=self._lost,
            on_problem=self._lease_problem,
        )
        self._holder.start()

    def _lease_problem(self, why: Words) -> None:
        if self._rights is not None:
            self._rights.refused()
        self.wake()

    def _led(self, held: HeldLease) -> None:
        """Said by a thread of its own: a renewal must not wait for it. It says nothing of pods and is no write of the
        run."""
        assert self._holder is not None
        self._held_once = True
        names = self.terms.schedulers
        component = DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in names else min(names)
        write = became_leader(held, self._holder.identity, component, time.time_ns())
        thread = threading.Thread(target=self._say, args=(write,), name=f"leads-{self.run.pk}", daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()
        self.wake()

    def _say(self, write: Write) -> None:
        assert self._events_writer is not None
        try:
            self._events_writer.send(write)
        finally:
            close_own_connection()

    def _lost(self) -> None:
        """Nothing is written until it is ours again: it is waited for as by a scheduler that begins."""
        log.warning("%s: the Lease in %s is lost", self.run, self.run.follows)
        if not self._closing.is_set():
            self._hold()
            self.wake()

    def _store_own_state(self) -> None:
        state: StateName
        rights = self._rights
        if self._problem:
            state = "not_allowed"
        elif rights is not None and rights.is_asked and self._is_without_rights(rights):
            state = "lacks_rights"
        elif not self.is_leader():
            state = "lease_lost" if self._held_once else "standing_by"
        elif not self._is_caught_up:
            state = "catching_up"
        else:
            state = "scheduling"
        if self._holder is not None and state == "standing_by" and self._holder.holder:
            holder = self._holder.holder
        else:
            holder = ""
        problem = self._problem or ("" if self._holder is None else self._holder.problem)
        lacks, who = ((), "") if rights is None else (rights.lacks, rights.who)
        if self._lacked and not lacks:
            self._rights_back = time.time()
        self._lacked = bool(lacks)
        told = SchedulingState(state, 0.0, problem, holder, lacks, who, self._lease_seen(), self._rights_back)
        self._store_told(told)

    def _lease_seen(self) -> HeldState | None:
        holder = self._holder
        if holder is None or not (spec := holder.seen):
            return None
        text = {name: str(spec.get(name) or "") for name in ("holderIdentity", "acquireTime", "renewTime")}
        return HeldState(
            name=f"{holder.namespace}/{holder.name}",
            holder=text["holderIdentity"],
            is_ours=text["holderIdentity"] == holder.identity,
            acquired=text["acquireTime"],
            renewed=text["renewTime"],
            transitions=int(spec.get("leaseTransitions") or 0),
            seconds=int(spec.get("leaseDurationSeconds") or 0),
        )

    def _store_told(self, told: SchedulingState) -> None:
        """Where it differs; of a Lease that was renewed and nothing more, now and then."""
        lease = told.lease
        held = None if lease is None else replace(lease, renewed="")
        facts = (told.state, told.holder, str(told.problem), told.lacks, told.rights_back, held)
        is_renewed = lease is not None and lease.renewed != self._renewed_stored
        if facts == self._stored_state and not (is_renewed and time.monotonic() - self._stored_at > RENEWED_SECONDS):
            return
        if self._stored_state is None or facts[:2] != self._stored_state[:2]:
            self._since = time.time()
        self._stored_state, self._stored_at = facts, time.monotonic()
        self._renewed_stored = "" if lease is None else lease.renewed
        encoded = msgspec.json.encode(replace(told, since=self._since)).decode()
        patiently(lambda: store_scheduling(self.lease, encoded))

    def _is_without_rights(self, rights: RightsAsked) -> bool:
        """Nothing can be bound."""
        return not rights.may_bind or (rights.lacks_lease() and not self.is_leader())

    # --- other threads ------------------------------------------------------------------------------------------------

    def _store(self, line: bytes, ended: threading.Event) -> None:
        if ended.is_set():
            return
        state = _STATE.decode(line)
        known = [each for each in state.kinds if each.plural in NEEDED]
        is_live = len(known) == len(NEEDED) and all(each.state == "live" for each in known)
        if is_live != self._is_live.is_set():
            if is_live:
                self._is_live.set()
            else:
                self._is_live.clear()
            self.wake()
        super()._store(line, ended)

    def is_live(self) -> bool:
        return self._is_live.is_set()

    def is_answered(self, row: WriteRow, outcome: WriteOutcome) -> None:
        if self._outcomes.put(outcome, is_awaited=row.is_awaited):
            self.wake()

    def was_refused(self) -> None:
        if self._rights is not None:
            self._rights.refused()

    def ended_by_surprise(self, row: WriteRow, error: Exception) -> Outcome:
        log.error("%s: write %d ended by surprise", self.run, row.number, exc_info=error)
        return Outcome("unknown" if row.is_awaited else "refused", message=f"{type(error).__name__}: {error}")

    def thread_ends(self) -> None:
        close_own_connection()

    def _may_write(self) -> bool:
        return self.may_go_on() and self.is_leader()

    def _may_write_in_time(self) -> bool:
        """Of Events, which stay true whoever schedules meanwhile: they wait for the Lease instead of being withheld."""
        while not self._closing.is_set() and self.may_go_on():
            if self.is_leader():
                return True
            self._closing.wait(LOOK_SECONDS)
        return False

    def may_go_on(self) -> bool:
        """Whether the run's lease is ours and nobody said Stop. While the database is away nobody knows: it waits."""
        while True:
            try:
                close_old_connections()
                return may_write(self.lease)
            except (DatabaseError, InterfaceError) as error:
                log.warning("%s: not known whether it may write: %s", self.run, str(error).strip())
                close_own_connection()
            if self._closing.wait(LOOK_SECONDS):
                return False


def _recorded(number: int, what: Write | Outcome) -> None:
    """It is: with its batch, and with its outcome."""


def watching_of(run: Run, lease: Lease, wake: Callable[[], None]) -> Watching | None:
    """None of a run that no real cluster tells anything."""
    if not run.follows:
        return None
    return Watching(run, lease, wake) if run.scheduling is None else ClusterScheduling(run, lease, wake)
