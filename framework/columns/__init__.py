"""The cluster as columns over the node axis: the snapshot of a scheduling cycle, and the inputs it hands to plugins."""

from __future__ import annotations

from framework.columns.facts import WHOLE, CodedFact
from framework.columns.groups import Grouping, Groups, Numbered, groupings
from framework.columns.kept import are_facts
from framework.columns.log import Log, RowLog, union
from framework.columns.sights import Sights
from framework.columns.snapshot import Placement, Snapshot

__all__ = [
    "WHOLE",
    "CodedFact",
    "Grouping",
    "Groups",
    "Log",
    "Numbered",
    "Placement",
    "RowLog",
    "Sights",
    "Snapshot",
    "are_facts",
    "groupings",
    "union",
]
