"""Kubernetes' labels in words for the board, the feed and a pod's journey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: Chips on cards have room for one short word.
SHORT_PLUGINS: Final = {
    "NodeResourcesFit": "Fit",
    "TaintToleration": "Taint",
    "NodeUnschedulable": "Cordon",
    "NodeAffinity": "Affinity",
    "PodTopologySpread": "Spread",
    "InterPodAffinity": "Pod affinity",
    "NodePorts": "Ports",
    "NodeName": "Node name",
    "SchedulingGates": "Gate",
    "ManualApproval": "Approval",
    "Coscheduling": "Gang",
    "DefaultPreemption": "Preemption",
    "DefaultBinder": "Bind",
    "VolumeBinding": "Volume",
    "VolumeZone": "Volume zone",
    "VolumeRestrictions": "Volume use",
    "NodeVolumeLimits": "Volume limit",
    "DynamicResources": "Devices",
    "NodeDeclaredFeatures": "Features",
    "GangScheduling": "Gang",
}

#: What may change a plugin's mind, as its event registrations say (each plugin's events_to_register).
WAITS_FOR: Final = {
    "NodeResourcesFit": "a pod is deleted or shrinks, a node is added or grows",
    "TaintToleration": "a node is added or its taints change, the pod's tolerations change",
    "NodeUnschedulable": "a node is added or uncordoned",
    "NodeAffinity": "a node is added or its labels change",
    "PodTopologySpread": "a matching pod comes, goes or changes its labels, a node is added, deleted or changes labels",
    "InterPodAffinity": "a matching pod comes, goes or changes its labels, a node is added or changes its labels",
    "NodePorts": "a pod is deleted, a node is added",
    "NodeName": "the node it names is added",
    "SchedulingGates": "its scheduling gates are removed",
    "ManualApproval": "a person activates it, or the five-minute flush",
    "Coscheduling": "a pod is added, its PodGroup is added or changes",
    "VolumeRestrictions": "a pod with the same disk or claim is deleted, its claim is created, a node is added",
    "NodeVolumeLimits": "a pod with volumes is deleted, a volume is detached, a node's limit grows",
    "VolumeBinding": "its claims, volumes or their class change, a node is added or changes labels, storage grows",
    "VolumeZone": "its claim or volume changes, a node is added or changes labels",
    "DynamicResources": "its ResourceClaim changes, a device class or devices are added, a node is added or changes",
    "NodeDeclaredFeatures": "a node is added or declares more features, the pod changes",
    "GangScheduling": "a pod of its group is added, its PodGroup is added",
}

EVENTS: Final = {
    "UnschedulablePodAdd": "Pod added",
    "UnschedulablePodUpdate": "Pod updated",
    "UnschedulablePodUpdatePodSchedulingGatesEliminated": "Its gates were removed",
    "ScheduleAttemptFailure": "Attempt failed",
    "BackoffComplete": "Backoff is over",
    "PopFromBackoffQ": "Tried early, nothing else was active",
    "Pop": "Attempt began",
    "ForceActivate": "Activated",
    "UnschedulableTimeout": "Unschedulable for five minutes",
    "AssignedPodAdd": "Pod bound",
    "AssignedPodDelete": "Pod deleted",
    "PodDelete": "Pod deleted",
    "PodAdd": "Pod added",
    "NodeAdd": "Node added",
    "NodeDelete": "Node deleted",
    "NodeUpdateNodeTaint": "Node's taints changed",
    "NodeUpdateNodeLabel": "Node's labels changed",
    "NodeUpdateNodeAllocatable": "Node's allocatable changed",
    "Bound": "Bound",
    "Delete": "Deleted",
    "Skip": "Skipped",
}
_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def short_plugin(plugin: str) -> str:
    return SHORT_PLUGINS.get(plugin, plugin)


def event_words(label: str) -> str:
    known = EVENTS.get(label)
    if known is not None:
        return known
    words = _WORD.sub(" ", label)
    return words[:1].upper() + words[1:].lower() if words else ""


def waits_for(plugin: str, events: tuple[str, ...]) -> str:
    """`events`: labels the plugin registered, for plugins that are not ours."""
    return WAITS_FOR.get(plugin) or ", ".join(event_words(event).lower() for event in events) or "the five-minute flush"


def seconds_text(nanoseconds: int) -> str:
    seconds = nanoseconds / 1_000_000_000
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 and nanoseconds % 1_000_000_000 else f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02}s"
    return f"{minutes // 60}h {minutes % 60:02}m"


def joined(words: Sequence[str], last: str = "and") -> str:
    """a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""
