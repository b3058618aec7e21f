"""What watches bring to a scheduler that keeps no journal. Objects keep the API server's versions."""

from __future__ import annotations

from framework.objects import Pod
from framework.scheduler import Scheduler
from schedweb.clusters.scheduling.informers import Changed
from schedweb.engine.live import LiveCluster
from schedweb.engine.written import leave_waiting


def hear_change(cluster: LiveCluster, change: Changed, scheduler: Scheduler | None = None) -> None:
    """``scheduler``: once there is one. What was written and answered is known better than by watches from before; of
    pods that wait in a namespace where nothing may be written nothing is known."""
    resource, (namespace, name), new = change
    old = cluster.find_unstructured(resource.version, resource.kind, namespace, name)
    if new is None or cluster.is_left_out(new):
        if old is not None:
            cluster.delete(old)
        return
    if cluster.is_behind(new):
        return
    if scheduler is not None and isinstance(new, Pod) and new.spec.node_name:
        leave_waiting(scheduler, cluster, new)
    cluster.observe(new)
