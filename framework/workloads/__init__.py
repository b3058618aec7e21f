"""Workloads become pods, as the controllers of a cluster would make them (upstream: pkg/controller).

Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs and CronJobs, beside the pods of theirs
that are there already. Works on manifests, because what a template says is kept as it is written.
"""

from __future__ import annotations

from framework.workloads.existing import Existing
from framework.workloads.fields import KINDS, holds_a_pod_template, is_workload
from framework.workloads.making import COMPLETION_INDEX, DEPLOYMENT_REVISION, MOST_PODS, Made, make_pods, notes_of

__all__ = [
    "COMPLETION_INDEX",
    "DEPLOYMENT_REVISION",
    "KINDS",
    "MOST_PODS",
    "Existing",
    "Made",
    "holds_a_pod_template",
    "is_workload",
    "make_pods",
    "notes_of",
]
