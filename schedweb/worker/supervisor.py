"""The supervisor: plays a run in an engine process as long as it holds the lease.

claim → start the child (checkpoint and journal) → [batch → store → acknowledge | command → offer → place → store →
commit] … → rest (nothing to do for a while), stop, be parked, or lose the lease. A child that dies is started again
from what is stored; one that dies each time is tried without the command that it dies of, or its run is parked
(deaths.py). A supervisor that dies is replaced by another worker's sweep.
"""

from __future__ import annotations

import logging
import queue
import time
from collections import deque
from typing import Final

from django.conf import settings
from django.db import DataError, IntegrityError
from django.utils import timezone
from msgspec.structs import replace

from framework.sentences import Content, Sentence, Words, sentence
from schedweb.calling import allowed
from schedweb.database.clock import database_now
from schedweb.engine import frames
from schedweb.engine.asked import Asked, AsksBeside
from schedweb.observing.metrics import ENGINE_DEATHS, TAKEOVERS
from schedweb.runs.following.anew import follow_anew
from schedweb.runs.following.thinning import Thinning
from schedweb.runs.live.telling import tell_batch, tell_notice, tell_parked, tell_refusal
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.dispatch import offer
from schedweb.runs.storing.answers import answers_wait, store_answers
from schedweb.runs.storing.batches import BatchWriter
from schedweb.runs.storing.lease import Lease, LeaseLost, give_back, held_by_nobody, to_be_held
from schedweb.runs.storing.notices import store_notice
from schedweb.runs.storing.parking import Seen, entry_under_way, set_aside, store_parked
from schedweb.runs.storing.patience import patiently
from schedweb.runs.storing.sizes import Measuring
from schedweb.runs.storing.statements import is_awaited_by_commands
from schedweb.runs.storing.stored import NotKept
from schedweb.worker.deaths import PROBATION_SECONDS, Deaths, Probe, set_aside_words
from schedweb.worker.events import NO_ENGINE, Answered, Event, Lost, Offered, Shutdown, Told, Wake
from schedweb.worker.extenders import ask_beside, ask_in_background
from schedweb.worker.measures import batch_sent, command_settled
from schedweb.worker.process import Died, EngineProcess
from schedweb.worker.standby import STANDBYS, begin_for
from schedweb.worker.writing import watching_of

log = logging.getLogger(__name__)
RESTING: Final = frozenset({"created", "paused", "finished", "waiting_for_person"})
#: A finished run is given back soon: its engine holds the whole cluster in memory.
FINISHED_SECONDS: Final = 5.0
#: The last batch and its checkpoint may take this long. Without them another worker has more to play again.
LAST_BATCH_SECONDS: Final = 4.0


