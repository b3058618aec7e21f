"""The ribbon of the cycle under way: which extension points are done, where it stands, and what is left."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from framework.trace.attempt import AttemptTrace
from schedweb.engine.outcomes import score_words, victims_words
from schedweb.engine.player import Player

POINTS: Final = (
    "PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "Reserve", "Permit",
    "PreBind", "Bind", "PostBind",
)  # fmt: skip
#: Boundaries that the ribbon has no point of its own for.
SHOWN_AS: Final = {"PreBindPreFlight": "PreBind", "WaitOnPermit": "Permit"}


def cycle_body(player: Player) -> dict[str, Any] | None:
    """None between two cycles."""
    trace = player.under_way
    if trace is None:
        return None
    view = player.projection.views.get(trace.uid)
    if view is None:
        return None
    reached = SHOWN_AS.get(view.point, view.point) or "QueueSort"
    at = POINTS.index(reached) if reached in POINTS else 1
    return {
        "pod": view.ref(),
        "attempt": trace.attempt,
        "points": [
            {"point": point, "state": "done" if place < at else "current" if place == at else "next"}
            for place, point in enumerate(POINTS)
        ],
        "note": note_of(reached, trace),
    }


def note_of(reached: str, trace: AttemptTrace) -> str:
    if reached == "QueueSort":
        return "taken from the head of Active"
    if reached == "PreFilter":
        skipped = sum(1 for each in trace.pre_filter if each.status.code.name == "SKIP")
        return f"{len(trace.pre_filter) - skipped} plugins look at it, {skipped} have nothing to say"
    if reached == "Filter" and trace.filter is not None:
        left = int(np.count_nonzero(trace.filter.verdict == 0))
        return f"{left} of {trace.nodes_total} nodes left"
    if reached == "PostFilter":
        return victims_words(trace)
    if reached == "Score":
        return score_words(trace)
    if trace.selected:
        return f"on {trace.selected}"
    return ""
