"""Opportunistic batching: the next of several equal pods gets the next best node of the attempt before.

Rules: docs/semantics/framework.md#opportunistic-batching.
Upstream: pkg/scheduler/framework/runtime/batch.go `GetNodeHint`, `StoreScheduleResults`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.interface import plugin as points
from framework.interface.node_info import PodInfo
from framework.interface.signing import SCHEDULER_NAME, Fragments, Signature
from framework.profiles.build import EnabledPlugins
from framework.profiles.services import Objects, Ties
from framework.trace.attempt import ScoreTrace

MOST_AGE: Final = 500_000_000
"""Nanoseconds: older scores are not gone by."""
SKIPPED, INCOMPATIBLE, EXPIRED = "pod_skipped", "pod_incompatible", "expired"
NODE_MISSING, NODE_NOT_FULL = "node_missing", "node_not_full"
EMPTY_LIST, NOT_BATCHABLE = "empty_list", "pod_not_batchable"
"""Why scores cannot be gone by, in upstream's words (pkg/scheduler/metrics ``BatchCacheFlushed``)."""


class HintTold(msgspec.Struct, frozen=True):
    """What batching said when a node was looked for."""

    pod: str
    """``namespace/name``."""
    profile: str
    cycle: int
    hint: str
    """The node that comes next; "": there is none."""
    left: int
    """Nodes that are kept behind it."""
    unusable: str
    """Why what is kept could not be gone by; "" where it could, or nothing is kept."""


class KeptTold(msgspec.Struct, frozen=True):
    """What batching kept when a node had been found."""

    profile: str
    cycle: int
    hint: str
    chosen: str
    kept: int
    """Nodes for the next equal pods; 0 as well where those of before stay."""
    unusable: str
    """Why nothing is kept; "" where something is, or what is kept stays, as the hint was taken."""


class RankedNodes:
    """The feasible nodes of an attempt but for the chosen one, best first; equals by the run's tie rule."""

    def __init__(self, ties: Ties, scores: ScoreTrace, names: tuple[str, ...], chosen: str) -> None:
        """``names``: by position in the node list."""
        self._ties = ties
        self._scored: tuple[ScoreTrace, tuple[str, ...], str] | None = (scores, names, chosen)
        """Until somebody asks: most attempts are followed by none that does."""
        self._order: Heap | Groups | None = None
        self.left = scores.places - 1
        """How many nodes have not been taken."""

    def pop(self) -> str:
        self.left -= 1
        return (self._order or self._ordered()).pop()

    def _ordered(self) -> Heap | Groups:
        if self._scored is not None:
            scores, names, chosen = self._scored
            if self._ties.rule == "upstream":
                listed = [names[position] for position in scores.positions.tolist()]
                self._order = Heap(listed, scores.total.tolist())
                self._order.pop()
            else:
                self._order = Groups(self._ties, names, scores.positions, scores.total, chosen)
            self._scored = None
        assert self._order is not None
        return self._order

    def __getstate__(self) -> dict[str, Any]:
        self._ordered()
        return self.__dict__


