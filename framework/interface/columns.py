"""Columns: how a built-in plugin answers for all nodes at once.

A plugin's filter or score over columns is a Plan: an element-wise kernel and the inputs its answer depends on. The
runtime gathers the inputs for the rows it needs (all of them, those that changed, or one node with other pods on it)
and calls the kernel; a plugin never knows which. Rows are stable slots of nodes, not positions in visit order.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import methodcaller
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from framework.interface.node_info import HostPort, PodInfo
from framework.interface.node_values import NodeValues
from framework.interface.status import Code
from framework.objects import Pod, Taint
from framework.objects.selectors import LabelMatcher, NodeSelectorMatcher

Rows = NDArray[np.intp] | None
"""Row numbers, or None for all rows (including rows of deleted nodes, whose answers are not read)."""
ALL_ROWS: Final[Rows] = None
FEW_ROWS: Final = 16
ABSENT: Final = -1
"""The code of a node that has no value."""


@lru_cache(maxsize=1 << 14)
def one_row(row: int) -> NDArray[np.intp]:
    """An array of a single row number, which everybody who names this row shares."""
    rows = np.array([row], dtype=np.intp)
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=64)
def everywhere(value: int, rows: int) -> NDArray[np.int8]:
    """A kernel's answer that is the same for so many rows: one byte in memory, so that nobody looks through it."""
    return np.broadcast_to(np.int8(value), rows)


class PodChange(Protocol):
    """Pods added to and removed from ONE node: nominated pods, and preemption's dry runs."""

    @property
    def row(self) -> int: ...

    @property
    def added(self) -> Sequence[PodInfo]: ...

    @property
    def removed(self) -> Sequence[PodInfo]: ...

    @property
    def port_moves(self) -> Sequence[tuple[PodInfo, bool]]:
        """Pods with host ports in the order in which they came (True) and went, also those that came back.

        A node's ports are a set (``NodeInfo.used_ports``): where two pods hold the same one, the order matters.
        """
        ...

    @property
    def elsewhere(self) -> Sequence[tuple[int, PodInfo]]:
        """(row, pod) of pods that are gone for what is counted over several nodes, though the node of ``row`` still has
        them: it may be this one or another (``Handle.dry_run_across``). Of each such pod an input that counts so says
        ``is_counted(pod)``; to others this is nothing."""
        ...


class Versioned(Protocol):
    """``version`` grows with every change."""

    @property
    def version(self) -> int: ...


class Input(Versioned, Protocol):
    """Something a kernel's answer depends on, aligned with the node axis.

    One that counts pods over several nodes also has ``is_counted(pod)``: whether it matters to any row that the pod is
    there (``PodChange.elsewhere``).

    ``gather`` gives the value for rows; ``gather_changed`` gives it for the single row ``change.row`` as if the pods of
    ``change`` had come and gone (arrays of length 1; counts and minima of the node's domains included).
    ``changed_since`` names the rows whose gathered value may differ since then,
    or None for "all of them".
    """

    def changed_since(self, version: int) -> Rows: ...

    def gather(self, rows: Rows) -> Any: ...

    def gather_changed(self, change: PodChange) -> Any: ...


class Codes(NamedTuple):
    """A dictionary-encoded node fact: ``values[codes[i]]`` is row i's; code -1 is "the node has none"."""

    codes: NDArray[np.int32]
    values: Sequence[Any]


class Column(NamedTuple):
    """Gathered resources of nodes' own pods: int64, one entry per row (``requested[i]`` goes with ``resources[i]``).

    cpu in millicores, memory and ephemeral-storage in bytes, others in units.
    """

    resources: tuple[str, ...]
    allocatable: tuple[NDArray[np.int64], ...]
    requested: tuple[NDArray[np.int64], ...]
    non_zero_cpu: NDArray[np.int64]
    non_zero_memory: NDArray[np.int64]
    pods: NDArray[np.int64]
    allowed_pods: NDArray[np.int64]
    everywhere: tuple[bool, ...]
    """True: every row offers some of the resource. False: some row may offer none."""
    largest: int | None
    """No amount is above this or negative; None when that is not known."""
    keeper: Keeper | None = None
    """Of all rows."""

    def worked_out(self, work_out: WorkOut) -> NDArray[Any]:
        """``work_out(column)`` of these rows, not to be written to; the last axis is theirs.

        For what only depends on the nodes, row by row, whatever pod is asked about. Of all rows it is remembered by
        the function, and worked out again only where something has changed.
        """
        return work_out(self) if self.keeper is None else self.keeper.worked_out(work_out)

    def lowest(self, work_out: WorkOut, lines: slice) -> Sequence[Any]:
        """The least number of each of these lines of ``worked_out``. Of all rows it is remembered, too, as long as
        the same lines are asked for."""
        return lowest_of(work_out(self)[lines]) if self.keeper is None else self.keeper.lowest(work_out, lines)


