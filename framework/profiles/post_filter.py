"""PostFilter: what its plugins are asked, what they keep about nodes from one pod of a class to the next
(``Handle.follow``), and their long lists of candidates, which are encoded once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.columns import NO_ROWS, Incremental, Snapshot, union
from framework.interface.columns import Input, Rows
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.plugin import (
    AskExtenders,
    Candidate,
    NodeStatuses,
    PostFilterAnswer,
    PostFilterPlugin,
    PostFilterResult,
)
from framework.interface.status import Code, Status
from framework.objects import Pod
from framework.profiles.outcomes import answer, error_text, raised
from framework.profiles.verdicts import FilterEntry
from framework.trace.attempt import AttemptTrace, CandidateNode, PostFilterOutcome
from framework.trace.deferred import Deferred, array_header

T = TypeVar("T")


class Following(Incremental):
    """One value, the filters it was found with, and how far the snapshot was then."""

    __slots__ = ("_changed", "_entries", "_order", "_promised", "value")

    def __init__(self, snapshot: Snapshot, entries: Sequence[FilterEntry], value: Any) -> None:
        self.value = value
        self._entries = entries
        inputs: dict[Input, None] = {}
        for entry in entries:
            if entry.plan is not None:
                inputs.update(dict.fromkeys(entry.plan.inputs))
        super().__init__(snapshot.extent, (*inputs, snapshot.usage.log))
        self._changed: Rows = None
        """Since the last call."""
        self._order: object = None
        self._promised: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    def is_of(self, entries: Sequence[FilterEntry]) -> bool:
        return entries is self._entries

    def changed(self, snapshot: Snapshot, promised: Sequence[int]) -> Rows:
        """Rows whose answers, pods or promises may be others than at the last call; None for all."""
        if snapshot.order is not self._order:
            self._order = snapshot.order
            self.forget()
        self._changed = cast("Rows", NO_ROWS)
        self.refresh()
        rows: Rows = self._changed
        now = np.array(promised, dtype=np.intp)
        if rows is not None and (len(now) or len(self._promised)):
            rows = union((rows, now, self._promised))
        self._promised = now
        return rows

    def _make_all(self) -> None:
        self._changed = None

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        self._changed = rows


class RowStates:
    """Names the state of a row, if filters look at nothing on it but amounts that pods add up to."""

    __slots__ = ("_amounts_only", "_fixed", "_promised", "_snapshot")

    def __init__(self, snapshot: Snapshot, entries: Sequence[FilterEntry], promised: Sequence[int]) -> None:
        self._snapshot = snapshot
        self._promised = frozenset(promised)
        moving = [entry for entry in entries if entry.plan is not None and entry.follows_pods]
        self._fixed = [entry.all_codes() for entry in entries if entry.plan is not None and not entry.follows_pods]
        self._amounts_only = all(entry.plan is not None for entry in entries) and all(
            hasattr(each, "code") for entry in moving if entry.plan is not None for each in entry.plan.inputs
        )

    def __call__(self, row: int) -> Hashable | None:
        if not self._amounts_only or row in self._promised or any(codes[row] for codes in self._fixed):
            return None
        info = self._snapshot.info_of_row(row)
        return None if info is None else self._snapshot.usage.code_of(row, info)


@dataclass(frozen=True, slots=True)
class FollowedRows(Generic[T]):
    value: T
    changed: Rows
    states: RowStates

    def state_of(self, row: int) -> Hashable | None:
        return self.states(row)


KEPT: Final = 1 << 16

_encode: Final = msgspec.msgpack.Encoder().encode


class _Encodings:
    """Of hundreds of candidates few are others from one attempt to the next."""

    def __init__(self) -> None:
        self._known: dict[tuple[Candidate, str], bytes] = {}

    def encoded(self, candidates: Sequence[Candidate], lost_by: Sequence[str]) -> list[bytes]:
        known = self._known
        pairs = list(zip(candidates, lost_by, strict=True))
        try:
            return [known[pair] for pair in pairs]
        except KeyError:
            if len(known) > KEPT:
                known.clear()
            for pair in pairs:
                if pair not in known:
                    known[pair] = _encode(_candidate_node(*pair))
            return [known[pair] for pair in pairs]


class _CandidateNodes(Deferred[CandidateNode]):
    __slots__ = ("_candidates", "_encodings", "_lost_by")

    def __init__(self, candidates: Sequence[Candidate], lost_by: Sequence[str], encodings: _Encodings) -> None:
        super().__init__()
        self._candidates = candidates
        self._lost_by = lost_by or ("",) * len(candidates)
        self._encodings = encodings

    def _make(self) -> tuple[CandidateNode, ...]:
        return tuple(map(_candidate_node, self._candidates, self._lost_by))

    def __len__(self) -> int:
        return len(self._candidates)

    def encoded(self) -> bytes:
        return b"".join((array_header(len(self)), *self._encodings.encoded(self._candidates, self._lost_by)))


def _candidate_node(candidate: Candidate, lost_by: str) -> CandidateNode:
    victims = candidate.victims
    keys, priorities = tuple(pod.key for pod in victims), tuple(pod.spec.priority or 0 for pod in victims)
    return CandidateNode(candidate.node, keys, candidate.pdb_violations, lost_by, priorities)


Review = Callable[[Pod, Sequence[Candidate]], Generator[str, None, Sequence[Candidate] | Status]]


def _asked(
    post_filter: Callable[[], PostFilterAnswer | AskExtenders], review: Review
) -> Generator[str, None, PostFilterAnswer]:
    try:
        said = post_filter()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return None, raised(error)
    if not isinstance(said, AskExtenders):
        return said
    left = yield from review(said.pod, said.candidates)
    try:
        return said.go_on(left)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        return None, raised(error)


class PostFilter:
    """The PostFilter plugins of a profile."""

    def __init__(self, plugins: Sequence[PostFilterPlugin]) -> None:
        self._plugins = tuple((each.name, each.post_filter) for each in plugins)
        self._encodings = _Encodings()

    def run(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses, trace: AttemptTrace, review: Review
    ) -> Generator[str, None, tuple[PostFilterResult | None, Status]]:
        """Success, UnschedulableAndUnresolvable and Error end it and drop what came before; the others add up.

        ``review``: lets extenders choose among candidates.
        """
        if state.skip_post_filter:
            return None, Status.unschedulable("All PostFilter plugins are skipped")
        result: PostFilterResult | None = None
        reasons: tuple[str, ...] = ()
        rejector = ""
        for plugin, post_filter in self._plugins:
            given, answered = yield from _asked(partial(post_filter, state, pod, statuses), review)
            status = answer(answered)
            trace.post_filter = (*trace.post_filter, self.outcome(plugin, status, given))
            if status.is_success:
                return given, status
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return given, status.with_plugin(plugin)
            if not status.is_rejected:
                # Skip and Wait crash the real scheduler; here they are an error of this pod
                # (docs/semantics/framework.md#extension-points).
                return None, Status.as_error(error_text(status), plugin)
            if given is not None and given.nominated_node is not None:
                result = given
            reasons += status.all_reasons
            rejector = rejector or plugin
        return result, Status(Code.UNSCHEDULABLE, reasons, rejector)

    def outcome(self, plugin: str, status: Status, result: PostFilterResult | None) -> PostFilterOutcome:
        if result is None:
            return PostFilterOutcome(plugin, status, None, (), (), ())
        return PostFilterOutcome(
            plugin,
            status,
            result.nominated_node,
            tuple(victim.key for victim in result.victims),
            _CandidateNodes(result.candidates, result.lost_by, self._encodings),
            result.nominated_any,
            tuple(result.refused.items()),
            result.not_tried,
            result.dry_runs,
        )
