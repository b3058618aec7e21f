"""Trial: changes are made to a copy of the cluster, the pod in question is scheduled, and everything is taken back.

The pod is tried beside nobody else: other pods that are pending stand aside. So changes that could help are found
quickly; whether one does beside those who want the same room is found out by playing it (framework/advice/remedies.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from framework.advice.played import owner_of, waits_for_people
from framework.advice.scratch import is_pending, placed_and_rest, scratch, without_preemption
from framework.advice.workloads import changed_like, same_wishes
from framework.cache.pod_groups import group_of
from framework.objects import KubeObject, Pod
from framework.objects.pod import PodStatus
from framework.plugins.coscheduling.pod_groups import CoschedulingGroups
from framework.scheduler import Cluster, Observer, Scheduler
from framework.trace.attempt import AttemptTrace

NOBODY: Final = "nobody"
"""No profile's name: who waits for this scheduler is not tried."""
STEPS: Final = 3
"""Cycles a pod gets: one, one more after a preemption, and one for a plugin that wants to see the pod again."""

GANG_ATTEMPTS: Final = 10_000
"""Of all pods of a group of scheduling.k8s.io together, in all trials about one of them."""


class TooManyTrials(Exception):
    """A large group was tried often enough."""


@dataclass(frozen=True, slots=True)
class Edit:
    """``old`` None adds the object, ``new`` None deletes it."""

    old: KubeObject | None
    new: KubeObject | None


@dataclass(frozen=True, slots=True)
class Outcome:
    node: str
    """Where the pod went (bound, or waiting on Permit); "" when it found no place."""
    attempt: AttemptTrace | None
    """The last one; None when a PreEnqueue plugin holds the pod."""
    evicted: tuple[Pod, ...] = ()
    displaced: tuple[tuple[Pod, str], ...] = ()
    """Pods of ``then``, and those evicted, with the node each found afterwards; "" for none."""
    waits_for: tuple[str, ...] = ()
    """Permit plugins for which it would wait on ``node`` when all that were tried have been, people's decisions aside:
    the rest of its group does not come."""
    in_place: int = 0
    """How many of its PodGroup would have a node then, or hold one, itself among them."""


class _Changes(Observer):
    """What happens to objects during a trial, so that it can be taken back."""

    def __init__(self) -> None:
        self.made: list[Edit] = []
        self.listening = True

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if self.listening:
            self.made.append(Edit(old, new))


