"""Placed pods by their labels, so that nobody has to walk over pods: the first stage of every pod count.

Placements → ``LabelSets`` (pods of one namespace with equal labels are one entry, filed under each label) →
``MatchedPods`` (per row, how many pods a query counts). Both pull from the log of the stage before. A new query looks
at label sets, not at pods, and only at those filed under a label it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from framework.columns.incremental import Log
from framework.interface.columns import PodChange, PodQuery
from framework.interface.node_info import PodInfo
from framework.objects.selectors import IN, LabelMatcher

if TYPE_CHECKING:
    from framework.columns.snapshot import Snapshot

K = TypeVar("K")

KEPT_LOGS: Final = 1 << 14
"""Labels with a log of their own; queries for others read the log of all pods."""
SPARE_VERDICTS: Final = 4096
"""Verdicts about label sets that are gone which a query may remember."""


class LabelSet:
    """Placed pods with the same namespace and labels, terminating ones apart from the others."""

    __slots__ = ("id", "labels", "namespace", "rows", "terminating")

    def __init__(self, id_: int, pod: PodInfo) -> None:
        metadata = pod.pod.metadata
        self.id = id_
        self.namespace = metadata.namespace
        self.labels = metadata.labels
        self.terminating = metadata.deletion_timestamp is not None
        self.rows: dict[int, int] = {}
        """Row → how many of them are there; no entry for 0."""


class Arrival(NamedTuple):
    """``sign`` (1 or -1) pods of ``labels`` came to ``row``."""

    row: int
    labels: LabelSet
    sign: int


_Key = tuple[str, bool, tuple[tuple[str, str], ...]]


def _key(pod: PodInfo) -> _Key:
    metadata = pod.pod.metadata
    return metadata.namespace, metadata.deletion_timestamp is not None, tuple(sorted(metadata.labels.items()))


class LabelSets:
    """Every label set that a placed pod has, filed by namespace and by each label."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.placements = snapshot.placements
        self._position = -1
        self._next_id = 0
        self._sets: dict[_Key, LabelSet] = {}
        self._by_namespace: dict[str, dict[int, LabelSet]] = {}
        self._by_label: dict[tuple[str, str], dict[int, LabelSet]] = {}
        self.log: Log[Arrival] = Log()
        self._logs: dict[tuple[str, str], Log[Arrival]] = {}

    def log_of(self, query: PodQuery) -> Log[Arrival]:
        """A log with every arrival that the query may count: of pods with a label it asks for, if it asks for one."""
        for _, selector in query.terms:
            for requirement in selector.requirements:
                if requirement.operator == IN and len(requirement.values) == 1:
                    pair = (requirement.key, requirement.values[0])
                    log = self._logs.get(pair)
                    if log is None:
                        if len(self._logs) >= KEPT_LOGS:
                            return self.log
                        log = self._logs[pair] = Log()
                        log.everything()
                    return log
        return self.log

    def __len__(self) -> int:
        return len(self._sets)

    def refresh(self) -> None:
        placements = self.placements
        if self._position == placements.version:
            return
        entries = placements.since(self._position)
        self._position = placements.version
        if entries is None:
            self._start_over()
            return
        logs = self._logs
        for row, pod, sign in entries:
            arrival = Arrival(row, self._place(row, pod, sign), sign)
            self.log.append(arrival)
            if logs:
                for pair in pod.pod.metadata.labels.items():
                    if pair in logs:
                        logs[pair].append(arrival)

    def _start_over(self) -> None:
        self._sets.clear()
        self._by_namespace.clear()
        self._by_label.clear()
        # Every placed pod: most have the labels of another one, in the same order.
        known: dict[tuple[object, ...], tuple[LabelSet, list[int]]] = {}
        for row in range(self._snapshot.row_count):
            info = self._snapshot.info_of_row(row)
            for pod in info.pods if info is not None else ():
                metadata = pod.pod.metadata
                labels = metadata.labels
                # As many keys as values: which is which is clear from their number.
                identity = (metadata.namespace, metadata.deletion_timestamp is None, *labels, *labels.values())
                found = known.get(identity)
                if found is None:
                    found = known[identity] = self._labels_of(_key(pod), pod), []
                found[1].append(row)
        # One after another: a write into another dictionary for every pod costs as much as all the rest.
        for label_set, rows in known.values():
            counts = label_set.rows
            for row in rows:
                counts[row] = counts.get(row, 0) + 1
        self.log.everything()
        for log in self._logs.values():
            log.everything()

    def _place(self, row: int, pod: PodInfo, sign: int) -> LabelSet:
        key = _key(pod)
        labels = self._labels_of(key, pod)
        count = labels.rows.get(row, 0) + sign
        if count:
            labels.rows[row] = count
        else:
            del labels.rows[row]
            if not labels.rows:
                self._unfile(key, labels)
        return labels

    def _labels_of(self, key: _Key, pod: PodInfo) -> LabelSet:
        labels = self._sets.get(key)
        if labels is not None:
            return labels
        labels = self._sets[key] = LabelSet(self._next_id, pod)
        self._next_id += 1
        self._by_namespace.setdefault(labels.namespace, {})[labels.id] = labels
        for pair in key[2]:
            self._by_label.setdefault(pair, {})[labels.id] = labels
        return labels

    def _unfile(self, key: _Key, labels: LabelSet) -> None:
        del self._sets[key]
        _drop(self._by_namespace, labels.namespace, labels.id)
        for pair in key[2]:
            _drop(self._by_label, pair, labels.id)

    def candidates(self, namespaces: frozenset[str] | None, selector: LabelMatcher) -> Iterator[LabelSet]:
        """Label sets that may match, each once: the shortest way through the files."""
        if selector.nothing:
            return iter(())
        nothing: dict[int, LabelSet] = {}
        ways: list[list[dict[int, LabelSet]]] = [
            # Requirement.values are distinct, and a label has one value: no label set is met twice.
            [self._by_label.get((requirement.key, value), nothing) for value in requirement.values]
            for requirement in selector.requirements
            if requirement.operator == IN
        ]
        if namespaces is not None:
            ways.append([self._by_namespace.get(name, nothing) for name in sorted(namespaces)])
        if not ways:
            return iter(self._sets.values())
        shortest = min(ways, key=lambda files: sum(map(len, files)))
        return (labels for file in shortest for labels in file.values())


