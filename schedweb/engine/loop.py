"""The engine: plays a run, and says what changed, over its pipe. It does a command only when the journal has it.

Listen → one operation → a batch when it is time for one → listen … A batch that is not acknowledged is the only one on
its way; meanwhile the engine goes on and gathers the next one."""

from __future__ import annotations

import select
import time
import traceback

from framework.sentences import sentence
from schedweb.engine import frames
from schedweb.engine.asked import Asked, asked_by
from schedweb.engine.batch import Gatherer
from schedweb.engine.batch_size import BACKLOG, FRAME_SECONDS, LEAST_GATHERED, frame_after, room_after
from schedweb.engine.blamed import plugin_in
from schedweb.engine.checkpoint import Checkpoints
from schedweb.engine.commands import ClusterChanges, command_from
from schedweb.engine.frames import Batch, Begin, Entry, Gone, Offer
from schedweb.engine.hearing import Hearing
from schedweb.engine.live import WriteRow
from schedweb.engine.moments import advance, compare
from schedweb.engine.obey import validate
from schedweb.engine.own_differences import differences_of
from schedweb.engine.pace import Pace
from schedweb.engine.packing import Dictionary, Packer
from schedweb.engine.player import Happened, Player
from schedweb.engine.replay import do
from schedweb.engine.shapes import UntranslatedHit, UntranslatedOutcome
from schedweb.engine.stopwatch import Stopwatch
from schedweb.engine.sums import Sums
from schedweb.engine.wall import WallClock

#: Commands are looked for this often, between two operations.
LOOK_SECONDS = 0.002
IDLE_SECONDS = 0.5
TOGETHER_SECONDS = 0.01
#: Writes that may come with the next frame: they change nothing in a cluster.
SAID = frozenset(("event", "series"))


