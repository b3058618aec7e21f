"""AttemptTrace: what one scheduling attempt saw and decided, point by point.

The cycle fills it in while it runs; encoding, digests and views read it. Per-node facts are arrays over positions in
the node list of that cycle, so a trace of 5,000 nodes is a few arrays and not 5,000 objects. Durations are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.interface.decisions import ClaimDecision, DryRuns, Passes
from framework.interface.status import SUCCESS, Status
from framework.trace.history import Mark

NOT_EVALUATED: Final = -1
"""Verdict of a node that was not looked at: outside a PreFilter node list, or behind the end of the search."""
FEASIBLE: Final = 0
MOST_LEFT_OUT: Final = 100
"""Nodes that a record names where an extender left them out."""


class PluginOutcome(NamedTuple):
    """What one plugin answered at one extension point."""

    plugin: str
    status: Status


class PreFilterOutcome(NamedTuple):
    plugin: str
    status: Status
    node_names: tuple[str, ...] | None
    """Sorted; None when the plugin leaves all nodes in."""


class CandidateNode(NamedTuple):
    """A node where preemption would help."""

    node: str
    victims: tuple[str, ...]
    """``namespace/name``, most important first."""
    pdb_violations: int
    lost_by: str
    """The criterion by which another node was preferred; "" for the chosen one and its equals."""
    priorities: tuple[int, ...] = ()
    """Of the victims, in their order."""


if TYPE_CHECKING:
    Names = Sequence[str]
    CandidateNodes = Sequence[CandidateNode]
else:
    # What is read back: long lists are Deferred only in the process that made them.
    Names = tuple[str, ...]
    CandidateNodes = tuple[CandidateNode, ...]


class PostFilterOutcome(NamedTuple):
    plugin: str
    status: Status
    nominated_node: str | None
    victims: tuple[str, ...]
    """``namespace/name`` of the victims on the nominated node, in the plugin's order."""
    candidates: CandidateNodes
    nominated_any: Names
    refused: tuple[tuple[str, Names], ...] = ()
    """(reason, nodes) where not even the eviction of every pod of lower priority would help."""
    not_tried: Names = ()
    """Nodes that were left out because enough candidates had been found."""
    dry_runs: DryRuns | None = None
    """None where no node was tried out."""


class PermitOutcome(NamedTuple):
    plugin: str
    status: Status
    timeout_seconds: float


class ExtenderCall(NamedTuple):
    """What an extender was asked in this attempt, and what it said, in short."""

    extender: str
    """Its urlPrefix without credentials."""
    verb: str
    """``filter``, ``prioritize``, ``preempt`` or ``bind``."""
    sent: int
    """Nodes that it was asked about."""
    kept: int = 0
    """Nodes that its answer leaves; hosts with points, of prioritize."""
    error: str = ""
    """Of the transport, or its own, or what is wrong with its answer."""
    ignored: bool = False
    """The attempt went on in spite of the error."""
    left_out: tuple[str, ...] = ()
    """The first of the nodes that are not among those left; at most ``MOST_LEFT_OUT``."""
    failed: tuple[tuple[str, str], ...] = ()
    """(node, reason) of the first of those with a reason."""
    new_objects: bool = False
    """It sent node objects: they are scored as empty nodes."""


class ExtenderPoints(NamedTuple):
    """An extender's part of the totals, weight and scale included."""

    extender: str
    weight: int
    points: tuple[int | None, ...]
    """In the order of ``ScoreTrace.positions``; None for a node that it did not speak of."""


class PlacementOutcome(NamedTuple):
    """A placement in which the group was tried out. ``scores`` and ``total`` only where several would do."""

    name: str
    nodes: int
    status: Status
    waiting_on_preemption: bool
    scores: tuple[tuple[str, int, int, int], ...] = ()
    """Plugin, weight, score, normalized score."""
    total: int | None = None


class PodGroupOutcome(NamedTuple):
    """What the cycle of the pod's group came to."""

    group: str
    """``namespace/name``."""
    pods: tuple[str, ...]
    """All pods of the cycle, in the order in which they were tried out."""
    status: Status
    waiting_on_preemption: bool
    permit: tuple[PermitOutcome, ...]
    """What Permit said of this pod while the group was tried out."""
    placement: str = ""
    """The one that was taken; "" when all nodes are one."""
    placements: tuple[PlacementOutcome, ...] = ()
    """Only with the gate TopologyAwareWorkloadScheduling."""


