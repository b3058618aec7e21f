"""Which events may help a pod that InterPodAffinity rejected (docs/semantics/plugins.md#interpodaffinity).

Terms are held against pods as written, without looking namespaces up: upstream does not do that here.
"""

from __future__ import annotations

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


def _queue_if(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def after_pod_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    before = old if isinstance(old, Pod) else None
    after = new if isinstance(new, Pod) else None
    if before is not None and after is not None and after.metadata.uid == pod.metadata.uid:
        # Its own labels changed: somebody's anti-affinity may no longer mean it.
        return QueueingHint.QUEUE
    if _has_no_place(before) or _has_no_place(after):
        return QueueingHint.SKIP
    near, apart = _near_terms(pod), _apart_terms(pod)
    if after is not None:
        if before is None:
            return _queue_if(_matches_all(near, after))
        newly_near = not _matches_all(near, before) and _matches_all(near, after)
        return _queue_if(newly_near or (_matches_all(apart, before) and not _matches_all(apart, after)))
    assert before is not None
    return _queue_if(_matches_all(apart, before) or _matches_all(_apart_terms(before), pod))


def after_node_change(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    assert isinstance(new, Node)
    labels = new.metadata.labels
    before = old.metadata.labels if isinstance(old, Node) else None
    for term in _near_terms(pod):
        key = term.topology_key
        if key in labels and (before is None or before.get(key) != labels[key]):
            return QueueingHint.QUEUE
    for term in _apart_terms(pod):
        key = term.topology_key
        # On a new node without the key the term does not count at all.
        if before is None or (key in before and labels.get(key) != before[key]):
            return QueueingHint.QUEUE
    return QueueingHint.SKIP
