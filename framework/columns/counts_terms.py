"""Affinity terms of placed pods, held against an incoming pod.

Placements → ``TermIndex`` (equal terms are one entry, filed under a label they ask for) → ``PlacedTerms`` (weights of
the terms that match a target, per topology pair). A pod without pod affinity costs nothing here, and an incoming pod
only meets the terms that ask for one of its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from framework.columns.counts_domains import (
    DomainLog,
    DomainTable,
    Held,
    RowDomains,
    nothing_held,
    rows_of_domains,
)
from framework.columns.counts_pods import SPARE_VERDICTS
from framework.columns.facts import WHOLE, CodedFact, Extent
from framework.columns.groups import Grouping
from framework.columns.incremental import Log
from framework.columns.whole import Whole
from framework.interface.affinity_terms import AffinityTerm
from framework.interface.columns import Input, PodChange, Rows, TermKind, TermTarget
from framework.interface.node_info import PodInfo
from framework.objects.selectors import IN

if TYPE_CHECKING:
    from framework.columns.snapshot import Snapshot


class OwnTerm(NamedTuple):
    """A term as its pod names it; weight 0 for required ones, negative for preferred anti-affinity."""

    kind: TermKind
    weight: int
    term: AffinityTerm


def own_terms(pod: PodInfo) -> Iterator[OwnTerm]:
    terms = pod.affinity_terms
    for term in terms.required:
        yield OwnTerm(TermKind.REQUIRED, 0, term)
    for term in terms.required_anti:
        yield OwnTerm(TermKind.REQUIRED_ANTI, 0, term)
    for weight, term in terms.preferred:
        yield OwnTerm(TermKind.PREFERRED, weight, term)
    for weight, term in terms.preferred_anti:
        yield OwnTerm(TermKind.PREFERRED_ANTI, -weight, term)


class PlacedTerm:
    """One term, and on which rows pods with it are."""

    __slots__ = ("id", "own", "rows")

    def __init__(self, id_: int, own: OwnTerm) -> None:
        self.id = id_
        self.own = own
        self.rows: dict[int, int] = {}
        """Row → how often it occurs there (a pod may name it twice); no entry for 0."""


class TermArrival(NamedTuple):
    row: int
    placed: PlacedTerm
    sign: int


class TermIndex:
    """Every term of placed pods."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._position = -1
        self._next_id = 0
        self._placed: dict[OwnTerm, PlacedTerm] = {}
        self._by_label: dict[tuple[str, str], dict[int, PlacedTerm]] = {}
        self._unfiled: dict[int, PlacedTerm] = {}
        self._of_kind = dict.fromkeys(TermKind, 0)
        self.log: Log[TermArrival] = Log()

    def __len__(self) -> int:
        return len(self._placed)

    def refresh(self) -> None:
        placements = self._snapshot.placements
        if self._position == placements.version:
            return
        entries = placements.since(self._position)
        self._position = placements.version
        if entries is None:
            self._start_over()
            return
        for row, pod, sign in entries:
            if pod.pod.spec.affinity is not None and pod.has_affinity:
                for own in own_terms(pod):
                    self.log.append(TermArrival(row, self._place(row, own, sign), sign))

    def _start_over(self) -> None:
        self._placed.clear()
        self._by_label.clear()
        self._unfiled.clear()
        self._of_kind = dict.fromkeys(TermKind, 0)
        for row in range(self._snapshot.row_count):
            info = self._snapshot.info_of_row(row)
            for pod in info.pods if info is not None else ():
                if pod.pod.spec.affinity is not None and pod.has_affinity:
                    for own in own_terms(pod):
                        self._place(row, own, 1)
        self.log.everything()

    def _place(self, row: int, own: OwnTerm, sign: int) -> PlacedTerm:
        placed = self._placed.get(own)
        if placed is None:
            placed = self._placed[own] = PlacedTerm(self._next_id, own)
            self._next_id += 1
            self._of_kind[own.kind] += 1
            for file in self._files(own.term):
                file[placed.id] = placed
        count = placed.rows.get(row, 0) + sign
        if count:
            placed.rows[row] = count
        else:
            del placed.rows[row]
            if not placed.rows:
                self._remove(placed)
        return placed

    def _files(self, term: AffinityTerm) -> list[dict[int, PlacedTerm]]:
        if term.selector.nothing:
            return []
        for requirement in term.selector.requirements:
            if requirement.operator == IN:
                pairs = ((requirement.key, value) for value in requirement.values)
                return [self._by_label.setdefault(pair, {}) for pair in pairs]
        return [self._unfiled]

    def _remove(self, placed: PlacedTerm) -> None:
        del self._placed[placed.own]
        self._of_kind[placed.own.kind] -= 1
        for file in self._files(placed.own.term):
            del file[placed.id]
        for requirement in placed.own.term.selector.requirements:
            if requirement.operator == IN:
                for value in requirement.values:
                    if not self._by_label[requirement.key, value]:
                        del self._by_label[requirement.key, value]
                break

    def has_any(self, kinds: Iterable[TermKind]) -> bool:
        """Whether a placed pod has a term of one of these kinds."""
        if self._position != self._snapshot.placements.version:
            self.refresh()
        for kind in kinds:  # noqa: SIM110 (the hot path: a generator costs three times as much)
            if self._of_kind[kind]:
                return True
        return False

    def candidates(self, labels: Iterable[tuple[str, str]]) -> Iterator[PlacedTerm]:
        """Terms that may select a pod with these labels, each once: it is filed under values of one key."""
        for pair in labels:
            yield from self._by_label.get(pair, {}).values()
        yield from self._unfiled.values()


