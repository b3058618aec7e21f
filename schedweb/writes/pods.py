"""What is written to pods: bindings, conditions, nominations, and the end of victims.

Bodies are kube-scheduler's (recorded, tests/data/live): a status patch holds only what differs from the pod as the
scheduler knows it, and the order of all conditions where the pod has some.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from framework.objects import Pod, PodCondition
from framework.objects.pod import PodExtendedResourceClaimStatus
from framework.objects.timestamps import SECOND, format_timestamp
from schedweb.writes.bodies import as_json
from schedweb.writes.writes import STRATEGIC, About, Body, Purpose, Write

DISRUPTION: Final = "DisruptionTarget"
BY_PREEMPTION: Final = "PreemptionByScheduler"
_ORDER: Final = "$setElementOrder/conditions"
_COMPARED: Final = ("status", "reason", "message", "observedGeneration", "lastTransitionTime")


def about(pod: Pod) -> About:
    metadata = pod.metadata
    return About(metadata.namespace, metadata.name, metadata.uid, _path(pod))


def bind(pod: Pod, node_name: str) -> Write:
    """The uid is the precondition."""
    metadata = pod.metadata
    body: Body = {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid},
        "target": {"kind": "Node", "name": node_name},
    }
    return Write("bind", "POST", f"{_path(pod)}/binding", body, about(pod), metadata.namespace)


def patch_status(pod: Pod, condition: PodCondition | None, nominated: str | None, now: int) -> Write | None:
    """A condition and nominatedNodeName in one. ``nominated``: "" clears it, None leaves it; ``now``: nanoseconds.

    None when the pod says all of it already: kube-scheduler sends no patch that changes nothing.
    """
    status: Body = {} if condition is None else _conditions(pod, condition, now)
    known = pod.status.nominated_node_name
    if nominated is not None and nominated != known:
        status["nominatedNodeName"] = nominated or None
    return _status_patch(pod, "status", status)


def disrupt(victim: Pod, preemptor: Pod, now: int) -> Write | None:
    """The condition that a victim gets before it is deleted."""
    message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
    condition = PodCondition(type=DISRUPTION, status="True", reason=BY_PREEMPTION, message=message)
    return disrupt_with(victim, condition, now)


def disrupt_with(victim: Pod, condition: PodCondition, now: int) -> Write | None:
    return _status_patch(victim, "disrupt", _conditions(victim, condition, now))


def evict(victim: Pod) -> Write:
    """With the victim's own grace period; the uid as precondition keeps one of the same name that came after it."""
    body: Body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": victim.metadata.uid}}
    return Write("evict", "DELETE", _path(victim), body, about(victim), victim.metadata.namespace)


def name_extended_claim(pod: Pod, claim: PodExtendedResourceClaimStatus) -> Write | None:
    """The claim that was made for a pod's extended resources, by the name that the API server gave it."""
    return _status_patch(pod, "claim_of_pod", {"extendedResourceClaimStatus": as_json(claim)})


def written(pod: Pod) -> Write | None:
    """What PreBind of DynamicResources leaves of a pod."""
    named = pod.status.extended_resource_claim_status
    return None if named is None else name_extended_claim(pod, named)


def with_condition(pod: Pod, condition: PodCondition, now: int) -> PodCondition:
    """As it will be there: with the generation that it is about, and the time when its status changed."""
    old = _known(pod, condition.type)
    changed = format_timestamp(now // SECOND * SECOND)
    if old is not None and old.status == condition.status:
        changed = old.last_transition_time or ""
    return replace(condition, observed_generation=pod.metadata.generation, last_transition_time=changed or None)


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}"


def _status_patch(pod: Pod, purpose: Purpose, status: Body) -> Write | None:
    if not status:
        return None
    body = {"status": status}
    return Write(purpose, "PATCH", f"{_path(pod)}/status", body, about(pod), pod.metadata.namespace, STRATEGIC)


def _known(pod: Pod, type_: str) -> PodCondition | None:
    return next((each for each in pod.status.conditions if each.type == type_), None)


def _conditions(pod: Pod, condition: PodCondition, now: int) -> Body:
    new = as_json(with_condition(pod, condition, now))
    old = _known(pod, condition.type)
    if old is None:
        written: dict[str, Any] = {"lastProbeTime": None, **new}
    else:
        before = as_json(old)
        written = {key: new.get(key) for key in _COMPARED if new.get(key) != before.get(key)}
        if not written:
            return {}
        written["type"] = condition.type
    types = [each.type for each in pod.status.conditions]
    if old is None:
        types.append(condition.type)
    order = {_ORDER: [{"type": each} for each in types]} if pod.status.conditions else {}
    return {**order, "conditions": [written]}
