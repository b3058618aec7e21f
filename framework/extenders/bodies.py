"""The bodies of requests, as Go writes them: keys of the API in lower camel case inside, Go's own field names outside.

Pods and nodes are what is kept of them here, completed with the API server's defaults where a field with one is not
kept (docs/semantics/extenders.md#requests). Quantities are in their canonical form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from framework.objects import Node, Pod
from framework.objects.sealed_fields import without_seals
from framework.objects.stored_volumes import canonical, complete_volume, pull_policy, write_empty_fields
from framework.reading.redaction import without_secrets

_QUANTITIES: Final = frozenset(("capacity", "allocatable", "requests", "limits", "overhead", "allocatedResources"))
_SYSTEM_INFO: Final = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)
_POD_DEFAULTS: Final = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "schedulerName": "default-scheduler",
}
_CONTAINER_DEFAULTS: Final = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def pod_json(pod: Pod, *, sends_secrets: bool = True) -> dict[str, Any]:
    """``metadata``, ``spec``, ``status``; the kind is not sent. ``sends_secrets``: as ``SchedulerOptions`` has it."""
    found = _plain(pod)
    spec = found.setdefault("spec", {})
    for key, value in _POD_DEFAULTS.items():
        spec.setdefault(key, value)
    for name in ("containers", "initContainers"):
        for container in spec.get(name, ()):
            for key, value in _CONTAINER_DEFAULTS.items():
                container.setdefault(key, value)
            container.setdefault("imagePullPolicy", pull_policy(str(container.get("image", ""))))
    if "volumes" in spec:
        # Before seals and secrets go: a default in the place of one would be told as if somebody had chosen it.
        for volume in spec["volumes"]:
            complete_volume(volume)
            write_empty_fields(volume)
        clean = without_seals if sends_secrets else without_secrets
        spec["volumes"] = [clean(each) for each in spec["volumes"]]
    status = found.setdefault("status", {})
    for condition in status.get("conditions", ()):
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)
    for name in ("containerStatuses", "initContainerStatuses"):
        for container in status.get(name, ()):
            container.setdefault("state", {})
            container.setdefault("lastState", {})
            container.setdefault("ready", False)
            container.setdefault("restartCount", 0)
            container.setdefault("image", "")
            container.setdefault("imageID", "")
    return found


def node_json(node: Node) -> dict[str, Any]:
    found = _plain(node)
    found.setdefault("spec", {})
    status = found.setdefault("status", {})
    for condition in status.get("conditions", ()):
        condition.setdefault("lastHeartbeatTime", None)
        condition.setdefault("lastTransitionTime", None)
    status.setdefault("daemonEndpoints", {"kubeletEndpoint": {"Port": 0}})
    info = status.setdefault("nodeInfo", {})
    for name in _SYSTEM_INFO:
        info.setdefault(name, "")
    return found


def _plain(obj: Pod | Node) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(obj))
    fields.setdefault("metadata", {})
    _canonical(fields)
    return fields


def _canonical(value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            _canonical(each)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in _QUANTITIES and isinstance(inner, dict):
                value[key] = {name: canonical(amount) for name, amount in inner.items()}
            elif key not in ("labels", "annotations"):
                _canonical(inner)


class Bodies:
    """Makes bodies. A node's JSON is made once and kept while the node is the same object."""

    _sends_secrets = False
    """Of checkpoints that have no such field: they are of runs."""

    def __init__(self, *, sends_secrets: bool) -> None:
        self._nodes: dict[str, tuple[Node, msgspec.Raw]] = {}
        self._sends_secrets = sends_secrets

    def __getstate__(self) -> dict[str, Any]:
        """Checkpoints do without what is kept."""
        return {**self.__dict__, "_nodes": {}}

    def _pod(self, pod: Pod) -> dict[str, Any]:
        return pod_json(pod, sends_secrets=self._sends_secrets)

    def _node(self, node: Node) -> msgspec.Raw:
        name = node.metadata.name
        known = self._nodes.get(name)
        if known is None or known[0] is not node:
            known = self._nodes[name] = (node, msgspec.Raw(msgspec.json.encode(node_json(node))))
        return known[1]

    def args(self, pod: Pod, nodes: Sequence[Node], *, names_only: bool) -> bytes:
        """Of filter and prioritize."""
        body: dict[str, Any] = {"Pod": self._pod(pod), "Nodes": None, "NodeNames": None}
        if names_only:
            body["NodeNames"] = [node.metadata.name for node in nodes]
        else:
            body["Nodes"] = {"metadata": {}, "items": [self._node(node) for node in nodes]}
        return msgspec.json.encode(body)

    def preemption_args(self, pod: Pod, victims: Mapping[str, tuple[Sequence[Pod], int]], *, uids_only: bool) -> bytes:
        """``victims``: node → (pods, how many of them a budget protects)."""
        body: dict[str, Any] = {"Pod": self._pod(pod), "NodeNameToVictims": None, "NodeNameToMetaVictims": None}
        key = "NodeNameToMetaVictims" if uids_only else "NodeNameToVictims"
        body[key] = {
            node: {
                "Pods": [{"UID": each.metadata.uid} if uids_only else self._pod(each) for each in pods],
                "NumPDBViolations": violations,
            }
            for node, (pods, violations) in sorted(victims.items())
        }
        return msgspec.json.encode(body)

    @staticmethod
    def binding_args(pod: Pod, node: str) -> bytes:
        metadata = pod.metadata
        return msgspec.json.encode(
            {"PodName": metadata.name, "PodNamespace": metadata.namespace, "PodUID": metadata.uid, "Node": node}
        )
