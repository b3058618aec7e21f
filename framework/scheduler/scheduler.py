"""Scheduler: the deterministic machine. Events in, decisions out; it moves only when it is called.

``step`` runs one scheduling cycle with its binding cycle, ``advance`` moves the clock and fires what falls due. All
later work is data: backoff expirations in the queue, permit deadlines with the waiting pods. Picklable between cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from framework.cache import Cache
from framework.cache.pod_groups import group_of
from framework.columns import Snapshot
from framework.configuration.effective import EffectiveConfiguration
from framework.cycle import BindingCycle, SchedulingCore, run_scheduling_cycle
from framework.cycle.binding_cycle import Phase
from framework.cycle.extending import ASKS
from framework.cycle.pod_group_cycle import PodGroupRun
from framework.cycle.repetition import Repeats
from framework.cycle.scheduling_cycle import new_trace
from framework.extenders import Answer, Request, made_of
from framework.objects import Pod
from framework.profiles import (
    Clock,
    PluginClasses,
    ProfileError,
    ProfileMap,
    SeededGenerator,
    Services,
    TieRule,
    Ties,
    WaitingPods,
    build_profiles,
)
from framework.profiles.profile_map import queue_order
from framework.queue import QueueOptions, SchedulingQueue
from framework.scheduler import event_handlers
from framework.scheduler import options as scheduler_options
from framework.scheduler.cluster import Cluster
from framework.scheduler.decisions import Decisions
from framework.scheduler.gates import follow_gates
from framework.scheduler.listening import Tickers, follows_kubelets, listeners_of, reserving
from framework.scheduler.observer import Observer
from framework.scheduler.options import SchedulerOptions
from framework.scheduler.state import MidCycle, PointReached, QueueState, queue_state
from framework.scheduler.store import InformerEvent, ObjectAdded, as_seen, everything
from framework.trace.attempt import AttemptTrace

Attempt = AttemptTrace
MILLISECOND: Final = 1_000_000


class Scheduler(Decisions):
    _asked: int = 0
    _sends_secrets: bool = False  # of checkpoints from before there was this: they are of runs

    def __init__(
        self,
        configuration: EffectiveConfiguration,
        registry: PluginClasses,
        *,
        start: int,
        seed: int,
        ties: TieRule,
        observer: Observer,
        cluster: Cluster | None = None,
        options: SchedulerOptions | None = None,
    ) -> None:
        """Raises ProfileError with kube-scheduler's text. Objects that ``cluster`` holds already are taken over."""
        options = scheduler_options.DEFAULT if options is None else options
        self.configuration = configuration
        self.cluster = Cluster() if cluster is None else cluster
        self.points = 0
        """Extension-point boundaries passed since the start of the run: the journal's position."""
        self.attempts = 0
        """Scheduling cycles begun."""
        self.registry = registry
        self.seed = seed
        self._max_in_unschedulable = options.max_in_unschedulable
        self._sends_secrets = options.sends_secrets
        self._observer = observer
        generator = SeededGenerator(seed)
        services = Services(
            clock=Clock(start),
            generator=generator,
            ties=Ties(ties, generator),
            snapshot=Snapshot(),
            objects=self.cluster,
            api=self.cluster,
            waiting_pods=WaitingPods(),
            reuse=options.reuse,
            verify_reuse=options.verify_reuse,
            extenders=made_of(configuration.extenders, sends_secrets=options.sends_secrets),
        )
        profiles = build_profiles(configuration, registry, services)
        queue = SchedulingQueue(
            order=queue_order(profiles),
            pre_enqueue={name: profile.enabled.pre_enqueue for name, profile in profiles.items()},
            hints={name: profile.hints for name, profile in profiles.items()},
            objects=self.cluster,
            observer=observer,
            start=start,
            options=QueueOptions.from_configuration(configuration, self._max_in_unschedulable),
        )
        services.queue = queue
        self._waiting = services.waiting_pods
        repeats = Repeats(options.repeats)
        self.core = SchedulingCore(services, Cache(), queue, profiles, self.cluster, observer, repeats=repeats)
        self.core.takes_first_fit = options.takes_first_fit
        self._ready: deque[BindingCycle] = deque()
        self._running: Generator[str, None, BindingCycle | list[BindingCycle] | None] | None = None
        self._trace: AttemptTrace | None = None
        self._cycle_trace: AttemptTrace | None = None
        self._in_binding_cycle = False
        self._group: PodGroupRun | None = None
        self.cycle_traces: list[AttemptTrace] = []
        """The attempts that the last scheduling cycle began: one, or those of all pods of a group."""
        follow_gates(self.core, self.cluster, configuration, ())
        self._follow_plugins()
        self.cluster.connect(self, services.clock, observer)
        self._take_over()

    def _take_over(self) -> None:
        """Nodes before everything else, pods last: the order of a lister's first answer is nobody's promise."""
        self.before_change()
        for seen in everything(self.cluster):
            event_handlers.handle(self.core, seen)
        self.run_bindings()
        self.cluster.start_controllers()

    def _follow_plugins(self) -> None:
        self.core.listeners = listeners_of(self.core.profiles)
        self.cluster.plays_kubelet = follows_kubelets(self.core.profiles)
        self.cluster.reserve_for(reserving(self.core.profiles))
        self.tickers = Tickers(self.core.profiles, self.now)

    def preload(self) -> None:
        """Does before the first cycle what it would begin with; of 150,000 placed pods that is a second's work."""
        if not self.attempts:
            self.core.cache.preload(self.core.snapshot)

    # --- time -------------------------------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        return self.core.now

    @property
    def observer(self) -> Observer:
        return self._observer

    @observer.setter
    def observer(self, observer: Observer) -> None:
        self._observer = self.core.observer = self.core.proposals.observer = observer
        self.core.queue.set_observer(observer)
        self.cluster.set_observer(observer)

    def next_timer(self, *, wakes_only: bool = False) -> int | None:
        """The earliest instant at which something can change by itself; None when nothing can.

        ``wakes_only`` leaves out the flush of pods that are unschedulable for five minutes: it keeps no run alive,
        and neither do reservations that expire.
        """
        due = self._next_due(wakes_only=wakes_only)
        return None if due is None else due[0]

    def _next_due(self, *, wakes_only: bool = False) -> tuple[int, int] | None:
        """(time, rank); at one instant backoff comes before leftovers, both before permit's and PreBind's time-outs,
        plugins that look at the clock and reservations that expire come last."""
        queue = self.core.queue
        candidates = [
            (queue.next_backoff_flush(self.now), 0),
            (None if wakes_only else queue.next_leftover_flush(self.now), 1),
            (self.core.waiting_pods.next_timer(), 2),
            (self.core.pre_binding.next_timer(), 3),
            (None if wakes_only else self.tickers.next_due(), 4),
            (None if wakes_only else self.cluster.next_expiry(), 5),
        ]
        return min(((time, rank) for time, rank in candidates if time is not None), default=None)

    def advance(self, to: int) -> None:
        """Moves the clock, firing timers at their instants. May be called within a cycle: work takes time."""
        clock = self.core.clock
        if to < clock.now:
            raise ValueError(f"the clock cannot go back from {clock.now} to {to}")
        while (due := self._next_due()) is not None and due[0] <= to:
            clock.now = max(clock.now, due[0])
            self._fire(due[1])
            self.run_bindings()
        clock.now = to

    def _fire(self, rank: int) -> None:
        if rank == 0:
            self.core.queue.flush_backoff(self.now)
        elif rank == 1:
            self.core.queue.flush_leftovers(self.now)
        elif rank == 2:
            self.core.waiting_pods.fire_timer(self.now)
        elif rank == 3:
            self.core.pre_binding.fire_timer(self.now)
        elif rank == 4:
            self.tickers.fire(self.now)
        else:
            self.cluster.expire_reservations()

    # --- events -----------------------------------------------------------------------------------------------------

    def before_change(self) -> None:
        """The cluster calls this before it changes: a cycle under way may still have to look at it as it was."""
        core = self.core
        if core.repeats.interrupted is not None:
            core.repeats.interrupted()
        if core.pre_binding.cycles:
            core.pre_binding.cluster_changed()

    def apply(self, event: InformerEvent) -> None:
        """An informer event. Writes to ``cluster`` call this by themselves.

        Between cycles a wait that it ends (a waiting pod was deleted) is followed up at once, else after the cycle.
        """
        self.before_change()
        event_handlers.handle(self.core, event)
        if self._running is None:
            self.run_bindings()

    # --- cycles -----------------------------------------------------------------------------------------------------

    @property
    def mid_cycle(self) -> bool:
        return self._running is not None

    @property
    def in_binding_cycle(self) -> bool:
        """Whether a binding cycle is being run right now, not a scheduling cycle."""
        return self._in_binding_cycle

    def step(self, passed: Callable[[str, Attempt], object] | None = None) -> Attempt | None:
        """One whole scheduling cycle and what follows from it at once; None where Pop would block, and where an
        extender has to answer first (``asks``).

        A cycle that ``step_point`` left half done is finished first, and that is the step. ``passed`` hears of every
        extension-point boundary, with the attempt as far as it is then.
        """
        while True:
            if not self._goes_on():
                return None
            running, trace = self._running, self._trace
            assert running is not None
            assert trace is not None
            try:
                while True:
                    point = next(running)
                    if point is ASKS:
                        return None
                    self.points += 1
                    if passed is not None:
                        passed(point, trace if self._group is None else self._group.trace)
            except StopIteration as end:
                attempt = self._stopped(end.value)
                if attempt is not None:
                    return attempt

    def step_point(self) -> PointReached | Attempt | None:
        """On to the next extension-point boundary. The attempt is returned when its pod is bound, waits or failed."""
        while True:
            if not self._goes_on():
                return None
            assert self._running is not None
            assert self._trace is not None
            trace = self._trace
            try:
                point = next(self._running)
            except StopIteration as end:
                attempt = self._stopped(end.value)
                if attempt is not None:
                    return attempt
            else:
                if point is ASKS:
                    return None
                self.points, self._asked = self.points + 1, self.core.services.asked
                if self._group is not None:
                    trace = self._group.trace
                return PointReached(point, trace.pod, trace.uid, trace)

    def _goes_on(self) -> bool:
        """Whether a cycle is under way; else a binding cycle that may go on begins, or the next pod's cycle."""
        if self._running is not None:
            self.core.services.asked = self._asked  # what was asked since, as by PreEnqueue, was asked for other pods
            return True
        if not self._ready:
            self._collect_ready()
        if not self._ready:
            return self._next_cycle()
        cycle = self._ready.popleft()
        self._trace = cycle.trace
        self._running = cycle.run(self.core)
        self._in_binding_cycle = True
        return True

    def _stopped(self, binding: BindingCycle | list[BindingCycle] | None) -> Attempt | None:
        """A cycle has ended. The attempt once everything that it set off is done; it is the cycle's, if one did."""
        assert self._trace is not None
        trace = self._trace
        self._running = self._trace = None
        self._in_binding_cycle = False
        if self._group is not None:
            self.cycle_traces, self._group = self._group.traces, None
        if isinstance(binding, list):
            self._ready.extend(binding)
        elif binding is not None:
            self._ready.append(binding)
        self._collect_ready()
        if self._ready:
            return None
        cycle, self._cycle_trace = self._cycle_trace, None
        return trace if cycle is None else cycle

    def _next_cycle(self) -> bool:
        queued = self.core.queue.pop()
        if queued is None:
            return False
        self.attempts += 1
        self._trace = self._cycle_trace = new_trace(self.core, queued)
        self.cycle_traces = [self._trace]
        if self.core.cache.pod_groups is not None and group_of(queued.pod) is not None:
            self._group = PodGroupRun(self.core, queued, self._trace)
            self._running = self._group.run()
        else:
            self._running = run_scheduling_cycle(self.core, queued, self._trace)
        return True

    def _collect_ready(self) -> None:
        """Binding cycles whose wait is over, in the order of the signals; then those that may go on in PreBind."""
        waiting, pre_binding = self._waiting, self.core.pre_binding
        if waiting.timers:
            self._settle_due_timers()
        while waiting.ready:
            cycle = waiting.ready.popleft().waiter
            if isinstance(cycle, BindingCycle) and cycle.phase is Phase.WAITING and cycle not in self._ready:
                self._ready.append(cycle)
        if pre_binding.cycles or pre_binding.due:
            for unfinished in pre_binding.take_due():
                assert isinstance(unfinished, BindingCycle)
                self._ready.append(unfinished)

    def _settle_due_timers(self) -> None:
        """A wait of no time at all is over before anything else happens."""
        waiting = self._waiting
        due = waiting.next_timer()
        while due is not None and due <= self.now:
            waiting.fire_timer(self.now)
            due = waiting.next_timer()

    def run_bindings(self) -> None:
        """Runs the binding cycles whose wait is over, also while a scheduling cycle stands between two points.

        From within a binding cycle nothing is run: the others follow when it has ended.
        """
        if self._in_binding_cycle:
            return
        self._collect_ready()
        if not self._ready:
            return
        self._in_binding_cycle = True
        try:
            while self._ready:
                for _ in self._ready.popleft().run(self.core):
                    self.points += 1
                self._collect_ready()
        finally:
            self._in_binding_cycle = False

    def run_until_idle(self, *, cycle_takes: int = MILLISECOND) -> None:
        """Steps and advances until nothing is active, backs off or waits with a deadline (leftovers do not count)."""
        while True:
            while self.step() is not None:
                self.advance(self.now + cycle_takes)
            due = self.next_timer(wakes_only=True)
            if due is None:
                return
            self.advance(due)

    # --- extenders --------------------------------------------------------------------------------------------------

    @property
    def asks(self) -> tuple[Request, ...]:
        """What extenders have to answer before anything else is done: those of one verb, for one pod."""
        core = self.core
        if core.asked is not None and core.asked.answers is None:
            return core.asked.requests
        first = next(iter(core.binders), None)
        return () if first is None or first.request is None else (first.request,)

    def answer(self, answers: Sequence[Answer]) -> None:
        """In the order of ``asks``. A binding cycle goes on at once, a scheduling cycle with the next step."""
        core, asked = self.core, self.core.asked
        if len(answers) != len(self.asks):
            raise ValueError(f"{len(answers)} answers to {len(self.asks)} requests")
        if asked is not None and asked.answers is None:
            asked.answers = tuple(answers)
            return
        binder = core.binders.pop(0)
        (binder.answer,) = answers
        assert isinstance(binder, BindingCycle)
        self._ready.append(binder)
        self.run_bindings()

    def write_answered(self, uid: str) -> None:
        """The binding cycle of this pod stood at a write that has an answer now: it goes on."""
        cycle = self.core.standing.pop(uid, None)
        if cycle is not None:
            assert isinstance(cycle, BindingCycle)
            self._ready.append(cycle)
            self.run_bindings()

    # --- reading and switching --------------------------------------------------------------------------------------

    @property
    def profiles(self) -> ProfileMap:
        return self.core.profiles

    def queue_state(self) -> QueueState:
        return queue_state(self.core)

    def replace_configuration(self, configuration: EffectiveConfiguration) -> None:
        """Between cycles. Pods keep their places; a profile that a waiting pod needs must stay.

        Raises ProfileError (nothing changed), MidCycle, and ValueError for such a profile.
        """
        if self.mid_cycle:
            raise MidCycle("the configuration can only be switched between cycles")
        names = {profile.scheduler_name for profile in configuration.profiles}
        for entry in self.core.waiting_pods.entries():
            if entry.pod.spec.scheduler_name not in names:
                raise ValueError(
                    f"pod {entry.pod.key} waits on Permit under profile {entry.pod.spec.scheduler_name}, "
                    "which the new configuration does not have"
                )
        for cycle in self.core.pre_binding:
            if cycle.profile_name not in names:
                raise ValueError(
                    f"pod {cycle.pod.key} is being bound under profile {cycle.profile_name}, "
                    "which the new configuration does not have"
                )
        core, services = self.core, self.core.services
        before = services.extenders
        services.extenders = made_of(configuration.extenders, sends_secrets=self._sends_secrets)
        try:
            profiles = build_profiles(configuration, self.registry, services)
        except ProfileError:
            services.extenders = before
            raise
        known = set(self.core.profiles)
        proposed_for = core.proposals.clear()
        self.configuration = configuration
        self.core.profiles = profiles
        ours = (pod for pod in self.cluster.list(Pod) if pod.spec.scheduler_name in known)
        follow_gates(self.core, self.cluster, configuration, ours)
        self.core.queue.reconfigure(
            order=queue_order(profiles),
            pre_enqueue={name: profile.enabled.pre_enqueue for name, profile in profiles.items()},
            hints={name: profile.hints for name, profile in profiles.items()},
            options=QueueOptions.from_configuration(configuration, self._max_in_unschedulable),
        )
        self._follow_plugins()
        for event in everything(self.cluster) if self.core.listeners else ():
            event_handlers.tell_plugins(self.core.listeners, event)
        for pod in self.cluster.list(Pod):
            name = pod.spec.scheduler_name
            if pod.spec.node_name or (name in known) == (name in profiles):
                continue
            seen = as_seen(ObjectAdded(pod))
            if name in profiles and seen is not None:
                self.apply(seen)
            elif name in known:
                self.core.queue.delete(pod)
        core.queue.activate(proposed_for, self.now)

    # --- pickling ---------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        if self.mid_cycle:
            raise MidCycle("a scheduler can only be pickled between cycles")
        return {**self.__dict__, "cycle_traces": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Everything below is there when this runs: what follows from the plugins is prepared again."""
        self.__dict__.update(state)
        for profile in self.profiles.values():
            profile.prepare()
            profile.ask_for_events()
        self.core.queue.reconnect(
            {name: profile.enabled.pre_enqueue for name, profile in self.profiles.items()},
            {name: profile.hints for name, profile in self.profiles.items()},
        )
