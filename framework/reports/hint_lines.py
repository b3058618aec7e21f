"""What single plugins write at ``-v=4`` and above of an event that they are asked about, for one pod.

Upstream: the hint functions of framework/plugins (``isSchedulableAfter…``, 1.36.2), whose branches are told apart here
by what went in and what the hint said. Those of volumes and claims: ``hint_lines_of_volumes``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from framework.interface.events import QueueingHint
from framework.interface.node_info import PodInfo
from framework.objects import DeviceClass, KubeObject, Node, Pod
from framework.objects.devices import DEVICE_CLASS_RESOURCE_PREFIX
from framework.objects.resources import pod_requests
from framework.objects.selectors import NodeSelectorMatcher, compile_node_selector, required_node_affinity
from framework.plugins.interpodaffinity.hints import Why, why_after_node, why_after_pod
from framework.plugins.noderesources.hints import AfterNodeChange
from framework.queue import HintAnswer
from framework.reports.hint_lines_of_volumes import LINES_OF_VOLUMES
from framework.reports.log_entries import Entry
from framework.scheduler import Scheduler

Found = Entry | tuple[Entry, ...] | None


def hint_entries(answer: HintAnswer, scheduler: Scheduler) -> tuple[Entry, ...]:
    """The lines of this answer; none for a plugin, or a branch of its hint, that writes none."""
    line = _LINES.get((answer.plugin, _kind(answer)))
    found = None if line is None else line(answer, scheduler)
    return () if found is None else (found,) if isinstance(found, Entry) else found


def _kind(answer: HintAnswer) -> str:
    known = answer.old if answer.new is None else answer.new
    return "" if known is None else known.kind


def _helps(answer: HintAnswer) -> bool:
    return answer.hint is QueueingHint.QUEUE


def _is_own(answer: HintAnswer) -> bool:
    return answer.new is not None and answer.new.metadata.uid == answer.pod.pod.metadata.uid


def _name(obj: KubeObject | None) -> str:
    """As ``klog.KObj`` prints it: also "" for none."""
    if obj is None:
        return ""
    return f"{obj.metadata.namespace}/{obj.metadata.name}" if obj.metadata.namespace else obj.metadata.name


def _about(answer: HintAnswer, **values: KubeObject | None) -> dict[str, Any]:
    return {"pod": answer.pod.key} | {name: _name(value) for name, value in values.items()}


def _has_no_place(pod: KubeObject | None) -> bool:
    return isinstance(pod, Pod) and not pod.spec.node_name and not pod.status.nominated_node_name


# --- resources --------------------------------------------------------------------------------------------------------


def _fit_pod(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    old, new, helps = answer.old, answer.new, _helps(answer)
    if new is None:
        values = _about(answer, deletedPod=old)
        if helps:
            message = "another scheduled pod was deleted, and it may make the unscheduled pod schedulable"
            return Entry(5, "fit.go:415", message, values)
        message = "the deleted pod was unscheduled and it wouldn't make the unscheduled pod schedulable"
        return Entry(5, "fit.go:410", message, values)
    values = _about(answer, modifiedPod=new)
    if helps:
        message = (
            "another scheduled pod or the target pod itself got scaled down, and it may make the unscheduled pod"
            " schedulable"
        )
        return Entry(5, "fit.go:435", message, values)
    message = "pod got scaled down, but the modification isn't related to the resource requests of the target pod"
    return Entry(5, "fit.go:430", message, values)


def _fit_node(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    old, new, helps = answer.old, answer.new, _helps(answer)
    values = _about(answer, node=new)
    if helps:
        message, place = (
            ("node was added and it might fit the pod's resource requests", "fit.go:514")
            if old is None
            else ("node was updated, and may now fit the pod's resource requests", "fit.go:523")
        )
    elif old is not None and AfterNodeChange(_delegated(answer, scheduler))(answer.pod.pod, None, new) is _QUEUE:
        message = "node was updated, but haven't changed the pod's resource requestments fit assessment"
        place = "fit.go:519"
    else:
        message = "node was created or updated, but it doesn't have enough resource(s) to accommodate this pod"
        place = "fit.go:509"
    return Entry(5, place, message, values)


_QUEUE: Final = QueueingHint.QUEUE


def _delegated(answer: HintAnswer, scheduler: Scheduler) -> Callable[[str], bool] | None:
    """Which resources the profile's NodeResourcesFit leaves to DynamicResources: as its own hint has it."""
    profile = scheduler.profiles.get(answer.pod.pod.spec.scheduler_name)
    for function in () if profile is None else profile.hints.functions:
        if function.plugin == answer.plugin and isinstance(function.hint, AfterNodeChange):
            return function.hint.delegated
    return None


