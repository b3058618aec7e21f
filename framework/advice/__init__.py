"""Answers to "what if": tried out on copies of a scheduler's cluster, never on the original."""

from __future__ import annotations

from framework.advice.capacity import (
    Capacity,
    NodeCapacity,
    NodesNeeded,
    StuckPod,
    how_many_fit,
    nodes_until_all_fit,
)
from framework.advice.operations import Operation, perform
from framework.advice.remedies import Remedy, fits_on, what_would_help

__all__ = [
    "Capacity",
    "NodeCapacity",
    "NodesNeeded",
    "Operation",
    "Remedy",
    "StuckPod",
    "fits_on",
    "how_many_fit",
    "nodes_until_all_fit",
    "perform",
    "what_would_help",
]
