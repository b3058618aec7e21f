"""What people and programs outside decide about pods: those that wait on Permit, and those to be tried at once."""

from __future__ import annotations

import abc
from collections.abc import Iterable

from framework.cycle import SchedulingCore
from framework.interface.plugin import PersonPermitPlugin
from framework.objects import Pod
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
                profile = self.core.profiles.get(pod.spec.scheduler_name)
                for plugin in () if profile is None else profile.plugins.values():
                    if isinstance(plugin, PersonPermitPlugin):
                        plugin.person_activated(pod)
        self.core.queue.activate(chosen, self.core.now)
