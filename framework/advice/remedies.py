"""What would help a pod that found no node: the smallest change of each kind, played to its end before it is named.

Two steps. A change is looked for on a scratch copy of the cluster, where the pod is alone (framework/advice/trial.py):
there the smallest of its kind is found quickly. Then the run is played on with it, to its end and beside all other
pods, and only when the pod has a node then is the change a remedy; what became of others on the way is part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final, get_args

import msgspec

from framework.advice.anew import made_anew, tried_again
from framework.advice.candidates import Case, Family, Kind, PossibleRemedy
from framework.advice.catalogue import allowed_costs, fitted_to_zones, freed_zones, raised_quotas
from framework.advice.claims import reclassed
from framework.advice.cluster_changes import (
    freed,
    labelled,
    moved,
    resized,
    uncordoned,
    untainted,
)
from framework.advice.disruptions import broken_by, with_budgets
from framework.advice.first_steps import both, first_steps, objects_of, touches
from framework.advice.gang_gates import ungated_gangs
from framework.advice.gangs import fitted_gangs
from framework.advice.groups import softened, why_never_all, workload_changes
from framework.advice.koordinator import raised_thresholds, raised_tree, released
from framework.advice.missing import created
from framework.advice.new_nodes import MOST_NODES, Grow, new_nodes
from framework.advice.operations import Operation
from framework.advice.played import End, Fate, Play, Played, fates, owner_of, states
from framework.advice.pod_changes import (
    gates,
    higher_priority,
    other_profiles,
    relaxed,
    renamed,
    smaller,
    tolerations,
)
from framework.advice.pod_groups import fitted_groups, members_of
from framework.advice.reasons import why_it_is_not_asked, why_nothing_helps
from framework.advice.trial import GANG_ATTEMPTS, Outcome, TooManyTrials, Trial
from framework.advice.waiting import after_a_wait, may_back_off, waited
from framework.advice.workloads import identity_of, own_ports, own_rule, workload_of
from framework.objects import Pod
from framework.profiles import priority_of
from framework.profiles.profile_map import queue_order
from framework.scheduler import Scheduler
from framework.sentences import Sentence, Words, counted_sentence, sentence

BETWEEN_PODS: Final = "InterPodAffinity"
HOST_PORTS: Final = "NodePorts"
TRIES: Final = 4
"""Changes of one kind that are played until one works."""
SECOND_TRIES: Final = 2
"""The same, on top of another change."""
FIRST_STEPS: Final = 4
SHAPES_PLAYED: Final = 2
FATES_TOLD: Final = 20
RANK: Final = {kind: rank for rank, kind in enumerate(get_args(Kind))}


class Remedy(msgspec.Struct, frozen=True):
    kind: Kind
    text: Sentence
    node: str
    """Where the pod went; "" where it is not wanted any more (``fewer``)."""
    cost: Words
    """What it costs others, in short; "" for nothing."""
    left_pending: int
    """Other pods that have no node afterwards and would have one without it."""
    operations: tuple[Operation, ...]
    others: tuple[Fate, ...]
    """What becomes of others, the worst first; at most ``FATES_TOLD``."""
    others_count: int
    pods: int
    """Pods of the workload that are changed; 0 where the cluster is."""
    placed: int
    """How many pending pods that are like this one, itself among them, have a node afterwards."""
    commands: tuple[str, ...]
    """Of a shell, which do it in a real cluster; empty where it is not kubectl that does."""
    diff: str
    """The change as lines of YAML with ``+``, ``-`` or a space before each."""
    finished: bool
    """False: it was played for as long as there was time, and others might still be moved."""


class Help(msgspec.Struct, frozen=True):
    fits_on: str
    """Where it goes without any change, beside all others; "" for nowhere."""
    why: Words
    """Why a workload can never run all its replicas, or why nothing helps: "" only where there are remedies, or it goes
    to ``fits_on``."""
    workload: str
    """``deployment/web``; ``podgroup/ring`` where the pods without a controller of a gang are changed together; "" of
    any other pod without a controller."""
    alike: int
    """Pending pods of the workload that ask for the same, this one among them."""
    remedies: tuple[Remedy, ...]
    complete: bool
    """False: there was no time to try everything."""


def what_would_help(scheduler: Scheduler, pod: Pod, play: Play) -> Help:
    """Remedies, those first that leave nobody without a node, then in the order in which people do such things.

    ``scheduler`` stays as it is; ``play`` plays it on.
    """
    return _Search(scheduler, pod, play).answer()


class _NoTime(Exception):
    """Nothing can be played any more."""


class _Search:
    def __init__(self, scheduler: Scheduler, pod: Pod, play: Play) -> None:
        self.scheduler = scheduler
        self.play = play
        self.before = states(scheduler)
        self.has_profile = scheduler.profiles.get(pod.spec.scheduler_name) is not None
        workload = workload_of(scheduler.cluster, pod, self.before)
        self.case = Case(Trial(scheduler, pod), pod, workload, scheduler.cluster, self.before)
        self.case.ahead = _ahead_of(scheduler, pod)
        mates = members_of(self.case)
        self.case.siblings = tuple(each for each in mates if each.key != pod.key and not self.before[each.key].node)
        self.without: Played | None = None
        self.alone: Outcome | None = None
        """What became of the pod beside nobody else; None while it was not tried."""
        self.breaking: list[Remedy] = []
        """Those that break a PodDisruptionBudget."""

    def answer(self) -> Help:
        case, complete = self.case, True
        found: list[Remedy] = []
        fits_on = ""
        why: Words = why_it_is_not_asked(case.live) or ""
        if why:
            return self._help(fits_on, why, found, complete=complete)
        try:
            self.without = self._played(())
            here = self._end(self.without).get(case.live.key)
            fits_on = "" if here is None else here.node
            self.case.asleep = self._sleeps(self.without)
            if not fits_on:
                if self.has_profile:
                    self.alone = self._look()
                why = "" if case.rule is None else why_never_all(case.rule)
                for family in self._families():
                    # A rule that is softened for its pending pods alone may be softened for all of them, too.
                    known = {str(each.text) for each in found}
                    found += (each for each in self._first_that_works(family) if str(each.text) not in known)
                if self.has_profile:
                    found += self._nodes()
                    found += [] if found else self._two_steps()
        except (_NoTime, TooManyTrials):
            complete = False
        found.sort(key=self._rank)
        if not (found or fits_on):
            end = None if self.without is None else self._end(self.without)
            leaves = end is not None and end.get(case.live.key) is None
            placed = [] if end is None else list(self._placed_meanwhile(end))
            case.trial.attempts_left = GANG_ATTEMPTS
            nothing = why_nothing_helps(self.scheduler, case, self.alone, placed, leaves=leaves)
            why = sentence("{first} {second}", first=why, second=nothing) if why else nothing
        return self._help(fits_on, why, found, complete=complete)

    def _help(self, fits_on: str, why: Words, found: list[Remedy], *, complete: bool) -> Help:
        case = self.case
        workload, group = case.workload.reference, case.live.spec.scheduling_group
        if not workload and group is not None and len(case.workload.alike) > 1:
            workload = f"podgroup/{group.pod_group_name}"
        return Help(fits_on, why, workload, len(case.workload.alike), tuple(found), complete)

    def _rank(self, remedy: Remedy) -> tuple[bool, int, bool, int]:
        return (remedy.left_pending > 0, RANK[remedy.kind], remedy in self.breaking, remedy.left_pending)

    def _look(self) -> Outcome:
        """Who refuses it where, beside nobody else."""
        case = self.case
        outcome = case.trial.schedule(edits=case.given, preempting=True)
        attempt = outcome.attempt
        case.rejected_by, case.rule = (), None
        if attempt is None:
            return outcome
        case.rejected_by = attempt.unschedulable_plugins
        if attempt.filter is not None:
            verdicts = attempt.filter
            by_plugin: dict[str, list[str]] = {BETWEEN_PODS: [], HOST_PORTS: []}
            for position, name in enumerate(verdicts.nodes):
                status = verdicts.status(position)
                if status is not None and status.plugin in by_plugin:
                    by_plugin[status.plugin].append(name)
            case.rule = own_rule(case.cluster, case.workload, by_plugin[BETWEEN_PODS])
            case.rule = case.rule or own_ports(case.cluster, case.workload, by_plugin[HOST_PORTS])
        return outcome

    def _families(self) -> Iterator[Family]:
        case = self.case
        if not self.has_profile:
            yield from other_profiles(case, sorted(self.scheduler.profiles))
            return
        yield from waited(case)
        yield from tried_again(case)
        yield from created(case)
        yield from reclassed(case)
        yield from renamed(case)
        yield from gates(case)
        yield from ungated_gangs(case)
        yield from uncordoned(case)
        if case.rule is not None:
            yield from workload_changes(case, case.rule)
        yield from fitted_groups(case)
        yield from fitted_gangs(case)
        yield from raised_quotas(case)
        yield from raised_tree(case)
        yield from raised_thresholds(case)
        yield from released(case)
        yield from freed_zones(case)
        yield from allowed_costs(case)
        yield from labelled(case)
        yield from tolerations(case)
        yield from untainted(case)
        yield from relaxed(case)
        if case.rule is None:
            yield from softened(case)
        yield from smaller(case)
        yield from fitted_to_zones(case)
        yield from resized(case)
        if case.rule is not None:
            # Whoever leaves or is pushed aside is one of its own.
            return
        yield from moved(case, self._is_own)
        yield from freed(case, self._is_own)
        yield from higher_priority(case, self._rivals())

    def _is_own(self, pod: Pod) -> bool:
        own = identity_of(self.case.live)
        return identity_of(pod) == own if own[1] else any(pod.key == each.key for each in self.case.workload.placed)

    def _rivals(self) -> list[int]:
        """Priorities of pending pods that get a node without any change, where this one would fit if it were alone."""
        assert self.without is not None
        if not self.case.fits(self.case.pod):
            return []
        waiting = [pod for pod in self.case.cluster.list(Pod) if not self.before[pod.key].node]
        end = self._end(self.without)
        own = owner_of(self.case.live)
        found: dict[int, None] = {}
        for pod in waiting:
            state = end.get(pod.key)
            if state is not None and state.node and (not own[1] or owner_of(pod) != own):
                found[priority_of(pod)] = None
        return list(found)

    # --- playing ----------------------------------------------------------------------------------------------------

    def _first_that_works(self, family: Family) -> Iterator[Remedy]:
        """And the first that breaks no PodDisruptionBudget, if that is another one."""
        breaks = False
        for candidate in islice(family, TRIES):
            remedy = self._remedy(candidate)
            if remedy is None or (breaks and remedy in self.breaking):
                continue
            yield remedy
            breaks = remedy in self.breaking
            if not breaks:
                return

    def _nodes(self) -> Iterator[Remedy]:
        """As few as are enough beside all who want the room, too."""
        for grow in islice(new_nodes(self.case), SHAPES_PLAYED):
            remedy = self._grown(grow)
            if remedy is not None:
                yield remedy
                return

    def _two_steps(self) -> Iterator[Remedy]:
        """Where nothing helps alone: what keeps the pod from being tried, and a change that helps it then."""
        known: set[frozenset[tuple[str, ...]]] = set()
        for step in islice(first_steps(self.case), FIRST_STEPS):
            with self.case.as_if(step.pod, step.edits):
                self._look()
                remedy = self._second(step.remedy, known)
                if remedy is not None:
                    yield remedy

    def _second(self, first: PossibleRemedy, known: set[frozenset[tuple[str, ...]]]) -> Remedy | None:
        """In the order of kinds, among which nodes have their place. ``known``: the objects that remedies of two steps
        change already; the same the other way round is no news."""
        later: list[PossibleRemedy] = []

        def tried(candidates: Iterable[PossibleRemedy]) -> Remedy | None:
            for together in candidates:
                objects = objects_of(together)
                remedy = None if objects in known else self._remedy(together)
                if remedy is not None:
                    known.add(objects)
                    return remedy
            return None

        for family in self._families():
            # Being tried again is no change, and follows from those that have to wait for it.
            new = (each for each in islice(family, SECOND_TRIES) if each.kind != "again")
            candidates = [each for each in new if not touches(first, each)]
            later += (both(first, each) for each in candidates if RANK[each.kind] > RANK["node"])
            if found := tried(both(first, each) for each in candidates if RANK[each.kind] < RANK["node"]):
                return found
        for grow in islice(new_nodes(self.case), SHAPES_PLAYED):
            if found := self._grown(partial(_with_nodes, first, grow)):
                return found
        return tried(later)

    def _grown(self, grow: Grow) -> Remedy | None:
        too_few, count = 0, 1
        while (enough := self._remedy(grow(count))) is None:
            if count >= MOST_NODES:
                return None
            too_few, count = count, count * 2
        while count - too_few > 1:
            middle = (too_few + count) // 2
            tried = self._remedy(grow(middle))
            if tried is None:
                too_few = middle
            else:
                enough, count = tried, middle
        return enough

    def _played(self, operations: tuple[Operation, ...]) -> Played:
        played = self.play(operations)
        if played is None:
            raise _NoTime
        return played

    def _end(self, played: Played) -> End:
        return End(self.before, played)

    def _remedy(self, candidate: PossibleRemedy) -> Remedy | None:
        """None where it does not help: somebody else takes the place, or one of its own workload pays for it."""
        self.case.came_first = ()
        played = self._played(candidate.operations)
        if candidate.places and self.has_profile and may_back_off(self.case) and self._is_pending(played):
            # Its group failed a short time ago: who hears of the change hears of it too early.
            later = after_a_wait(self.case, candidate)
            if not self._is_pending(waited_for := self._played(later.operations)):
                candidate, played = later, waited_for
        if candidate.places and self._sleeps(played):
            candidate = made_anew(self.case, candidate)
            played = self._played(candidate.operations)
        if played.refused:
            return None
        assert self.without is not None
        case, end = self.case, self._end(played)
        own = frozenset(pod.key for pod in candidate.changed) | {pod.key for pod in case.workload.alike}
        here = end.get(case.live.key)
        if candidate.places and (here is None or not here.node):
            case.came_first = tuple(self._placed_meanwhile(end))
            case.ever_first |= {pod.key: pod for pod in case.came_first}
            return None
        without = self._end(self.without)
        others = fates(without, end, own)
        broken = {} if candidate.scales else broken_by(case.cluster, self.before, without, others)
        others = with_budgets(others, broken)
        mates = {pod.key for pod in case.workload.placed}
        if any(each.pod in mates for each in others):
            return None
        if candidate.places and any(self._loses(pod, end) for pod in candidate.changed):
            return None
        alike = [end.get(pod.key) for pod in case.workload.alike]
        left = sum(each.fate != "moves" for each in others)
        remedy = Remedy(
            kind=candidate.kind,
            text=candidate.text,
            node=here.node if here is not None and candidate.places else "",
            cost=_in_short(others),
            left_pending=left,
            operations=candidate.operations,
            others=tuple(others[:FATES_TOLD]),
            others_count=len(others),
            pods=len(candidate.changed),
            placed=sum(state is not None and bool(state.node) for state in alike),
            commands=candidate.patch.commands,
            diff=candidate.patch.diff,
            finished=played.finished,
        )
        if broken:
            self.breaking.append(remedy)
        return remedy

    def _is_pending(self, played: Played) -> bool:
        here = self._end(played).get(self.case.live.key)
        return here is not None and not here.node and not played.refused

    def _sleeps(self, played: Played) -> bool:
        """Whether it has no node and was not tried: it may fit now, but nothing that its plugins wait for happened."""
        here = self._end(played).get(self.case.live.key)
        if here is None or here.node or not played.finished or played.refused:
            return False
        return self.case.live.key not in played.tried

    def _placed_meanwhile(self, end: End) -> Iterator[Pod]:
        for key, state in sorted(end.played.pods.items()):
            was = self.before.get(key)
            pod = self.case.cluster.get(Pod, *key.split("/", 1)) if was is not None and not was.node else None
            if state.node and pod is not None:
                yield pod

    def _loses(self, pod: Pod, end: End) -> bool:
        """One of its own that had a node is made anew and finds none."""
        here = end.get(pod.key)
        return bool(self.before[pod.key].node) and (here is None or not here.node)


def _ahead_of(scheduler: Scheduler, pod: Pod) -> frozenset[str]:
    """In QueueSort's order; whoever is in flight is through before."""
    order, queue = queue_order(scheduler.profiles), scheduler.core.queue
    own = queue.get(pod.key)
    if own is None:
        return frozenset()
    return frozenset(each.pod.key for each in queue.waiting() if order(each) < order(own))


def _with_nodes(first: PossibleRemedy, grow: Grow, count: int) -> PossibleRemedy:
    return both(first, grow(count))


def _in_short(others: list[Fate]) -> Words:
    """The worst that happens, and how many more pods it happens to something."""
    if not others:
        return ""
    if len(others) == 1:
        return others[0].text
    more = counted_sentence("{count} more pod is concerned.", "{count} more pods are concerned.", len(others) - 1)
    return sentence("{first} {second}", first=others[0].text, second=more)
