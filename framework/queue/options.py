"""How long the scheduling queue lets a pod wait, and which feature gates change its moves (docs/semantics/queue.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

from framework.configuration.effective import EffectiveConfiguration
from framework.objects.timestamps import SECOND

LEFTOVER_PERIOD: Final = 30 * SECOND
"""How often pods are looked for that no event brought back: a hint may be wrong, and nobody should wait for ever."""


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

    def next_leftover_flush(self, start: int, ages: Iterable[int | None], now: int) -> int | None:
        """The first flush (every 30 s from ``start``) after ``now`` that finds a pod of one of these ages too old.

        ``ages``: when pods became unschedulable; None is passed over. None where pods are never flushed.
        """
        known = [age for age in ages if age is not None]
        if self.max_in_unschedulable is None or not known:
            return None
        after = max(min(known) + self.max_in_unschedulable, now) - start
        return start + (after // LEFTOVER_PERIOD + 1) * LEFTOVER_PERIOD


DEFAULT_OPTIONS: Final = QueueOptions()
