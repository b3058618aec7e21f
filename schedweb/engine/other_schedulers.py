"""Which other schedulers bind pods onto the nodes that a run schedules to: two of them may overfill a node, as neither
sees in time what the other one does."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec

from framework.objects import KubeObject, Node, Pod
from framework.scheduler.cluster import Cluster
from schedweb.engine.real_rows import OtherSchedulerRow
from schedweb.engine.told import was_bound_since

MOST: Final = 50
"""Names; a schedulerName is whatever somebody writes into a pod."""


class Terms(Protocol):
    """What is asked of a run's (live.py)."""

    @property
    def schedulers(self) -> tuple[str, ...]: ...

    @property
    def node_selector(self) -> dict[str, str]: ...


class OtherSchedulers(msgspec.Struct):
    seen: dict[str, OtherSchedulerRow] = {}
    """By schedulerName. Counts are whole, not since the last batch."""
    changed: bool = False

    def see(
        self, cluster: Cluster, terms: Terms, before: KubeObject | None, after: KubeObject | None, start: int, now: int
    ) -> None:
        """A change of the real cluster, before it is applied: counted where a pod with another schedulerName than the
        run's has got a node that is the run's. ``start``: when the run began; both in nanoseconds since 1970."""
        if not isinstance(after, Pod) or after.spec.scheduler_name in terms.schedulers or not after.spec.node_name:
            return
        had = isinstance(before, Pod) and before.metadata.uid == after.metadata.uid and before.spec.node_name
        if had or not was_bound_since(after, start) or not _is_ours(cluster, after.spec.node_name, terms):
            return
        name = after.spec.scheduler_name
        known = self.seen.get(name)
        if known is None and len(self.seen) >= MOST:
            return
        self.seen[name] = OtherSchedulerRow(name, 1 if known is None else known.count + 1, now)
        self.changed = True

    def take(self) -> list[OtherSchedulerRow] | None:
        """All of them, for a batch; None where nothing is new."""
        if not self.changed:
            return None
        self.changed = False
        return list(self.seen.values())


def _is_ours(cluster: Cluster, node_name: str, terms: Terms) -> bool:
    """A run that keeps to no labels schedules to all nodes."""
    if not terms.node_selector:
        return True
    node = cluster.get(Node, "", node_name)
    return node is not None and terms.node_selector.items() <= node.metadata.labels.items()
