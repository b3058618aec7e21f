"""The messages of kube-scheduler's events, taken apart (framework/interface/fit_error.py puts ours together)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ASSIGNED: Final = re.compile(r"Successfully assigned (\S+) to (\S+)")
_UNFIT: Final = re.compile(r"0/(\d+) nodes are available(?:: ?(.*))?", re.DOTALL)
_NEXT_ENTRY: Final = re.compile(r", (?=\d+ )")
_ENTRY: Final = re.compile(r"(\d+) (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why a pod fitted nowhere. ``rest`` is what PostFilter plugins added: ``preemption: …``.

    Of a rejection in PreFilter, which is not counted by node, the one reason holds for all nodes.
    """

    nodes: int
    reasons: dict[str, int]
    rest: str = ""


def assigned_node(message: str) -> str:
    """Of ``Scheduled``; "" when the message has another form."""
    found = _ASSIGNED.match(message)
    return found[2] if found else ""


def read_unfit(message: str) -> Unfit | None:
    """Of ``FailedScheduling``; None when it failed for something else (a plugin's error, a rejection by Permit)."""
    found = _UNFIT.match(message)
    if found is None:
        return None
    nodes, text = int(found[1]), (found[2] or "").strip()
    histogram, _, rest = text.partition(". ")
    reasons: dict[str, int] = {}
    for entry in _NEXT_ENTRY.split(histogram.rstrip(".")):
        counted = _ENTRY.fullmatch(entry)
        count, reason = (int(counted[1]), counted[2]) if counted else (nodes, entry)
        if reason:
            reasons[reason] = reasons.get(reason, 0) + count
    return Unfit(nodes, reasons, rest.strip())


def same_message(real: str, ours: str) -> bool:
    """Older schedulers end with one dot more or less."""
    return real.rstrip(". ") == ours.rstrip(". ")
