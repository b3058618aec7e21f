"""Other weights: stored attempts ranked again as if Score plugins had weighed otherwise.

Feasible nodes and normalised scores do not depend on weights, so of one attempt the ranking is exact: what the engine
would have made of the same moment. Over a run it is an estimate, because every attempt is ranked as it stood, with the
pods where they really went.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.profiles.services import TieRule, heap_root
from framework.trace.attempt import AttemptTrace, ScoreTrace

OFF: Final = 0
NAMED: Final = 3
"""How many of equally good nodes are named."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Of the feasible nodes, by their places in ``ScoreTrace.positions``."""

    total: NDArray[np.int64]
    tied: NDArray[np.intp]
    """Places with the best total, ascending."""
    winner: int | None
    """Place of the node that is chosen; None when the seed chooses, and what it would draw is not stored."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """An attempt whose node is not, or not for certain, the one that it got."""

    number: int
    pod: str
    node: str
    to: str
    """"" when the seed would choose among ``tied``."""
    tied: int
    """How many nodes would be equally good."""
    named: tuple[str, ...]
    """Some of them."""
    stays_possible: bool
    """``node`` is one of them."""
    behind: int
    """Points from ``node`` to the best."""


@dataclass(frozen=True, slots=True)
class Estimate:
    attempts: int
    """Attempts of the profile that chose a node by scores."""
    unscored: int
    """Attempts of the profile that had one feasible node."""
    same: int
    moved: tuple[Elsewhere, ...]


def ranked(
    scores: ScoreTrace, weights: Mapping[str, int], *, rule: TieRule, names: Sequence[str], selected: str, silent: bool
) -> Ranking:
    """``weights``: plugin → weight, OFF for none; plugins that are not named keep theirs. ``names``: the node list.

    ``silent``: the profile would have no Score plugin left. Then the search ends with the first feasible node, and
    nothing is scored (docs/semantics/framework.md#sampling).
    """
    total = scores.total
    for each in scores.plugins:
        change = weights.get(each.plugin, each.weight) - each.weight
        if change:
            total = total + each.normalized * np.int64(change)
    tied = np.flatnonzero(total == total.max())
    if silent:
        return Ranking(total, tied, 0)
    if len(tied) == 1:
        return Ranking(total, tied, int(tied[0]))
    positions = scores.positions
    if rule == "upstream":
        return Ranking(total, tied, int(tied[heap_root(len(total), tied)]))
    if rule == "smallest":
        return Ranking(total, tied, int(min(tied, key=lambda place: names[int(positions[place])])))
    return Ranking(total, tied, _drawn_again(scores, tied, names, selected))


def _drawn_again(scores: ScoreTrace, tied: NDArray[np.intp], names: Sequence[str], selected: str) -> int | None:
    """The seed draws a place among the tied ones, so among as many as there were it draws the same again."""
    candidates = scores.candidates
    if len(candidates) != len(tied):
        return None
    return next((int(tied[drawn]) for drawn, at in enumerate(candidates) if names[at] == selected), None)


def estimate(
    attempts: Iterable[tuple[int, AttemptTrace]],
    weights: Mapping[str, int],
    *,
    profile: str,
    rule: TieRule,
    silent: bool = False,
) -> Estimate:
    """``attempts``: (number, attempt). Those that chose no node, and those of other profiles, are left out."""
    scored = unscored = same = 0
    moved: list[Elsewhere] = []
    for number, trace in attempts:
        if trace.profile != profile or not trace.selected:
            continue
        if trace.scores is None or trace.filter is None:
            unscored += 1
            continue
        scored += 1
        row = _elsewhere(number, trace, trace.scores, trace.filter.nodes, weights, rule, silent)
        if row is None:
            same += 1
        else:
            moved.append(row)
    return Estimate(scored, unscored, same, tuple(moved))


def _elsewhere(
    number: int,
    trace: AttemptTrace,
    scores: ScoreTrace,
    names: Sequence[str],
    weights: Mapping[str, int],
    rule: TieRule,
    silent: bool,
) -> Elsewhere | None:
    ranking = ranked(scores, weights, rule=rule, names=names, selected=trace.selected, silent=silent)
    positions, total = scores.positions, ranking.total
    to = "" if ranking.winner is None else names[positions[ranking.winner]]
    if to == trace.selected:
        return None
    place = int(np.flatnonzero(positions == names.index(trace.selected))[0])
    return Elsewhere(
        number=number,
        pod=trace.pod,
        node=trace.selected,
        to=to,
        tied=len(ranking.tied),
        named=tuple(names[positions[each]] for each in ranking.tied[:NAMED]),
        stays_possible=not to and bool((ranking.tied == place).any()),
        behind=int(total.max() - total[place]),
    )
