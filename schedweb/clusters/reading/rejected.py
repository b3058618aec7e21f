"""Pods that their kubelet rejected because the node had no room left: what two schedulers on the same nodes lead to.

The reason is OutOfcpu, OutOfmemory, OutOfpods and so on (the kubelet's admission of pods). Watches leave pods that are
over out, so these are asked for.
"""

from __future__ import annotations

from typing import Final

import msgspec

from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import PODS
from schedweb.clusters.reading.listing import pages

PREFIX: Final = "OutOf"
SELECTOR: Final = "status.phase=Failed"
MOST_LOOKED_AT: Final = 2_000
MOST: Final = 50


class Rejected(msgspec.Struct):
    namespace: str
    name: str
    node: str
    reason: str
    """OutOfcpu, OutOfmemory, OutOfpods and so on."""
    message: str
    at: str
    """When it was bound, RFC 3339; when it was created where that is not known."""
    scheduler: str


class _Condition(msgspec.Struct):
    type: str = ""
    lastTransitionTime: str | None = None


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    creationTimestamp: str | None = None


class _Spec(msgspec.Struct):
    nodeName: str = ""
    schedulerName: str = ""


class _Status(msgspec.Struct):
    reason: str = ""
    message: str = ""
    conditions: list[_Condition] | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def rejected_for_room(access: Access) -> list[Rejected]:
    """The newest, as far as the cluster still has them. Raises ClusterProblem."""
    found: list[Rejected] = []
    looked = 0
    for page in pages(access, PODS, SELECTOR):
        looked += len(page.items)
        for item in page.items:
            pod = msgspec.json.decode(msgspec.json.encode(item), type=_Pod)
            if pod.status.reason.startswith(PREFIX):
                found.append(_rejected(pod))
        if looked >= MOST_LOOKED_AT:
            break
    return sorted(found, key=lambda each: each.at, reverse=True)[:MOST]


def _rejected(pod: _Pod) -> Rejected:
    bound = (each.lastTransitionTime for each in pod.status.conditions or () if each.type == "PodScheduled")
    return Rejected(
        pod.metadata.namespace,
        pod.metadata.name,
        pod.spec.nodeName,
        pod.status.reason,
        pod.status.message,
        next(filter(None, bound), None) or pod.metadata.creationTimestamp or "",
        pod.spec.schedulerName,
    )
