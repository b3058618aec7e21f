"""Where the time of cycles went: of one attempt, and over a run's attempts in which plugins were timed."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np

from schedweb.runs.attempts.selectors import attempts_until
from schedweb.runs.models import Attempt, Run

#: The newest of those that were timed; older ones change the picture little.
LOOKED_AT: Final = 2000
ORDER: Final = (
    "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit", "PreBindPreFlight", "WaitOnPermit",
    "PreBind", "Bind", "PostBind",
)  # fmt: skip


def attempt_timing(row: Attempt) -> dict[str, Any] | None:
    """Points in the order in which the cycle passed them; None where plugins were not timed."""
    if row.timing is None:
        return None
    plugins: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for point, plugin, spent in sorted(row.timing["plugins"], key=lambda each: -each[2]):
        plugins[point].append({"plugin": plugin, "us": spent})
    return {
        "total_us": row.duration_us,
        "points": [
            {"point": point, "us": spent, "plugins": plugins.pop(point, [])}
            for point, spent in row.timing["points"].items()
        ]
        # A plugin that was asked in a part of the cycle that passed no point of that name.
        + [{"point": point, "us": None, "plugins": rest} for point, rest in plugins.items()],
    }


def run_timing(run: Run) -> dict[str, Any]:
    """Mean, median and 99th percentile per point and plugin, over the attempts in which it was asked."""
    rows = attempts_until(run).exclude(timing=None).order_by("-number")
    timed: list[tuple[int, dict[str, Any]]] = [
        (total or 0, timing or {}) for total, timing in rows.values_list("duration_us", "timing")[:LOOKED_AT]
    ]
    totals = [total for total, _ in timed]
    points: dict[str, list[int]] = defaultdict(list)
    plugins: dict[tuple[str, str], list[int]] = defaultdict(list)
    for _, timing in timed:
        for point, spent in timing["points"].items():
            points[point].append(spent)
        for point, plugin, spent in timing["plugins"]:
            plugins[point, plugin].append(spent)
    whole = sum(totals)
    return {
        "timed": len(timed),
        "attempts": run.attempts,
        "cycle": None if not totals else _summary(totals, whole),
        "points": [
            {
                "point": point,
                **_summary(points[point], whole),
                "plugins": sorted(
                    (
                        {"plugin": plugin, **_summary(spent, whole)}
                        for (at, plugin), spent in plugins.items()
                        if at == point
                    ),
                    key=lambda each: (-each["share"], each["plugin"]),
                ),
            }
            for point in sorted(points, key=_place)
        ],
    }


def _place(point: str) -> tuple[int, str]:
    return (ORDER.index(point) if point in ORDER else len(ORDER), point)


def _summary(spent: list[int], whole: int) -> dict[str, Any]:
    """``share``: of the time of all timed cycles."""
    return {
        "count": len(spent),
        "mean_us": sum(spent) / len(spent),
        "p50_us": float(np.percentile(spent, 50)),
        "p99_us": float(np.percentile(spent, 99)),
        "share": sum(spent) / whole if whole else 0.0,
    }
