"""All nodes: the attempt under way as it would end with percentageOfNodesToScore 100."""

from __future__ import annotations

from typing import Final

from framework.advice.without_extenders import leave_out_extenders
from framework.cycle.diagnosis import Failed
from framework.cycle.scheduling_cycle import schedule
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.objects import Pod
from framework.scheduler import Scheduler
from framework.trace.attempt import AttemptTrace

EVERY: Final = 100


def with_all_nodes(scheduler: Scheduler, pod: Pod) -> AttemptTrace:
    """``pod``'s Filter and Score with every node looked at, in the snapshot of the cycle under way.

    The cycle must stand before Filter: then nothing of the cluster, of the rotation of nodes or of the seed's draws has
    been used by it. Extenders are left out: nobody asks them here. Uses ``scheduler`` up.
    """
    core = scheduler.core
    leave_out_extenders(scheduler)
    profile = scheduler.profiles[pod.spec.scheduler_name]
    profile.percentage_of_nodes_to_score = EVERY
    profile.batch = None
    trace = AttemptTrace(
        pod=pod.key,
        uid=pod.metadata.uid,
        profile=profile.name,
        attempt=0,
        cycle=0,
        at=core.now,
        nodes_total=len(core.snapshot),
    )
    points = schedule(core, profile, CycleState(), PodInfo(pod), trace)
    while True:
        try:
            next(points)
        except StopIteration as end:
            placed: str | Failed = end.value
            trace.selected = "" if isinstance(placed, Failed) else placed
            return trace
