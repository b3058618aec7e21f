"""Player: drives the scheduler through a run, one operation at a time (docs/semantics/runs.md).

An operation is one extension point, the end of a cycle, an arrival, a move of the clock, a command. `position` counts
them; it is what the journal names. What the next operation is depends on nothing but the machine's state, so the same
journal leads to the same run however fast it is played and wherever it is interrupted.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from framework.configuration import EffectiveConfiguration, load
from framework.extenders import Answer
from framework.objects import KubeObject
from framework.plugins.registry import Registry
from framework.profiles import Clock, SeededGenerator, TieRule, Ties
from framework.reports.metrics import SchedulerMetrics
from framework.scheduler import Observers, PointReached, Scheduler
from framework.scheduler import options as scheduler_options
from framework.scheduler.stillness import Stillness, is_endless
from framework.sentences import Sentence, SentenceError, sentence
from framework.trace.attempt import AttemptTrace
from framework.trace.digest import START
from framework.trace.digest import digest as chained
from schedweb.engine.arriving import arrive
from schedweb.engine.evictions import APPROVED
from schedweb.engine.in_vain import lost_again, made_room
from schedweb.engine.live import LiveCluster, Scheduling
from schedweb.engine.own_nodes import kept_to, why_not_kept
from schedweb.engine.own_world import OwnCluster
from schedweb.engine.payload import TimelineEntry
from schedweb.engine.projection import Projection
from schedweb.engine.real_rows import JudgementRow
from schedweb.engine.told import ToldProjection
from schedweb.engine.world import Refused, World

if TYPE_CHECKING:
    from schedweb.engine.beside import AskingPipe
    from schedweb.engine.unfollowed import Later

MILLISECOND: Final = 1_000_000
#: A pod whose attempt ends in an error is tried again for ever, and on a virtual clock for ever is at once.
ERRORS_IN_A_ROW: Final = 100
TOO_MANY_ERRORS: Final = sentence(
    "{count} attempts ended in an error, or in a pod group that does not fit, and no pod found a node in between, so "
    "the run is paused.",
    count=ERRORS_IN_A_ROW,
)
ClockMode = Literal["virtual", "real"]
Approvals = Literal["hold", "timeout", "auto"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    seed: int
    ties: TieRule
    approvals: Approvals
    clock: ClockMode
    start: int
    observing: bool = False
    """It begins as a picture of a real cluster, whose own scheduler decides (observed.py)."""
    scheduling: Scheduling | None = None
    """It begins as a scheduler of a real cluster (live.py)."""
    own_world: bool = False
    """It begins as a world of its own to which a real cluster's arrivals come (own_world.py)."""


class Happened(enum.Enum):
    POINT = "an extension point was passed"
    CYCLE = "a cycle ended"
    ARRIVAL = "an object came or went"
    TIME = "the clock moved"
    WAITS = "only a person can go on"
    FINISHED = "nothing is left to do"
    ERRORS = "nothing but errors, preemptions or nodes on Permit in vain, for a long while"
    IDLE = "only time can go on"
    """Real clock: nothing is due yet."""
    ASKS = "an extender is asked"
    ASKED = "only an extender can go on"


class RunRefused(SentenceError):
    """A run that cannot be played."""


def effective_configuration(text: str, registry: Registry, terms: Scheduling | None = None) -> EffectiveConfiguration:
    """``terms``: of a run that schedules a real cluster, whose nodes may be some of it."""
    loaded = load(text, registry)
    if loaded.effective is None:
        raise RunRefused(loaded.config_error)
    labels = {} if terms is None else terms.node_selector
    if (why := why_not_kept(loaded.effective, labels)) is not None:
        raise RunRefused(why)
    return kept_to(loaded.effective, labels)


