"""The cluster as columns over the node axis: the snapshot of a scheduling cycle, and the inputs it hands to plugins."""

from __future__ import annotations

from framework.columns.facts import WHOLE, CodedFact
from framework.columns.groups import Grouping, Groups, Numbered, groupings
from framework.columns.incremental import NO_ROWS, Incremental, Log, Placement, RowLog, Source, Unknown, union
from framework.columns.row_values import are_facts
from framework.columns.sights import Sights
from framework.columns.snapshot import Snapshot

__all__ = [
    "NO_ROWS",
    "WHOLE",
    "CodedFact",
    "Grouping",
    "Groups",
    "Incremental",
    "Log",
    "Numbered",
    "Placement",
    "RowLog",
    "Sights",
    "Snapshot",
    "Source",
    "Unknown",
    "are_facts",
    "groupings",
    "union",
]
