"""How long the scheduling queue lets a pod wait, and which feature gates change its moves (docs/semantics/queue.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from framework.configuration.effective import EffectiveConfiguration
from framework.objects.timestamps import SECOND


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """``max_in_unschedulable`` is kube-scheduler's --pod-max-in-unschedulable-pods-duration; None never flushes.

    ``pops_early`` is the gate SchedulerPopFromBackoffQ.
    """

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    max_in_unschedulable: int | None = 300 * SECOND
    pops_early: bool = True
    pod_groups: bool = False
    """The gate GenericWorkload."""

    @classmethod
    def from_configuration(cls, configuration: EffectiveConfiguration, max_in_unschedulable: int | None) -> Self:
        return cls(
            initial_backoff=configuration.pod_initial_backoff_seconds * SECOND,
            max_backoff=configuration.pod_max_backoff_seconds * SECOND,
            max_in_unschedulable=max_in_unschedulable,
            pod_groups=configuration.feature_gates.enabled("GenericWorkload"),
            pops_early=configuration.feature_gates.enabled("SchedulerPopFromBackoffQ"),
        )


DEFAULT_OPTIONS: Final = QueueOptions()
