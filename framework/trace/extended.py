"""Filter's answers with what extenders made of them: what people are shown. Plugins' own answers are kept beside."""

from __future__ import annotations

from typing import Final

import numpy as np

from framework.interface.status import Code, Status
from framework.trace.attempt import FEASIBLE, AttemptTrace, FilterTrace

EXTENDER: Final = "Extender"
LEFT_OUT: Final = Status(Code.UNSCHEDULABLE, ("left out by an extender",), EXTENDER)
"""Ours: upstream gives such a node no status (docs/semantics/extenders.md#filter)."""


def after_extenders(trace: AttemptTrace) -> FilterTrace | None:
    """``trace.filter`` where extenders changed nothing, or one of them ended the attempt with an error."""
    found = trace.filter
    if found is None or (trace.extender_left is None and not trace.extender_statuses):
        return found
    if any(call.verb == "filter" and call.error and not call.ignored for call in trace.extender_calls):
        return found
    verdicts, verdict = list(found.verdicts), found.verdict.copy()
    places = {name: position for position, name in enumerate(found.nodes)}
    left = set(np.flatnonzero(verdict == FEASIBLE).tolist() if trace.extender_left is None else trace.extender_left)
    said = {places[name]: status.with_plugin(EXTENDER) for name, status in trace.extender_statuses if name in places}
    dropped = dict.fromkeys(np.flatnonzero(verdict == FEASIBLE).tolist(), LEFT_OUT)
    for position, status in {**dropped, **said}.items():
        if position in left:
            continue
        if status not in verdicts:
            verdicts.append(status)
        verdict[position] = verdicts.index(status)
    verdict[sorted(left)] = FEASIBLE
    return FilterTrace(found.nodes, verdict, verdicts)
