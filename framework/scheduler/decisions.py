"""What people and programs outside decide about pods: those that wait on Permit, and those to be tried at once."""

from __future__ import annotations

import abc
from collections.abc import Iterable

from framework.cycle import SchedulingCore
from framework.interface.plugin import PersonPermitPlugin
from framework.objects import Pod, PodCondition
from framework.preemption.proposals import Proposal
from framework.scheduler.observer import Observer
from framework.scheduler.state import WaitingPodState, waiting_pod_states


class Decisions(abc.ABC):
    core: SchedulingCore
    _observer: Observer

    @abc.abstractmethod
    def run_bindings(self) -> None: ...

    def waiting_pods(self) -> list[WaitingPodState]:
        return waiting_pod_states(self.core)

    def allow(self, uid: str, plugin: str) -> bool:
        """False when the pod does not wait. The bindings that follow are run at once."""
        entry = self.core.waiting_pods.get(uid)
        if entry is None:
            return False
        entry.allow(plugin)
        self._observer.waiting_decided(entry, plugin, "allow")
        self.run_bindings()
        return True

    def reject(self, uid: str, plugin: str, message: str, *, by_person: bool = False) -> bool:
        """False when the pod does not wait or was decided before."""
        entry = self.core.waiting_pods.get(uid)
        if entry is None:
            return False
        rejected = entry.reject(plugin, message)
        if rejected:
            if by_person:
                asked = self.core.profiles[entry.pod.spec.scheduler_name].plugins.get(plugin)
                if isinstance(asked, PersonPermitPlugin):
                    asked.person_rejected(entry.pod, message)
            self._observer.waiting_decided(entry, plugin, "reject")
        self.run_bindings()
        return rejected

    def preempt(self, uid: str, plugin: str, message: str) -> bool:
        entry = self.core.waiting_pods.get(uid)
        if entry is None:
            return False
        preempted = entry.preempt(plugin, message)
        if preempted:
            self._observer.waiting_decided(entry, plugin, "preempt")
        self.run_bindings()
        return preempted

    def reject_waiting_pod(self, uid: str) -> bool:
        """Upstream ``RejectWaitingPod``."""
        rejected = self.core.waiting_pods.reject(uid)
        self.run_bindings()
        return rejected

    def activate(self, pods: Iterable[Pod], *, by_person: bool = False) -> None:
        """Moves these pods to activeQ, whatever backoff is left."""
        chosen = list(pods)
        if by_person:
            for pod in chosen:
                self.core.proposals.ask_again(pod.metadata.uid)
                profile = self.core.profiles.get(pod.spec.scheduler_name)
                for plugin in () if profile is None else profile.plugins.values():
                    if isinstance(plugin, PersonPermitPlugin):
                        plugin.person_activated(pod)
        self.core.queue.activate(chosen, self.core.now)

    # --- evictions that are proposed ----------------------------------------------------------------------------------

    def proposals(self) -> list[Proposal]:
        """In the order in which their pods began to ask."""
        return list(self.core.proposals.open.values())

    def approve_eviction(self, proposal: Proposal, by: str) -> None:
        """The pod is tried again, finds whether it still needs that, and evicts no more than was proposed."""
        proposal.approved_by = by
        self.core.queue.activate([proposal.preemptor], self.core.now)

    def reject_eviction(self, proposal: Proposal, by: str, reason: str) -> None:
        """Its pod stays where it is, with the reason; nobody is asked about these victims for it again until one of
        them is gone, a person activates the pod, or the configuration is switched."""
        core = self.core
        core.proposals.reject(proposal, by, reason)
        metadata = proposal.preemptor.metadata
        live = core.objects.get(Pod, metadata.namespace, metadata.name)
        if live is None or live.metadata.uid != metadata.uid:
            return
        message = f"preemption: the eviction that would make room on {proposal.node} was rejected by {by}: {reason}"
        condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message=message)
        error = core.api.patch_pod_status(live, condition, None)
        if error is not None:
            core.observer.logged(f"Error updating pod: {error}")

    def eviction_failed(self, victim: Pod) -> None:
        """The API server refused it: a person is asked again."""
        self.core.proposals.eviction_failed(victim)