class Heap:
    """Go's container/heap over totals, best first: which of equals comes first follows from its algorithm."""

    def __init__(self, names: list[str], totals: list[int]) -> None:
        self._nodes = list(zip(totals, names, strict=True))
        for place in range(len(names) // 2 - 1, -1, -1):
            self._down(place, len(names))

    def _down(self, place: int, size: int) -> None:
        nodes = self._nodes
        while (child := 2 * place + 1) < size:
            if child + 1 < size and nodes[child + 1][0] > nodes[child][0]:
                child += 1
            if nodes[child][0] <= nodes[place][0]:
                return
            nodes[place], nodes[child] = nodes[child], nodes[place]
            place = child

    def pop(self) -> str:
        nodes = self._nodes
        last = len(nodes) - 1
        nodes[0], nodes[last] = nodes[last], nodes[0]
        self._down(0, last)
        return nodes.pop()[1]


class Groups:
    """Equally good nodes together. One of a group is drawn when it is asked for."""

    def __init__(
        self, ties: Ties, names: tuple[str, ...], positions: NDArray[np.intp], totals: NDArray[np.int64], chosen: str
    ) -> None:
        """``names``: by position in the node list. ``totals``: of these ``positions``."""
        self._ties = ties
        self._names = names
        self._positions, self._totals = positions, totals
        """Of the groups behind the best one, which are put together when their turn comes."""
        self._best = self._next()
        self._best.remove(chosen)

    def _next(self) -> list[str]:
        behind = self._totals != self._totals.max()
        names = self._names
        group = [names[position] for position in self._positions[~behind].tolist()]
        self._positions, self._totals = self._positions[behind], self._totals[behind]
        return group

    def pop(self) -> str:
        if not self._best:
            self._best = self._next()
        group = self._best
        size = len(group)
        return group.pop(self._ties.pick_scored(size, size, lambda: np.arange(size), lambda: group))


_SIGNED: Final = "signature"


class _Signed(NamedTuple):
    """In what equal pods have in common: by which plugins, and with which other objects in the cluster."""

    by: Sequence[points.SignPlugin]
    revision: int
    signature: Signature | None


@dataclass(slots=True)
class Scored:
    """An attempt that others may go by."""

    signature: Signature
    pod: str
    """``namespace/name``."""
    rest: RankedNodes
    at: int
    """Nanoseconds."""


class Batch:
    """Of a profile whose plugins all sign pods."""

    def __init__(self, signers: Sequence[points.SignPlugin], objects: Objects) -> None:
        self._signers = tuple(signers)
        self._objects = objects
        self._scored: Scored | None = None
        self._cycle = 0
        self._node = ""
        """Of the last pod that was placed: its scheduling cycle and its node."""

    def go_on_from(self, before: Batch) -> None:
        """What another one remembers, whose plugins were the same."""
        self._scored, self._cycle, self._node = before._scored, before._cycle, before._node

    def __getstate__(self) -> dict[str, Any]:
        """The rest is there again when the profile is."""
        return {name: self.__dict__[name] for name in ("_scored", "_cycle", "_node")}

    def signature(self, pod: PodInfo) -> Signature | None:
        """None: the pod is not like any other."""
        revision = self._objects.others_revision
        known: _Signed | None = pod.alike.get(_SIGNED)
        if known is None or known.by is not self._signers or known.revision != revision:
            known = pod.alike[_SIGNED] = _Signed(self._signers, revision, self._sign(pod))
        return known.signature

    def _sign(self, pod: PodInfo) -> Signature | None:
        found: dict[str, Any] = {SCHEDULER_NAME: pod.pod.spec.scheduler_name}
        for each in self._signers:
            fragments: Fragments | None = each.sign_pod(pod)
            if fragments is None:
                return None
            found.update(fragments)
        return tuple(sorted(found.items(), key=lambda item: item[0]))

    def hint(self, pod: PodInfo, cycle: int, now: int, rejects: Callable[[str], bool | None]) -> tuple[str, str]:
        """(the node that comes next, or "": the pod is looked for a node as any other; why what is kept is unusable).

        ``rejects``: whether the Filter plugins reject the pod on this node, None where it is gone. Only if they do can
        the scores that remain be right: nobody knows what the node that was taken last would score now.
        """
        scored = self._scored
        if scored is None or not scored.rest.left:
            return "", ""
        if cycle != self._cycle + 1:
            return "", SKIPPED
        if self.signature(pod) != scored.signature:
            return "", INCOMPATIBLE
        if now > scored.at + MOST_AGE:
            return "", EXPIRED
        rejected = rejects(self._node)
        if not rejected:
            return "", NODE_MISSING if rejected is None else NODE_NOT_FULL
        return scored.rest.pop(), ""

    @property
    def left(self) -> int:
        """Nodes for the next equal pods."""
        return 0 if self._scored is None else self._scored.rest.left

    @property
    def scored_pod(self) -> str:
        """Whose attempt hints come from, ``namespace/name``."""
        return "" if self._scored is None else self._scored.pod

    def placed(
        self, pod: PodInfo, hint: str, chosen: str, rest: Callable[[], RankedNodes] | None, cycle: int, now: int
    ) -> str:
        """A node was found. ``rest``: the other feasible nodes; None where no scores were needed.

        Why nothing is kept of it; "" where something is, or what was kept stays.
        """
        self._cycle, self._node = cycle, chosen
        if hint == chosen:
            return ""
        self._scored = None
        if rest is None:
            return EMPTY_LIST
        if (signature := self.signature(pod)) is None:
            return NOT_BATCHABLE
        self._scored = Scored(signature, pod.pod.key, rest(), now)
        return ""


def batch_of(enabled: EnabledPlugins, objects: Objects) -> Batch | None:
    """None where a plugin that decides about nodes signs no pods, or none with its arguments."""
    deciding: dict[str, points.Plugin] = {}
    for each in (*enabled.pre_filter, *enabled.filter, *enabled.pre_score, *enabled.score):
        deciding.setdefault(each.name, each)
    signers = [each for each in deciding.values() if isinstance(each, points.SignPlugin) and each.signs_pods]
    return Batch(signers, objects) if len(signers) == len(deciding) else None