class PlacedTerms:
    """Input: int64 per row, Σ weights of placed pods' terms that match the target, over the node's topology pairs."""

    def __init__(
        self,
        index: TermIndex,
        extent: Extent,
        fact_of: Callable[[str], CodedFact],
        domains_of: Callable[[str], RowDomains],
        weights: tuple[tuple[TermKind, int | None], ...],
        target: TermTarget,
    ) -> None:
        self._index = index
        self._extent = extent
        self._fact_of = fact_of
        self._domains_of = domains_of
        self._weights: Mapping[TermKind, int | None] = dict(weights)
        self._target = target
        self._labels = dict(target.labels)
        self._namespace_labels = dict(target.namespace_labels)
        self._position = -1
        self._changes = -1
        self._verdicts: dict[int, bool] = {}
        self._tables: dict[str, DomainTable] = {}
        self._log: DomainLog = Log()
        self._any: Held[Whole] = nothing_held
        self._looked = -1
        self._found_at = (-1, -1)
        self._was_found = False

    def _weight(self, own: OwnTerm) -> int:
        constant = self._weights[own.kind]
        return own.weight if constant is None else constant

    def _matches(self, own: OwnTerm) -> bool:
        if own.kind not in self._weights:
            return False
        return own.term.matches(self._target.namespace, self._labels, self._namespace_labels)

    def _is_match(self, placed: PlacedTerm) -> bool:
        verdict = self._verdicts.get(placed.id)
        if verdict is None:
            if len(self._verdicts) > len(self._index) + SPARE_VERDICTS:
                self._verdicts.clear()
            verdict = self._verdicts[placed.id] = self._matches(placed.own)
        return verdict

    def _matching(self) -> Iterator[PlacedTerm]:
        return filter(self._is_match, self._index.candidates(self._target.labels))

    def refresh(self) -> None:
        index = self._index
        if self._changes == self._extent.changes:
            return
        self._changes = self._extent.changes
        index.refresh()
        if self._position != index.log.version:
            entries = index.log.since(self._position)
            self._position = index.log.version
            if entries is None:
                self._start_over()
            else:
                for row, placed, sign in entries:
                    if self._is_match(placed):
                        self._table(placed.own.term.topology_key).add(row, sign * self._weight(placed.own))
        for table in self._tables.values():
            table.follow_rows()

    def _start_over(self) -> None:
        self._tables.clear()
        numbers: dict[str, dict[int, int]] = {}
        for placed in self._matching():
            weight = self._weight(placed.own)
            of_key = numbers.setdefault(placed.own.term.topology_key, {})
            for row, count in placed.rows.items():
                of_key[row] = of_key.get(row, 0) + count * weight
        for key, of_key in numbers.items():
            self._table(key).reset(of_key)
        self._log.everything()

    def _table(self, key: str) -> DomainTable:
        table = self._tables.get(key)
        if table is None:
            # Its first follow_rows logs everything.
            table = self._tables[key] = DomainTable(self._extent, self._domains_of(key), self._log)
        return table

    def any(self) -> Input:
        found = self._any()
        if found is None:
            # What a change of one node's pods does to this is not needed by any plan.
            found = Whole(self._found, lambda change: self._found())
            self._any = ref(found)
        return found

    @property
    def axis(self) -> object:
        """Of one topology key; None for several."""
        self.refresh()
        if len(self._tables) > 1:
            return None
        return next((table.fact for table in self._tables.values()), WHOLE)

    def grouping(self) -> Grouping | None:
        self.refresh()
        tables = list(self._tables.values())
        if all(not table.fact.has_few_values for table in tables):
            return Grouping(numbered=bool(tables), is_of_nodes=False)
        return Grouping((tables[0].fact,), is_of_nodes=False) if len(tables) == 1 else None

    def number_of(self, row: int) -> int:
        return sum(table.number_of(row) or 0 for table in self._tables.values())

    def numbers(self) -> NDArray[np.int64]:
        return self.gather(None)

    def _found(self) -> bool:
        """Whether a term that matches is on a node with its topology key. Asks for no sums."""
        if self._looked == self._extent.changes:
            return self._was_found
        self._looked = self._extent.changes
        self._index.refresh()
        state = (self._index.log.version, self._extent.nodes_log.version)
        if state != self._found_at:
            self._found_at, self._was_found = state, self._look()
        return self._was_found

    def _look(self) -> bool:
        for placed in self._matching():
            codes = self._fact_of(placed.own.term.topology_key).codes
            if any(codes[row] >= 0 for row in placed.rows):
                return True
        return False

    @property
    def version(self) -> int:
        self.refresh()
        return self._log.version

    def changed_since(self, version: int) -> Rows:
        self.refresh()
        return rows_of_domains(self._log, version)

    def gather(self, rows: Rows) -> NDArray[np.int64]:
        self.refresh()
        total = np.zeros(self._extent.used if rows is None else len(rows), dtype=np.int64)
        for table in self._tables.values():
            codes = table.fact.gather(rows).codes
            # Rows without the key are summed in the last slot, which is nobody's domain.
            sums = table.table
            if sums[-1]:
                sums = sums.copy()
                sums[-1] = 0
            total += sums[codes]
        return total

    def gather_changed(self, change: PodChange) -> NDArray[np.int64]:
        total = self.gather(np.array([change.row], dtype=np.intp))
        for sign, pods in ((1, change.added), (-1, change.removed)):
            for pod in pods:
                if not pod.has_affinity:
                    continue
                for own in own_terms(pod):
                    if self._matches(own) and self._fact_of(own.term.topology_key).codes[change.row] >= 0:
                        total[0] += sign * self._weight(own)
        for row, pod in change.elsewhere:
            for own in own_terms(pod) if pod.has_affinity else ():
                if self._matches(own):
                    codes = self._fact_of(own.term.topology_key).codes
                    if codes[row] == codes[change.row] >= 0:
                        total[0] -= self._weight(own)
        return total

    def is_counted(self, pod: PodInfo) -> bool:
        return pod.has_affinity and any(map(self._matches, own_terms(pod)))