class Supervisor:
    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.events: queue.Queue[tuple[int, Event]] = queue.Queue()
        """(whose: the number of an engine, or NO_ENGINE; what)."""
        self.run = Run.objects.select_related("snapshot", "first_configuration_version").get(pk=lease.run)
        self.writer = BatchWriter(lease, self.run)
        self.measuring = Measuring(lease.run, Thinning(lease).when_over)
        self.child: EngineProcess | None = None
        self.engines = NO_ENGINE
        """How many were started; the newest has this number."""
        self.holds_engine = False
        """The newest waits for Go."""
        self.offered: Offered | None = None
        self.state: str = self.run.state
        self.wants_operations = False
        """As the last batch has it: also a paused run may have a step to do."""
        self.position = self.run.position
        self.deaths = Deaths()
        self.starts_at: float | None = None
        """When the next engine is started, of time.monotonic, as what follows; None while there is one."""
        self.started_at = 0.0  # when the present engine was asked for
        self.began_at = 0.0  # when the present engine was ready, or was offered its command
        self.longest = 0.0
        """Seconds that an engine lived from there until it died."""
        self.probe: Probe | None = None
        self.began_holding = time.monotonic()
        self.rested_since = time.monotonic()
        self.is_wanted_elsewhere = False
        """Somebody waits for this place: a rest ends at once."""
        self.looked_at = time.monotonic()
        self.ready = False
        self.asking: int | None = None
        """The position of what extenders are being asked."""
        self.watching = watching_of(self.run, lease, lambda: self.events.put((NO_ENGINE, Told())))
        self.arrivals: deque[float] = deque()  # when the batches came that are not yet stored, of time.monotonic

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
            TAKEOVERS.inc()
            self.tell_of_takeover()
        try:
            self.start_child()
            while self.goes_on():
                pass
        except NotKept as error:
            self.cannot_begin(error.words)
        except LeaseLost as error:
            log.info("%s", error)
        finally:
            if self.watching is not None:
                self.watching.close()
            if self.child is not None:
                self.child.close()
        self.measuring.now()

    def goes_on(self) -> bool:
        try:
            return self.handle(*self.next_event()) and self.look_in_time()
        except (DataError, IntegrityError) as error:
            # Whoever plays it next would meet the same again.
            log.exception("%s: cannot be stored", self.run)
            self.close_child()
            return self.cannot_go_on(sentence("What came about cannot be stored: {why}", why=str(error)), Seen())

    def next_event(self) -> tuple[int, Event]:
        try:
            return self.events.get(timeout=settings.ENGINE_POLL_SECONDS)
        except queue.Empty:
            return NO_ENGINE, Wake()

    def handle(self, source: int, event: Event) -> bool:
        """False when there is nothing more to do."""
        if source not in (NO_ENGINE, self.engines):
            return True  # the last words of a child that was replaced
        if self.probe is not None and source == self.engines:
            return self.watch(self.probe, event)
        match event:
            case Wake():
                return self.look_around()
            case frames.Batch():
                return self.take(event)
            case frames.Kept():
                self.writer.keep(event)
            case frames.Ready(replayed):
                self.ready = True
                self.began_at = time.monotonic()
                took = self.began_at - self.started_at
                log.info("%s: an engine is ready after %.1f s, replayed %d operations", self.run, took, replayed)
                self.offer_next()
            case frames.Refusal(entry, text):
                self.writer.refuse(entry, text)
                tell_refusal(self.run, entry, text)
                if self.offered is not None:
                    command_settled(self.offered.entry, "refused", None)
                self.offered = None
                self.offer_next()
            case frames.Failure(text, trace):
                self.close_child()
                return self.cannot_go_on(text, Seen(lines=trace))
            case frames.Looked(changes):
                assert self.watching is not None
                self.watching.was_looked_at(changes)
                self.look_at_cluster()
            case Told():
                self.look_at_cluster()
            case AsksBeside():
                ask_beside(event, allowed(), self.child)
            case frames.Ended():
                return False
            case Died():
                return self.restart()
            case Answered(command):
                self.asking = None
                patiently(lambda: store_answers(self.run, command))
                if self.offered is None and self.ready:
                    self.offer_next()
            case Lost():
                log.info("%s: the lease is lost", self.run)
                return False
            case Shutdown():
                self.end_child()
                patiently(lambda: give_back(self.lease))
                offer(self.lease.run)
                return False
        return True

    def look_in_time(self) -> bool:
        """Commands are looked for also while one batch follows another. False as in ``handle``."""
        return time.monotonic() - self.looked_at < settings.ENGINE_POLL_SECONDS or self.look_around()

    def look_around(self) -> bool:
        self.looked_at = time.monotonic()
        if self.watching is not None:
            self.watching.settle()
        if self.child is not None:
            self.child.look()
        if self.starts_at is not None and time.monotonic() >= self.starts_at:
            self.start_child()
        if self.probe is not None and self.probe.has_lived:
            self.set_aside(self.probe.entry)
        if self.offered is None and self.ready:
            self.offer_next()
        return not self.may_rest() or not self.rest()

    def take(self, batch: frames.Batch) -> bool:
        self.store_and_tell(batch)
        self.measuring.when_due()
        if batch.state != self.state or batch.position != self.position or batch.outcomes or batch.unwritten:
            self.rested_since = time.monotonic()
        self.state, self.position = batch.state, batch.position
        self.wants_operations = batch.wants_operations
        if batch.asked is not None:
            self.ask(batch.asked)
        if batch.place is not None and self.offered is not None and str(self.offered.entry.pk) == batch.place.id:
            # The journal has it: now, and not before, the engine does it.
            self.send(frames.Commit(batch.place.id))
            self.offered.placed = True
        offered = self.offered
        mine = [each for each in batch.outcomes if offered is not None and each.id == str(offered.entry.pk)]
        if offered is not None and mine:
            command_settled(offered.entry, mine[0].status, batch.number)
            self.offered = None
            self.offer_next()
        if batch.state == "stopped" and self.offered is None:
            self.end_child()
            patiently(lambda: give_back(self.lease))
            return False
        return True

    def ask(self, asked: Asked) -> None:
        """Calls extenders, unless they are being called, or their answer waits in the journal already."""
        if self.asking == asked.position or patiently(lambda: answers_wait(self.run, asked.position)):
            return
        self.asking = asked.position
        ask_in_background(asked, allowed(), lambda command: self.events.put((NO_ENGINE, Answered(command))))

    def store_and_tell(self, batch: frames.Batch) -> None:
        stored = self.writer.store(batch, () if self.watching is None else self.watching.told())
        if self.watching is not None:
            self.watching.is_stored(batch)
        tell_batch(self.run, batch, stored)
        batch_sent(self.arrivals.popleft())
        if self.ready and self.offered is None:
            self.offer_next()  # before another batch may come, which the command would wait for
        self.send(frames.Ack(batch.number))

    def notice(self, words: Sentence) -> None:
        patiently(lambda: store_notice(self.writer, words))
        tell_notice(self.run)

    def park(self, why: Content, seen: Seen) -> bool:
        """Always False: nobody plays it until a person tries again."""
        self.notice(sentence("Parked: {why}", why=why))
        if patiently(lambda: store_parked(self.lease, self.run, why, seen)):
            tell_parked(self.run)
        return False

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
        entry = patiently(pending.first) if patiently(lambda: is_awaited_by_commands(self.run.pk)) else None
        if entry is None:
            if self.holds_engine:
                self.holds_engine = False
                self.send(frames.Go())
            self.look_at_cluster()
            return
        self.offered = Offered(entry)
        self.began_at = time.monotonic()
        self.send(frames.Offer(str(entry.pk), entry.author_name, entry.command))

    def look_at_cluster(self) -> None:
        """Has the engine hear what came of the real cluster. What is done with commands comes before and after that."""
        if self.watching is None or self.offered is not None or self.holds_engine:
            return
        if self.ready and self.state != "stopped":
            self.watching.look(self.send)

    # --- the child --------------------------------------------------------------------------------------------------

    def start_child(self, *, fresh: bool = False, without: JournalEntry | None = None) -> None:
        """`fresh`: in a process with a Python of its own, as from the second death at one position on. `without`: a
        command that it does not come to know of."""
        self.ready = False
        self.offered = None
        self.starts_at = None
        self.started_at = time.monotonic()
        self.engines += 1
        number = self.engines
        if self.watching is not None:
            self.watching.begins_anew(reading=self.state != "stopped")  # what it had seen may not be stored
        begin = patiently(lambda: begin_for(self.run, self.lease))
        if without is not None:
            begin = replace(begin, journal=[entry for entry in begin.journal if entry.id != str(without.pk)])
        self.holds_engine = True
        arrivals: deque[float] = deque()

        def hear(event: Event) -> None:
            if isinstance(event, frames.Batch):
                arrivals.append(time.monotonic())
            self.events.put((number, event))

        self.arrivals = arrivals
        ready = STANDBYS.take(self.lease.run, begin, hear) if number == 1 else None
        self.child = ready or EngineProcess(begin, hear, fresh=fresh or self.deaths.count > 1)

    def close_child(self) -> None:
        """It ended or is to; ``run`` is then what is stored, which is where another engine begins."""
        assert self.child is not None
        self.child.close()
        # What it said and nobody heard yet is not heard any more.
        self.engines += 1
        patiently(self.run.refresh_from_db)

    def restart(self) -> bool:
        """The child died. What it had not told is not stored, so replay makes it again."""
        assert self.child is not None
        ENGINE_DEATHS.inc()
        self.close_child()
        seen = Seen(self.child.ending(), self.child.last_words())
        log.warning("%s: the engine died at position %d: %s %s", self.run, self.run.position, seen.ended, seen.lines)
        entry = self.entry_in_question()
        self.deaths.another(self.run.position, None if entry is None else entry.pk)
        self.longest = max(self.longest, time.monotonic() - self.began_at if self.ready else 0.0)
        if entry is not None and self.deaths.blames_command:
            self.try_without(entry)
            return True
        if self.deaths.are_too_many:
            return self.park(self.died_so_often(self.deaths.count), seen)
        self.notice(sentence("The engine died and goes on from cycle {cycle}.", cycle=self.run.attempts))
        self.wait_to_start(self.deaths.pause)
        return True

    def cannot_go_on(self, why: Content, seen: Seen) -> bool:
        """The child is closed. It, or the database, said why, and would again: unless that is a command's fault."""
        entry = self.entry_in_question()
        if entry is None:
            return self.park(why, seen)
        self.deaths.another(self.run.position, entry.pk)
        if self.deaths.blames_command:
            self.try_without(entry)
        else:
            log.warning("%s: %s at position %d: %s", self.run, entry, self.run.position, why)
            self.wait_to_start(0.0)
        return True

    def cannot_begin(self, why: Words) -> None:
        """No version of the engine that is here reads what the run goes on from."""
        if self.run.follows and (new := patiently(lambda: follow_anew(self.run, self.lease, why))) is not None:
            log.warning("%s: goes on as %s: %s", self.run, new, why)
            patiently(lambda: give_back(self.lease))
        else:
            self.park(why, Seen())

    def died_so_often(self, times: int) -> Sentence:
        return sentence("The engine died {times} times at cycle {cycle}.", times=times, cycle=self.run.attempts)

    def wait_to_start(self, seconds: float) -> None:
        self.ready = False
        self.offered = None
        self.starts_at = time.monotonic() + seconds

    def entry_in_question(self) -> JournalEntry | None:
        """The command that the child, which is closed, was doing. One that is under way since an earlier child comes
        before the one that this child was offered: its outcome comes with the first batch."""
        under_way = patiently(lambda: entry_under_way(self.run))
        if under_way is not None or self.offered is None:
            return under_way
        return self.offered.entry

    def try_without(self, entry: JournalEntry) -> None:
        log.warning("%s: %s is tried without %s", self.run, self.run.position, entry)
        self.probe = Probe(entry, max(PROBATION_SECONDS, 2 * self.longest))
        self.start_child(fresh=True, without=entry)

    def watch(self, probe: Probe, event: Event) -> bool:
        """What an engine says that does without a command: nothing of it is stored. False as in ``handle``."""
        match event:
            case frames.Ready():
                self.send(frames.Go())
            case frames.Batch(number=number, state=state, wants_operations=wants_operations):
                probe.lives_since = probe.lives_since or time.monotonic()
                probe.rests = state in RESTING and not wants_operations
                self.send(frames.Ack(number))
            case frames.Failure(text, trace):
                return self.park_with(probe, text, Seen(lines=trace))
            case Died():
                assert self.child is not None
                ENGINE_DEATHS.inc()
                self.close_child()
                seen = Seen(self.child.ending(), self.child.last_words())
                return self.park_with(probe, self.died_so_often(self.deaths.count + 1), seen)
        return True

    def park_with(self, probe: Probe, why: Content, seen: Seen) -> bool:
        """It does not live without the command either, so the command stays what it was: pending, or under way."""
        log.warning("%s: it does not live without %s either", self.run, probe.entry)
        self.probe = None
        return self.park(why, seen)

    def set_aside(self, entry: JournalEntry) -> None:
        """The engine lives without it, and with it died each time."""
        self.probe = None
        self.close_child()
        times = self.deaths.in_a_row
        why, told = set_aside_words(entry.type, entry.author_name, times)
        patiently(lambda: set_aside(self.writer, entry, why))
        tell_refusal(self.run, str(entry.pk), why)
        command_settled(entry, "refused", None)
        self.notice(told)
        self.deaths, self.longest = Deaths(), 0.0
        self.start_child(fresh=True)

    def end_child(self) -> None:
        """Takes the last batch and its checkpoint."""
        if not self.ready:
            return
        self.ready = False  # for commands
        if self.watching is not None:
            self.watching.end()
        self.send(frames.End())
        deadline = time.monotonic() + LAST_BATCH_SECONDS
        later: list[Event] = []
        while time.monotonic() < deadline:
            source, event = self.next_event()
            if isinstance(event, Lost | Shutdown):
                later.append(event)
            elif source == self.engines:
                if isinstance(event, frames.Batch):
                    self.store_and_tell(event)
                elif isinstance(event, frames.Kept):
                    self.writer.keep(event)
                elif isinstance(event, frames.Ended | frames.Failure | Died):
                    break
        for event in later:
            self.events.put((NO_ENGINE, event))

    # --- giving it back ---------------------------------------------------------------------------------------------

    @property
    def held_seconds(self) -> float:
        return time.monotonic() - self.began_holding

    @property
    def is_resting(self) -> bool:
        waits = self.offered is not None or self.asking is not None
        return self.ready and not waits and self.state in RESTING and not self.wants_operations

    def rest_soon(self) -> None:
        """From another thread: its place is wanted."""
        self.is_wanted_elsewhere = True
        self.wake()

    def may_rest(self) -> bool:
        if not self.is_resting:
            return False
        if self.is_wanted_elsewhere:
            return True
        patience = FINISHED_SECONDS if self.state == "finished" else settings.ENGINE_PARK_SECONDS
        return time.monotonic() - self.rested_since >= min(patience, settings.ENGINE_PARK_SECONDS)

    def rest(self) -> bool:
        self.end_child()
        if patiently(lambda: give_back(self.lease, only_if_idle=True)):
            # Who sent a command just before saw a holder still, and offered the run to nobody.
            if patiently(Run.objects.filter(to_be_held(), held_by_nobody(), pk=self.lease.run).exists):
                offer(self.lease.run)
            return True
        self.close_child()
        self.start_child()
        return False

    def tell_of_takeover(self) -> None:
        lost = self.lease.lost_at or timezone.now()
        late = (database_now() - lost).total_seconds()
        log.info("%s: taken over %.1f s after the lease of another worker ran out", self.run, late)
        at, cycle = f"{lost:%H:%M:%S}", self.run.attempts
        self.notice(sentence("Worker lost at {time}, another took over from cycle {cycle}.", time=at, cycle=cycle))
