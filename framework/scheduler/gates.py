"""What the feature gates of a configuration mean to cache and event handlers (upstream ``scheduler.New``)."""

from __future__ import annotations

from collections.abc import Iterable

from framework.configuration.effective import EffectiveConfiguration
from framework.cycle import SchedulingCore
from framework.objects import Pod
from framework.objects.tolerations import COMPARISONS_GATE
from framework.scheduler.cluster import Cluster


def follow_gates(
    core: SchedulingCore, cluster: Cluster, configuration: EffectiveConfiguration, pods: Iterable[Pod]
) -> None:
    """``pods``: those that no event will tell of any more."""
    gates, cache = configuration.feature_gates, core.cache
    cluster.comparisons = gates.enabled(COMPARISONS_GATE)
    core.gang_scheduling = gates.enabled("GangScheduling")
    if not gates.enabled("GenericWorkload"):
        cache.pod_groups = None
    elif cache.pod_groups is None:
        cache.follow_pod_groups(pod for pod in pods if not pod.spec.node_name)
    core.services.pod_groups = cache.pod_groups