class Player:
    def __init__(
        self,
        objects: list[KubeObject],
        timeline: list[TimelineEntry],
        configuration: EffectiveConfiguration,
        registry: Registry,
        options: RunOptions,
    ) -> None:
        """`timeline`: in order of time, counted from the start."""
        self.options = options
        self.registry = registry
        self.timeline = timeline
        self.arrived = 0
        self.operations = 0
        self.digest = START
        self.recorded = 0
        """The number of the last attempt whose cycle ended."""
        self.traces: list[AttemptTrace] = []
        """Attempts whose cycle ended since the last batch."""
        self.ended: list[AttemptTrace] = []
        """Attempts that were bound or failed since the last batch."""
        self.ends: dict[int, int] = {}
        """Number → position behind its cycle, of attempts whose cycle ended since the last batch."""
        self.errors = 0
        """Attempts in a row that ended in an error, with nothing else in between."""
        self.preempted_by: dict[str, int] = {}
        """Uid → how often it made room for itself, and has no node yet."""
        self.lost_by: dict[str, int] = {}
        """Uid → how often it lost its node before it was bound (in_vain.py)."""
        self.until: int | None = None
        """The instant to which somebody let time pass: until then the flush of leftovers moves the clock, too."""
        self.endless: Sentence | None = None
        """What goes on for ever, to be said before anything else is done."""
        self.why_paused = TOO_MANY_ERRORS
        """The last that was said."""
        self.stillness = Stillness()
        self.under_way: AttemptTrace | None = None
        """The attempt between two of whose points the cycle stands."""
        self.asked_at: int | None = None
        """The position at which extenders were asked that have not answered yet."""
        self.point = ""
        """The last one that a cycle passed."""
        self.judgements: list[JudgementRow] | None = None
        """Since the last batch; None where nobody asked for a shadow (judged.py)."""
        self.pipe: AskingPipe | None = None  # by which extenders are asked for those
        terms = options.scheduling
        self.live = None if terms is None else LiveCluster(terms)
        """A real cluster is scheduled: what is decided here is written there."""
        schedulers = frozenset(profile.scheduler_name for profile in configuration.profiles)
        self.own = OwnCluster(options.start, schedulers) if options.own_world else None
        """What a real cluster tells comes here without its scheduler's decisions; ours decides."""
        self.later: Later | None = None
        """A fork: what came to the real cluster after it left (unfollowed.py)."""
        self.observing = options.observing and terms is None and self.own is None
        """A real cluster is followed: nothing is decided here."""
        self.world = World(self.live or self.own)
        if self.observing:
            self.world.cluster.set_controllers(())
        if self.live is not None:
            objects = [each for each in objects if not self.live.is_left_out(each)]
        if self.own is not None:
            objects = self.own.begin(objects)
        try:
            self.world.load(objects)
        except Refused as error:
            raise RunRefused(error.words) from None
        made = ToldProjection if options.observing else Projection
        self.projection = made(self.world.cluster, Clock(options.start))
        self.projection.schedulers = schedulers
        if isinstance(self.projection, ToldProjection):
            self.projection.observing = self.observing
            self.projection.is_live = not self.observing
        self.projection.load()
        self.projection.entered_now.clear()
        self.metrics: SchedulerMetrics | None = SchedulerMetrics()
        """None of a checkpoint from before there were any."""
        self.scheduler = Scheduler(
            configuration,
            registry,
            start=options.start,
            seed=options.seed,
            ties=options.ties,
            observer=Observers([self.projection, self.metrics]),
            cluster=self.world.cluster,
            options=replace(scheduler_options.DEFAULT, sends_secrets=False),
        )
        self.metrics.start(self.scheduler)
        self.projection.clock = self.scheduler.core.clock
        self.configured(configuration)

    def configured(self, configuration: EffectiveConfiguration) -> None:
        self.projection.configured(self.scheduler.profiles)

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def position(self) -> int:
        return self.scheduler.points + self.operations

    @property
    def now(self) -> int:
        return self.scheduler.now

    @property
    def virtual(self) -> bool:
        return self.options.clock == "virtual" and self.live is None and self.own is None

    @property
    def has_work(self) -> bool:
        scheduler = self.scheduler
        return scheduler.mid_cycle or scheduler.core.queue.has_active() or bool(scheduler.core.waiting_pods.ready)

    @property
    def is_of_real_cluster(self) -> bool:
        """What watches of a real cluster bring is applied here."""
        return self.observing or self.live is not None or self.own is not None

    @property
    def next_arrival(self) -> int | None:
        """When the next object comes or goes, in run time."""
        later = None if self.later is None else self.later.next
        if self.arrived == len(self.timeline):
            return later
        due = self.options.start + self.timeline[self.arrived].at
        return due if later is None else min(due, later)

    @property
    def arrivals(self) -> tuple[int, int]:
        """(how many are still to come, how many there are)."""
        left, total = (0, 0) if self.later is None else (self.later.left, self.later.total)
        return left + len(self.timeline) - self.arrived, total + len(self.timeline)

    @property
    def hold_at(self) -> int | None:
        """The clock must stay before this: the first deadline of a wait that asks a person.

        Rules: docs/semantics/runs.md#waiting-for-a-person.
        """
        core = self.scheduler.core
        if self.options.approvals != "hold" or not self.virtual:
            return None
        deadlines = [
            state.deadlines[plugin]
            for state in (self.scheduler.waiting_pods() if len(core.waiting_pods) else ())
            if not state.decided
            for plugin in state.asks_a_person
        ]
        if (device := core.pre_binding.next_asking_a_person()) is not None:
            deadlines.append(device)
        return min(deadlines, default=None)

    def is_held(self, to: int) -> bool:
        """Whether the clock must not come to this instant. Most often no deadline is near, which is known at once."""
        core = self.scheduler.core
        timers = (core.waiting_pods.next_timer(), core.pre_binding.next_timer())
        nearest = min((timer for timer in timers if timer is not None), default=None)
        if nearest is None or to < nearest:
            return False
        hold = self.hold_at
        return hold is not None and to >= hold

    # --- operations -------------------------------------------------------------------------------------------------

    def operate(self, *, whole: bool = False) -> Happened:
        """The next operation. WAITS, FINISHED, IDLE, ASKED and ERRORS are none: nothing was done.

        ``whole``: a cycle at once, all its points and its end; it leads to what they lead to one by one.
        """
        scheduler = self.scheduler
        self.projection.entered_now.clear()
        if self.observing:
            return Happened.IDLE
        if scheduler.asks:
            return self._ask()
        if self.endless is not None and not scheduler.mid_cycle:
            # Said once; whoever plays on gets as many again.
            self.why_paused, self.endless = self.endless, None
            self.stillness.stirred()
            return Happened.ERRORS
        if scheduler.mid_cycle and (happened := self._go_on(whole)) is not None:
            return happened
        if self._arrival_is_due():
            self.errors = 0
            self.operations += 1
            arrive(self)
            self.settle()
            return Happened.ARRIVAL
        if self.options.approvals == "auto" and self._approve_one():
            return Happened.ARRIVAL
        if self.virtual and self.next_arrival is None and self.until is None and self.stillness.holds(scheduler):
            return self._over()
        if scheduler.core.queue.has_active() or scheduler.core.waiting_pods.ready:
            happened = self._go_on(whole)
            if happened is not None:
                return happened
        return self._pass_time() if self.virtual else self._rest()

    def _go_on(self, whole: bool) -> Happened | None:
        """To the next point, or to the end of the cycle. None when there was nothing to do after all."""
        reached = self.scheduler.step(self._passed) if whole else self.scheduler.step_point()
        if reached is None:
            return self._ask() if self.scheduler.asks else None
        if isinstance(reached, PointReached):
            self.under_way = reached.trace
            self._passed(reached.point, reached.trace)
            return Happened.POINT
        self.under_way = None
        self.operations += 1
        # The end of a binding cycle alone is no attempt: that was told when its scheduling cycle ended.
        if reached.cycle > self.recorded:
            # One attempt, or those of all pods of a group.
            self.traces += self.scheduler.cycle_traces
            self.ends.update((trace.cycle, self.position) for trace in self.scheduler.cycle_traces)
            self.recorded = self.traces[-1].cycle
            if self.virtual:
                self._advance_cycle()
        self._chain()
        return Happened.CYCLE

    def _ask(self) -> Happened:
        """Asking is an operation of its own, so that what happens until the answer comes has its place behind it."""
        if self.asked_at is not None:
            return Happened.ASKED
        self.operations += 1
        self.asked_at = self.position
        return Happened.ASKS

    def answer(self, answers: Sequence[Answer]) -> None:
        """Of the extenders that were asked; the cycle goes on with the next operation."""
        self.asked_at = None
        self.scheduler.answer(answers)

    def _passed(self, point: str, trace: AttemptTrace) -> None:
        self.point = point
        self.projection.point_reached(point, trace)

    def settle(self) -> None:
        """After something came from outside: bindings that can go on do."""
        self.stillness.stirred()
        self.lost_by.clear()
        self.endless = None  # it was in vain before this
        self.scheduler.run_bindings()
        self._chain()

    def _chain(self) -> None:
        """The digest follows the attempts in the order in which they end."""
        self._tell_of_pre_binding()
        self.projection.plugins_let_go(self.scheduler.core.waiting_pods)
        for trace in self.projection.ended:
            self.digest = chained(trace, self.digest)
            if self.virtual:
                # The pods of a group that does not fit are tried again and again as well: no event brings them back.
                # Who finds no node in between, because every error wakes it, is no way out.
                if is_endless(trace):
                    self.errors += 1
                elif trace.result != "failed":
                    self.errors = 0
                self.endless = made_room(self.preempted_by, trace) or self.endless
                lost = lost_again(self.lost_by, trace)
                self.endless = lost if lost and self.next_arrival is None else self.endless
                self.stillness.ended(trace, self.scheduler)
        if self.errors >= ERRORS_IN_A_ROW:
            self.errors, self.endless = 0, TOO_MANY_ERRORS
        self.ended += self.projection.ended
        self.projection.ended.clear()

    def _tell_of_pre_binding(self) -> None:
        """A binding cycle that waits in PreBind for controllers has passed no boundary that says so."""
        views = self.projection.views
        for uid, cycle in self.scheduler.core.pre_binding.cycles.items():
            if uid in views and views[uid].point != "PreBind":
                self.projection.point_reached("PreBind", cycle.trace)
        for uid, standing in self.scheduler.core.standing.items():
            if uid in views and views[uid].point != "Bind":
                self.projection.point_reached("Bind", standing.trace)

    def _advance_cycle(self) -> None:
        """A cycle takes a millisecond, but never the last one before a person's deadline."""
        to = self.now + MILLISECOND
        if not self.is_held(to):
            self.scheduler.advance(to)

    def _arrival_is_due(self) -> bool:
        due = self.next_arrival
        return due is not None and due <= self.now

    def create(self, manifest: dict[str, object]) -> KubeObject:
        """Raises Refused."""
        metadata = manifest.get("metadata")
        uid = metadata.get("uid") if isinstance(metadata, dict) else None
        other = self.projection.views.get(str(uid)) if uid else None
        if other is not None:
            raise Refused(sentence("uid {uid} is that of pod {pod}", uid=uid, pod=other.key))
        return self.world.create(manifest, self.now)

    def _approve_one(self) -> bool:
        for state in self.scheduler.waiting_pods():
            if state.asks_a_person and not state.decided:
                self.operations += 1
                view = self.projection.views.get(state.uid)
                for plugin in state.asks_a_person:
                    if view is not None:
                        self.projection.decide(view, "approved", sentence("this run's rule"), plugin, "")
                    self.scheduler.allow(state.uid, plugin)
                self.settle()
                return True
        for proposal in self.scheduler.proposals():
            if not proposal.approved_by:
                self.operations += 1
                rule = sentence("this run's rule")
                self.projection.decide_eviction(proposal, APPROVED, rule, "")
                self.scheduler.approve_eviction(proposal, str(rule))
                self.settle()
                return True
        return False

    def _pass_time(self) -> Happened:
        """Nothing is active: on to the next instant at which something can change."""
        timer = self.scheduler.next_timer(wakes_only=self.until is None)
        due = [instant for instant in (timer, self.next_arrival, self.until) if instant is not None]
        if not due:
            return self._over()
        to = min(due)
        if self.is_held(to):
            # The flush of leftovers alone does not move the clock either: it would eat the person's time up.
            return Happened.WAITS
        flush = self.scheduler.next_timer()
        self.advance(to if flush is None else min(to, flush))
        return Happened.TIME

    def _over(self) -> Happened:
        """Nothing can change by itself; a person may be asked about an eviction."""
        held = self.options.approvals == "hold" and any(not each.approved_by for each in self.scheduler.proposals())
        return Happened.WAITS if held else Happened.FINISHED

    def _rest(self) -> Happened:
        if self.is_of_real_cluster or self.scheduler.proposals():
            return Happened.IDLE  # the cluster goes on, or a person does
        if self.scheduler.next_timer(wakes_only=self.until is None) is None and self.next_arrival is None:
            return Happened.FINISHED
        return Happened.IDLE

    def advance(self, to: int) -> None:
        """Moves the clock; of a real clock the journal says when and how far."""
        self.operations += 1
        self.scheduler.advance(max(to, self.now))
        self.until = None if self.until is not None and self.now >= self.until else self.until
        self._chain()

    def next_instant(self) -> int | None:
        """Real clock: when to wake up at the latest."""
        due = [instant for instant in (self.scheduler.next_timer(), self.next_arrival) if instant is not None]
        return min(due, default=None)

    # --- commands that are the player's own -------------------------------------------------------------------------

    def set_seed(self, seed: int) -> None:
        if self.scheduler.attempts:
            raise Refused(sentence("The seed can be set only before the first step."))
        self.options = replace(self.options, seed=seed)
        generator = SeededGenerator(seed)
        services = self.scheduler.core.services
        services.generator = generator
        services.ties = self.scheduler.core.ties = Ties(self.options.ties, generator)

    def set_configuration(self, text: str) -> None:
        """Raises RunRefused, ProfileError and ValueError; nothing has changed then."""
        configuration = effective_configuration(text, self.registry, self.options.scheduling)
        self.scheduler.replace_configuration(configuration)
        if self.metrics is not None:
            self.metrics.configured()
        self.configured(configuration)
        if self.later is not None:
            self.later.configured(frozenset(self.scheduler.profiles), self.now)

    # --- checkpoints ------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, object]:
        """Between cycles and batches. The timeline and the registry come from the snapshot and the program again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("timeline", "registry", "pipe")}

    def restored(self, timeline: list[TimelineEntry], registry: Registry) -> None:
        self.timeline, self.registry = timeline, registry
        # A checkpoint from before there were extenders has asked none.
        self.asked_at = self.__dict__.get("asked_at")
        self.observing = self.__dict__.get("observing", False)
        self.live = self.__dict__.get("live")
        self.own = self.__dict__.get("own")
        self.later = self.__dict__.get("later")
        if not hasattr(self.options, "own_world"):  # of a checkpoint from before there was such a run
            known = ("seed", "ties", "approvals", "clock", "start", "observing", "scheduling")
            self.options = RunOptions(*(getattr(self.options, name) for name in known))
        self.lost_by, self.until = self.__dict__.get("lost_by", {}), self.__dict__.get("until")
        self.judgements = self.pipe = None
        self.metrics = self.__dict__.get("metrics")
