"""PodTopologySpread node by node and pod by pod, as upstream's loops do it: slow, and easy to hold against the source.

Only constraints that the pod brings itself, or default ones with a selector given by the test.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from framework.interface import NodeInfo, PodInfo
from framework.objects import LabelSelector, Node, Pod, TopologySpreadConstraint
from tests.plugins.naive_selectors import is_empty, required_affinity_matches, selects, tolerates_hard_taints

HOSTNAME = "kubernetes.io/hostname"
MISMATCH = "node(s) didn't match pod topology spread constraints"
MAX_INT32 = (1 << 31) - 1

Verdict = tuple[str, str] | None
"""(code, reason); None passes."""


@dataclass
class Rule:
    constraint: TopologySpreadConstraint
    selector: LabelSelector | None
    extra: dict[str, str]
    """Labels that matchLabelKeys add to the selector."""

    def selects(self, labels: dict[str, str]) -> bool:
        if self.selector is None:
            return False
        return selects(self.selector, labels) and all(labels.get(k) == v for k, v in self.extra.items())

    @property
    def key(self) -> str:
        return self.constraint.topology_key

    def count(self, pods: Iterable[PodInfo], namespace: str) -> int:
        if is_empty(self.selector) and not self.extra:
            return 0
        return sum(
            1
            for pod in pods
            if pod.pod.metadata.deletion_timestamp is None
            and pod.pod.metadata.namespace == namespace
            and self.selects(pod.pod.metadata.labels)
        )

    def includes(self, pod: Pod, node: Node) -> bool:
        constraint = self.constraint
        if constraint.node_affinity_policy in (None, "Honor") and not required_affinity_matches(pod, node):
            return False
        return constraint.node_taints_policy != "Honor" or tolerates_hard_taints(pod, node)


def rules_of(pod: Pod, action: str) -> list[Rule]:
    labels = pod.metadata.labels
    return [
        Rule(c, c.label_selector, {key: labels[key] for key in c.match_label_keys if key in labels})
        for c in pod.spec.topology_spread_constraints
        if c.when_unsatisfiable == action
    ]


def _node(info: NodeInfo) -> Node:
    assert info.node is not None
    return info.node


def _has_all(node: Node, rules: list[Rule]) -> bool:
    return all(rule.key in node.metadata.labels for rule in rules)


@dataclass
class CriticalPaths:
    """Upstream's way to follow the minimum: two domains, the second not always the second smallest."""

    first: tuple[str, int] = ("", MAX_INT32)
    second: tuple[str, int] = ("", MAX_INT32)

    def update(self, value: str, count: int) -> None:
        if value == self.first[0]:
            self.first = (value, count)
        elif value == self.second[0]:
            self.second = (value, count)
        else:
            if count < self.first[1]:
                self.first, self.second = (value, count), self.first
            elif count < self.second[1]:
                self.second = (value, count)
            return
        if self.first[1] > self.second[1]:
            self.first, self.second = self.second, self.first


@dataclass
class SpreadState:
    """Upstream's preFilterState."""

    pod: Pod
    rules: list[Rule]
    counts: list[dict[str, int]] = field(default_factory=list)
    paths: list[CriticalPaths] = field(default_factory=list)

    def clone(self) -> SpreadState:
        return SpreadState(self.pod, self.rules, copy.deepcopy(self.counts), copy.deepcopy(self.paths))

    def find_paths(self) -> None:
        for counts in self.counts:
            paths = CriticalPaths()
            for value, count in counts.items():
                paths.update(value, count)
            self.paths.append(paths)

    def update(self, changed: PodInfo, node: Node, by: int) -> None:
        """AddPod (1) and RemovePod (-1)."""
        if changed.pod.metadata.namespace != self.pod.metadata.namespace or not _has_all(node, self.rules):
            return
        for rule, counts, paths in zip(self.rules, self.counts, self.paths, strict=True):
            if rule.selects(changed.pod.metadata.labels) and rule.includes(self.pod, node):
                value = node.metadata.labels[rule.key]
                counts[value] += by
                paths.update(value, counts[value])

    def filter(self, node: Node) -> Verdict:
        for rule, counts, paths in zip(self.rules, self.counts, self.paths, strict=True):
            if rule.key not in node.metadata.labels:
                return "UnschedulableAndUnresolvable", f"{MISMATCH} (missing required label)"
            wanted = rule.constraint.min_domains
            minimum = paths.first[1]
            if len(counts) < (1 if wanted is None else wanted):
                minimum = 0
            own = 1 if rule.selects(self.pod.metadata.labels) else 0
            skew = counts.get(node.metadata.labels[rule.key], 0) + own - minimum
            if skew > rule.constraint.max_skew:
                return "Unschedulable", MISMATCH
        return None


def pre_filter(pod: Pod, nodes: Sequence[NodeInfo]) -> SpreadState | None:
    """None is Skip."""
    rules = rules_of(pod, "DoNotSchedule")
    if not rules:
        return None
    state = SpreadState(pod, rules, [{} for _ in rules])
    for info in nodes:
        node = _node(info)
        if not _has_all(node, rules):
            continue
        for rule, counts in zip(rules, state.counts, strict=True):
            if rule.includes(pod, node):
                value = node.metadata.labels[rule.key]
                counts[value] = counts.get(value, 0) + rule.count(info.pods, pod.metadata.namespace)
    state.find_paths()
    return state


def go_round(value: float) -> int:
    whole = math.trunc(value)
    return whole + 1 if value - whole >= 0.5 else whole


def scores(
    pod: Pod, nodes: Sequence[NodeInfo], feasible: Sequence[NodeInfo], rules: list[Rule], *, require_all: bool
) -> tuple[list[int], list[int]] | None:
    """(raw, normalised) in feasible order; None is Skip."""
    if not rules:
        return None
    namespace = pod.metadata.namespace
    ignored = {_node(i).name for i in feasible if require_all and not _has_all(_node(i), rules)}
    scored = [_node(i) for i in feasible if _node(i).name not in ignored]
    counts: list[dict[str, int]] = []
    weights: list[float] = []
    for rule in rules:
        values = {} if rule.key == HOSTNAME else {node.metadata.labels.get(rule.key, ""): 0 for node in scored}
        counts.append(values)
        weights.append(math.log((len(scored) if rule.key == HOSTNAME else len(values)) + 2))
    for info in nodes:
        node = _node(info)
        if require_all and not _has_all(node, rules):
            continue
        for rule, values in zip(rules, counts, strict=True):
            value = node.metadata.labels.get(rule.key, "")
            if value in values and rule.includes(pod, node):
                values[value] += rule.count(info.pods, namespace)
    raw = []
    for info in feasible:
        node, score = _node(info), 0.0
        for rule, values, weight in zip(rules, counts, weights, strict=True):
            if node.name in ignored or rule.key not in node.metadata.labels:
                continue
            own = rule.key == HOSTNAME
            count = rule.count(info.pods, namespace) if own else values[node.metadata.labels[rule.key]]
            score += float(count) * weight + float(rule.constraint.max_skew - 1)
        raw.append(go_round(score))
    return raw, _normalized(raw, [_node(info).name in ignored for info in feasible])


def _normalized(raw: list[int], ignored: list[bool]) -> list[int]:
    kept = [score for score, out in zip(raw, ignored, strict=True) if not out]
    highest, lowest = max([0, *kept]), min(kept, default=0)
    result = []
    for score, out in zip(raw, ignored, strict=True):
        if out:
            result.append(0)
        elif highest == 0:
            result.append(100)
        else:
            result.append(100 * (highest + lowest - score) // highest)
    return result
