"""What a rejected pod waits for and which events it ignored, in words, from what its plugins registered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.objects.kinds import TYPED_KINDS
from framework.plugins.loadaware.plugin import LOADS
from framework.queue import IgnoredEvent
from framework.queue.hints import event_label
from framework.sentences import Content, Sentence, joined_with_or, noted, sentence
from schedweb.engine.pod_view import PodView
from schedweb.engine.times import iso
from schedweb.engine.words import event_words

KEPT: Final = 5
"""Ignored events per pod; the newest stay."""
NOBODY: Final = sentence("nothing but the five-minute flush")
#: Plugins that no event of the cluster wakes.
BY_HAND: Final = {"ManualApproval": sentence("a person activates it, or the five-minute flush")}
_THINGS: Final[dict[str, str]] = {
    EventResource.POD: noted("a pod {happens}"),
    EventResource.ASSIGNED_POD: noted("a placed pod {happens}"),
    EventResource.UNSCHEDULED_POD: noted("a pending pod {happens}"),
    EventResource.NODE: noted("a node {happens}"),
    EventResource.WILDCARD: noted("anything {happens}"),
    LOADS: noted("the measured load {happens}"),
}
_KINDS: Final = {kind.plural: kind.kind for kind in TYPED_KINDS}
_ADDED: Final = {ActionType.ADD: sentence("is added"), ActionType.DELETE: sentence("is deleted")}
_CHANGES: Final = (
    (ActionType.UPDATE_NODE_ALLOCATABLE, sentence("gets other allocatable resources")),
    (ActionType.UPDATE_NODE_LABEL, sentence("changes its labels")),
    (ActionType.UPDATE_NODE_TAINT, sentence("changes its taints")),
    (ActionType.UPDATE_NODE_TAINT, sentence("is (un)cordoned")),
    (ActionType.UPDATE_NODE_CONDITION, sentence("changes its conditions")),
    (ActionType.UPDATE_NODE_ANNOTATION, sentence("changes its annotations")),
    (ActionType.UPDATE_NODE_DECLARED_FEATURE, sentence("declares other features")),
    (ActionType.UPDATE_POD_LABEL, sentence("changes its labels")),
    (ActionType.UPDATE_POD_SCALE_DOWN, sentence("lowers its requests")),
    (ActionType.UPDATE_POD_TOLERATION, sentence("gets another toleration")),
    (ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, sentence("loses its last scheduling gate")),
    (ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM, sentence("gets its generated ResourceClaim")),
)
#: (plugin, kind of the object) → what its hint found, where that can be said; each hint's own module is the source.
_IGNORED: Final[dict[tuple[str, str], Sentence]] = {
    ("NodeResourcesFit", "Node"): sentence("this node is too small still, or has no more of what the pod lacks"),
    ("NodeResourcesFit", "Pod"): sentence("that pod took nothing which this pod lacks"),
    ("TaintToleration", "Node"): sentence("this node has a taint that the pod does not tolerate, or had none before"),
    ("NodeUnschedulable", "Node"): sentence("this node is cordoned, or was not before"),
    ("NodeAffinity", "Node"): sentence("this node does not match the selector and affinity, or did before"),
    ("NodePorts", "Pod"): sentence("that pod held none of the host ports it wants"),
    ("PodTopologySpread", "Pod"): sentence("that pod is not counted by its spread constraints"),
    ("PodTopologySpread", "Node"): sentence(
        "this node is in no domain of its spread constraints, or nothing changed in them"
    ),
    ("InterPodAffinity", "Pod"): sentence("that pod matches no term that keeps this one away or that it looks for"),
    ("InterPodAffinity", "Node"): sentence("nothing that its (anti-)affinity looks at changed on this node"),
    ("NodeDeclaredFeatures", "Node"): sentence("this node's declared features did not change"),
    ("VolumeRestrictions", "Pod"): sentence("that pod shares no volume with this one"),
    ("NodeVolumeLimits", "Pod"): sentence("that pod held no volume which counts"),
    ("DynamicResources", "ResourceClaim"): sentence(
        "this claim is none of the pod's, or nothing that matters changed in it"
    ),
    ("VolumeBinding", "PersistentVolumeClaim"): sentence("this claim is none of the pod's"),
    ("VolumeZone", "PersistentVolumeClaim"): sentence("this claim is none of the pod's"),
    ("NodeResourcesFit", "DeviceClass"): sentence("this class stands for no resource that the pod asks for"),
    ("TaintToleration", "Pod"): sentence("that was another pod"),
    ("NodeUnschedulable", "Pod"): sentence("that was another pod, or it does not tolerate a cordon still"),
    ("NodeDeclaredFeatures", "Pod"): sentence("that was another pod, or it needs the same features"),
    ("GangScheduling", "Pod"): sentence("that pod is of another group"),
    ("GangScheduling", "PodGroup"): sentence("that is another group"),
    ("DynamicResources", "Pod"): sentence("that was another pod, or it has none of the claims that are made for it"),
    ("VolumeRestrictions", "PersistentVolumeClaim"): sentence("this claim is none of the pod's"),
    ("NodeVolumeLimits", "PersistentVolumeClaim"): sentence("this claim is none of the pod's"),
    ("NodeVolumeLimits", "VolumeAttachment"): sentence("none of the pod's volumes counts with what was detached"),
    ("NodeVolumeLimits", "CSINode"): sentence("no driver of this node may have more volumes than before"),
    ("VolumeBinding", "CSINode"): sentence("no other plugin was handed over to CSI drivers on this node"),
    ("VolumeBinding", "StorageClass"): sentence("the topologies that this class allows did not change"),
    ("VolumeBinding", "CSIStorageCapacity"): sentence("the capacity did not grow"),
    ("VolumeBinding", "CSIDriver"): sentence("the pod does not use this driver, or its capacity counts as before"),
    ("VolumeZone", "StorageClass"): sentence("this class does not wait for the first consumer"),
    ("VolumeZone", "PersistentVolume"): sentence("the zones of this volume did not change"),
    ("LoadAwareScheduling", "Pod"): sentence("that pod was on no node, or its load was measured already"),
    ("LoadAwareScheduling", "Node"): sentence("nothing that its load is held against changed on this node"),
    ("Reservation", "Pod"): sentence("that pod made no room where something is held"),
    ("Reservation", "Node"): sentence("this node holds no reservation that the pod could use"),
    ("Reservation", "Reservation"): sentence("it holds as much as before, and the pod may not use it"),
    ("ElasticQuotaTree", "Pod"): sentence("its ElasticQuotas have no more room than before"),
    ("ElasticQuotaTree", "Node"): sentence("its ElasticQuotas have no more room than before"),
    ("ElasticQuotaTree", "ElasticQuota"): sentence("its ElasticQuotas have no more room than before"),
    ("SchedulingGates", "Pod"): sentence("that was another pod"),
    ("DefaultPreemption", "Pod"): sentence("it leaves the answer to the plugins for which it preempted"),
}


def awaited(plugin: str, events: Sequence[ClusterEvent]) -> Content:
    """``a node is added or changes its labels, a pod is deleted``: every event that the plugin registered."""
    by_hand = BY_HAND.get(plugin)
    if by_hand is not None and not events:
        return by_hand
    actions: dict[str, ActionType] = {}
    for event in events:
        actions[event.resource] = actions.get(event.resource, ActionType.NONE) | event.action
    if not actions:
        return NOBODY
    return [_one(resource, action) for resource, action in actions.items()]


def _one(resource: str, action: ActionType) -> Sentence:
    verbs = [words for bit, words in _ADDED.items() if action & bit]
    changes = action & ActionType.UPDATE
    if changes == ActionType.UPDATE:
        verbs.append(sentence("changes"))
    else:
        verbs += [words for bit, words in _CHANGES if changes & bit]
    happens = joined_with_or(verbs)
    thing = _THINGS.get(resource)
    if thing is not None:
        return Sentence(thing, {"happens": happens})
    # storage.k8s.io/CSINode, podgroups.v1alpha1.scheduling.x-k8s.io
    if "." in resource and "/" not in resource:
        plural = resource.partition(".")[0]
        if plural not in _KINDS:
            return sentence("one of {things} {happens}", things=plural, happens=happens)
        resource = _KINDS[plural]
    kind = resource.rpartition("/")[2]
    if kind[:1] in tuple("AEIO"):
        return sentence("an {kind} {happens}", kind=kind, happens=happens)
    return sentence("a {kind} {happens}", kind=kind, happens=happens)


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
        view.ignored = [*view.ignored, (what, asked)][-KEPT:]
        remembering.append(view)
    return remembering


def ignored_body(view: PodView) -> list[dict[str, Any]]:
    """Newest first."""
    return [
        {**what, "why": [{"plugin": plugin, "text": why_ignored(plugin, str(what["kind"]))} for plugin in asked]}
        for what, asked in reversed(view.ignored)
    ]


def why_ignored(plugin: str, kind: str) -> Sentence:
    return _IGNORED.get((plugin, kind)) or sentence("its hint said QueueSkip about this {kind}", kind=kind)
