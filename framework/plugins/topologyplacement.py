"""TopologyPlacementGenerator: a placement per domain of the group's topology key.

Rules: docs/semantics/pod-groups.md#placements.

Nodes without the key are in none. Upstream goes through the domains at random, we in the order of their first nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from framework.interface import Status
from framework.interface.plugin import PlacementGeneratePlugin
from framework.interface.pod_groups import Placement, PodGroupCycle
from framework.objects import Pod
from framework.objects.scheduling import SchedulingPodGroup
from framework.sentences import noted


class _NoDomain(Exception):
    """The text is upstream's."""


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    name: ClassVar[str] = "TopologyPlacementGenerator"
    description: ClassVar[str] = noted(
        "Proposes a placement per domain of a pod group's topology key (feature gate TopologyAwareWorkloadScheduling)."
    )

    def generate_placements(self, group: PodGroupCycle, parent: Placement) -> tuple[Sequence[Placement], Status | None]:
        found = self.handle.objects.get(SchedulingPodGroup, group.namespace, group.name)
        if found is None:
            return (), Status.as_error(f'podgroup.scheduling.k8s.io "{group.name}" not found')
        key = found.topology_key
        if key is None:
            return (parent,), None
        try:
            required = self._domain_of(group.members.scheduled_pods(), key)
        except _NoDomain as error:
            return (), Status.as_error(f"cannot determine domain for already scheduled pods: {error}")
        domains: dict[str, list[str]] = {}
        for name in parent.nodes:
            domain = self._label(name, key)
            if domain is not None and required in (None, domain):
                domains.setdefault(domain, []).append(name)
        return [Placement(domain, tuple(nodes)) for domain, nodes in domains.items()], None

    def _domain_of(self, scheduled: Sequence[Pod], key: str) -> str | None:
        """Where the group's pods are already; None without any."""
        domain: str | None = None
        for pod in scheduled:
            if self.handle.snapshot.get(pod.spec.node_name) is None:
                text = f'getting node for pod {pod.key}: nodeinfo not found for node name "{pod.spec.node_name}"'
                raise _NoDomain(text)
            own = self._label(pod.spec.node_name, key)
            if own is None:
                raise _NoDomain(f"no topology domain found for pod {pod.key}")
            # Upstream's "" stands for "none yet", so an empty domain is not held against another.
            if domain and domain != own:
                raise _NoDomain(f"more than 1 domain found for pod group: {domain}, {own}")
            domain = own
        return domain

    def _label(self, node_name: str, key: str) -> str | None:
        info = self.handle.snapshot.get(node_name)
        return None if info is None or info.node is None else info.node.metadata.labels.get(key)
