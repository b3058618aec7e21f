"""Which nodes a selector selects, found through the values of their labels instead of node by node.

Volumes of one node each are common (local disks, capacities per node): with as many selectors as nodes, every selector
must cost no more than the few nodes that it selects.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import View
from framework.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.metadata import LabelSelector, LabelSelectorRequirement
from framework.objects.selectors import (
    IN,
    LabelMatcher,
    NodeSelectorMatcher,
    NodeTermMatcher,
    Requirement,
    SelectorError,
    compile_label_selector,
    compile_node_selector,
)
from framework.objects.storage import TopologySelectorTerm

RowSet = NDArray[np.intp]
"""Ascending row numbers."""
_NONE: Final = np.zeros(0, dtype=np.intp)


class _Label:
    """The rows by value of one label."""

    def __init__(self, codes: NDArray[np.int32], values: list[str]) -> None:
        self.codes = codes
        self.values = values
        self._order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[self._order], np.arange(len(values) + 1))
        self._starts: list[int] = starts.tolist()
        """Code → where its rows begin in the order; one more for the end."""
        self._codes = {value: code for code, value in enumerate(values)}
        self._verdicts: dict[Requirement, NDArray[np.bool_]] = {}

    def rows(self, wanted: tuple[str, ...]) -> RowSet:
        found = []
        for value in wanted:
            code = self._codes.get(value)
            if code is not None:
                found.append(self._order[self._starts[code] : self._starts[code + 1]])
        if len(found) == 1:
            return found[0]
        return np.sort(np.concatenate(found)) if found else _NONE

    def verdict(self, requirement: Requirement) -> NDArray[np.bool_]:
        known = self._verdicts.get(requirement)
        if known is None:
            key = requirement.key
            table = [requirement.matches({key: value}) for value in self.values]
            known = np.array([*table, requirement.matches({})], dtype=np.bool_)[self.codes]
            self._verdicts[requirement] = known
        return known


class NodeSets:
    """Over the view's rows as they are now; made anew for every cycle."""

    def __init__(self, view: View) -> None:
        self._view = view
        names = view.name().gather(None)
        self.count = len(names.codes)
        self.all: RowSet = np.flatnonzero(names.codes >= 0)
        self._labels: dict[str, _Label] = {}
        self._found: dict[NodeSelectorMatcher, RowSet] = {}

    def _label(self, key: str) -> _Label:
        label = self._labels.get(key)
        if label is None:
            codes = self._view.label(key).gather(None)
            label = self._labels[key] = _Label(codes.codes, list(codes.values))
        return label

    def rows(self, matcher: NodeSelectorMatcher) -> RowSet:
        found = self._found.get(matcher)
        if found is None:
            found = self._selected(matcher)
            self._found[matcher] = found
        return found

    def _selected(self, matcher: NodeSelectorMatcher) -> RowSet:
        found = self._labelled(matcher.labels)
        if matcher.terms is None:
            return found
        terms = [self._labelled(term.labels) for term in matcher.terms if not term.errors]
        either = terms[0] if len(terms) == 1 else np.unique(np.concatenate(terms)) if terms else _NONE
        return either if found is self.all else np.intersect1d(found, either, assume_unique=True)

    def _labelled(self, matcher: LabelMatcher) -> RowSet:
        if matcher.nothing:
            return _NONE
        found: RowSet | None = None
        for requirement in matcher.requirements:
            label = self._label(requirement.key)
            if found is None:
                if requirement.operator == IN:
                    found = label.rows(requirement.values)
                else:
                    found = self.all[label.verdict(requirement)[self.all]]
            elif len(found) <= len(requirement.values) + 8 and requirement.operator == IN:
                wanted = requirement.values
                codes = label.codes[found].tolist()
                kept = [code >= 0 and label.values[code] in wanted for code in codes]
                found = found[np.array(kept, dtype=np.bool_)]
            else:
                found = found[label.verdict(requirement)[found]]
        return self.all if found is None else found

    def column(self, rows: RowSet) -> NDArray[np.bool_]:
        result = np.zeros(self.count, dtype=np.bool_)
        result[rows] = True
        return result


EVERY_NODE: Final = NodeSelectorMatcher()


@lru_cache(maxsize=1 << 15)
def volume_affinity(required: NodeSelector | None) -> NodeSelectorMatcher:
    """A volume's node affinity is held against labels alone; matchFields are not looked at (upstream
    CheckNodeAffinity makes a node without a name)."""
    if required is None:
        return EVERY_NODE
    matcher = compile_node_selector(required)
    return NodeSelectorMatcher(terms=tuple(NodeTermMatcher(t.labels, (), t.errors) for t in matcher.terms or ()))


@lru_cache(maxsize=1 << 12)
def allowed_topologies(terms: tuple[TopologySelectorTerm, ...]) -> NodeSelectorMatcher:
    """A class without terms allows every node; an empty term allows none (upstream MatchTopologySelectorTerms)."""
    if not terms:
        return EVERY_NODE
    return compile_node_selector(
        NodeSelector(
            node_selector_terms=tuple(
                NodeSelectorTerm(
                    match_expressions=tuple(
                        NodeSelectorRequirement(key=each.key, operator=IN, values=each.values)
                        for each in term.match_label_expressions
                    )
                )
                for term in terms
            )
        )
    )


def topology_of_capacity(selector: LabelSelector | None) -> NodeSelectorMatcher | None:
    """None when no node has access: without a topology, or with one that cannot be read."""
    if selector is None:
        return None
    return _labelled_nodes(tuple(selector.match_labels.items()), selector.match_expressions)


@lru_cache(maxsize=1 << 15)
def _labelled_nodes(
    labels: tuple[tuple[str, str], ...], expressions: tuple[LabelSelectorRequirement, ...]
) -> NodeSelectorMatcher | None:
    try:
        matcher = compile_label_selector(LabelSelector(match_labels=dict(labels), match_expressions=expressions))
    except SelectorError:
        return None
    return NodeSelectorMatcher(labels=matcher)