class Engine:
    def __init__(self, player: Player, pace: Pace, begin: Begin, pipes: tuple[frames.Exactly, frames.Writer]) -> None:
        self.player = player
        self.pace = pace
        self.begin = begin
        self.inward, self.outward = pipes
        self.gatherer = Gatherer(player)
        known = begin.dictionary
        self.gatherer.packer = Packer(None if known is None else Dictionary(known.number, known.data))
        self.is_packing = known is not None
        """With a dictionary; without one it is looked whether there are rows enough for one."""
        self.sums = Sums(player)
        self.differences = differences_of(player)
        self.poller = select.poll()
        self.poller.register(self.inward, select.POLLIN | select.POLLHUP)
        self.number = 0
        """Of the last batch that was written."""
        self.acknowledged = 0
        self.stored_position, self.last_state = player.position, ""
        self.last_frame = self.tells_at = 0.0
        self.frame_seconds = FRAME_SECONDS
        self.spent = 0.0
        """On making the last batch; seconds, as what follows."""
        self.written = 0.0  # when it was
        self.size = 0  # gathered for it; of one with a checkpoint 0, which says nothing of others
        self.room = float(LEAST_GATHERED)
        self.checkpoints = Checkpoints(player, pace, begin.checkpoint_seconds)
        self.clock = WallClock(player, pace, self.gatherer.steps)
        self.hearing = Hearing(player, pace)
        self.heard_later: list[frames.Look | frames.Answers] = []
        """What came of the real cluster where no command could be done."""
        self.outcomes: list[UntranslatedOutcome] = []
        self.next_cycle_at = 0.0
        self.stopwatch = Stopwatch()
        self.is_watching = False
        """Whether the cycle under way is one in which points and plugins are timed."""
        self.rate_at = (time.monotonic(), player.scheduler.attempts)
        self.listened = 0.0  # when the pipe was looked at
        self.ending = False
        self.waits = begin.waits
        """Until Go."""
        self.deferred: Offer | None = None  # a command that waits until the step before it is done
        self.doing = False  # a command is being done
        self.told_asked: int | None = None
        """The position of what extenders were asked last, as far as it was told."""
        self.may_decide = False  # about a real cluster, until the worker says so
        self.urgent = True
        if begin.is_stored:
            self.gatherer.steps.start(player.position)
        self.gatherer.steps.note(player)

    # --- a fork's past ----------------------------------------------------------------------------------------------

    def catch_up(self, journal: list[Entry]) -> None:
        """Does what the parent did, stores it as this run's own, and leaves a checkpoint where the two part."""
        self.emit(whole=True)
        advance(self.player, self.pace, journal, self.begin.inherited, self.store_now_and_then)
        compare(self.player, self.begin.inherited, self.begin.inherited_digest)
        self.await_ack()
        self.emit(whole=True, checkpoint=not self.player.scheduler.mid_cycle)

    def store_now_and_then(self) -> None:
        self.gatherer.steps.note(self.player)
        if self.player.scheduler.mid_cycle:
            return
        if self.gatherer.size >= BACKLOG:
            self.await_ack()
        elif time.monotonic() - self.last_frame < self.frame_seconds:
            return
        self.listen(0)
        if self.may_emit():
            self.emit()
            self.keep_when_due()

    # --- the loop ---------------------------------------------------------------------------------------------------

    def run(self) -> None:
        self.await_ack()
        self.emit(whole=True)
        try:
            # The run can be looked at by now.
            self.player.scheduler.preload()
            while self.go_round():
                pass
        except (Gone, AssertionError):
            raise
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; its run says so and ends
            self.give_up(error)
            return
        self.finish()

    def give_up(self, error: Exception) -> None:
        """What was reached before is still told, if that can be; the attempt under way is lost with its cycle."""
        plugin = plugin_in(error)
        about = {"cycle": self.player.scheduler.attempts, "error": type(error).__name__, "why": str(error)}
        if plugin:
            text = sentence(
                "The run stopped at cycle {cycle}: plugin {plugin} raised {error}: {why}", plugin=plugin, **about
            )
        else:
            text = sentence("The run stopped at cycle {cycle}: {error}: {why}", **about)
        # What a command left half done is not to be stored: whoever goes on may have to do without it.
        if not self.doing:
            self.tell_the_rest()
        frames.write(self.outward, frames.Failure(text, "".join(traceback.format_exception(error))))

    def tell_the_rest(self) -> None:
        try:
            self.await_ack(deaf=True)
            self.emit()
            self.await_ack(deaf=True)
        except Gone:
            raise
        except Exception:  # noqa: BLE001 - most likely the same error: it came while a batch was made
            traceback.print_exc()

    def go_round(self) -> bool:
        """Listens if it is time to, then does one operation if there is one. False at the end."""
        wait = self.patience()
        if wait > 0 or (time.monotonic() - self.listened >= LOOK_SECONDS and not self.is_within_cycle):
            self.listen(wait)
            self.listened = time.monotonic()
        if self.ending:
            return False
        if self.heard_later and not self.is_in_step and not self.is_within_cycle:
            self.hear_of_cluster()
        if self.may_operate():
            self.operate()
        if self.deferred is not None and not self.is_in_step:
            offer, self.deferred = self.deferred, None
            self.consider(offer)
        if not self.is_within_cycle and not self.ending:
            self.maybe_emit()
        return True

    @property
    def is_within_cycle(self) -> bool:
        """A cycle that plays through is not interrupted: Pause stops between two cycles, only a step within one."""
        return (
            self.pace.wants_operations
            and self.player.scheduler.mid_cycle
            and not self.held
            and self.player.asked_at is None
        )

    @property
    def is_in_step(self) -> bool:
        """Not where extenders are asked: their answer is a command, too."""
        return self.pace.step is not None and self.player.asked_at is None

    @property
    def held(self) -> bool:
        """Commands that wait come before anything else is done; but a step that was promised comes before the next."""
        return self.waits and self.deferred is None

    def patience(self) -> float:
        """How long the pipe may be waited for before there is something else to do."""
        now = time.monotonic()
        frame = self.last_frame + self.frame_seconds - now if self.has_news() and self.may_emit() else IDLE_SECONDS
        if self.stands_still():
            return max(0.0, min(frame, IDLE_SECONDS))
        if self.clock.is_real and not self.pace.step and not self.player.has_work:
            due = self.player.next_instant()
            if due is not None:
                return max(0.0, min(frame, (due - self.clock.now()) / 1e9, IDLE_SECONDS))
            if self.player.is_of_real_cluster:
                return max(0.0, frame)
        if self.pace.cycle_seconds and not self.player.scheduler.mid_cycle:
            return max(0.0, min(frame, self.next_cycle_at - now))
        return 0.0

    def listen(self, wait: float) -> None:
        """Everything that has come, waiting for the first at most this long."""
        timeout = wait * 1000
        while not self.ending and (self.inward.has_kept or self.poller.poll(timeout)):
            self.hear(frames.read_to_child(self.inward))
            timeout = 0
        self.tell_kept(self.checkpoints.made())

    def hear(self, message: frames.ToChild) -> None:
        match message:
            case frames.Ack(number):
                self.acknowledged = number
                stored = time.monotonic() - self.written
                self.frame_seconds = frame_after(self.spent, stored)
                if self.size:
                    self.room = room_after(self.room, self.size, stored)
            case frames.Offer(command=command):
                if self.is_in_step and command["type"] != "stop":
                    self.deferred = message
                else:
                    self.consider(message)
            case frames.Go():
                self.waits = False
            case frames.End():
                self.ending = True
            case frames.Deciding(may):
                self.may_decide = may
            case frames.Look() | frames.Answers():
                self.heard_later.append(message)
            case _:
                raise AssertionError(f"{type(message).__name__} was not expected here")

    def is_backlogged(self) -> bool:
        return self.number != self.acknowledged and self.gatherer.size > self.room

    def stands_still(self) -> bool:
        player = self.player
        told = player.asked_at is not None or player.observing or (player.live is not None and not self.may_decide)
        return told or self.held or self.is_backlogged() or not self.pace.wants_operations

    def may_operate(self) -> bool:
        if self.stands_still():
            return False
        if self.player.scheduler.mid_cycle or not self.pace.cycle_seconds:
            return True
        return time.monotonic() >= self.next_cycle_at or not self.player.has_work

    def operate(self) -> None:
        if self.clock.is_real and self.pace.mode == "playing":
            self.clock.follow()
        stepping = self.pace.step is not None
        if not self.player.scheduler.mid_cycle:
            is_at_full_speed = not stepping and not self.pace.cycle_seconds
            self.is_watching = self.stopwatch.begin(always=not is_at_full_speed)
        self.player.projection.follow = stepping or self.pace.speed == "one"
        # Who watches, or might stop within the cycle, has to hear of every point.
        whole = not (stepping or self.is_watching or self.pace.breakpoints.known)
        with self.stopwatch.running():
            happened = self.player.operate(whole=whole)
        self.gatherer.steps.note(self.player)
        if happened is Happened.POINT:
            self.stopwatch.reached(self.player.point)
        elif happened is Happened.CYCLE:
            self.gatherer.cycle_ended(self.stopwatch.ended())
            seconds = self.pace.cycle_seconds
            if seconds:
                # Not from the planned instant: a burst would follow every pause.
                self.next_cycle_at = time.monotonic() + seconds
        self.pace.happened(happened)
        hit = self.pace.look(self.player, happened)
        if hit is not None:
            self.urgent = True
            self.player.projection.feed.line(self.player.now, "engine", sentence("Breakpoint: {hit}.", hit=hit.text))
        if happened is Happened.ERRORS:
            self.player.projection.feed.line(self.player.now, "engine", self.player.why_paused)
        self.urgent |= happened is Happened.ASKS or (stepping and self.pace.step is None)

    # --- commands ---------------------------------------------------------------------------------------------------

    def consider(self, offer: Offer) -> None:
        """Says where the command applies, waits until the journal has it, and does it."""
        command = command_from(offer.command)
        refused = validate(self.player, command)
        if refused is not None:
            frames.write(self.outward, frames.Refusal(offer.id, refused))
            return
        if not isinstance(command, ClusterChanges):
            self.clock.catch_up()  # what a cluster told has its own time
        self.await_ack()
        self.emit(place=frames.JournalPlace(offer.id, self.player.position, self.player.now))
        while True:
            message = frames.read_to_child(self.inward)
            if isinstance(message, frames.Commit) and message.id == offer.id:
                break
            if isinstance(message, frames.End):
                # It was not committed, so it is still pending for whoever plays on.
                self.ending = True
                return
            self.hear(message)
        place = Entry(offer.id, self.player.position, self.player.now, offer.author, offer.command)
        self.doing = True
        self.outcomes.append(do(self.player, self.pace, place) or UntranslatedOutcome(offer.id, "applied"))
        self.doing = False
        self.next_cycle_at, self.tells_at = 0.0, time.monotonic() + TOGETHER_SECONDS
        self.urgent = True

    def hear_of_cluster(self) -> None:
        """As commands are done, but at once: the journal has it with the next batch."""
        messages, self.heard_later = self.heard_later, []
        if self.pace.state == "stopped":
            return
        for message in messages:
            self.doing = True
            if isinstance(message, frames.Look):
                changes = self.differences.of(message.seen)
                self.hearing.changes(changes)
                self.urgent |= any(each.what == "whole" for each in message.seen)
                frames.write(self.outward, frames.Looked(len(changes)))
            else:
                self.clock.catch_up()
                self.hearing.outcomes(message.outcomes)
            self.doing = False
        self.gatherer.steps.note(self.player)
        self.next_cycle_at, self.tells_at = 0.0, time.monotonic() + TOGETHER_SECONDS

    def await_ack(self, *, deaf: bool = False) -> None:
        """``deaf``: a command that is offered meanwhile stays pending."""
        while self.number != self.acknowledged:
            message = frames.read_to_child(self.inward)
            if isinstance(message, Offer):
                if deaf:
                    continue
                raise AssertionError("one command at a time is offered")
            self.hear(message)

    # --- batches ----------------------------------------------------------------------------------------------------

    def may_emit(self) -> bool:
        return self.number == self.acknowledged

    def has_news(self) -> bool:
        return (
            self.urgent
            or bool(self.writes)
            or bool(self.outcomes)
            or self.pace.state != self.last_state
            or self.player.position != self.stored_position
            or not self.gatherer.is_empty
        )

    @property
    def writes(self) -> list[WriteRow]:
        return [] if self.player.live is None else self.player.live.outbox

    def decides_more(self) -> bool:
        """Of a real cluster: pods that can be tried at once are, so that what is written for them goes together."""
        is_soon = self.player.live is not None and time.monotonic() < self.tells_at
        return is_soon and self.may_operate() and self.player.has_work

    def maybe_emit(self) -> None:
        if not self.may_emit() or not self.has_news() or self.decides_more():
            return
        urgent = self.urgent or any(row.write.purpose not in SAID for row in self.writes)
        soon = urgent and (not self.pace.step or self.player.asked_at is not None)
        if soon or self.gatherer.size > self.room or time.monotonic() - self.last_frame >= self.frame_seconds:
            self.emit()
            self.keep_when_due()

    def keep_when_due(self) -> None:
        """After a batch was taken."""
        if self.checkpoints.is_due:
            self.tell_kept(self.checkpoints.begin())

    def tell_kept(self, kept: frames.Kept | None) -> None:
        if kept is not None:
            frames.write(self.outward, kept)

    def emit(
        self,
        *,
        whole: bool = False,
        place: frames.JournalPlace | None = None,
        checkpoint: bool = False,
        last: bool = False,
    ) -> None:
        player, gatherer = self.player, self.gatherer
        projection = player.projection
        self.sums.verify()
        room = int(self.room)
        self.size = 0 if checkpoint else gatherer.size + gatherer.placed(room)
        self.last_frame = time.monotonic()
        self.last_state = self.pace.state
        self.stored_position = player.position
        waiting_changed = whole or projection.waiting_changed
        feed = projection.feed.take(player.now)
        dictionary = self.new_dictionary()
        chunk, attempts = gatherer.attempts()
        columns = gatherer.columns(whole=whole)
        pods = gatherer.pods(room=room, last=last)
        nodes, nodes_json, topology = gatherer.nodes()
        outcomes, self.outcomes = self.outcomes, []
        batch = Batch(
            number=self.number + 1,
            position=player.position,
            clock=player.now,
            shown_clock=self.clock.now(),
            points=player.scheduler.points,
            attempts=player.recorded,
            digest=player.digest,
            state=self.pace.state,
            wants_operations=self.pace.wants_operations,
            speed=self.pace.speed,
            counts=projection.board.counts(),
            columns_json=columns,
            cycle_json=gatherer.cycle(asks=player.position >= self.begin.inherited),
            nodes_json=nodes_json,
            topology=topology or whole,
            resources=projection.nodes.resources,
            node_count=len(projection.nodes.views),
            pod_count=len(projection.views),
            arrivals_left=player.arrivals[0],
            arrivals_total=player.arrivals[1],
            next_arrival=player.next_arrival,
            pods=pods,
            nodes=nodes,
            chunk=chunk,
            attempt_rows=attempts,
            decisions=gatherer.decisions(),
            preemptions=gatherer.preemptions(),
            evictions=gatherer.evictions(),
            objects=gatherer.objects(),
            **gatherer.of_real_cluster(),
            feed=feed,
            clock_moves=self.clock.take(),
            heard=self.hearing.take(),
            outcomes=outcomes,
            waiting_changed=waiting_changed,
            rate=self.measured_rate(),
            breakpoints=[asked for asked, _ in self.pace.breakpoints.known.values()],
            hit=None if (hit := self.pace.breakpoints.hit) is None else UntranslatedHit(hit.id, hit.text, hit.pod),
            unwritten=len(projection.unwritten),
            place=place,
            checkpoint=self.checkpoints.at_once() if checkpoint else None,
            asked=self.asked(),
            steps=gatherer.steps.take(),
            dictionary=dictionary,
            metrics=None if place else gatherer.metrics(playing=self.pace.state == "playing"),
        )
        self.urgent = False
        frames.write(self.outward, batch)
        self.number = batch.number
        self.written = time.monotonic()
        self.spent = self.written - self.last_frame

    def asked(self) -> Asked | None:
        """What is to be asked, once."""
        if self.player.asked_at is None or self.player.asked_at == self.told_asked:
            return None
        if self.player.position < self.begin.inherited:
            return None  # the parent's journal has the answer
        self.told_asked = self.player.asked_at
        return asked_by(self.player)

    def new_dictionary(self) -> frames.PackedWith | None:
        if self.is_packing:
            return None
        made = self.gatherer.dictionary(self.begin.dictionaries_taken)
        self.is_packing = made is not None
        return None if made is None else frames.PackedWith(made.number, made.data)

    def measured_rate(self) -> int | None:
        """Cycles per second of wall time, while there are any."""
        at, attempts = self.rate_at
        now, newest = time.monotonic(), self.player.scheduler.attempts
        if now - at < FRAME_SECONDS or newest == attempts:
            return None
        self.rate_at = (now, newest)
        return round((newest - attempts) / (now - at))

    def finish(self) -> None:
        """The last batch, with a checkpoint if the player stands between two cycles."""
        self.await_ack()
        self.emit(checkpoint=not self.player.scheduler.mid_cycle, last=True)
        frames.write(self.outward, frames.Ended())