class Trial:
    def __init__(self, scheduler: Scheduler, pod: Pod) -> None:
        self.pod = _as_new(pod)
        self._changes = _Changes()
        self.scheduler = scratch(scheduler, _without(scheduler, pod), self._changes)
        known = {each.metadata.uid: each for each in scheduler.cluster.list(Pod)}
        self._members = [
            (each, known[each.metadata.uid])
            for each in self.scheduler.cluster.list(Pod)
            if each.spec.scheduler_name == NOBODY and each.metadata.uid in known
        ]
        """Who stands by, and the pod as it is."""
        self.gang = {each.key: each for each in scheduler.cluster.list(Pod) if _is_mate(each, pod)}
        """Pending pods of its group of scheduling.k8s.io, by ``namespace/name``: they are tried with it, as they are
        scheduled in one cycle."""
        self.attempts_left = GANG_ATTEMPTS
        self.count = 0
        """How often something was tried."""
        self.last_pod = self.pod
        """The pod as it was tried last."""

    @property
    def cluster(self) -> Cluster:
        return self.scheduler.cluster

    def schedule(
        self, pod: Pod | None = None, edits: Iterable[Edit] = (), *, preempting: bool = False, then: Sequence[Pod] = ()
    ) -> Outcome:
        """Where ``pod`` (as it is, if not given) would go after ``edits``; ``then`` are scheduled after it.

        ``preempting``: it may evict pods of lower priority, which are scheduled after it, too.
        """
        self.count += 1
        self.last_pod = self.pod if pod is None else pod
        asked = self._named(self.last_pod)
        self._changes.made.clear()
        try:
            gang = dict(self.gang)
            for edit in edits:
                if isinstance(edit.new, Pod) and edit.new.key in gang:
                    gang[edit.new.key] = edit.new
                else:
                    self._make(edit)
            if gang:
                outcome = self._run_gang(asked, gang.values(), preempting=preempting)
            else:
                outcome = self._run(self.cluster.create_admitted(asked if preempting else without_preemption(asked)))
            if not outcome.node:
                return outcome
            displaced = tuple((other, self._find_place(other)) for other in (*then, *outcome.evicted))
            return dataclasses.replace(outcome, displaced=displaced)
        finally:
            self._take_back()

    def beside_its_group(self, edits: Iterable[Edit] = ()) -> Outcome:
        """``schedule(preempting=True)`` after ``edits``, but the pending members of its PodGroup are tried with it, in
        the order of the queue: what one holds on Permit it loses when another fits nowhere."""
        if not self._members:
            return self.schedule(edits=edits, preempting=True)
        self.count += 1
        self._changes.made.clear()
        try:
            for edit in edits:
                self._make(edit)
            for standing, _ in self._members:
                self.cluster.delete(standing)
            everyone = [self._named(_as_new(pod)) for pod in (*(member for _, member in self._members), self.pod)]
            left = {self.cluster.create_admitted(pod).metadata.uid for pod in everyone}
            uid, last = everyone[-1].metadata.uid, None
            before = len(self._changes.made)
            while left or self.scheduler.core.waiting_pods.ready:
                attempt = self.scheduler.step()
                if attempt is None:
                    break
                left.discard(attempt.uid)
                last = attempt if attempt.uid == uid else last
            evicted, in_place = self._evicted(before), self._in_place()
            if last is None or last.result == "failed":
                return Outcome("", last, evicted, in_place=in_place)
            return Outcome(last.selected, last, evicted, (), self._waits_for(uid), in_place)
        finally:
            self._take_back()

    def _waits_for(self, uid: str) -> tuple[str, ...]:
        """Nobody is left who would end these waits: a wait for a person is one that ends."""
        for each in self.scheduler.waiting_pods():
            if each.uid == uid and not each.decided and not waits_for_people(each):
                return tuple(name for name in each.deadlines if name not in each.asks_a_person)
        return ()

    def _in_place(self) -> int:
        assumed = self.scheduler.core.cache.get_pod
        return sum(
            _are_of_one_group(each, self.pod) and (bool(each.spec.node_name) or assumed(each.metadata.uid) is not None)
            for each in self.cluster.list(Pod)
        )

    def _run(self, pod: Pod) -> Outcome:
        last: AttemptTrace | None = None
        before = len(self._changes.made)
        for _ in range(STEPS):
            attempt = self.scheduler.step()
            if attempt is None:
                break
            if attempt.uid == pod.metadata.uid:
                last = attempt
                if last.result != "failed":
                    return Outcome(last.selected, last, self._evicted(before))
            self.scheduler.activate([pod])
        return Outcome("", last, self._evicted(before))

    def _run_gang(self, asked: Pod, mates: Iterable[Pod], *, preempting: bool) -> Outcome:
        """Mates that a change of the pod changes as well are as it is tried."""
        like = [
            changed_like(mate, self.pod, self.last_pod) if _changes_with(mate, self.pod) else mate for mate in mates
        ]
        if self.attempts_left <= 0:
            raise TooManyTrials
        before = len(self._changes.made)
        everyone = [*(self._named(_as_new(mate)) for mate in like), asked]
        if not preempting:
            everyone = [without_preemption(pod) for pod in everyone]
        left = {self.cluster.create_admitted(pod).metadata.uid for pod in everyone}
        last: AttemptTrace | None = None
        # A group that does not fit would be tried for ever: each of its pods is tried once.
        while left and self.scheduler.step() is not None:
            traces = self.scheduler.cycle_traces
            self.attempts_left -= len(traces)
            last = next((each for each in traces if each.uid == asked.metadata.uid), last)
            if left.isdisjoint(each.uid for each in traces):
                break
            left.difference_update(each.uid for each in traces)
        placed = last is not None and last.result != "failed" and not self._waits_for(asked.metadata.uid)
        node = last.selected if last is not None and placed else ""
        return Outcome(node, last, self._evicted(before), in_place=self._in_place())

    def _evicted(self, since: int) -> tuple[Pod, ...]:
        return tuple(edit.old for edit in self._changes.made[since:] if isinstance(edit.old, Pod) and edit.new is None)

    def _find_place(self, pod: Pod) -> str:
        again = self.cluster.create_admitted(without_preemption(self._named(_as_new(pod))))
        return self._run(again).node

    def _named(self, pod: Pod) -> Pod:
        """A uid of its own, so that nothing is remembered of an earlier try."""
        return replace(pod, metadata=replace(pod.metadata, uid=f"{pod.metadata.uid}-trial-{self.count}"))

    def _make(self, edit: Edit) -> None:
        if edit.new is None:
            assert edit.old is not None
            self.cluster.delete(edit.old)
        elif edit.old is None:
            self.cluster.create_admitted(edit.new)
        else:
            self.cluster.replace(edit.new)

    def _take_back(self) -> None:
        """Every object that was touched is put back as it was: first what came goes, then what went comes."""
        before: dict[tuple[str, str], Edit] = {}
        for edit in self._changes.made:
            touched = edit.old or edit.new
            assert touched is not None
            before.setdefault((f"{touched.api_version}/{touched.kind}", touched.key), edit)
        self._changes.made.clear()
        self._changes.listening = False
        for edit in before.values():
            touched = edit.old or edit.new
            assert touched is not None
            now = self.cluster.find(touched)
            if now is not None and (edit.old is None or _is_another(now, edit.old)):
                self.cluster.delete(now)
        for edit in before.values():
            if edit.old is None:
                continue
            if self.cluster.find(edit.old) is None:
                self.cluster.create_admitted(edit.old)
            else:
                self.cluster.replace(edit.old)
        self._changes.listening = True


