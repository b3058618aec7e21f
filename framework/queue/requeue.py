"""Whether an event makes a rejected pod worth another try (spec: queue §6 ``isPodWorthRequeuing``)."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from framework.interface.events import ClusterEvent, QueueingHint
from framework.objects import KubeObject, Pod
from framework.queue.hints import HintMap, is_wildcard
from framework.queue.queued_pod import QueuedPodInfo


class Strategy(enum.Enum):
    SKIP = "Skip"
    AFTER_BACKOFF = "AfterBackoff"
    IMMEDIATELY = "Immediately"


class Verdict(NamedTuple):
    strategy: Strategy
    plugin: str = ""
    """Whose hint said Queue."""


SKIP: Final = Verdict(Strategy.SKIP)


def judge(
    hints: HintMap | None, pod: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
) -> Verdict:
    """Only plugins that rejected the pod are asked; Queue from a Pending plugin skips the backoff."""
    if not pod.has_rejectors:
        return Verdict(Strategy.AFTER_BACKOFF)
    if is_wildcard(event):
        aimed_elsewhere = new is not None and not (isinstance(new, Pod) and new.metadata.uid == pod.pod.metadata.uid)
        return SKIP if aimed_elsewhere else Verdict(Strategy.AFTER_BACKOFF)
    if hints is None:
        return Verdict(Strategy.AFTER_BACKOFF)
    result = SKIP
    for function in hints.matching(event):
        plugin = function.plugin
        pending = plugin in pod.pending_plugins
        if not pending and plugin not in pod.unschedulable_plugins:
            continue
        if function(pod.pod, old, new) is QueueingHint.SKIP:
            continue
        if pending:
            return Verdict(Strategy.IMMEDIATELY, plugin)
        if not pod.pending_plugins:
            return Verdict(Strategy.AFTER_BACKOFF, plugin)
        result = Verdict(Strategy.AFTER_BACKOFF, plugin)
    return result
