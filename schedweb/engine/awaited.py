"""What a rejected pod waits for and which events it ignored, in words, from what its plugins registered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.queue import IgnoredEvent
from framework.queue.hints import event_label
from schedweb.engine.pod_view import PodView
from schedweb.engine.words import event_words, joined
from schedweb.runs.times import iso

KEPT: Final = 5
"""Ignored events per pod; the newest stay."""
NOBODY: Final = "nothing but the five-minute flush"
#: Plugins that no event of the cluster wakes.
BY_HAND: Final = {"ManualApproval": "a person activates it, or the five-minute flush"}
_THINGS: Final[dict[str, str]] = {
    EventResource.POD: "a pod",
    EventResource.ASSIGNED_POD: "a placed pod",
    EventResource.UNSCHEDULED_POD: "a pending pod",
    EventResource.NODE: "a node",
    EventResource.WILDCARD: "anything",
}
_ADDED: Final = {ActionType.ADD: "is added", ActionType.DELETE: "is deleted"}
_CHANGES: Final = {
    ActionType.UPDATE_NODE_ALLOCATABLE: "gets other allocatable resources",
    ActionType.UPDATE_NODE_LABEL: "changes its labels",
    ActionType.UPDATE_NODE_TAINT: "changes its taints or is (un)cordoned",
    ActionType.UPDATE_NODE_CONDITION: "changes its conditions",
    ActionType.UPDATE_NODE_ANNOTATION: "changes its annotations",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "declares other features",
    ActionType.UPDATE_POD_LABEL: "changes its labels",
    ActionType.UPDATE_POD_SCALE_DOWN: "lowers its requests",
    ActionType.UPDATE_POD_TOLERATION: "gets another toleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "loses its last scheduling gate",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "gets its generated ResourceClaim",
}
#: (plugin, kind of the object) → what its hint found, where that can be said; each hint's own module is the source.
_IGNORED: Final[dict[tuple[str, str], str]] = {
    ("NodeResourcesFit", "Node"): "this node is too small still, or has no more of what the pod lacks",
    ("NodeResourcesFit", "Pod"): "that pod took nothing which this pod lacks",
    ("TaintToleration", "Node"): "this node has a taint that the pod does not tolerate, or had none before",
    ("NodeUnschedulable", "Node"): "this node is cordoned, or was not before",
    ("NodeAffinity", "Node"): "this node does not match the selector and affinity, or did before",
    ("NodePorts", "Pod"): "that pod held none of the host ports it wants",
    ("PodTopologySpread", "Pod"): "that pod is not counted by its spread constraints",
    ("PodTopologySpread", "Node"): "this node is in no domain of its spread constraints, or nothing changed in them",
    ("InterPodAffinity", "Pod"): "that pod matches no term that keeps this one away or that it looks for",
    ("InterPodAffinity", "Node"): "nothing that its (anti-)affinity looks at changed on this node",
    ("NodeDeclaredFeatures", "Node"): "this node's declared features did not change",
    ("VolumeRestrictions", "Pod"): "that pod shares no volume with this one",
    ("NodeVolumeLimits", "Pod"): "that pod held no volume which counts",
    ("DynamicResources", "ResourceClaim"): "this claim is none of the pod's, or nothing that matters changed in it",
    ("VolumeBinding", "PersistentVolumeClaim"): "this claim is none of the pod's",
    ("VolumeZone", "PersistentVolumeClaim"): "this claim is none of the pod's",
    ("GangScheduling", "Pod"): "that pod is of another group",
    ("SchedulingGates", "Pod"): "that was another pod",
    ("DefaultPreemption", "Pod"): "it leaves the answer to the plugins for which it preempted",
}


def awaited(plugin: str, events: Sequence[ClusterEvent]) -> str:
    """``a node is added or changes its labels, a pod is deleted``: every event that the plugin registered."""
    by_hand = BY_HAND.get(plugin)
    if by_hand is not None and not events:
        return by_hand
    actions: dict[str, ActionType] = {}
    for event in events:
        actions[event.resource] = actions.get(event.resource, ActionType.NONE) | event.action
    return ", ".join(_one(resource, action) for resource, action in actions.items()) or NOBODY


def _one(resource: str, action: ActionType) -> str:
    thing = _THINGS.get(resource) or _named(resource)
    verbs = [words for bit, words in _ADDED.items() if action & bit]
    changes = action & ActionType.UPDATE
    if changes == ActionType.UPDATE:
        verbs.append("changes")
    else:
        verbs += [words for bit, words in _CHANGES.items() if changes & bit]
    return f"{thing} {joined(verbs, 'or')}"


def _named(resource: str) -> str:
    """``storage.k8s.io/CSINode`` → a CSINode; ``podgroups.v1alpha1.scheduling.x-k8s.io`` → one of podgroups."""
    if "." in resource and "/" not in resource:
        return f"one of {resource.partition('.')[0]}"
    kind = resource.rpartition("/")[2]
    return f"a {kind}"


def remember(ignored: IgnoredEvent, views: dict[str, PodView], now: int) -> list[PodView]:
    """Keeps the event with every pod that ignored it; returns their views."""
    about = ignored.new or ignored.old
    if about is None:
        return []
    what = {"at": iso(now), "event": event_words(event_label(ignored.event)), "object": about.key, "kind": about.kind}
    remembering = []
    for queued in ignored.pods:
        view = views.get(queued.pod.metadata.uid)
        heard = ignored.asked.get(queued.pod.spec.scheduler_name, ())
        asked = [name for name in heard if name in queued.unschedulable_plugins or name in queued.pending_plugins]
        if view is None or not asked:
            continue
        view.ignored.append((what, asked))
        del view.ignored[:-KEPT]
        remembering.append(view)
    return remembering


def ignored_body(view: PodView) -> list[dict[str, Any]]:
    """Newest first."""
    return [
        {**what, "why": [{"plugin": plugin, "text": why_ignored(plugin, what["kind"])} for plugin in asked]}
        for what, asked in reversed(view.ignored)
    ]


def why_ignored(plugin: str, kind: str) -> str:
    return _IGNORED.get((plugin, kind), f"its hint said QueueSkip about this {kind}")
