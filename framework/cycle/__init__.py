"""A pod's journey: the scheduling cycle and the binding cycle, point by point.

Rules: docs/semantics/framework.md#scheduling-cycle, docs/semantics/framework.md#binding-cycle.
"""

from __future__ import annotations

from framework.cycle.binding_cycle import BindingCycle
from framework.cycle.core import CycleObserver, SchedulingCore
from framework.cycle.scheduling_cycle import run_scheduling_cycle

__all__ = ["BindingCycle", "CycleObserver", "SchedulingCore", "run_scheduling_cycle"]