def _drop(files: dict[K, dict[int, LabelSet]], name: K, id_: int) -> None:
    file = files[name]
    del file[id_]
    if not file:
        del files[name]


class MatchedPods:
    """Per row, how many placed pods a query counts. ``log``: (row, by how much) since the last start over."""

    def __init__(self, label_sets: LabelSets, query: PodQuery) -> None:
        self.query = query
        self.rows: dict[int, int] = {}
        self.log: Log[tuple[int, int]] = Log()
        self._label_sets = label_sets
        self._source = label_sets.log_of(query)
        self._position = -1
        self._placements = label_sets.placements
        self._seen = -1
        """The version of the placements up to which all is known."""
        self._verdicts: dict[int, bool] = {}
        # Upstream counts nobody for an empty selector, which labels.Selector.Matches would let match everybody.
        self._nobody = query.spreading and all(selector.is_empty for _, selector in query.terms)

    def refresh(self) -> None:
        if self._seen == self._placements.version:
            return
        self._label_sets.refresh()
        self._seen = self._placements.version
        source = self._source
        if self._position == source.version:
            return
        entries = source.since(self._position)
        self._position = source.version
        if entries is None:
            self._start_over()
            return
        for row, labels, sign in entries:
            if self._counts(labels):
                count = self.rows.get(row, 0) + sign
                if count:
                    self.rows[row] = count
                else:
                    del self.rows[row]
                self.log.append((row, sign))

    def _start_over(self) -> None:
        self.rows = {}
        terms = self.query.terms
        if terms and not self._nobody:
            for labels in self._label_sets.candidates(*terms[0]):
                if not self._counts(labels):
                    continue
                if not self.rows:
                    self.rows = dict(labels.rows)
                    continue
                for row, count in labels.rows.items():
                    self.rows[row] = self.rows.get(row, 0) + count
        self.log.everything()

    def _counts(self, labels: LabelSet) -> bool:
        verdict = self._verdicts.get(labels.id)
        if verdict is None:
            if len(self._verdicts) > len(self._label_sets) + SPARE_VERDICTS:
                self._verdicts.clear()
            verdict = not (self._nobody or (self.query.spreading and labels.terminating)) and self.query.matches(
                labels.namespace, labels.labels
            )
            self._verdicts[labels.id] = verdict
        return verdict

    def change(self, change: PodChange) -> int:
        """By how much the pods of ``change`` would change its row's number (``PodQuery`` on what differs there)."""
        return self._number(change.added) - self._number(change.removed)

    def moves(self, change: PodChange) -> tuple[tuple[int, int], ...]:
        """(row, how many more): of its row, and of those that it takes pods away from for sums over several nodes."""
        own = (change.row, self.change(change))
        if not change.elsewhere:
            return (own,)
        return (own, *[(row, -1) for row, pod in change.elsewhere if self.is_counted(pod)])

    def is_counted(self, pod: PodInfo) -> bool:
        return self.query.matches(pod.pod.metadata.namespace, pod.pod.metadata.labels)

    def _number(self, pods: Iterable[PodInfo]) -> int:
        return sum(map(self.is_counted, pods))
