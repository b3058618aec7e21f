"""InterPodAffinity node by node and pod by pod, as upstream's loops do it: slow, easy to hold against the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from framework.interface import NodeInfo, PodInfo
from framework.objects import Namespace, Node, Pod, PodAffinityTerm
from tests.plugins.naive_selectors import is_empty, selects
from tests.plugins.naive_spread import Verdict

Pair = tuple[str, str]
NOT_NEAR = ("UnschedulableAndUnresolvable", "node(s) didn't match pod affinity rules")
NOT_APART = ("Unschedulable", "node(s) didn't match pod anti-affinity rules")
UNWANTED = ("Unschedulable", "node(s) didn't satisfy existing pods anti-affinity rules")


def _node(info: NodeInfo) -> Node:
    assert info.node is not None
    return info.node


@dataclass
class Term:
    raw: PodAffinityTerm
    namespaces: set[str]

    @classmethod
    def parse(cls, pod: Pod, raw: PodAffinityTerm) -> Term:
        own = not raw.namespaces and raw.namespace_selector is None
        return cls(raw, {pod.metadata.namespace} if own else set(raw.namespaces))

    def merge_namespaces(self, namespaces: Sequence[Namespace]) -> Term:
        """For an incoming pod. The selector stays, against upstream's intention."""
        if not is_empty(self.raw.namespace_selector):
            for namespace in namespaces:
                if selects(self.raw.namespace_selector, namespace.metadata.labels):
                    self.namespaces.add(namespace.name)
        return self

    def matches(self, pod: Pod, namespace_labels: dict[str, str]) -> bool:
        there = pod.metadata.namespace in self.namespaces or selects(self.raw.namespace_selector, namespace_labels)
        return there and selects(self.raw.label_selector, pod.metadata.labels)


def _terms(pod: Pod, raw: Iterable[PodAffinityTerm]) -> list[Term]:
    return [Term.parse(pod, term) for term in raw]


def near(pod: PodInfo) -> list[Term]:
    return _terms(pod.pod, pod.required_affinity)


def apart(pod: PodInfo) -> list[Term]:
    return _terms(pod.pod, pod.required_anti_affinity)


def _all_match(terms: list[Term], pod: Pod) -> bool:
    return bool(terms) and all(term.matches(pod, {}) for term in terms)


Counts = dict[Pair, int]


def _update(counts: Counts, node: Node, key: str, by: int) -> None:
    if key in node.metadata.labels:
        pair = (key, node.metadata.labels[key])
        counts[pair] = counts.get(pair, 0) + by
        if counts[pair] == 0:
            del counts[pair]


@dataclass
class InterPodState:
    pod: PodInfo
    near: list[Term]
    apart: list[Term]
    namespace_labels: dict[str, str]
    existing: Counts = field(default_factory=dict)
    near_counts: Counts = field(default_factory=dict)
    apart_counts: Counts = field(default_factory=dict)

    def clone(self) -> InterPodState:
        return InterPodState(
            self.pod,
            self.near,
            self.apart,
            self.namespace_labels,
            dict(self.existing),
            dict(self.near_counts),
            dict(self.apart_counts),
        )

    def update(self, changed: PodInfo, node: Node, by: int) -> None:
        """AddPod (1) and RemovePod (-1); also how PreFilter takes in every existing pod."""
        for term in apart(changed):
            if term.matches(self.pod.pod, self.namespace_labels):
                _update(self.existing, node, term.raw.topology_key, by)
        if _all_match(self.near, changed.pod):
            for term in self.near:
                _update(self.near_counts, node, term.raw.topology_key, by)
        for term in self.apart:
            if term.matches(changed.pod, {}):
                _update(self.apart_counts, node, term.raw.topology_key, by)

    def filter(self, node: Node) -> Verdict:
        if not self._near(node):
            return NOT_NEAR
        labels = node.metadata.labels
        for term in self.apart:
            key = term.raw.topology_key
            if key in labels and self.apart_counts.get((key, labels[key]), 0) > 0:
                return NOT_APART
        if any(self.existing.get(pair, 0) > 0 for pair in labels.items()):
            return UNWANTED
        return None

    def _near(self, node: Node) -> bool:
        labels, found = node.metadata.labels, True
        for term in self.near:
            key = term.raw.topology_key
            if key not in labels:
                return False
            if self.near_counts.get((key, labels[key]), 0) <= 0:
                found = False
        return found or (not self.near_counts and _all_match(self.near, self.pod.pod))


def _namespace_labels(pod: Pod, namespaces: Sequence[Namespace]) -> dict[str, str]:
    return next((n.metadata.labels for n in namespaces if n.name == pod.metadata.namespace), {})


def pre_filter(pod: PodInfo, nodes: Sequence[NodeInfo], namespaces: Sequence[Namespace]) -> InterPodState | None:
    """None is Skip."""
    state = InterPodState(
        pod,
        [term.merge_namespaces(namespaces) for term in near(pod)],
        [term.merge_namespaces(namespaces) for term in apart(pod)],
        _namespace_labels(pod.pod, namespaces),
    )
    for info in nodes:
        for existing in info.pods:
            state.update(existing, _node(info), 1)
    if not state.existing and not state.near and not state.apart:
        return None
    return state


def scores(
    pod: PodInfo,
    nodes: Sequence[NodeInfo],
    feasible: Sequence[NodeInfo],
    namespaces: Sequence[Namespace],
    *,
    hard_weight: int = 1,
    ignore_existing: bool = False,
) -> tuple[list[int], list[int]] | None:
    """(raw, normalised) in feasible order; None is Skip."""
    own = [(w.weight, 1, Term.parse(pod.pod, w.pod_affinity_term)) for w in pod.preferred_affinity]
    own += [(w.weight, -1, Term.parse(pod.pod, w.pod_affinity_term)) for w in pod.preferred_anti_affinity]
    if ignore_existing and not own:
        return None
    for _, _, term in own:
        term.merge_namespaces(namespaces)
    labels = _namespace_labels(pod.pod, namespaces)
    table: dict[Pair, int] = {}

    def count(term: Term, weight: int, target: Pod, target_labels: dict[str, str], node: Node) -> None:
        key = term.raw.topology_key
        if term.matches(target, target_labels) and key in node.metadata.labels:
            pair = (key, node.metadata.labels[key])
            table[pair] = table.get(pair, 0) + weight

    for info in nodes:
        node = _node(info)
        for existing in info.pods:
            for weight, sign, term in own:
                count(term, weight * sign, existing.pod, {}, node)
            if hard_weight > 0:
                for term in near(existing):
                    count(term, hard_weight, pod.pod, labels, node)
            for weighted in existing.preferred_affinity:
                count(Term.parse(existing.pod, weighted.pod_affinity_term), weighted.weight, pod.pod, labels, node)
            for weighted in existing.preferred_anti_affinity:
                count(Term.parse(existing.pod, weighted.pod_affinity_term), -weighted.weight, pod.pod, labels, node)
    if not table:
        return None
    raw = [sum(table.get(pair, 0) for pair in _node(info).metadata.labels.items()) for info in feasible]
    lowest, highest = min(raw), max(raw)
    if highest == lowest:
        return raw, [0] * len(raw)
    return raw, [int(100.0 * (float(score - lowest) / float(highest - lowest))) for score in raw]
