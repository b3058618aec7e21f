"""Whether an event makes a rejected pod worth another try (docs/semantics/queue.md#requeueing)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from framework.interface.events import ClusterEvent, QueueingHint
from framework.objects import KubeObject, Pod
from framework.queue.hints import HintMap, is_wildcard
from framework.queue.queued_pod import HintAnswer, QueuedPodInfo


class Strategy(enum.Enum):
    SKIP = "Skip"
    AFTER_BACKOFF = "AfterBackoff"
    IMMEDIATELY = "Immediately"


class RequeueDecision(NamedTuple):
    strategy: Strategy
    plugin: str = ""
    """Whose hint said Queue."""


SKIP: Final = RequeueDecision(Strategy.SKIP)
_Kind = tuple[str, frozenset[str], frozenset[str]]
"""(profile, unschedulable plugins, pending plugins)"""


def judge(
    hints: HintMap | None,
    pod: QueuedPodInfo,
    event: ClusterEvent,
    old: KubeObject | None,
    new: KubeObject | None,
    answered: Callable[[HintAnswer], None] | None = None,
) -> RequeueDecision:
    """Only plugins that rejected the pod are asked; Queue from a Pending plugin skips the backoff.

    ``answered`` hears what each of them says.
    """
    if not pod.has_rejectors:
        return RequeueDecision(Strategy.AFTER_BACKOFF)
    if is_wildcard(event):
        aimed_elsewhere = new is not None and not (isinstance(new, Pod) and new.metadata.uid == pod.pod.metadata.uid)
        return SKIP if aimed_elsewhere else RequeueDecision(Strategy.AFTER_BACKOFF)
    if hints is None:
        return RequeueDecision(Strategy.AFTER_BACKOFF)
    result = SKIP
    for function in hints.matching(event):
        plugin = function.plugin
        pending = plugin in pod.pending_plugins
        if not pending and plugin not in pod.unschedulable_plugins:
            continue
        hint = function(pod.pod, old, new)
        if answered is not None:
            answered(HintAnswer(pod, plugin, event, old, new, hint))
        if hint is QueueingHint.SKIP:
            continue
        if pending:
            return RequeueDecision(Strategy.IMMEDIATELY, plugin)
        if not pod.pending_plugins:
            return RequeueDecision(Strategy.AFTER_BACKOFF, plugin)
        result = RequeueDecision(Strategy.AFTER_BACKOFF, plugin)
    return result


class EqualPods:
    """``judge`` for all the pods that one event may wake: hints that promise it are asked once for equal pods."""

    __slots__ = ("_hints", "_known", "_likeness", "_tells_apart")

    def __init__(self, hints: Mapping[str, HintMap], likeness: Callable[[QueuedPodInfo], bytes]) -> None:
        """``hints`` by profile; ``likeness`` is the same of equal pods."""
        self._hints = hints
        self._likeness = likeness
        self._known: dict[tuple[_Kind, bytes], RequeueDecision] = {}
        self._tells_apart: dict[_Kind, bool] = {}

    def __call__(
        self, pod: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> RequeueDecision:
        profile, uid = pod.pod.spec.scheduler_name, pod.pod.metadata.uid
        hints = self._hints.get(profile)
        kind = (profile, frozenset(pod.unschedulable_plugins), frozenset(pod.pending_plugins))
        tells_apart = self._tells_apart.get(kind)
        if tells_apart is None:
            tells_apart = is_wildcard(event) or hints is None or hints.tells_equal_pods_apart(event, kind[1] | kind[2])
            self._tells_apart[kind] = tells_apart
        if tells_apart or any(each is not None and each.metadata.uid == uid for each in (old, new)):
            return judge(hints, pod, event, old, new)
        key = (kind, self._likeness(pod))
        verdict = self._known.get(key)
        if verdict is None:
            verdict = self._known[key] = judge(hints, pod, event, old, new)
        return verdict
