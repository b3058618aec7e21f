"""On which nodes a DaemonSet's pods belong, and what its controller writes into them (upstream: pkg/controller/daemon).

A node that is too full gets its pod as well: that it stays pending there is what a scheduler says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from framework.objects import Node, Pod
from framework.objects.selectors import required_node_affinity
from framework.objects.tolerations import find_untolerated_taint

_EXECUTE: Final = "NoExecute"
_SCHEDULE: Final = "NoSchedule"
_TOLERATED: Final = (
    ("node.kubernetes.io/not-ready", _EXECUTE),
    ("node.kubernetes.io/unreachable", _EXECUTE),
    ("node.kubernetes.io/disk-pressure", _SCHEDULE),
    ("node.kubernetes.io/memory-pressure", _SCHEDULE),
    ("node.kubernetes.io/pid-pressure", _SCHEDULE),
    ("node.kubernetes.io/unschedulable", _SCHEDULE),
)
_OF_HOST_NETWORK: Final = ("node.kubernetes.io/network-unavailable", _SCHEDULE)


def with_tolerations(spec: dict[str, Any]) -> dict[str, Any]:
    """With those that every pod of a DaemonSet has."""
    wanted = [*_TOLERATED, *([_OF_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    tolerations = list(spec.get("tolerations") or [])
    for key, effect in wanted:
        toleration = {"key": key, "operator": "Exists", "effect": effect}
        if toleration not in tolerations:
            tolerations.append(toleration)
    return {**spec, "tolerations": tolerations}


def for_node(spec: dict[str, Any], node: str) -> dict[str, Any]:
    """Only this node: the terms of a required node affinity have done their work and give way."""
    affinity = dict(spec.get("affinity") or {})
    node_affinity = dict(affinity.get("nodeAffinity") or {})
    named = {"key": "metadata.name", "operator": "In", "values": [node]}
    node_affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [named]}]}
    return {**spec, "affinity": {**affinity, "nodeAffinity": node_affinity}}


def eligible(pod: Pod, nodes: Iterable[Node]) -> Iterator[Node]:
    """``pod``: of the template, with its tolerations, meant for no node yet."""
    wanted = required_node_affinity(pod)
    for node in nodes:
        metadata = node.metadata
        if pod.spec.node_name not in ("", metadata.name) or not wanted.matches(metadata.labels, metadata.name):
            continue
        if find_untolerated_taint(node.spec.taints, pod.spec.tolerations, (_EXECUTE, _SCHEDULE)) is None:
            yield node
