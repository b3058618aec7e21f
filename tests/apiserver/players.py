"""Who else acts on a cluster: kubelets, and the controllers for volumes and device claims.

Each reacts to changes as they are stored, in the server's loop, after the seconds that it is given; 0 is at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from framework.objects.quantity import parse_quantity
from tests.apiserver.kinds import CLAIMS, DEVICE_CLAIMS, NODES, PODS, VOLUMES, Json, Kind
from tests.apiserver.store import Change, Store, Stored
from tests.apiserver.times import stamp
from tests.apiserver.writing import completed

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
COMPLETED = "pv.kubernetes.io/bind-completed"
BY_KUBELET = ("Initialized", "Ready", "ContainersReady")


@dataclass
class Stage:
    """What players act on; the server's loop only."""

    store: Store
    now: Callable[[], datetime]
    loop: asyncio.AbstractEventLoop
    failures: list[Exception]
    """What went wrong in a player: the server raises it when it ends."""

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        if seconds:
            self.loop.call_later(seconds, self._act, act)
        else:
            self.loop.call_soon(self._act, act)

    def _act(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Exception as error:
            self.failures.append(error)
            raise

    def change(self, kind: Kind, stored: Stored, by: Callable[[Json], None]) -> None:
        """Change what is there now, unless it is gone or another object has its name."""
        found = self.store.find(kind, stored.namespace, stored.name)
        if found is not None and found.uid == stored.uid:
            body = found.decode()
            by(body)
            self.store.put(kind, body)


class Player(Protocol):
    def react(self, stage: Stage, kind: Kind, change: Change) -> None: ...


@dataclass
class Kubelets:
    """A bound pod runs and is ready, or is rejected where the node has too little left; one that terminates is gone.

    ``stop_after`` None: it terminates for ever.
    """

    start_after: float = 0.0
    stop_after: float | None = 0.0

    def react(self, stage: Stage, kind: Kind, change: Change) -> None:
        new = change.new
        if kind is not PODS or new is None or not new.fields[0]:
            return
        if b'"deletionTimestamp"' in new.raw:
            if self.stop_after is not None and (change.old is None or b'"deletionTimestamp"' not in change.old.raw):
                stage.later(self.stop_after, lambda: _gone(stage, new))
        elif change.old is None or not change.old.fields[0]:
            stage.later(self.start_after, lambda: stage.change(PODS, new, lambda pod: _start(stage, pod)))


def _start(stage: Stage, pod: Json) -> None:
    if pod.setdefault("status", {}).get("phase") != "Pending":
        return
    rejected = _too_little(stage.store, pod)
    if rejected is not None:
        pod["status"] = {**pod["status"], **rejected, "phase": "Failed", "startTime": stamp(stage.now())}
    else:
        _run(pod, stage.now())


def _nanos(amounts: Json, resource: str) -> int:
    return parse_quantity(amounts.get(resource, "0")).nanos


def _requested(pod: Json, resource: str) -> int:
    containers = pod.get("spec", {}).get("containers", [])
    return sum(_nanos((each.get("resources") or {}).get("requests") or {}, resource) for each in containers)


def _too_little(store: Store, pod: Json) -> Json | None:
    """The status of a pod that a kubelet rejects: what runs there already leaves no room (OutOfcpu, OutOfmemory)."""
    node_name = pod["spec"]["nodeName"]
    node = store.find(NODES, "", node_name)
    if node is None:
        return None
    allocatable = node.decode().get("status", {}).get("allocatable", {})
    running = [
        stored.decode()
        for stored in store.of(PODS).objects.values()
        if stored.fields[0] == node_name and stored.fields[4] == "Running" and stored.uid != pod["metadata"]["uid"]
    ]
    for resource, unit in (("cpu", 10**6), ("memory", 10**9)):
        wanted, used = _requested(pod, resource), sum(_requested(each, resource) for each in running)
        capacity = _nanos(allocatable, resource)
        if wanted and wanted + used > capacity:
            said = (
                f"Pod was rejected: Node didn't have enough resource: {resource}, requested: {wanted // unit}, "
                f"used: {used // unit}, capacity: {capacity // unit}"
            )
            return {"reason": f"OutOf{resource}", "message": said}
    return None


def _run(pod: Json, now: datetime) -> None:
    status = pod["status"]
    times = {"lastProbeTime": None, "lastTransitionTime": stamp(now)}
    ready = [{"type": name, "status": "True", **times} for name in BY_KUBELET]
    others = [each for each in status.get("conditions", []) if each["type"] not in BY_KUBELET]
    pod["status"] = {**status, "phase": "Running", "conditions": [*ready, *others], "startTime": stamp(now)}


def _gone(stage: Stage, pod: Stored) -> None:
    found = stage.store.find(PODS, pod.namespace, pod.name)
    if found is None or found.uid != pod.uid:
        return
    body = found.decode()
    if body["metadata"].get("finalizers"):
        body["metadata"]["deletionGracePeriodSeconds"] = 0
        stage.store.put(PODS, body)
    else:
        stage.store.remove(PODS, pod.namespace, pod.name)


@dataclass
class Volumes:
    """The volume controller and a provisioner: claims are bound to what the scheduler chose.

    ``refuses``: so many times the provisioner takes the chosen node away again instead of making a volume.
    """

    after: float = 0.0
    refuses: int = 0

    def react(self, stage: Stage, kind: Kind, change: Change) -> None:
        new = change.new
        if new is None:
            return
        if kind is VOLUMES and b'"claimRef"' in new.raw and b'"Bound"' not in new.raw:
            stage.later(self.after, lambda: self._bind(stage, new))
        elif kind is CLAIMS and SELECTED_NODE.encode() in new.raw and b'"volumeName"' not in new.raw:
            stage.later(self.after, lambda: self._provision(stage, new))

    def _bind(self, stage: Stage, stored: Stored) -> None:
        volume = stored.decode()
        reference = volume["spec"]["claimRef"]
        claim = stage.store.find(CLAIMS, reference["namespace"], reference["name"])
        if claim is None or reference.get("uid", claim.uid) != claim.uid:
            return
        stage.change(VOLUMES, stored, lambda body: body.setdefault("status", {}).update(phase="Bound"))
        stage.change(CLAIMS, claim, lambda body: _bound_claim(body, volume))

    def _provision(self, stage: Stage, stored: Stored) -> None:
        found = stage.store.find(CLAIMS, stored.namespace, stored.name)
        claim = found.decode() if found is not None else {}
        node = claim.get("metadata", {}).get("annotations", {}).get(SELECTED_NODE)
        if found is None or node is None or found.uid != stored.uid or claim["spec"].get("volumeName"):
            return
        if self.refuses:
            self.refuses -= 1
            stage.change(CLAIMS, found, lambda body: body["metadata"]["annotations"].pop(SELECTED_NODE))
            return
        made = _provisioned(claim, node, stage.store.find(NODES, "", node))
        stage.store.put(VOLUMES, completed(VOLUMES, made, stage.now()))


def _bound_claim(claim: Json, volume: Json) -> None:
    annotations = claim["metadata"].setdefault("annotations", {})
    annotations.update({COMPLETED: "yes", BY_CONTROLLER: "yes"})
    claim["spec"]["volumeName"] = volume["metadata"]["name"]
    spec = volume["spec"]
    claim["status"] = {
        "phase": "Bound",
        "accessModes": spec.get("accessModes", []),
        "capacity": spec.get("capacity", {}),
    }


def _provisioned(claim: Json, node_name: str, node: Stored | None) -> Json:
    """A volume that only pods on that node reach."""
    metadata, spec = claim["metadata"], claim["spec"]
    hostname = node.labels.get("kubernetes.io/hostname", node_name) if node is not None else node_name
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [hostname]}]}
    return {
        "metadata": {"name": f"pvc-{metadata['uid']}", "annotations": {BY_CONTROLLER: "yes"}},
        "spec": {
            "capacity": spec.get("resources", {}).get("requests", {}),
            "accessModes": spec.get("accessModes", []),
            "storageClassName": spec.get("storageClassName", ""),
            "volumeMode": spec.get("volumeMode", "Filesystem"),
            "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "apiVersion": "v1",
                "namespace": metadata["namespace"],
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
        "status": {"phase": "Available"},
    }


@dataclass
class DeviceClaims:
    """The claim controller: claims from templates, and reservations and allocations that end with their pods."""

    after: float = 0.0

    def react(self, stage: Stage, kind: Kind, change: Change) -> None:
        if kind is not PODS:
            return
        new, old = change.new, change.old
        if new is not None and old is None and b'"resourceClaimTemplateName"' in new.raw:
            stage.later(self.after, lambda: self._make(stage, new))
        if new is None and old is not None:
            stage.later(self.after, lambda: self._free(stage, old))

    def _make(self, stage: Stage, stored: Stored) -> None:
        found = stage.store.find(PODS, stored.namespace, stored.name)
        if found is None or found.uid != stored.uid:
            return
        pod = found.decode()
        templates = {
            body["metadata"]["name"]: body
            for each in stage.store.collections["resource.k8s.io", "resourceclaimtemplates"].objects.values()
            if each.namespace == stored.namespace
            for body in (each.decode(),)
        }
        made = []
        for wanted in pod["spec"].get("resourceClaims", []):
            template = templates.get(wanted.get("resourceClaimTemplateName", ""))
            if template is not None:
                claim = _of_template(pod, wanted["name"], template)
                stage.store.put(DEVICE_CLAIMS, completed(DEVICE_CLAIMS, claim, stage.now()))
                made.append({"name": wanted["name"], "resourceClaimName": claim["metadata"]["name"]})
        stage.change(PODS, found, lambda body: body["status"].update(resourceClaimStatuses=made))

    def _free(self, stage: Stage, pod: Stored) -> None:
        for stored in list(stage.store.of(DEVICE_CLAIMS).objects.values()):
            claim = stored.decode()
            if any(owner.get("uid") == pod.uid for owner in claim["metadata"].get("ownerReferences", [])):
                stage.store.remove(DEVICE_CLAIMS, stored.namespace, stored.name)
            elif any(each.get("uid") == pod.uid for each in claim.get("status", {}).get("reservedFor", [])):
                stage.change(DEVICE_CLAIMS, stored, lambda body: _unreserved(body, pod.uid))


def _of_template(pod: Json, name: str, template: Json) -> Json:
    metadata = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"], "controller": True}
    return {
        "metadata": {
            "name": f"{metadata['name']}-{name}-{metadata['uid'][:5]}",
            "namespace": metadata["namespace"],
            "annotations": {"resource.kubernetes.io/pod-claim-name": name},
            "ownerReferences": [owner],
        },
        "spec": template["spec"]["spec"],
        "status": {},
    }


def _unreserved(claim: Json, uid: str) -> None:
    left = [each for each in claim["status"]["reservedFor"] if each.get("uid") != uid]
    claim["status"] = {**claim["status"], "reservedFor": left} if left else {}
