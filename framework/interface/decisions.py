"""What Reserve plugins decided for a pod's claims (which volumes and devices it gets), and how PostFilter searched.

Structs rather than dataclasses: a trace keeps both kinds in one tuple and has to tell them apart when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec


class VolumeDecision(msgspec.Struct, frozen=True, tag="volume"):
    claim: str
    """``namespace/name`` of the PersistentVolumeClaim."""
    volume_name: str
    """``spec.volumes[].name`` of the pod."""
    action: Literal["bound", "match", "provision"]
    """``bound`` before; will be bound to the ``match``; or the class's provisioner makes a volume."""
    persistent_volume: str
    """"" when it has yet to be provisioned."""
    storage_class: str


class DeviceDecision(msgspec.Struct, frozen=True, tag="device"):
    claim: str
    """``namespace/name`` of the ResourceClaim."""
    request: str
    driver: str
    pool: str
    device: str
    admin_access: bool


ClaimDecision = VolumeDecision | DeviceDecision


Passes = tuple[tuple[str, str, int], ...]
"""(the plugin that refused, "" where none did; its code's name; how often) of runs of all Filter plugins on a node."""


class DryRuns(NamedTuple):
    """How nodes were tried out for preemption."""

    potential: int
    """Nodes where it might help."""
    budgets: int
    """PodDisruptionBudgets of the cluster."""
    offset: int
    """Of the potential nodes, in the order of their rows, the one at which it began."""
    wanted: int
    """Candidates that are enough."""
    passes: Passes = ()
    """Of all nodes that were tried out, also where what came of it was known from before or from a node like it."""


def passes_of(counted: Mapping[tuple[str, str], int]) -> Passes:
    """By plugin and code."""
    return tuple((plugin, code, times) for (plugin, code), times in sorted(counted.items()))
