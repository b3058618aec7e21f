"""Answers to "what if": tried out on copies of a scheduler's cluster, never on the original."""

from __future__ import annotations

from framework.advice.all_nodes import with_all_nodes
from framework.advice.capacity import (
    Capacity,
    NodeCapacity,
    NodesNeeded,
    StuckPod,
    how_many_fit,
    nodes_until_all_fit,
)
from framework.advice.operations import Operation, perform
from framework.advice.other_weights import OFF, Elsewhere, Estimate, estimate
from framework.advice.remedies import Remedy, fits_on, what_would_help

__all__ = [
    "OFF",
    "Capacity",
    "Elsewhere",
    "Estimate",
    "NodeCapacity",
    "NodesNeeded",
    "Operation",
    "Remedy",
    "StuckPod",
    "estimate",
    "fits_on",
    "how_many_fit",
    "nodes_until_all_fit",
    "perform",
    "what_would_help",
    "with_all_nodes",
]
