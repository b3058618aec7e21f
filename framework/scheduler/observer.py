"""Observer: everything that happens in a run, told as it happens. Traces and live views are made of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from framework.interface.status import Status
from framework.objects import KubeObject
from framework.preemption.proposals import How, Proposal
from framework.profiles import WaitingPod
from framework.profiles.batch import HintTold, KeptTold
from framework.queue import EventForPod, HintAnswer, IgnoredEvent, QueueMove
from framework.sentences import Words
from framework.trace.attempt import AttemptTrace


class ClusterEventRecord(msgspec.Struct, frozen=True):
    """An Event object as ``kubectl get events`` shows it."""

    at: int
    type: str
    reason: str
    pod: str
    """``namespace/name``."""
    note: str
    uid: str = ""
    """Of the pod."""
    reporter: str = ""
    """The pod's schedulerName."""


class Observer:
    """Does nothing; override what you want to hear. Called in the order in which things happen.

    An observer must not call back into the scheduler. It is pickled with it unless the scheduler is told otherwise
    (``Scheduler.observer`` may be replaced after unpickling).
    """

    hears_hints: bool = False
    """Whether ``hint_answered`` and ``event_for_pod`` are told: one for each pod that waits."""

    def queue_moved(self, move: QueueMove) -> None:
        """A pod changed its place in the queue."""

    def hint_answered(self, answer: HintAnswer) -> None:
        """A plugin said whether an event may help a pod that it rejected."""

    def event_for_pod(self, told: EventForPod) -> None:
        """What the queue did with an event for a pod that waits, beside asking plugins."""

    def event_ignored(self, ignored: IgnoredEvent) -> None:
        """An event reached hints of pods that wait for one, and moved none of these pods."""

    def attempt(self, trace: AttemptTrace) -> None:
        """``trace.result``: waiting (the same trace comes again later), bound, or failed (before it is requeued)."""

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        """A pod that waited on Permit was allowed, rejected, preempted or timed out."""

    def activated(self, keys: Sequence[str]) -> None:
        """A plugin asked in the cycle that ends that these pods (``namespace/name``) move to activeQ."""

    def waiting_decided(self, entry: WaitingPod, plugin: str, decision: str) -> None:
        """Somebody outside allowed or rejected through the scheduler; the wait may go on for other plugins."""

    def proposed(self, proposal: Proposal) -> None:
        """A person is asked about an eviction, or about one that is known otherwise than before."""

    def proposal_ended(self, proposal: Proposal, how: How, why: Words) -> None:
        """It was carried out, rejected or withdrawn."""

    def event(self, record: ClusterEventRecord) -> None:
        """An Event was written."""

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """The cluster changed; None for "not there" before or after."""

    def batched(self, told: HintTold | KeptTold) -> None:
        """What batching said in this cycle: of a node that comes next, and of what it keeps for the next pod."""

    def logged(self, message: str) -> None:
        """What kube-scheduler only writes to its log."""


class Observers(Observer):
    """Tells several, in their order."""

    def __init__(self, told: Sequence[Observer]) -> None:
        self._told = told
        self.hears_hints = any(each.hears_hints for each in told)

    def queue_moved(self, move: QueueMove) -> None:
        for each in self._told:
            each.queue_moved(move)

    def hint_answered(self, answer: HintAnswer) -> None:
        for each in self._told:
            each.hint_answered(answer)

    def event_for_pod(self, told: EventForPod) -> None:
        for each in self._told:
            each.event_for_pod(told)

    def event_ignored(self, ignored: IgnoredEvent) -> None:
        for each in self._told:
            each.event_ignored(ignored)

    def attempt(self, trace: AttemptTrace) -> None:
        for each in self._told:
            each.attempt(trace)

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        for each in self._told:
            each.wait_ended(trace, signal)

    def activated(self, keys: Sequence[str]) -> None:
        for each in self._told:
            each.activated(keys)

    def waiting_decided(self, entry: WaitingPod, plugin: str, decision: str) -> None:
        for each in self._told:
            each.waiting_decided(entry, plugin, decision)

    def proposed(self, proposal: Proposal) -> None:
        for each in self._told:
            each.proposed(proposal)

    def proposal_ended(self, proposal: Proposal, how: How, why: Words) -> None:
        for each in self._told:
            each.proposal_ended(proposal, how, why)

    def event(self, record: ClusterEventRecord) -> None:
        for each in self._told:
            each.event(record)

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        for each in self._told:
            each.object_changed(old, new)

    def batched(self, told: HintTold | KeptTold) -> None:
        for each in self._told:
            each.batched(told)

    def logged(self, message: str) -> None:
        for each in self._told:
            each.logged(message)
