"""Which events may help a pod that InterPodAffinity rejected (docs/semantics/plugins.md#interpodaffinity).

Terms are held against pods as written, without looking namespaces up: upstream does not do that here.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from framework.interface.affinity_terms import NO_LABELS, AffinityTerm, compile_term
from framework.objects import KubeObject, Node, Pod, PodAffinityTerm

Terms = tuple[AffinityTerm, ...]


def events() -> Sequence[ClusterEventWithHint]:
    pod = ClusterEvent(EventResource.POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE)
    node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
    return (
        ClusterEventWithHint(pod, after_pod_change, of_equal_pods=True),
        ClusterEventWithHint(node, after_node_change, of_equal_pods=True),
    )


def _near_terms(pod: Pod) -> Terms:
    affinity = pod.spec.affinity.pod_affinity if pod.spec.affinity else None
    return _compiled(pod, affinity.required_during_scheduling_ignored_during_execution if affinity else ())


def _apart_terms(pod: Pod) -> Terms:
    affinity = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
    return _compiled(pod, affinity.required_during_scheduling_ignored_during_execution if affinity else ())


def _compiled(pod: Pod, terms: tuple[PodAffinityTerm, ...]) -> Terms:
    """A term that cannot be parsed fails the hint, and a failed hint queues."""
    return tuple(compile_term(pod, term) for term in terms)


def _matches_all(terms: Terms, pod: Pod) -> bool:
    """Every term selects ``pod``; no terms select nobody."""
    metadata = pod.metadata
    return bool(terms) and all(term.matches(metadata.namespace, metadata.labels, NO_LABELS) for term in terms)


def _has_no_place(pod: Pod | None) -> bool:
    return pod is not None and not pod.spec.node_name and not pod.status.nominated_node_name


class Why(enum.Enum):
    """What a hint found; it says Queue where that helps."""

    OWN_LABELS = enum.auto()
    """Its own labels changed: somebody's anti-affinity may no longer mean it."""
    NO_PLACE = enum.auto()
    NEAR = enum.auto()
    """The other pod is now one that this one wants to be near."""
    NOT_APART = enum.auto()
    """The other pod is none any more that this one keeps away from."""
    APART_BEFORE = enum.auto()
    """The pod that went kept this one away by terms of this one; ``KEPT_AWAY``: by its own."""
    KEPT_AWAY = enum.auto()
    NEAR_NODE_ADDED = enum.auto()
    NEAR_KEY_ADDED = enum.auto()
    NEAR_DOMAIN_CHANGED = enum.auto()
    NODE_ADDED = enum.auto()
    """Terms that keep away do not count on a node without their key."""
    APART_KEY_GONE = enum.auto()
    APART_DOMAIN_CHANGED = enum.auto()
    NOTHING = enum.auto()


_HELPS_NOT = (Why.NO_PLACE, Why.NOTHING)


def _hint(why: Why) -> QueueingHint:
    return QueueingHint.SKIP if why in _HELPS_NOT else QueueingHint.QUEUE


def after_pod_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return _hint(why_after_pod(pod, old, new))


def after_node_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return _hint(why_after_node(pod, old, new))


def why_after_pod(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> Why:
    before = old if isinstance(old, Pod) else None
    after = new if isinstance(new, Pod) else None
    if before is not None and after is not None and after.metadata.uid == pod.metadata.uid:
        return Why.OWN_LABELS
    if _has_no_place(before) or _has_no_place(after):
        return Why.NO_PLACE
    near, apart = _near_terms(pod), _apart_terms(pod)
    if after is not None:
        if _matches_all(near, after) and (before is None or not _matches_all(near, before)):
            return Why.NEAR
        if before is not None and _matches_all(apart, before) and not _matches_all(apart, after):
            return Why.NOT_APART
        return Why.NOTHING
    assert before is not None
    if _matches_all(apart, before):
        return Why.APART_BEFORE
    return Why.KEPT_AWAY if _matches_all(_apart_terms(before), pod) else Why.NOTHING


def why_after_node(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> Why:
    assert isinstance(new, Node)
    labels = new.metadata.labels
    before = old.metadata.labels if isinstance(old, Node) else None
    for term in _near_terms(pod):
        key = term.topology_key
        if key not in labels:
            continue
        if before is None:
            return Why.NEAR_NODE_ADDED
        if before.get(key) != labels[key]:
            return Why.NEAR_DOMAIN_CHANGED if key in before else Why.NEAR_KEY_ADDED
    for term in _apart_terms(pod):
        key = term.topology_key
        if before is None:
            return Why.NODE_ADDED
        if key in before and labels.get(key) != before[key]:
            return Why.APART_DOMAIN_CHANGED if key in labels else Why.APART_KEY_GONE
    return Why.NOTHING
