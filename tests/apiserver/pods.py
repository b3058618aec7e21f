"""What is particular to pods: defaults and admission at creation, binding, eviction, graceful deletion."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.apiserver import statuses
from tests.apiserver.kinds import BUDGETS, NODES, PODS, PRIORITY_CLASSES, Json, Kind
from tests.apiserver.selectors import Labels
from tests.apiserver.store import Store, Stored
from tests.apiserver.times import stamp

BINDING = Kind("", "v1", "bindings", "Binding")
TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def admitted(store: Store, body: Json, now: datetime) -> Json:
    """A pod as a client's POST leaves it: defaults, its priority, the condition of gates. Its own status is dropped."""
    spec = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
        "enableServiceLinks": True,
        **body.get("spec", {}),
    }
    _prioritise(store, body, spec)
    tolerations = list(spec.get("tolerations") or [])
    for key in _TOLERATED:
        if not any(found.get("key") in (key, None) and found.get("effect") != "NoSchedule" for found in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    spec["tolerations"] = tolerations
    status: Json = {"phase": "Pending", "qosClass": _quality(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [_condition(GATED, now)]
    return {**body, "spec": spec, "status": status}


def _prioritise(store: Store, body: Json, spec: Json) -> None:
    name = spec.get("priorityClassName", "")
    policy = "PreemptLowerPriority"
    if name in SYSTEM_PRIORITIES:
        spec["priority"] = SYSTEM_PRIORITIES[name]
    elif name:
        found = store.find(PRIORITY_CLASSES, "", name)
        if found is None:
            pod = body["metadata"].get("name", "")
            message = f'pods "{pod}" is forbidden: no PriorityClass with name {name} was found'
            raise statuses.ApiError(403, statuses.failure(403, "Forbidden", message, statuses.details_of(PODS, pod)))
        chosen = found.decode()
        spec["priority"], policy = chosen["value"], chosen.get("preemptionPolicy", policy)
    else:
        classes = [stored.decode() for stored in store.of(PRIORITY_CLASSES).objects.values()]
        default = next((each for each in classes if each.get("globalDefault")), None)
        spec["priority"] = default["value"] if default else 0
        if default:
            spec["priorityClassName"] = default["metadata"]["name"]
            policy = default.get("preemptionPolicy", policy)
    spec.setdefault("preemptionPolicy", policy)


def _quality(spec: Json) -> str:
    resources = [container.get("resources") or {} for container in spec.get("containers", [])]
    if not any(each.get("requests") or each.get("limits") for each in resources):
        return "BestEffort"
    full = all({"cpu", "memory"} <= set(each.get("limits") or {}) for each in resources)
    same = all((each.get("requests") or each.get("limits")) == each.get("limits") for each in resources)
    return "Guaranteed" if full and same else "Burstable"


def _condition(condition: Json, now: datetime) -> Json:
    return {**condition, "lastProbeTime": None, "lastTransitionTime": stamp(now)}


def with_condition(status: Json, condition: Json, now: datetime) -> Json:
    """As upstream's UpdatePodCondition: in its place or at the end; the time moves only with the status."""
    old = next((each for each in status.get("conditions") or [] if each["type"] == condition["type"]), None)
    new = _condition(condition, now)
    if old is None:
        return {**status, "conditions": [*(status.get("conditions") or []), new]}
    if old["status"] == new["status"]:
        new["lastTransitionTime"] = old.get("lastTransitionTime")
    replaced = [new if each["type"] == condition["type"] else each for each in status["conditions"]]
    return {**status, "conditions": replaced}


def serialised(body: Json) -> Json:
    """Conditions always show lastProbeTime and lastTransitionTime, null where they are unknown."""
    status = body.get("status") or {}
    if not status.get("conditions"):
        return body
    times = {"lastProbeTime": None, "lastTransitionTime": None}
    return {**body, "status": {**status, "conditions": [{**times, **each} for each in status["conditions"]]}}


def bound(store: Store, namespace: str, name: str, binding: Any, now: datetime) -> Json:
    """The pod as the binding leaves it; 404, 409 and 422 as recorded (bind_404, bind_409, bind_recreated, …).

    The node is not looked at (recorded: bind_deleted_node), but for its topology labels.
    """
    if not isinstance(binding, dict):
        raise statuses.bad_request("the object provided is unrecognized (must be of type Binding)")
    metadata, target = binding.get("metadata") or {}, binding.get("target") or {}
    if metadata.get("name", name) != name:
        raise statuses.bad_request("name in URL does not match name in Binding object")
    if target.get("kind", "") not in ("", "Node"):
        causes = [("FieldValueNotSupported", "target.kind", f'Unsupported value: "{target["kind"]}"')]
        raise statuses.invalid(BINDING, name, causes)
    if not target.get("name"):
        raise statuses.invalid(BINDING, name, [("FieldValueRequired", "target.name", "Required value")])
    stored = store.get(PODS, namespace, name)
    wanted = metadata.get("uid")
    if wanted and wanted != stored.uid:
        raise statuses.wrong_uid(PODS, namespace, name, wanted, stored.uid)
    pod = stored.decode()
    _check_bindable(pod, name)
    status = with_condition(pod.get("status") or {}, {"type": "PodScheduled", "status": "True"}, now)
    status.pop("nominatedNodeName", None)
    bound_pod = {**pod, "spec": {**pod.get("spec", {}), "nodeName": target["name"]}, "status": status}
    return _with_topology(store, bound_pod, target["name"])


def _check_bindable(pod: Json, name: str) -> None:
    spec = pod.get("spec", {})
    why = ""
    if pod["metadata"].get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    if why:
        raise statuses.conflict(PODS, name, why, "binding")


def _with_topology(store: Store, pod: Json, node_name: str) -> Json:
    """Admission copies the node's zone and region to the pod, where it has none (PodTopologyLabels)."""
    node = store.find(NODES, "", node_name)
    copied = {key: node.labels[key] for key in TOPOLOGY_LABELS if node is not None and key in node.labels}
    if not copied:
        return pod
    labels = {**copied, **(pod["metadata"].get("labels") or {})}
    return {**pod, "metadata": {**pod["metadata"], "labels": labels}}


def check_eviction(store: Store, pod: Stored) -> None:
    """429 where a disruption budget has nothing left; what it allows is what its status says."""
    for stored in store.of(BUDGETS).objects.values():
        if stored.namespace != pod.namespace:
            continue
        budget = stored.decode()
        status = budget.get("status") or {}
        if _selects(budget.get("spec", {}).get("selector"), pod.labels) and status.get("disruptionsAllowed", 0) < 1:
            raise statuses.evicting_too_many(
                stored.name, status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
            )


def _selects(selector: Json | None, labels: Labels) -> bool:
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    return all(_meets(labels, each) for each in selector.get("matchExpressions") or [])


def _meets(labels: Labels, requirement: Json) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    return (labels.get(key) in requirement["values"]) is (operator == "In")


def grace_period(pod: Json, asked: int | None) -> int:
    """Seconds: at once where no kubelet has it or it is finished, else what was asked or its own."""
    finished = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    if finished or not pod.get("spec", {}).get("nodeName"):
        return 0
    if asked is not None:
        return max(asked, 0)
    own = pod.get("spec", {}).get("terminationGracePeriodSeconds")
    return 30 if own is None else int(own)
