"""One profile over a few nodes, for tests of a single cycle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from framework.configuration import load_value
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.interface import Plugin
from framework.objects import Node, Pod
from framework.plugins.registry import built_in_registry
from framework.profiles import TieRule
from framework.scheduler import Attempt, Observer, Scheduler

FILTERS = ("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit")


def point(*names: str) -> dict[str, Any]:
    return {"enabled": [{"name": name} for name in names], "disabled": [{"name": "*"}]}


class SmallCluster:
    """The resource and node filters, one score, and whatever ``more`` brings to which points."""

    def __init__(
        self,
        nodes: Iterable[Node],
        *,
        percentage: int = 100,
        score: bool = True,
        more: Sequence[type[Plugin]] = (),
        points: dict[str, Sequence[str]] | None = None,
        ties: TieRule = "smallest",
        seed: int = 1,
        gates: FeatureGates = DEFAULT_GATES,
    ) -> None:
        registry = built_in_registry().with_plugins(more)
        scoring = ("NodeResourcesFit",) if score else ()
        enabled: dict[str, Sequence[str]] = {
            "preFilter": ("NodeAffinity", "NodePorts", "NodeResourcesFit"),
            "filter": FILTERS,
            "postFilter": (),
            "preScore": scoring,
            "score": scoring,
            "reserve": (),
            "preBind": (),
            "preEnqueue": (),
            **(points or {}),
        }
        written = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "percentageOfNodesToScore": percentage,
            "profiles": [{"plugins": {name: point(*names) for name, names in enabled.items()}}],
        }
        loaded = load_value(written, registry, gates)
        assert loaded.effective is not None, loaded.errors
        self.scheduler = Scheduler(loaded.effective, registry, start=0, seed=seed, ties=ties, observer=Observer())
        for node in nodes:
            self.scheduler.cluster.create_admitted(node)

    def schedule(self, pod: Pod) -> Attempt:
        """The attempt that follows the pod's creation."""
        self.scheduler.cluster.create_admitted(pod)
        attempt = self.scheduler.step()
        assert attempt is not None
        assert attempt.uid == pod.uid
        return attempt
