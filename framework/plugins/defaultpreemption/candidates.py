"""What evicting pods of lower priority would come to, node by node, kept for the next pod of the same class.

A node is tried out again when its pods or the filters' answers for it have changed. Nodes whose state and pods look the
same have the same outcome, so that of thousands of equal nodes one is tried out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface import Candidate, Rows, Status
from framework.interface.decisions import Passes, passes_of
from framework.preemption.choice import Costs

UNKNOWN, CLEAN, VIOLATING, REFUSED = 0, 1, 2, 3
"""Kinds of rows; REFUSED and up are indices into the statuses."""
KEPT_STATES: Final = 4096

Outcome = tuple[tuple[int, ...], tuple[int, ...]] | Status
"""Which of the pods of lower priority have to go, most important first, and what that costs; or why the node is no
candidate."""


class TriedOut(NamedTuple):
    outcome: Outcome
    passes: Passes


class CandidateTable:
    def __init__(self) -> None:
        self.kind: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.costs: NDArray[np.int64] = np.zeros((0, 0), dtype=np.int64)
        self.candidates: dict[int, Candidate] = {}
        self.statuses: list[Status] = []
        self._numbers: dict[Status, int] = {}
        self._by_state: dict[Hashable, TriedOut] = {}
        self._passes: list[Passes] = []
        self._passes_numbers: dict[Passes, int] = {}
        self._passes_of: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        """Row → index in ``_passes``; of use where the row is known."""
        self._brief: list[int] = []

    def forget(self, rows: Rows, size: int) -> None:
        """What is known about these rows no longer holds."""
        if rows is None or len(self.kind) != size:
            self.kind = np.zeros(size, dtype=np.int32)
            self.costs = np.zeros((size, Costs.NUMBER), dtype=np.int64)
            self._passes_of = np.zeros(size, dtype=np.int32)
            self.candidates.clear()
        else:
            self.kind[rows] = UNKNOWN
        self.kind[self._brief] = UNKNOWN
        self._brief.clear()

    def put(self, row: int, candidate: Candidate, costs: tuple[int, ...]) -> None:
        self.kind[row] = VIOLATING if candidate.pdb_violations else CLEAN
        self.costs[row] = costs
        self.candidates[row] = candidate

    def refuse(self, row: int, status: Status) -> None:
        number = self._numbers.get(status)
        if number is None:
            number = self._numbers[status] = len(self.statuses)
            self.statuses.append(status)
        self.kind[row] = REFUSED + number

    def ran(self, row: int, passes: Passes) -> None:
        """How often the Filter plugins were run on this node."""
        number = self._passes_numbers.get(passes)
        if number is None:
            number = self._passes_numbers[passes] = len(self._passes)
            self._passes.append(passes)
        self._passes_of[row] = number

    def passes(self, rows: NDArray[np.intp]) -> Passes:
        """Of these rows together; all of them are known."""
        found: dict[tuple[str, str], int] = {}
        for number, nodes in enumerate(np.bincount(self._passes_of[rows], minlength=len(self._passes)).tolist()):
            for plugin, code, times in self._passes[number] if nodes else ():
                found[plugin, code] = found.get((plugin, code), 0) + times * nodes
        return passes_of(found)

    def only_now(self, row: int) -> None:
        """What is known about this row does not outlast the attempt."""
        self._brief.append(row)

    def status(self, kind: int) -> Status:
        return self.statuses[kind - REFUSED]

    # --- nodes that look the same ------------------------------------------------------------------------------------

    def known(self, name: Hashable | None) -> TriedOut | None:
        """``name`` of the node's state and the pods in question: equal names, equal outcomes. None: unknown."""
        return None if name is None else self._by_state.get(name)

    def learn(self, name: Hashable | None, tried: TriedOut) -> None:
        if name is not None:
            if len(self._by_state) >= KEPT_STATES:
                self._by_state.clear()
            self._by_state[name] = tried

    # --- searching --------------------------------------------------------------------------------------------------

    def search(self, ring: NDArray[np.intp], wanted: int, try_out: Callable[[int], None]) -> tuple[int, bool]:
        """Tries out what is not known of ``ring``, rows in order: (how many are visited, whether that was enough).

        It ends with the candidate that makes ``wanted``, if one of them is without budget violations.
        """
        kinds = self.kind[ring]
        unknown = np.flatnonzero(kinds == UNKNOWN).tolist()
        candidates = clean = begin = 0
        for stop in (*unknown, len(ring)):
            part = kinds[begin:stop]
            end = _enough(part, wanted, candidates, clean)
            if end is not None:
                return begin + end, True
            candidates += int(np.count_nonzero((part == CLEAN) | (part == VIOLATING)))
            clean += int(np.count_nonzero(part == CLEAN))
            if stop == len(ring):
                break
            try_out(int(ring[stop]))
            kinds[stop] = self.kind[ring[stop]]
            begin = stop
        return len(ring), False


def _enough(kinds: NDArray[np.int32], wanted: int, candidates: int, clean: int) -> int | None:
    """After how many of these rows there are ``wanted`` candidates and a clean one, counting those found before."""
    if not len(kinds):
        return None
    if len(kinds) == 1:
        kind = int(kinds[0])
        found = kind in (CLEAN, VIOLATING)
        return 1 if found and candidates + 1 >= wanted and clean + (kind == CLEAN) else None
    is_clean = kinds == CLEAN
    is_candidate = is_clean | (kinds == VIOLATING)
    enough = is_candidate & (np.cumsum(is_candidate) + candidates >= wanted) & (np.cumsum(is_clean) + clean > 0)
    first = int(enough.argmax())
    return first + 1 if enough[first] else None
