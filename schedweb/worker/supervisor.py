"""The supervisor: plays a run in an engine process as long as it holds the lease.

claim → start the child (checkpoint and journal) → [batch → store → acknowledge | command → offer → place → store →
commit] … → park (nothing to do for a while), stop, fail, or lose the lease. A child that dies is started again from
what is stored; a supervisor that dies is replaced by another worker's sweep.
"""

from __future__ import annotations

import logging
import queue
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import DataError, IntegrityError
from django.utils import timezone

from framework.said import Content, Said, said
from schedweb.engine import frames
from schedweb.runs.live.telling import tell_batch, tell_failure, tell_notice, tell_refusal
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.wakeups import WAKEUPS
from schedweb.runs.storing.batches import BatchWriter
from schedweb.runs.storing.lease import OWNER, Lease, LeaseLost, Renewal, claim, close_own_connection, give_back
from schedweb.runs.storing.notices import store_failure, store_notice
from schedweb.runs.storing.patience import patiently
from schedweb.runs.storing.stored import begin_of
from schedweb.spares import SPARES
from schedweb.worker.process import Died, EngineProcess

log = logging.getLogger(__name__)
#: A child that dies this often without getting further has a reason to.
TRIES: Final = 3
RESTING: Final = frozenset({"created", "paused", "finished", "waiting_for_person"})
#: A finished run is given back soon: its engine holds the whole cluster in memory.
FINISHED_SECONDS: Final = 5.0


class Wake:
    """Look for commands."""


class Lost:
    """The lease is somebody else's."""


class Shutdown:
    """This worker stops; another one plays on."""


Event = frames.FromChild | Died | Wake | Lost | Shutdown
NO_ENGINE: Final = 0


@dataclass
class Offered:
    entry: JournalEntry
    placed: bool = False


