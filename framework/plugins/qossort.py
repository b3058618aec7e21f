"""QOSSort: higher priority first, then the better quality of service, then who waits longer.

Rules: docs/semantics/catalogue.md#qossort.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from framework.interface import QueuedPod, QueueSortPlugin
from framework.objects.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, pod_qos
from framework.sentences import noted

_ORDER: Final = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}


class QOSSort(QueueSortPlugin):
    name: ClassVar[str] = "QOSSort"
    origin = "scheduler-plugins"
    description: ClassVar[str] = noted(
        "Tries pods of higher priority first; among equals Guaranteed before Burstable before BestEffort."
    )

    def less(self, a: QueuedPod, b: QueuedPod) -> bool:
        return bool(self.sort_key(a) < self.sort_key(b))

    def sort_key(self, pod: QueuedPod) -> Any:
        # A class that upstream's table does not know counts as the lowest of all.
        return (-(pod.pod.spec.priority or 0), _ORDER.get(pod_qos(pod.pod), len(_ORDER)), pod.timestamp)
