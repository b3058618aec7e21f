"""Which extension point a method of a plugin belongs to: for those who attribute what plugins spend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

POINT_OF_METHOD: Final[Mapping[str, str]] = {
    "pre_enqueue": "PreEnqueue",
    "less": "QueueSort",
    "pre_filter": "PreFilter",
    "filter": "Filter",
    "filter_plan": "Filter",
    "post_filter": "PostFilter",
    "pre_score": "PreScore",
    "score": "Score",
    "score_plan": "Score",
    "normalize_score": "Score",
    "reserve": "Reserve",
    "unreserve": "Unreserve",
    "permit": "Permit",
    "pre_bind_pre_flight": "PreBindPreFlight",
    "pre_bind": "PreBind",
    "bind": "Bind",
    "post_bind": "PostBind",
}