class Supervisor:
    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.events: queue.Queue[tuple[int, Event]] = queue.Queue()
        """(whose: the number of an engine, or NO_ENGINE; what)."""
        self.run = Run.objects.select_related("snapshot", "first_configuration_version").get(pk=lease.run)
        self.writer = BatchWriter(lease, self.run)
        self.child: EngineProcess | None = None
        self.engines = NO_ENGINE
        """How many were started; the newest has this number."""
        self.offered: Offered | None = None
        self.state: str = self.run.state
        self.position = self.run.position
        self.deaths = 0
        self.died_at = -1
        self.rested_since = time.monotonic()
        self.looked_at = time.monotonic()
        self.ready = False

    # --- from other threads -----------------------------------------------------------------------------------------

    def wake(self) -> None:
        self.events.put((NO_ENGINE, Wake()))

    def lose(self) -> None:
        self.events.put((NO_ENGINE, Lost()))

    def shut_down(self) -> None:
        self.events.put((NO_ENGINE, Shutdown()))

    # --- the loop ---------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Returns when the run needs this worker no more."""
        if self.lease.taken_over:
            self.tell_of_takeover()
        try:
            self.start_child()
            while self.handle(*self.next_event()) and self.look_in_time():
                pass
        except LeaseLost as error:
            log.info("%s", error)
        except (DataError, IntegrityError) as error:
            # Whoever plays it next would meet the same again.
            self.fail(said("What came about cannot be stored: {why}", why=str(error)))
            log.exception("%s: cannot be stored", self.run)
        finally:
            if self.child is not None:
                self.child.close()

    def next_event(self) -> tuple[int, Event]:
        try:
            return self.events.get(timeout=settings.ENGINE_POLL_SECONDS)
        except queue.Empty:
            return NO_ENGINE, Wake()

    def handle(self, source: int, event: Event) -> bool:
        """False when there is nothing more to do."""
        if source not in (NO_ENGINE, self.engines):
            return True  # the last words of a child that was replaced
        match event:
            case Wake():
                return self.look_around()
            case frames.Batch():
                return self.take(event)
            case frames.Ready(replayed):
                self.ready = True
                if replayed:
                    log.info("%s: replayed %d operations", self.run, replayed)
                self.offer_next()
            case frames.Refusal(entry, text):
                self.writer.refuse(entry, text)
                tell_refusal(self.run, entry, text)
                self.offered = None
                self.offer_next()
            case frames.Failure(text, trace):
                self.fail(text, trace)
                return False
            case frames.Ended():
                return False
            case Died():
                return self.restart()
            case Lost():
                log.info("%s: the lease is lost", self.run)
                return False
            case Shutdown():
                self.end_child()
                patiently(lambda: give_back(self.lease))
                return False
        return True

    def look_in_time(self) -> bool:
        """Commands are looked for also while one batch follows another. False as in ``handle``."""
        return time.monotonic() - self.looked_at < settings.ENGINE_POLL_SECONDS or self.look_around()

    def look_around(self) -> bool:
        self.looked_at = time.monotonic()
        if self.offered is None and self.ready:
            self.offer_next()
        return not self.may_park() or not self.park()

    def take(self, batch: frames.Batch) -> bool:
        self.store_and_tell(batch)
        if batch.state != self.state or batch.position != self.position or batch.outcomes or batch.unwritten:
            self.rested_since = time.monotonic()
        self.state, self.position = batch.state, batch.position
        if batch.number == 1:
            SPARES.refill()
        if batch.place is not None and self.offered is not None and str(self.offered.entry.pk) == batch.place.id:
            # The journal has it: now, and not before, the engine does it.
            self.send(frames.Commit(batch.place.id))
            self.offered.placed = True
        if self.offered is not None and any(outcome.id == str(self.offered.entry.pk) for outcome in batch.outcomes):
            self.offered = None
            self.offer_next()
        if batch.state == "stopped" and self.offered is None:
            self.end_child()
            patiently(lambda: give_back(self.lease))
            return False
        return True

    def store_and_tell(self, batch: frames.Batch) -> None:
        stored = self.writer.store(batch)
        tell_batch(self.run, batch, stored)
        self.send(frames.Ack(batch.number))

    def notice(self, words: Said) -> None:
        patiently(lambda: store_notice(self.writer, words))
        tell_notice(self.run)

    def fail(self, text: Content, trace: str = "") -> None:
        refused = patiently(lambda: store_failure(self.lease, self.run, text, trace))
        if refused is not None:
            tell_failure(self.run, refused)

    def send(self, message: frames.ToChild) -> None:
        """A child that is gone is heard of through its pipe."""
        assert self.child is not None
        try:
            self.child.send(message)
        except frames.Gone:
            log.debug("%s: the engine is gone", self.run)

    # --- commands ---------------------------------------------------------------------------------------------------

    def offer_next(self) -> None:
        pending = JournalEntry.objects.filter(run=self.run, status=JournalEntry.Status.PENDING).order_by("number")
        entry = patiently(pending.first)
        if entry is None:
            return
        self.offered = Offered(entry)
        self.send(frames.Offer(str(entry.pk), entry.author_name, entry.command))

    # --- the child --------------------------------------------------------------------------------------------------

    def start_child(self) -> None:
        self.ready = False
        self.offered = None
        self.engines += 1
        number = self.engines
        begin = patiently(lambda: begin_of(self.run))
        self.child = EngineProcess(begin, lambda event: self.events.put((number, event)))

    def close_child(self) -> None:
        """It ended or is to; ``run`` is then what is stored, which is where another engine begins."""
        assert self.child is not None
        self.child.close()
        patiently(self.run.refresh_from_db)

    def restart(self) -> bool:
        """The child died. What it had not told is not stored, so replay makes it again."""
        assert self.child is not None
        words = self.child.last_words()
        self.close_child()
        self.deaths = self.deaths + 1 if self.run.position == self.died_at else 1
        self.died_at = self.run.position
        log.warning("%s: the engine died at position %d: %s", self.run, self.run.position, words)
        if self.deaths >= TRIES:
            self.fail(
                said("The engine died {times} times at cycle {cycle}.", times=TRIES, cycle=self.run.attempts), words
            )
            return False
        self.notice(said("The engine died and goes on from cycle {cycle}.", cycle=self.run.attempts))
        self.start_child()
        return True

    def end_child(self) -> None:
        """Takes the last batch and its checkpoint."""
        if not self.ready:
            return
        self.send(frames.End())
        deadline = time.monotonic() + settings.ENGINE_LEASE_SECONDS
        later: list[Event] = []
        while time.monotonic() < deadline:
            source, event = self.next_event()
            if isinstance(event, Lost | Shutdown):
                later.append(event)
            elif source == self.engines:
                if isinstance(event, frames.Batch):
                    self.store_and_tell(event)
                elif isinstance(event, frames.Ended | frames.Failure | Died):
                    break
        for event in later:
            self.events.put((NO_ENGINE, event))

    # --- giving it back ---------------------------------------------------------------------------------------------

    def may_park(self) -> bool:
        if not self.ready or self.offered is not None or self.state not in RESTING:
            return False
        patience = FINISHED_SECONDS if self.state == "finished" else settings.ENGINE_PARK_SECONDS
        return time.monotonic() - self.rested_since >= min(patience, settings.ENGINE_PARK_SECONDS)

    def park(self) -> bool:
        self.end_child()
        if patiently(lambda: give_back(self.lease, only_if_idle=True)):
            return True
        self.close_child()
        self.start_child()
        return False

    def tell_of_takeover(self) -> None:
        lost = self.lease.lost_at or timezone.now()
        cycle = self.run.attempts
        self.notice(
            said("Worker lost at {time}, another took over from cycle {cycle}.", time=f"{lost:%H:%M:%S}", cycle=cycle)
        )


def play_run(run: UUID) -> bool:
    """Plays the run if nobody else does. False when somebody else does, or nobody has to."""
    lease = claim(run, OWNER)
    if lease is None:
        return False
    try:
        supervisor = Supervisor(lease)
    except Run.DoesNotExist:
        return False
    WAKEUPS.register(run, supervisor.wake)
    RUNNING[run] = supervisor
    try:
        with Renewal(lease, supervisor.lose):
            supervisor.play()
    except Exception:
        # Without the lease given back, the sweep finds the run when it runs out.
        log.exception("run %s: its supervisor ended by surprise", run)
        raise
    finally:
        RUNNING.pop(run, None)
        WAKEUPS.forget(run, supervisor.wake)
        close_own_connection()
    return True


#: The supervisors of this process, for a shutdown in order.
RUNNING: dict[UUID, Supervisor] = {}


def shut_down_all() -> None:
    for supervisor in list(RUNNING.values()):
        supervisor.shut_down()
