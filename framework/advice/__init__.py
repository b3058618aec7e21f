"""Answers to "what if": tried out on copies of a scheduler's cluster, never on the original."""

from __future__ import annotations

from framework.advice.all_nodes import with_all_nodes
from framework.advice.candidates import Kind, few
from framework.advice.capacity import (
    Capacity,
    NodeCapacity,
    NodesNeeded,
    StuckPod,
    how_many_fit,
    nodes_until_all_fit,
)
from framework.advice.changed import shape_of, what_changed, what_it_is
from framework.advice.operations import WAIT, Operation, perform
from framework.advice.other_weights import OFF, Elsewhere, Estimate, estimate
from framework.advice.placed_again import PlacedAgain, RankedNode, place_again
from framework.advice.played import Fate, Fated, Play, Played, PlayedPod, difference, held_by_reservations, states
from framework.advice.remedies import Help, Remedy, what_would_help
from framework.advice.without_extenders import leave_out_extenders, try_again_without
from framework.advice.workloads import identity_of

__all__ = [
    "OFF",
    "WAIT",
    "Capacity",
    "Elsewhere",
    "Estimate",
    "Fate",
    "Fated",
    "Help",
    "Kind",
    "NodeCapacity",
    "NodesNeeded",
    "Operation",
    "PlacedAgain",
    "Play",
    "Played",
    "PlayedPod",
    "RankedNode",
    "Remedy",
    "StuckPod",
    "difference",
    "estimate",
    "few",
    "held_by_reservations",
    "how_many_fit",
    "identity_of",
    "leave_out_extenders",
    "nodes_until_all_fit",
    "perform",
    "place_again",
    "shape_of",
    "states",
    "try_again_without",
    "what_changed",
    "what_it_is",
    "what_would_help",
    "with_all_nodes",
]
