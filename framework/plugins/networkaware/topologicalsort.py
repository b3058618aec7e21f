"""TopologicalSort: pods of one AppGroup in the order of its workloads (docs/semantics/catalogue.md#topologicalsort)."""

from __future__ import annotations

from typing import ClassVar, Final

from framework.interface import QueuedPod, QueueSortPlugin
from framework.objects import Pod
from framework.objects.catalogue import AppGroup, AppGroupOrder
from framework.plugins.networkaware.app_groups import find, find_by_halves, group_of, workload_of
from framework.plugins.networkaware.args import TopologicalSortArgs
from framework.sentences import noted

NOT_LISTED: Final = -1


class TopologicalSort(QueueSortPlugin):
    name: ClassVar[str] = "TopologicalSort"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[TopologicalSortArgs]] = TopologicalSortArgs
    description: ClassVar[str] = noted("Tries the pods of an AppGroup in the order of its workloads.")

    args: TopologicalSortArgs

    def less(self, a: QueuedPod, b: QueuedPod) -> bool:
        """No strict order: pods of one workload come each before the other."""
        group = group_of(a.pod)
        if not group or group != group_of(b.pod):
            first, second = a.pod.spec.priority or 0, b.pod.spec.priority or 0
            return first > second or (first == second and a.timestamp < b.timestamp)
        return self._order(group, a.pod) <= self._order(group, b.pod)

    def _order(self, group: str, pod: Pod) -> int:
        found = find(self.handle, AppGroup, self.args.namespaces, group)
        if found is None:
            # Upstream's process ends here; a queue that goes on by priority harms nobody.
            return NOT_LISTED
        listed = find_by_halves(found.status.topology_order, workload_of(pod), _selector)
        return NOT_LISTED if listed is None else listed.index


def _selector(entry: AppGroupOrder) -> str:
    return entry.workload.selector
