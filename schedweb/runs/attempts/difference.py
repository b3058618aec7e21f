"""Two attempts laid beside each other: which nodes changed their verdict, and whose points changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from framework.interface import Code, Status
from framework.trace.attempt import NOT_EVALUATED, AttemptTrace
from schedweb.api.windows import Window
from schedweb.runs.attempts.selectors import attempt_row, stored_attempt
from schedweb.runs.records.converters import RunKey

SHOWN: Final = 20
GONE: Final = "not there"
NOT_CHECKED: Final = "not checked"
FITS: Final = "fits"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``kind``: fits, rejected, not checked, not there."""

    kind: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()

    def body(self) -> dict[str, Any]:
        return {"kind": self.kind, "plugin": self.plugin, "reasons": list(self.reasons)}


_GONE: Final = Verdict(GONE)
_NOT_CHECKED: Final = Verdict(NOT_CHECKED)
_FITS: Final = Verdict(FITS)


def verdicts(trace: AttemptTrace) -> dict[str, Verdict]:
    """By node. Empty when PreFilter refused the pod before any node was looked at."""
    found = trace.filter
    if found is None:
        return {}
    absent = _NOT_CHECKED if trace.absent_status is None else _of(trace.absent_status)
    known = [_of(status) for status in found.verdicts]
    return {
        name: absent if index == NOT_EVALUATED else known[index]
        for name, index in zip(found.nodes, found.verdict.tolist(), strict=True)
    }


def _of(status: Status) -> Verdict:
    if status.code is Code.SUCCESS:
        return _FITS
    return Verdict("rejected", status.plugin, status.all_reasons)


def changed_verdicts(before: AttemptTrace, after: AttemptTrace) -> list[tuple[tuple[Verdict, Verdict], list[str]]]:
    """(verdict then, verdict now) → nodes, the largest group first. ``not there`` is a node that one cycle had."""
    first, second = verdicts(before), verdicts(after)
    groups: dict[tuple[Verdict, Verdict], list[str]] = {}
    for name in {**first, **second}:
        pair = (first.get(name, _GONE), second.get(name, _GONE))
        if pair[0] != pair[1]:
            groups.setdefault(pair, []).append(name)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0][0].plugin, group[0][1].plugin))


class _Points:
    """Of one attempt: node → place, plugin → points (normalized × weight) by place."""

    def __init__(self, trace: AttemptTrace) -> None:
        scores, found = trace.scores, trace.filter
        self.places: dict[str, int] = {}
        self.plugins: dict[str, list[int]] = {}
        self.total: list[int] = []
        if scores is not None and found is not None:
            self.places = {found.nodes[position]: place for place, position in enumerate(scores.positions.tolist())}
            self.plugins = {each.plugin: (each.normalized * np.int64(each.weight)).tolist() for each in scores.plugins}
            self.total = scores.total.tolist()

    def points_of(self, plugin: str, place: int) -> int | None:
        points = self.plugins.get(plugin)
        return None if points is None else points[place]


def changed_scores(before: AttemptTrace, after: AttemptTrace) -> tuple[list[str], list[dict[str, Any]]]:
    """Plugins that scored in either, and the nodes scored in both whose points differ, the largest change first."""
    first, second = _Points(before), _Points(after)
    plugins = list(dict.fromkeys([*first.plugins, *second.plugins]))
    rows: list[dict[str, Any]] = []
    for name, place in first.places.items():
        other = second.places.get(name)
        if other is None:
            continue
        cells = [{"before": first.points_of(each, place), "after": second.points_of(each, other)} for each in plugins]
        if any(cell["before"] != cell["after"] for cell in cells):
            rows.append({"node": name, "before": first.total[place], "after": second.total[other], "cells": cells})
    rows.sort(key=lambda row: (-abs(row["after"] - row["before"]), row["node"]))
    return plugins, rows


def difference_body(
    key: RunKey, number: int, other: int, window: Window, *, group: int | None = None
) -> dict[str, Any]:
    """``window`` cuts the nodes of ``group``, or the rows of scores without it."""
    before, after = stored_attempt(key, number), stored_attempt(key, other)
    groups = changed_verdicts(before.trace, after.trace)
    plugins, rows = changed_scores(before.trace, after.trace)
    chosen = groups[group][1] if group is not None and group < len(groups) else []
    return {
        "before": attempt_row(before.row),
        "after": attempt_row(after.row),
        "feasible": [before.trace.feasible_nodes, after.trace.feasible_nodes],
        "nodes_changed": sum(len(nodes) for _, nodes in groups),
        "groups": [
            {"before": pair[0].body(), "after": pair[1].body(), "count": len(nodes), "nodes": sorted(nodes)[:SHOWN]}
            for pair, nodes in groups
        ],
        "nodes": window.cut(sorted(chosen)),
        "scored_in_both": bool(before.trace.scores is not None and after.trace.scores is not None),
        "plugins": [
            {"name": plugin, "changed": sum(1 for row in rows if _differs(row["cells"][place]))}
            for place, plugin in enumerate(plugins)
        ],
        "count": len(rows) if group is None else len(chosen),
        "offset": window.offset,
        "limit": window.limit,
        "rows": window.cut(rows) if group is None else [],
    }


def _differs(cell: dict[str, Any]) -> bool:
    return bool(cell["before"] != cell["after"])