def _without(scheduler: Scheduler, pod: Pod) -> Iterator[KubeObject]:
    """All that has a place, but not ``pod``, which may have one on Permit and is tried as if it had none. Members of
    its PodGroup are there, as Coscheduling counts them before a node is looked at; nobody tries them."""
    group = CoschedulingGroups.name_of(pod)
    for obj in placed_and_rest(scheduler):
        if isinstance(obj, Pod) and obj.metadata.uid == pod.metadata.uid:
            continue
        if not is_pending(obj):
            yield obj
        elif isinstance(obj, Pod) and group is not None and CoschedulingGroups.name_of(obj) == group:
            yield replace(obj, spec=replace(obj.spec, scheduler_name=NOBODY))


def _changes_with(mate: Pod, pod: Pod) -> bool:
    """Whether a remedy that changes the pod changes its mate, too (``workload_of``)."""
    template = bool(owner_of(pod)[1])
    return owner_of(mate) == owner_of(pod) and same_wishes(mate, pod) and (template or not pod.spec.scheduling_gates)


def _is_mate(other: Pod, pod: Pod) -> bool:
    group = group_of(pod)
    return (
        group is not None
        and group_of(other) == group
        and not other.spec.node_name
        and other.metadata.uid != pod.metadata.uid
    )


def _are_of_one_group(pod: Pod, other: Pod) -> bool:
    """Of scheduler-plugins or of scheduling.k8s.io."""
    labelled, named = CoschedulingGroups.name_of(pod), group_of(pod)
    return (labelled is not None and labelled == CoschedulingGroups.name_of(other)) or (
        named is not None and named == group_of(other)
    )


def _is_another(now: KubeObject, before: KubeObject) -> bool:
    """One that was made again under the same name, or a pod elsewhere: neither can be turned into what it was."""
    if now.metadata.uid != before.metadata.uid:
        return True
    return isinstance(now, Pod) and isinstance(before, Pod) and now.spec.node_name != before.spec.node_name


def _as_new(pod: Pod) -> Pod:
    """Without node and history; names of generated claims are kept."""
    status = PodStatus(phase="Pending", resource_claim_statuses=pod.status.resource_claim_statuses)
    return replace(pod, spec=replace(pod.spec, node_name=""), status=status)
