"""One Score plugin of a profile, and what it was asked about one class of pods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framework.interface.columns import Plan, View
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.plugin import BoundsNormalizer, NormalizeScore
from framework.interface.status import Status
from framework.objects import Pod
from framework.profiles.node_plans import ScoreNodePlans
from framework.reuse.plan_column import PlanColumn
from framework.reuse.state_column import StateColumn

PerNodeScore = Callable[[CycleState, Pod, NodeInfo], tuple[int, Status | None]]
MakePlan = Callable[[CycleState, PodInfo, View], Plan]
Ints = NDArray[np.int64]


class Normalized(NamedTuple):
    """Scores of states. Arrays are not to be written to."""

    scores: Ints
    weighted: NDArray[Any]
    limits: tuple[int, int]
    """Lowest and highest of ``scores``."""


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """Either ``per_node`` or ``make_plan``. ``local`` may make plans for the former."""

    plugin: str
    weight: int
    per_node: PerNodeScore | None
    make_plan: MakePlan | None
    normalizer: NormalizeScore | None
    bounds: BoundsNormalizer | None
    """The normaliser, if it is of that kind; whether it is for a pod, it says itself."""
    local: ScoreNodePlans | None = None
    known: dict[Any, Normalized] = field(default_factory=dict, compare=False, repr=False)
    """(scores of few states as bytes, their lowest and highest that count) → what the plugin makes of them."""


@dataclass(slots=True)
class ScorePart:
    """``plan`` with its ``column``, or a per-node plugin, or ``failed``: asking for the plan raised."""

    point: ScorePoint
    plan: Plan | None = None
    column: PlanColumn | StateColumn | None = None
    failed: Status | None = None
    bounds: BoundsNormalizer | None = None
    """The normaliser, if this attempt's is of that kind."""
    follows: bool = False
    """Its scores depend on nothing but its column and what is lowest and highest."""

    def raw(self) -> Ints:
        """By row; for reading."""
        assert self.column is not None
        if isinstance(self.column, StateColumn):
            self.column.follow()
            return self.column.by_row()
        return self.column.follow().values.astype(np.int64, copy=False)
