"""Stillness: when trying again cannot lead to anything else any more.

An attempt follows from the cluster, the queue and the seed. A pod whose attempt failed, with nothing changed in the
cluster since the attempt before it, fails the same way again, however often its backoff brings it back: without nodes,
in a pod group that does not fit, with a plugin that fails. Only events help, and none of them comes of time alone but
the ends of waits on Permit and in PreBind, and arrivals: these the caller has to ask about.
"""

from __future__ import annotations

from typing import Final

from framework.scheduler.scheduler import Scheduler
from framework.trace.attempt import AttemptTrace

ENOUGH_ERRORS: Final = 100
"""A plugin that fails may answer otherwise next time, and of a pod group the pods tried before count: so often each."""
WAITS_IN_VAIN: Final = 20
"""Members of a pod group hold nodes until its wait runs out, and call each other back when they hold them anew: so
often each, with nobody bound in between."""


def is_endless(trace: AttemptTrace) -> bool:
    """Whether a failed attempt is repeated after its backoff, for ever, though no plugin waits for an event."""
    return trace.reason == "SchedulerError" or (trace.pod_group is not None and trace.result == "failed")


class Stillness:
    """Follows the attempts of a scheduler. Part of a checkpoint: what it says must be the same in replay."""

    def __init__(self) -> None:
        self._revision = -1
        """The cluster's, when an attempt ended last."""
        self._failures: dict[str, int] = {}
        """Uid → attempts in vain since then."""
        self._settled: set[str] = set()

    def stirred(self) -> None:
        """Something came from outside: every pod may be worth another try."""
        self._revision = -1

    def ended(self, trace: AttemptTrace, scheduler: Scheduler) -> None:
        revision = scheduler.cluster.revision
        if revision != self._revision:
            # It began before the change, perhaps.
            self._revision = revision
            self._failures.clear()
            self._settled.clear()
        elif trace.result == "failed" and scheduler.core.queue.is_backing_off(trace.pod):
            self._failures[trace.uid] = failures = self._failures.get(trace.uid, 0) + 1
            if failures >= (ENOUGH_ERRORS if is_endless(trace) else 1):
                self._settled.add(trace.uid)

    def holds(self, scheduler: Scheduler) -> bool:
        """Whether all that can be tried was, in vain, and nothing is under way."""
        core = scheduler.core
        count = core.queue.backing_off
        if not count or len(self._settled) < count or scheduler.cluster.revision != self._revision:
            return False
        if scheduler.mid_cycle or len(core.waiting_pods) or core.waiting_pods.ready or core.pre_binding.cycles:
            return False
        return all(pod.pod_info.uid in self._settled for pod in core.queue.backoff())
