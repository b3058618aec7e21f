"""Kubernetes' labels in words for the board, the feed and a pod's journey."""

from __future__ import annotations

import re
from typing import Final

from framework.sentences import Sentence, Words, noted, sentence

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
    "EvictionApproval": "Eviction",
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
    "CapacityScheduling": "Quota",
    "ElasticQuotaTree": "Quota tree",
    "NodeResourceTopologyMatch": "NUMA",
    "NetworkOverhead": "Network",
    "LoadAwareScheduling": "Load",
    "Reservation": "Reserved",
    "PreemptionToleration": "Tolerance",
    "CrossNodePreemption": "Across",
}

EVENTS: Final = {
    "UnschedulablePodAdd": sentence("Pod added"),
    "UnschedulablePodUpdate": sentence("Pod updated"),
    "UnschedulablePodUpdatePodSchedulingGatesEliminated": sentence("Its gates were removed"),
    "ScheduleAttemptFailure": sentence("Attempt failed"),
    "BackoffComplete": sentence("Backoff is over"),
    "PopFromBackoffQ": sentence("Tried early, nothing else was active"),
    "Pop": sentence("Attempt began"),
    "ForceActivate": sentence("Activated"),
    "UnschedulableTimeout": sentence("Unschedulable for five minutes"),
    "PutBack": sentence("Put back"),
    "AssignedPodAdd": sentence("Pod bound"),
    "AssignedPodDelete": sentence("Pod deleted"),
    "PodDelete": sentence("Pod deleted"),
    "PodAdd": sentence("Pod added"),
    "NodeAdd": sentence("Node added"),
    "NodeDelete": sentence("Node deleted"),
    "NodeUpdateNodeTaint": sentence("Node's taints changed"),
    "NodeUpdateNodeLabel": sentence("Node's labels changed"),
    "NodeUpdateNodeAllocatable": sentence("Node's allocatable changed"),
    "NodeUpdateNodeCondition": sentence("Node's conditions changed"),
    "NodeUpdateNodeAnnotation": sentence("Node's annotations changed"),
    "NodeUpdateNodeDeclaredFeature": sentence("Node's declared features changed"),
    "Bound": sentence("Bound"),
    "Delete": sentence("Deleted"),
    "Skip": sentence("Skipped"),
}
_HAPPENED: Final = {
    "Add": noted("{thing} added"),
    "Delete": noted("{thing} deleted"),
    "Update": noted("{thing} updated"),
    "UpdatePodLabel": noted("Labels of {thing} changed"),
    "UpdatePodScaleDown": noted("Requests of {thing} lowered"),
    "UpdatePodToleration": noted("Tolerations of {thing} changed"),
    "UpdatePodSchedulingGatesEliminated": noted("Scheduling gates of {thing} removed"),
    "UpdatePodGeneratedResourceClaim": noted("{thing} got its generated ResourceClaim"),
}
_DECIDED: Final = {
    "approved": noted("{pod} approved by {by}."),
    "overridden": noted("{pod}: {plugin} overridden by {by}."),
    "rejected": noted("{pod} rejected by {by}."),
    "timed_out": noted("{pod} timed out at {plugin}."),
    "preempted": noted("{pod} preempted while it waited."),
    "evict": noted("The eviction for {pod} was approved by {by}."),
    "keep": noted("The eviction for {pod} was rejected by {by}."),
}
_DECIDED_BECAUSE: Final = {
    "approved": noted("{pod} approved by {by}: {reason}"),
    "overridden": noted("{pod}: {plugin} overridden by {by}: {reason}"),
    "rejected": noted("{pod} rejected by {by}: {reason}"),
    "evict": noted("The eviction for {pod} was approved by {by}: {reason}"),
    "keep": noted("The eviction for {pod} was rejected by {by}: {reason}"),
}
_PODS: Final = {"AssignedPod": "Pod", "UnschedulablePod": "Pod"}
_LABEL: Final = re.compile(r"(.+?)(Add|Delete|Update\w*)")


def short_plugin(plugin: str) -> str:
    return SHORT_PLUGINS.get(plugin, plugin)


def event_words(label: str) -> Words:
    """Of an event's label: resource and action, as kube-scheduler's metrics name it."""
    known = EVENTS.get(label)
    if known is not None:
        return known
    parts = _LABEL.fullmatch(label)
    text = _HAPPENED.get(parts[2]) if parts is not None else None
    if parts is None or text is None:
        return label
    # storage.k8s.io/CSINode, podgroups.v1alpha1.scheduling.x-k8s.io
    thing = parts[1].rpartition("/")[2] if "/" in parts[1] else parts[1].partition(".")[0]
    return sentence(text, thing=_PODS.get(thing, thing))


def seconds_text(nanoseconds: int) -> Sentence:
    seconds = nanoseconds / 1_000_000_000
    if seconds < 60:
        short = seconds < 10 and nanoseconds % 1_000_000_000
        return sentence("{seconds} s", seconds=seconds if short else round(seconds))
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return sentence("{minutes}m {seconds}s", minutes=minutes, seconds=f"{rest:02}")
    return sentence("{hours}h {minutes}m", hours=minutes // 60, minutes=f"{minutes % 60:02}")


def left_words(was_gated: bool, event: Words, plugin: str) -> Sentence:
    """Of {pod}: why it left Gated or Unschedulable; `plugin` is the one whose hint said Queue."""
    column = "Gated" if was_gated else "Unschedulable"
    if plugin:
        return sentence(
            "{pod} left {column}. {event}; {plugin} answered Queue.", column=column, event=event, plugin=plugin
        )
    return sentence("{pod} left {column}. {event}.", column=column, event=event)


def decision_words(decision: str, by: Words, plugin: str, reason: str) -> Sentence:
    """Of {pod}."""
    text = _DECIDED_BECAUSE.get(decision) if reason else None
    return Sentence(text or _DECIDED[decision], {"by": by, "plugin": plugin, "reason": reason})