def _fit_class(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    old, new = answer.old, answer.new
    assert isinstance(new, DeviceClass)
    values = _about(answer, deviceclass=new)
    if isinstance(old, DeviceClass):
        if (old.spec.extended_resource_name or "") == (new.spec.extended_resource_name or ""):
            return Entry(5, "fit.go:536", "device class has identical extended resource name", values)
    elif f"{DEVICE_CLASS_RESOURCE_PREFIX}{new.name}" in pod_requests(answer.pod.pod):
        message = "device class was added, and may now fit the pod's resource requests"
        return Entry(5, "fit.go:543", message, values)
    if _helps(answer):
        message = "device class was created or updated, and may fit the pod's resoruce requests"
        return Entry(5, "fit.go:550", message, values)
    message = (
        "created or updated deivce class extended resource name is either nil, or does not match pod's resource request"
    )
    return Entry(5, "fit.go:554", message, values)


# --- nodes ------------------------------------------------------------------------------------------------------------


def _affinity(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    values = _about(answer, node=answer.new)
    if _helps(answer):
        message, place = (
            ("node was created, and matches with the pod's NodeAffinity", "node_affinity.go:141")
            if answer.old is None
            else ("node was updated and the pod's NodeAffinity changed to matched", "node_affinity.go:154")
        )
        return Entry(5, place, message, values)
    node = answer.new
    assert isinstance(node, Node)
    if not _is_let_in(_enforced(answer, scheduler), node):
        message = (
            "added or modified node didn't match scheduler-enforced node affinity and this event won't make the Pod"
            " schedulable"
        )
        return Entry(4, "node_affinity.go:126", message, values)
    if answer.old is not None and _is_let_in(required_node_affinity(answer.pod.pod), node):
        return Entry(5, "node_affinity.go:151", "node updated, but the pod's NodeAffinity hasn't changed", values)
    message = "node was created or updated, but the pod's NodeAffinity doesn't match"
    return Entry(5, "node_affinity.go:136", message, values)


def _enforced(answer: HintAnswer, scheduler: Scheduler) -> NodeSelectorMatcher | None:
    """What the profile's NodeAffinityArgs demand of every node."""
    profile = scheduler.configuration.profile(answer.pod.pod.spec.scheduler_name)
    added = None if profile is None else profile.args[answer.plugin].added_affinity
    required = None if added is None else added.required_during_scheduling_ignored_during_execution
    return None if required is None else compile_node_selector(required)


def _is_let_in(matcher: NodeSelectorMatcher | None, node: Node) -> bool:
    return matcher is None or matcher.matches(node.metadata.labels, node.metadata.name)


def _taints(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    values = _about(answer, node=answer.new)
    if _helps(answer):
        message = (
            "node was created or updated, and this may make the Pod rejected by TaintToleration plugin in the previous"
            " scheduling cycle schedulable"
        )
        return Entry(5, "taint_toleration.go:110", message, values)
    message = "node was created or updated, but it doesn't change the TaintToleration plugin's decision"
    return Entry(5, "taint_toleration.go:114", message, values)


NEW_TOLERATION: Final = "a new toleration is added for the unschedulable Pod, and it may make it schedulable"
OF_ANOTHER: Final = (
    "a new toleration is added for a Pod, but it's an unrelated Pod and wouldn't change the TaintToleration plugin's"
    " decision"
)


def _tolerated(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    values = {"pod": _name(answer.new)}
    if _helps(answer):
        return Entry(5, "taint_toleration.go:237", NEW_TOLERATION, values)
    return Entry(5, "taint_toleration.go:241", OF_ANOTHER, values)


def _cordoned(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    values = _about(answer, node=answer.new)
    if _helps(answer):
        message = "node was created or updated, pod may be schedulable now"
        return Entry(5, "node_unschedulable.go:121", message, values)
    message = "node was created or updated, but it doesn't make this pod schedulable"
    return Entry(5, "node_unschedulable.go:125", message, values)


def _cordon_tolerated(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    values = {"pod": _name(answer.new)}
    if _helps(answer):
        return Entry(5, "node_unschedulable.go:95", NEW_TOLERATION, values)
    if _is_own(answer):
        message = "a new toleration is added for the unschedulable Pod, but it's an unrelated toleration"
        return Entry(5, "node_unschedulable.go:98", message, values)
    return Entry(5, "node_unschedulable.go:102", OF_ANOTHER, values)


def _features_of_node(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    values = _about(answer, node=answer.new)
    if _helps(answer):
        return Entry(4, "nodedeclaredfeatures.go:209", "Node declared features updated, queueing", values)
    message = "node's declared features didn't change, skipping queueing"
    return Entry(5, "nodedeclaredfeatures.go:206", message, values)


def _features_of_pod(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    if _helps(answer):
        message = "pod feature requirements changed, queueing"
        return Entry(4, "nodedeclaredfeatures.go:196", message, _about(answer))
    values = {"pod": _name(answer.new)}
    if _is_own(answer):
        message = "pod feature requirements didn't change, skipping queueing"
        return Entry(5, "nodedeclaredfeatures.go:193", message, values)
    message = "the update event is not for targetPod, skipping queueing"
    return Entry(5, "nodedeclaredfeatures.go:177", message, values)


# --- other pods -------------------------------------------------------------------------------------------------------


def _ports(answer: HintAnswer, scheduler: Scheduler) -> Entry | None:
    old, values = answer.old, _about(answer, deletedPod=answer.old)
    assert isinstance(old, Pod)
    if _has_no_place(old):
        message = "the deleted pod is unscheduled and it doesn't make the target pod schedulable"
        return Entry(4, "node_ports.go:136", message, values)
    if not PodInfo(old).host_ports:
        return None
    if _helps(answer):
        message = (
            "the deleted pod and the target pod have any common port(s), returning Queue as deleting this Pod may make"
            " the Pod schedulable"
        )
        return Entry(4, "node_ports.go:157", message, values)
    message = (
        "the deleted pod and the target pod don't have any common port(s), returning QueueSkip as deleting this Pod"
        " won't make the Pod schedulable"
    )
    return Entry(4, "node_ports.go:153", message, values)


_AFTER_POD: Final = {
    Why.OWN_LABELS: ("the target pod labels have changed and it may be schedulable now", 180),
    Why.NO_PLACE: (
        "the added/updated/deleted pod is unscheduled, so it doesn't make the target pod schedulable",
        187,
    ),
    Why.NOT_APART: (
        "a scheduled pod was updated not to match the target pod's anti affinity, and the pod may be schedulable now",
        212,
    ),
    Why.APART_BEFORE: (
        "a scheduled pod was deleted and it matches the target pod's anti-affinity. The pod may be schedulable now",
        236,
    ),
    Why.KEPT_AWAY: (
        "a scheduled pod was deleted and the target pod matches the deleted pod's anti-affinity. The pod may be"
        " schedulable now",
        246,
    ),
}
_AFTER_POD_BY_KIND: Final = {
    (Why.NEAR, "updated"): (
        "a scheduled pod was updated to match the target pod's affinity, and the pod may be schedulable now",
        207,
    ),
    (Why.NEAR, "added"): ("a scheduled pod was added and it matches the target pod's affinity", 224),
    (Why.NOTHING, "updated"): (
        "a scheduled pod was updated but it doesn't match the target pod's affinity or does match the target pod's"
        " anti-affinity",
        216,
    ),
    (Why.NOTHING, "added"): ("a scheduled pod was added and it doesn't match the target pod's affinity", 228),
    (Why.NOTHING, "deleted"): (
        "a scheduled pod was deleted but it doesn't match the target pod's anti-affinity, nor vice versa",
        251,
    ),
}
_AFTER_NODE: Final = {
    Why.NEAR_NODE_ADDED: (
        "A node with a matched pod affinity topologyKey was added and it may make the pod schedulable",
        275,
    ),
    Why.NEAR_KEY_ADDED: (
        "A node got updated to have the topology key of pod affinity, which may make the pod schedulable",
        286,
    ),
    Why.NEAR_DOMAIN_CHANGED: (
        "A node is moved to a different domain of pod affinity, which may make the pod schedulable",
        293,
    ),
    Why.NODE_ADDED: ("A node was added and it may make the pod schedulable", 315),
    Why.APART_KEY_GONE: (
        "A node got updated to not have the topology key of pod anti-affinity, which may make the pod schedulable",
        327,
    ),
    Why.APART_DOMAIN_CHANGED: (
        "A node is moved to a different domain of pod anti-affinity, which may make the pod schedulable",
        334,
    ),
    Why.NOTHING: (
        "a node is added/updated but doesn't have any topologyKey which matches pod affinity/anti-affinity",
        339,
    ),
}


def _near_pod(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    old, new = answer.old, answer.new
    why = why_after_pod(answer.pod.pod, old, new)
    what = "deleted" if new is None else "added" if old is None else "updated"
    message, line = _AFTER_POD.get(why) or _AFTER_POD_BY_KIND[why, what]
    if why is Why.OWN_LABELS:
        values = _about(answer)
    elif why is Why.NO_PLACE:
        values = _about(answer, originalPod=old, modifiedPod=new)
    else:
        values = _about(answer, originalPod=old) if new is None else _about(answer, modifiedPod=new)
    return Entry(5, f"plugin.go:{line}", message, values)


def _near_node(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    message, line = _AFTER_NODE[why_after_node(answer.pod.pod, answer.old, answer.new)]
    return Entry(5, f"plugin.go:{line}", message, _about(answer, node=answer.new))


def _spread_pod(answer: HintAnswer, scheduler: Scheduler) -> Entry:
    pod, old, new, helps = answer.pod.pod, answer.old, answer.new, _helps(answer)
    if any(_is_beside_spreading(each, pod) for each in (old, new)):
        message = (
            "the added/updated/deleted pod is unscheduled or has different namespace with target pod, so it doesn't"
            " make the target pod schedulable"
        )
        return Entry(5, "plugin.go:213", message, _about(answer, originalPod=old))
    if old is not None and new is not None:
        same_labels = old.metadata.labels == new.metadata.labels
        values = _about(answer, modifiedPod=new)
        if helps and (same_labels or _is_own_toleration(answer)):
            message = "the unschedulable pod has got a new toleration, which could make it schedulable"
            return Entry(5, "plugin.go:227", message, values)
        if same_labels:
            message = "the pod's update doesn't include the label update, which doesn't make the target pod schedulable"
            return Entry(5, "plugin.go:233", message, values)
        if helps:
            message = (
                "a scheduled pod's label was updated and it makes the updated pod match or unmatch the pod's topology"
                " spread constraints"
            )
            return Entry(5, "plugin.go:241", message, values)
        message = (
            "a scheduled pod's label was updated, but it's a change unrelated to the pod's topology spread constraints"
        )
        return Entry(5, "plugin.go:247", message, values)
    if new is not None:
        message, place = (
            ("a scheduled pod was created and it matches with the pod's topology spread constraints", "plugin.go:255")
            if helps
            else (
                "a scheduled pod was created, but it doesn't matches with the pod's topology spread constraints",
                "plugin.go:259",
            )
        )
        return Entry(5, place, message, _about(answer, createdPod=new))
    message, place = (
        (
            "a scheduled pod which matches with the pod's topology spread constraints was deleted, and the pod may be"
            " schedulable now",
            "plugin.go:266",
        )
        if helps
        else (
            "a scheduled pod was deleted, but it's unrelated to the pod's topology spread constraints",
            "plugin.go:270",
        )
    )
    return Entry(5, place, message, _about(answer, deletedPod=old))


def _is_own_toleration(answer: HintAnswer) -> bool:
    old, new = answer.old, answer.new
    return (
        _is_own(answer)
        and isinstance(old, Pod)
        and isinstance(new, Pod)
        and old.spec.tolerations != new.spec.tolerations
        and any(each.node_taints_policy == "Honor" for each in answer.pod.pod.spec.topology_spread_constraints)
    )


def _is_beside_spreading(other: KubeObject | None, pod: Pod) -> bool:
    if other is None or other.metadata.uid == pod.metadata.uid:
        return False
    return _has_no_place(other) or other.metadata.namespace != pod.metadata.namespace


def _spread_node(answer: HintAnswer, scheduler: Scheduler) -> Entry | None:
    old, new, helps = answer.old, answer.new, _helps(answer)
    if old is not None and new is not None:
        return _spread_update(answer, old, new) if helps else None
    if new is not None:
        message, place = (
            (
                "the created node matches topology spread constraints, and the pod may be schedulable now",
                "plugin.go:350",
            )
            if helps
            else ("the created node doesn't match pod topology spread constraints", "plugin.go:346")
        )
        return Entry(5, place, message, _about(answer, node=new))
    message, place = (
        ("the deleted node matches topology spread constraints, and the pod may be schedulable now", "plugin.go:359")
        if helps
        else ("the deleted node doesn't match pod topology spread constraints", "plugin.go:356")
    )
    return Entry(5, place, message, _about(answer, node=old))


def _spread_update(answer: HintAnswer, old: KubeObject, new: KubeObject) -> Entry:
    keys = [
        each.topology_key
        for each in answer.pod.pod.spec.topology_spread_constraints
        if each.when_unsatisfiable == "DoNotSchedule"
    ]
    had, has = (all(key in each.metadata.labels for key in keys) for each in (old, new))
    values = _about(answer, node=new)
    if had != has:
        message = (
            "the node is updated and now pod topology spread constraints has changed, and the pod may be schedulable"
            " now"
        )
        return Entry(5, "plugin.go:332", message, values | {"originalMatching": _go(had), "newMatching": _go(has)})
    message = "the node is updated and now has different taints or labels, and the pod may be schedulable now"
    return Entry(5, "plugin.go:337", message, values)


class _Bare:
    """Printed without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


def _go(value: bool) -> _Bare:
    return _Bare("true" if value else "false")


_LINES: Final[dict[tuple[str, str], Callable[[HintAnswer, Scheduler], Found]]] = {
    ("NodeResourcesFit", "Pod"): _fit_pod,
    ("NodeResourcesFit", "Node"): _fit_node,
    ("NodeResourcesFit", "DeviceClass"): _fit_class,
    ("NodeAffinity", "Node"): _affinity,
    ("TaintToleration", "Node"): _taints,
    ("TaintToleration", "Pod"): _tolerated,
    ("NodeUnschedulable", "Node"): _cordoned,
    ("NodeUnschedulable", "Pod"): _cordon_tolerated,
    ("NodeDeclaredFeatures", "Node"): _features_of_node,
    ("NodeDeclaredFeatures", "Pod"): _features_of_pod,
    ("NodePorts", "Pod"): _ports,
    ("InterPodAffinity", "Pod"): _near_pod,
    ("InterPodAffinity", "Node"): _near_node,
    ("PodTopologySpread", "Pod"): _spread_pod,
    ("PodTopologySpread", "Node"): _spread_node,
    **LINES_OF_VOLUMES,
}