@dataclass(frozen=True, slots=True, eq=False)
class WorkOut:
    """What is made of nodes' amounts alone, row by row; the last axis is the rows'."""

    of_rows: Callable[[Column], NDArray[Any]]
    of_row: Callable[[Column], NDArray[Any]] | None = None
    """The same of a single row, where NumPy takes longer to begin than Python takes to be done."""

    def __call__(self, column: Column) -> NDArray[Any]:
        make = self.of_rows if self.of_row is None or len(column.pods) != 1 else self.of_row
        return make(column)


class Keeper(Protocol):
    """Remembers what was worked out of all rows."""

    def worked_out(self, work_out: WorkOut) -> NDArray[Any]: ...

    def lowest(self, work_out: WorkOut, lines: slice) -> Sequence[Any]: ...


def lowest_of(lines: NDArray[Any]) -> list[Any]:
    """Of every line; a large number where there are no rows."""
    most = np.iinfo(np.int64).max if lines.dtype.kind == "i" else np.inf
    lowest: list[Any] = np.minimum.reduce(lines, axis=1, initial=most).tolist()
    return lowest


class PodQuery(NamedTuple):
    """Which placed pods are counted: those that satisfy all ``terms``, each (namespaces or None for all, selector).

    ``spreading`` is PodTopologySpread's way: terminating pods do not count, and an empty selector counts nobody. As
    upstream's AddPod and RemovePod look at neither, a ``PodChange`` counts both kinds.
    """

    terms: tuple[tuple[frozenset[str] | None, LabelMatcher], ...]
    spreading: bool = False

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        for namespaces, selector in self.terms:
            if (namespaces is not None and namespace not in namespaces) or not selector.matches(labels):
                return False
        return True


class DomainCounts(NamedTuple):
    """A number per domain (value of a topology key): row i's domain has ``table[codes[i]]``.

    Code -1 is "the node lacks the key"; ``table[-1]`` belongs to those nodes, not to a domain. ``table`` may be longer
    than there are domains, so kernels can be worked out once per domain and spread over the rows.
    """

    codes: NDArray[np.int32]
    table: NDArray[np.int64]


class DomainMinimum(NamedTuple):
    """``minimum`` over the domains that have an eligible node, math.MaxInt32 when ``domains``, their number, is 0."""

    minimum: int
    domains: int


class TermKind(enum.Enum):
    """The four lists of pod (anti-)affinity terms."""

    __hash__ = object.__hash__  # an Enum's own is Python code, and keys of inputs hold several of these

    REQUIRED = "requiredAffinity"
    REQUIRED_ANTI = "requiredAntiAffinity"
    PREFERRED = "preferredAffinity"
    PREFERRED_ANTI = "preferredAntiAffinity"


class TermTarget(NamedTuple):
    """What placed pods' terms are held against: the incoming pod's namespace and labels, and its namespace's labels."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    namespace_labels: tuple[tuple[str, str], ...]


class LabelInput(Input, Protocol):
    """→ Codes of a label's values (str)."""

    def gather(self, rows: Rows) -> Codes: ...

    def occurring(self, rows: NDArray[np.intp]) -> NDArray[np.int32]:
        """The codes that these rows have, ascending: ABSENT first."""
        ...

    def code_of(self, value: str) -> int | None:
        """None while no node ever had it."""
        ...


class DomainInput(Input, Protocol):
    """→ DomainCounts of the pods that a query counts."""

    def gather(self, rows: Rows) -> DomainCounts: ...

    def minimum(self) -> Input:
        """→ DomainMinimum."""
        ...

    def any(self) -> Input:
        """→ bool: some domain's number is not 0."""
        ...


class TermInput(Input, Protocol):
    """→ int64 per row: Σ weights of placed pods' terms whose topology pair is one of the node's labels."""

    def gather(self, rows: Rows) -> NDArray[np.int64]: ...

    def any(self) -> Input:
        """→ bool: some placed pod's term matches, on a node that has its key; weights may cancel out."""
        ...


@dataclass(frozen=True, slots=True)
class Reason:
    """What a verdict code of a filter kernel means."""

    code: Code
    texts: tuple[str, ...]


class Plan(NamedTuple):
    """An element-wise kernel: ``kernel(*gathered inputs)`` → verdict codes (0 passes) or raw scores, int64 or narrower.

    ``inputs`` empty means unknown: evaluated in full every cycle (still correct). ``constants`` is everything else the
    kernel closes over; two plans of one plugin with equal constants and the same inputs give the same column.
    ``reasons`` maps verdict code → Reason (entry 0 unused); a callable for kernels whose codes are bit sets.
    ``few``, if given, is the same kernel for at most FEW_ROWS rows, where NumPy takes longer to begin than Python takes
    to be done.
    """

    kernel: Callable[..., NDArray[Any]]
    inputs: tuple[Input, ...] = ()
    constants: Hashable = ()
    reasons: Sequence[Reason] | Callable[[int], Reason] = ()
    few: Callable[..., NDArray[Any]] | None = None

    def answers(self, rows: Rows) -> NDArray[Any]:
        """Of these rows, as they are now."""
        kernel = self.kernel if self.few is None or rows is None or len(rows) > FEW_ROWS else self.few
        return kernel(*map(methodcaller("gather", rows), self.inputs))


