"""The scores of one attempt: raw → normalised → × weight → total per node, ranks, ties and what decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.extenders.extender import SCALE
from framework.trace.attempt import ExtenderPoints, PluginScores, ScoreTrace
from schedweb.api.errors import ApiError
from schedweb.api.windows import Window
from schedweb.runs.attempts.point_words import about_points
from schedweb.runs.attempts.selectors import StoredAttempt
from schedweb.runs.models import Run
from schedweb.sentences import noted, say

BARS: Final = 12
CHOOSERS: Final = {Run.Ties.UPSTREAM: noted("upstream order"), Run.Ties.SMALLEST: noted("smallest name")}


def ranks(total: NDArray[np.int64]) -> NDArray[np.int64]:
    """1 for the best; equal totals share a rank."""
    ordered = np.sort(total)[::-1]
    return len(total) - np.searchsorted(ordered[::-1], total, side="right") + 1


def histogram(total: NDArray[np.int64]) -> list[dict[str, int]]:
    low, high = int(total.min()), int(total.max())
    width = max(1, -(-(high - low + 1) // BARS))
    places = (total - low) // width
    counts = np.bincount(places)
    return [
        {"low": low + place * width, "high": min(high, low + (place + 1) * width - 1), "count": int(count)}
        for place, count in enumerate(counts)
    ]


def decided_by(scores: ScoreTrace, winner: int, runner_up: int) -> str | None:
    """The plugin whose points put the winner furthest ahead of the best node below it."""
    gains = [
        (int(each.normalized[winner] - each.normalized[runner_up]) * each.weight, each.plugin)
        for each in scores.plugins
    ]
    best = max(gains, key=lambda gain: gain[0], default=None)
    return best[1] if best is not None and best[0] > 0 else None


class ScoreView:
    def __init__(self, scores: ScoreTrace, names: list[str], selected: str) -> None:
        self.scores = scores
        self.names = names
        self.total = scores.total
        self.rank = ranks(scores.total)
        self.best = int(scores.total.max())
        self.chosen = names.index(selected) if selected in names else None

    def row(self, index: int, plugins: list[int]) -> dict[str, Any]:
        total = int(self.total[index])
        cells = []
        for place in plugins:
            each = self.scores.plugins[place]
            normalized = int(each.normalized[index])
            raw = int(each.raw[index])
            cells.append({"raw": raw, "normalized": normalized, "points": normalized * each.weight})
        rank = int(self.rank[index])
        return {
            "rank": rank,
            "tied": int(np.count_nonzero(self.rank == rank)) > 1,
            "node": self.names[index],
            "chosen": index == self.chosen,
            "total": total,
            "to_best": total - self.best,
            "cells": cells,
        }

    def order(self, sort: str) -> list[int]:
        """Places in the asked order; by default best first, then the chosen one, then by name."""
        places = list(range(len(self.names)))
        field, descending = sort.removeprefix("-"), sort.startswith("-")
        if not sort or field == "total":
            places.sort(key=lambda i: (int(self.rank[i]), i != self.chosen, self.names[i]))
            return places[::-1] if sort == "total" else places
        if field == "node":
            return sorted(places, key=lambda i: self.names[i], reverse=descending)
        values = next((each.normalized for each in self.scores.plugins if each.plugin == field), None)
        if values is None:
            raise ApiError(
                say("sort must be total, node or a plugin's name, not {sort!r}.", sort=sort),
                code="invalid",
                path="sort",
            )
        return sorted(places, key=lambda i: (int(values[i]) * (-1 if descending else 1), self.names[i]))


def with_extenders(scores: ScoreTrace, extenders: Sequence[ExtenderPoints]) -> ScoreTrace:
    """Extenders as columns of the table, beside the plugins: what they said, times ten times their weight."""
    asked = [each for each in extenders if each.weight]
    if not asked:
        return scores
    plain = scores.whole()
    columns = []
    for each in asked:
        weight = each.weight * SCALE
        said = np.array([(points or 0) // weight for points in each.points], dtype=np.int64)
        columns.append(PluginScores(each.extender, weight, said, said))
    return ScoreTrace(plain.positions, [*plain.plugins, *columns], plain.total, plain.candidates)


def tie_body(run: Run, ties: int) -> dict[str, Any]:
    """Between how many equal nodes the run chose, and how."""
    chooser = CHOOSERS.get(Run.Ties(run.ties))
    by = say(chooser) if chooser is not None else say("seed {seed}", seed=str(run.seed))
    return {"count": ties, "chosen_by": by if ties > 1 else "", "seeded": ties > 1 and chooser is None}


def scores_body(
    stored: StoredAttempt, window: Window, *, sort: str = "", query: str = "", hide_equal: bool = False
) -> dict[str, Any]:
    trace, run = stored.trace, stored.row.run
    empty: dict[str, Any] = {
        "scored": False,
        "plugins": [],
        "feasible": trace.feasible_nodes,
        "best": None,
        "chosen": None,
        "histogram": [],
        "tie": {
            "count": 1 if trace.selected else 0,
            "chosen_by": say("the only feasible node") if trace.selected else "",
            "seeded": False,
        },
        "decided_by": None,
        "runner_up": None,
        "count": 0,
        "offset": window.offset,
        "limit": window.limit,
        "rows": [],
    }
    if trace.scores is None or trace.filter is None or not len(trace.scores.total):
        return empty
    scores = with_extenders(trace.scores, trace.extender_points)
    names = [trace.filter.nodes[position] for position in scores.positions.tolist()]
    view = ScoreView(scores, names, trace.selected)
    equal = [bool((each.normalized == each.normalized[0]).all()) for each in scores.plugins]
    shown = [place for place in range(len(equal)) if not (hide_equal and equal[place])]
    order = view.order(sort)
    if query:
        order = [place for place in order if query.lower() in names[place].lower()]
    ties = len(scores.candidates)
    below = np.flatnonzero(view.total < view.best)
    runner_up = int(below[np.argmax(view.total[below])]) if len(below) else None
    winner = view.chosen
    return {
        **empty,
        "scored": True,
        "plugins": [
            {
                "name": scores.plugins[place].plugin,
                "weight": scores.plugins[place].weight,
                "equal_for_all": equal[place],
                "about": about_points(scores.plugins[place].plugin),
            }
            for place in shown
        ],
        "best": view.best,
        "chosen": None if winner is None else view.row(winner, shown),
        "histogram": histogram(view.total),
        "tie": tie_body(run, ties),
        "decided_by": None if runner_up is None or winner is None else decided_by(scores, winner, runner_up),
        "runner_up": None if runner_up is None else {"node": names[runner_up], "total": int(view.total[runner_up])},
        "count": len(order),
        "rows": [view.row(place, shown) for place in window.cut(order)],
    }
