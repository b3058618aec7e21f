"""Counts of placed pods and of their affinity terms, per topology domain: the entry to ``counts_*``.

Everything is made when it is asked for and pulls what happened since from logs; a run whose pods ask for no counts
pays nothing. Upstream walks over all pods of all nodes in PreFilter and PreScore for the same numbers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from framework.columns.counts_domains import PodsInDomains, PodsOnNode, RowDomains
from framework.columns.counts_pods import LabelSets, MatchedPods
from framework.columns.counts_terms import PlacedTerms, TermIndex
from framework.columns.row_values import Eligible
from framework.columns.whole import Whole
from framework.interface.columns import Input, PodQuery, TermKind, TermTarget
from framework.objects.selectors import NodeSelectorMatcher

if TYPE_CHECKING:
    from framework.columns.snapshot import Snapshot


class Counts:
    """Makes the inputs; the snapshot keeps them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._label_sets = LabelSets(snapshot)
        self._terms = TermIndex(snapshot)

    def refresh(self) -> None:
        self._label_sets.refresh()
        self._terms.refresh()

    def _matched(self, query: PodQuery) -> MatchedPods:
        return self._snapshot.input(("matched", query), lambda: MatchedPods(self._label_sets, query))

    def pods_in_domains(
        self, query: PodQuery, key: str, eligible: Input | None, *, keyless_as_empty: bool
    ) -> PodsInDomains:
        snapshot = self._snapshot
        return snapshot.input(
            ("domains", query, key, eligible, keyless_as_empty),
            lambda: PodsInDomains(
                self._matched(query),
                snapshot.extent,
                self._row_domains(key, eligible, keyless_as_empty=keyless_as_empty),
            ),
        )

    def _row_domains(self, key: str, eligible: Input | None, *, keyless_as_empty: bool = False) -> RowDomains:
        snapshot = self._snapshot
        return snapshot.input(
            ("row domains", key, eligible, keyless_as_empty),
            lambda: RowDomains(snapshot.extent, snapshot.label(key), eligible, keyless_as_empty=keyless_as_empty),
        )

    def pods_on_node(self, query: PodQuery) -> PodsOnNode:
        snapshot = self._snapshot
        return snapshot.input(("on node", query), lambda: PodsOnNode(self._matched(query), snapshot.extent))

    def placed_terms(self, weights: tuple[tuple[TermKind, int | None], ...], target: TermTarget) -> PlacedTerms:
        snapshot = self._snapshot
        return snapshot.input(
            ("terms", weights, target),
            lambda: PlacedTerms(
                self._terms, snapshot.extent, snapshot.label, lambda key: self._row_domains(key, None), weights, target
            ),
        )

    def any_terms(self, weights: tuple[tuple[TermKind, int | None], ...]) -> Whole:
        terms = self._terms

        def make() -> Whole:
            kinds = tuple(kind for kind, _ in weights)
            # What a change of one node's pods does to this is not needed by any plan.
            return Whole(partial(terms.has_any, kinds), lambda change: terms.has_any(kinds))

        return self._snapshot.input(("any terms", weights), make)

    def eligible(
        self, keys: tuple[str, ...], matcher: NodeSelectorMatcher | None, tolerating: Input | None
    ) -> Eligible:
        snapshot = self._snapshot

        def make() -> Eligible:
            matching = snapshot.nodes_matching(matcher) if matcher is not None else None
            conditions = tuple(condition for condition in (matching, tolerating) if condition is not None)
            return Eligible(snapshot.extent, tuple(map(snapshot.label, keys)), conditions)

        return snapshot.input(("eligible", keys, matcher, tolerating), make)