class VolumeUsers(Protocol):
    """Placed pods with claims or in-tree disks among their volumes."""

    def rows(self) -> Collection[int]:
        """Rows that have such pods."""
        ...

    def on_row(self, row: int) -> Iterable[PodInfo]: ...

    def claim_in_use(self, namespace: str, name: str) -> bool:
        """Whether a placed pod names the PersistentVolumeClaim as its volume."""
        ...


class View(Protocol):
    """Hands out inputs over the snapshot's node axis. Asking twice for the same gives the same Input."""

    def own_rows(self, resources: tuple[str, ...]) -> Input:
        """→ Column of these resources."""
        ...

    def label(self, key: str) -> LabelInput: ...

    def annotation(self, key: str) -> Input:
        """→ Codes of an annotation's values (str)."""
        ...

    def whole_nodes(self) -> Input:
        """→ a sequence of NodeInfo, None for rows of deleted nodes."""
        ...

    def node_values(self, values: NodeValues[Any]) -> Input:
        """→ a list of what ``values`` has for the nodes (docs/plugins.md#values-of-nodes), None where it has none."""
        ...

    def taints(self) -> Input:
        """→ Codes whose values are tuples of Taint (every row has one; () is the untainted)."""
        ...

    def unschedulable(self) -> Input:
        """→ bool array: node.spec.unschedulable."""
        ...

    def name(self) -> Input:
        """→ Codes of node names (str)."""
        ...

    def declares(self, features: tuple[str, ...]) -> Input:
        """→ bool array: the node declares all of these features (node.status.declaredFeatures)."""
        ...

    def host_ports(self, wanted: tuple[HostPort, ...]) -> Input:
        """→ bool array: a wanted port conflicts with the node's used ports."""
        ...

    def nodes_matching(self, matcher: NodeSelectorMatcher) -> Input:
        """→ bool array: the node matches the node selector (labels and metadata.name)."""
        ...

    def image_score(self, images: tuple[str, ...]) -> Input:
        """→ int64: sum of scaled sizes of these (normalised) images present on the node.

        Rules: docs/semantics/plugins.md#imagelocality.
        """
        ...

    def tolerating(self, pod: Pod, effects: tuple[str, ...], *, comparisons: bool = False) -> Input:
        """→ bool array: no taint with one of ``effects`` that the pod does not tolerate.

        ``comparisons``: the operators Lt and Gt count (gate TaintTolerationComparisonOperators)."""
        ...

    def pods_matching(
        self, namespaces: frozenset[str] | None, selector: LabelMatcher, key: str, eligible: Input | None
    ) -> DomainInput:
        """→ domain counts of pods placed on eligible nodes, per value of the topology key (None: on all nodes)."""
        ...

    def pods_in_domains(
        self, query: PodQuery, key: str, eligible: Input | None = None, *, keyless_as_empty: bool = False
    ) -> DomainInput:
        """As ``pods_matching`` for any query. ``keyless_as_empty``: nodes without the key belong to the domain ""."""
        ...

    def pods_on_node(self, query: PodQuery) -> Input:
        """→ int64: pods on the node itself that the query counts."""
        ...

    def placed_terms(self, weights: tuple[tuple[TermKind, int | None], ...], target: TermTarget) -> TermInput:
        """→ Σ over placed pods' terms that match ``target``. Per kind a constant weight, or None for the term's own
        (negative for PREFERRED_ANTI)."""
        ...

    def any_terms(self, weights: tuple[tuple[TermKind, int | None], ...]) -> Input:
        """→ bool: some placed pod has a term of one of these kinds, whatever it asks for. False is reason enough not to
        ask for ``placed_terms``."""
        ...

    def volume_users(self) -> VolumeUsers:
        """Not an Input: for those that have to look at pods one by one."""
        ...

    def eligible(self, keys: tuple[str, ...], matcher: NodeSelectorMatcher | None, tolerating: Input | None) -> Input:
        """→ bool array: the node has all label keys, matches, and is tolerated (None: no such condition)."""
        ...


def taint_table(codes: Codes, predicate: Callable[[tuple[Taint, ...]], Any], dtype: Any) -> NDArray[Any]:
    """Evaluates ``predicate`` once per distinct value and spreads it over the rows."""
    table = np.array([predicate(value) for value in codes.values], dtype=dtype)
    return table[codes.codes] if len(table) else np.zeros(len(codes.codes), dtype=dtype)
