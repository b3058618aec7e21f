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