class Recorded(NamedTuple):
    """Where the arrays of an attempt can be read that evaluated every node: marks in the histories of its columns."""

    order: NDArray[np.intp]
    """Row of each position in the node list."""
    first: int
    """The position where the search for nodes began."""
    verdicts: Mark
    """Verdict numbers by row; 0 is feasible."""
    numbers: NDArray[np.int32]
    """Verdict number → index in the attempt's ``verdicts``."""


class FilterTrace:
    """``verdict[position]`` is an index into ``verdicts`` (0 = feasible) or NOT_EVALUATED.

    It is made when somebody asks for it: an attempt that looked at a nominated node, or at the one that batching names,
    has the verdicts of ``few``.
    """

    __slots__ = ("_explicit", "_verdict", "few", "nodes", "recorded", "verdicts")

    def __init__(
        self, nodes: tuple[str, ...], verdict: NDArray[np.int32] | None, verdicts: list[Status] | None = None
    ) -> None:
        self.nodes = nodes
        """Names in the order of the node list; one object for all attempts between two rebuilds of the list."""
        self.verdicts = [SUCCESS] if verdicts is None else verdicts
        self.recorded: Recorded | None = None
        self.few: dict[int, int] | None = {} if verdict is None else None
        """Position → verdict, of all nodes that were looked at; None where an array has them."""
        self._verdict = verdict
        self._explicit = 0

    @classmethod
    def of_one(cls, nodes: tuple[str, ...], position: int) -> FilterTrace:
        """One node was looked at, and the pod fits there."""
        trace = cls.__new__(cls)
        trace.nodes, trace.verdicts, trace.recorded = nodes, [SUCCESS], None
        trace.few, trace._verdict, trace._explicit = {position: FEASIBLE}, None, 0
        return trace

    def record(self, verdicts: list[Status], explicit: int, recorded: Recorded) -> None:
        """Every node was looked at; ``explicit`` of them have a status of their own."""
        self.verdicts, self._explicit, self.recorded, self._verdict = verdicts, explicit, recorded, None
        self.few = None

    def at(self, position: int) -> int:
        return int(self.verdict[position]) if self.few is None else self.few.get(position, NOT_EVALUATED)

    def set(self, position: int, verdict: int) -> None:
        if self.few is None:
            self.verdict[position] = verdict
            return
        self._explicit += (verdict > FEASIBLE) - (self.few.get(position, NOT_EVALUATED) > FEASIBLE)
        self.few[position] = verdict

    @property
    def verdict(self) -> NDArray[np.int32]:
        if self._verdict is not None:
            return self._verdict
        if self.few is not None:
            self._verdict = np.full(len(self.nodes), NOT_EVALUATED, dtype=np.int32)
            for position, verdict in self.few.items():
                self._verdict[position] = verdict
            # Whoever has the array may write into it.
            self.few = None
            return self._verdict
        found = self.recorded
        assert found is not None
        by_position: NDArray[np.int32] = found.numbers[found.verdicts.array()[found.order]]
        return by_position

    def counts(self) -> list[int]:
        """How many nodes each of ``verdicts`` is of."""
        if self.recorded is not None and len(self.verdicts) <= 2:
            return [len(self.nodes) - self._explicit, self._explicit][: len(self.verdicts)]
        if self.few is not None:
            looked_at = list(self.few.values())
            return [looked_at.count(verdict) for verdict in range(len(self.verdicts))]
        found: list[int] = np.bincount(self.verdict + 1, minlength=len(self.verdicts) + 1)[1:].tolist()
        return found

    @property
    def explicit(self) -> int:
        """How many nodes have a status of their own (upstream ``NodeToStatus.Len``)."""
        if self.recorded is not None or self.few is not None:
            return self._explicit
        return int(np.count_nonzero(self.verdict > FEASIBLE))

    def append_names(self, names: Sequence[str]) -> None:
        """Nodes that only an extender knows, behind the cluster's; nobody evaluated them."""
        verdict = np.concatenate((self.verdict, np.full(len(names), NOT_EVALUATED, dtype=np.int32)))
        self.nodes, self.recorded, self._verdict = (*self.nodes, *names), None, verdict

    def status(self, position: int) -> Status | None:
        """None for a node that was not evaluated."""
        index = self.at(position)
        return None if index == NOT_EVALUATED else self.verdicts[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return FilterTrace, (self.nodes, self.verdict, self.verdicts)


@dataclass(slots=True)
class PluginScores:
    """One Score plugin's answer for the feasible nodes, in the order of ``ScoreTrace.positions``."""

    plugin: str
    weight: int
    raw: NDArray[np.int64]
    normalized: NDArray[np.int64]


class RecordedScores(NamedTuple):
    """A Score plugin's columns by row. ``normalized`` None: the raw scores are the scores.

    With ``tables`` (raw and normalised scores per state, the second None as above) ``raw`` is the state of every row.
    """

    plugin: str
    weight: int
    raw: Mark
    normalized: Mark | None
    tables: tuple[NDArray[np.int64], NDArray[np.int64] | None] | None = None


class ScoreTrace:
    """Of the feasible nodes, in the order in which they were found."""

    __slots__ = (
        "_candidates",
        "_plugins",
        "_positions",
        "_total",
        "best",
        "margin",
        "places",
        "recorded",
        "recorded_plugins",
        "ties",
    )

    def __init__(
        self,
        positions: NDArray[np.intp],
        plugins: list[PluginScores],
        total: NDArray[np.int64],
        candidates: NDArray[np.intp],
    ) -> None:
        self._positions: NDArray[np.intp] | None = positions
        self._plugins: list[PluginScores] | None = plugins
        self._total: NDArray[np.int64] | None = total
        self._candidates: NDArray[np.intp] | None = candidates
        self.recorded: Recorded | None = None
        self.recorded_plugins: list[RecordedScores] = []
        self.places = len(positions)
        """How many nodes have scores."""
        self.best = int(total.max()) if len(total) else 0
        """The highest total."""
        self.ties = len(candidates)
        """How many nodes have it."""
        self.margin = margin_of(total, self.best)
        """How far it is above the highest total below it; 0 when there is none."""

    @classmethod
    def from_recording(
        cls, recorded: Recorded, plugins: list[RecordedScores], places: int, best: int, ties: int, margin: int
    ) -> ScoreTrace:
        trace = cls.__new__(cls)
        trace._positions = trace._plugins = trace._total = trace._candidates = None
        trace.recorded, trace.recorded_plugins = recorded, plugins
        trace.places, trace.best, trace.ties, trace.margin = places, best, ties, margin
        return trace

    @property
    def positions(self) -> NDArray[np.intp]:
        """Positions of the nodes in the node list."""
        if self._positions is not None:
            return self._positions
        assert self.recorded is not None
        found = np.flatnonzero(self.recorded.verdicts.array()[self.recorded.order] == FEASIBLE)
        return in_turn(found, self.recorded.first)

    @property
    def plugins(self) -> list[PluginScores]:
        if self._plugins is not None:
            return self._plugins
        return self._plugins_at(self.positions)

    def _plugins_at(self, positions: NDArray[np.intp]) -> list[PluginScores]:
        assert self.recorded is not None
        rows = self.recorded.order[positions]
        made = []
        for plugin, weight, raw, normalized, tables in self.recorded_plugins:
            scores = raw.array()[rows].astype(np.int64)
            points = scores if normalized is None else normalized.array()[rows].astype(np.int64)
            if tables is not None:
                states = scores
                scores = tables[0][states]
                points = scores if tables[1] is None else tables[1][states]
            made.append(PluginScores(plugin, weight, scores, points))
        return made

    @property
    def total(self) -> NDArray[np.int64]:
        return _total(self.plugins, self.places) if self._total is None else self._total

    @property
    def candidates(self) -> NDArray[np.intp]:
        """Positions of the nodes with the best total."""
        return self._candidates if self._candidates is not None else self.positions[self.total == self.best]

    def whole(self) -> ScoreTrace:
        """With its arrays, each worked out once."""
        if self.recorded is None:
            return self
        positions = self.positions
        plugins = self._plugins_at(positions)
        total = _total(plugins, self.places)
        return ScoreTrace(positions, plugins, total, positions[total == self.best])

    def __reduce__(self) -> tuple[Any, ...]:
        whole = self.whole()
        return ScoreTrace, (whole.positions, whole.plugins, whole.total, whole.candidates)


def margin_of(total: NDArray[np.int64], best: int) -> int:
    below = total[total < best]
    return best - int(below.max()) if len(below) else 0


def _total(plugins: list[PluginScores], places: int) -> NDArray[np.int64]:
    total = np.zeros(places, dtype=np.int64)
    for each in plugins:
        total += each.normalized * np.int64(each.weight)
    return total


def in_turn(positions: NDArray[np.intp], first: int) -> NDArray[np.intp]:
    """Ascending positions as a search meets them that begins at ``first`` and goes round."""
    if first == 0 or not len(positions):
        return positions
    cut = int(np.searchsorted(positions, first))
    return positions if cut == 0 else np.concatenate((positions[cut:], positions[:cut]))


class SharedContent(msgspec.Struct, eq=False):
    """What is worked out from an attempt's content, kept for it and for the attempts that repeat it."""

    digest: bytes = b""
    """See ``framework.trace.digest``; empty until it is asked for."""
    encoded: bytes = b""
    """See ``framework.trace.digest``; empty until it is asked for."""


class AttemptTrace(msgspec.Struct, eq=False):
    """``result``: ``waiting`` (on Permit), ``bound`` or ``failed``; a waiting attempt becomes one of them later.

    What plugins said is in tuples, which attempts that were told the same share.
    """

    pod: str
    """``namespace/name``."""
    uid: str
    profile: str
    attempt: int
    cycle: int
    """The scheduling cycle's number in the run."""
    at: int
    """When the pod was popped, nanoseconds."""
    priority: int = 0
    nodes_total: int = 0
    pre_filter: tuple[PreFilterOutcome, ...] = ()
    pre_filter_status: Status | None = None
    """The merged status when PreFilter rejected the pod."""
    filter: FilterTrace | None = None
    absent_status: Status | None = None
    """Status of the nodes outside a PreFilter node list, or of all nodes after a rejection in PreFilter."""
    nominated_node_used: str | None = None
    """The node that the pod was nominated to: it passed, and no other was looked at."""
    evaluated_nodes: int = 0
    feasible_nodes: int = 0
    more_passes: Passes = ()
    """Runs of all Filter plugins on a node beside those that ``filter`` tells of: a node that passed with the pods
    nominated on it is looked at without them, too; and batching looks at the node that it named last."""
    pre_score: tuple[PluginOutcome, ...] = ()
    scores: ScoreTrace | None = None
    post_filter: tuple[PostFilterOutcome, ...] = ()
    tie_rule: str = ""
    """Which rule (``Ties``) chose among ``scores.candidates``; "" where there was nothing to choose."""
    selected: str = ""
    """The node the pod was placed on, also when a later point failed."""
    reserve: tuple[PluginOutcome, ...] = ()
    decisions: tuple[ClaimDecision, ...] = ()
    """What was decided for the pod's claims; only when all Reserve plugins succeeded."""
    permit: tuple[PermitOutcome, ...] = ()
    waiting_for: dict[str, float] = {}
    """Plugin → seconds it may take to decide."""
    pre_bind_pre_flight: tuple[PluginOutcome, ...] = ()
    wait_on_permit: Status | None = None
    pre_bind: tuple[PluginOutcome, ...] = ()
    bind: tuple[PluginOutcome, ...] = ()
    post_bind: tuple[str, ...] = ()
    unreserve: tuple[str, ...] = ()
    result: str = ""
    finished_at: int = 0
    """When it was bound or failed, nanoseconds."""
    status: Status | None = None
    """The status that ended a failed attempt."""
    reason: str = ""
    message: str = ""
    fit_error: bool = False
    fit_error_nodes: int = 0
    """The N of ``0/N nodes are available``."""
    placed_status: Status | None = None
    """A rejection by Reserve or Permit: the status of the one node of that fit error."""
    unschedulable_plugins: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    nomination: str | None = None
    """What the failure handler was told: None keeps, "" clears, else the node."""
    pod_group: PodGroupOutcome | None = None
    content: SharedContent | None = None
    """One for an attempt and those that repeat it; no part of the record."""
    extender_calls: tuple[ExtenderCall, ...] = ()
    """In their order."""
    extender_statuses: tuple[tuple[str, Status], ...] = ()
    """Nodes with what extenders said of them, by name: it replaces what plugins said."""
    extender_left: tuple[int, ...] | None = None
    """Positions of the nodes that extenders left, in order; None when that is all that ``filter`` calls feasible."""
    extender_points: tuple[ExtenderPoints, ...] = ()
    bound_by: str = ""
    """The extender that bound the pod, or tried to."""
    batched_with: str = ""
    """The pod (``namespace/name``) in whose attempt the node was the next best. By opportunistic batching no other was
    looked at, and nothing was scored."""

    @property
    def tried_alone(self) -> bool:
        """Whether one node was looked at before all others, and passed."""
        return bool(self.nominated_node_used or self.batched_with)
