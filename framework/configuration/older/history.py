"""What older versions of kube-scheduler had that v1 has not, or has otherwise.

Upstream, all gone from 1.36: ``default_plugins.go`` of the configuration's v1beta1, v1beta2 and v1beta3 (weights,
lists); the registry of ``algorithmprovider`` (v1alpha1, v1alpha2).
"""

from __future__ import annotations

from typing import Final

from framework.configuration.types import Plugin, PluginSet
from framework.sentences import noted

RESOURCES: Final = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
"""Score plugins that became a scoring strategy of NodeResourcesFit."""

VOLUME_LIMITS: Final = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
SPREADING: Final = ("SelectorSpread", "DefaultPodTopologySpread")
"""Two names of one plugin; PodTopologySpread's System constraints took its place."""

NODE_LABEL: Final = "NodeLabel"

GONE: Final = {
    "NodePreferAvoidPods": noted(
        "NodePreferAvoidPods is gone: nobody reads the annotation scheduler.alpha.kubernetes.io/preferAvoidPods any "
        "more. A taint with the effect PreferNoSchedule says the same of a node."
    ),
    "ServiceAffinity": noted(
        "ServiceAffinity is gone, and nothing does the same: pods of a service are kept together by pod affinity in "
        "their own specs."
    ),
    "NodeResourceLimits": noted("NodeResourceLimits is gone: limits of pods do not count when nodes are scored."),
}
"""Plugins without a successor, and what to tell of them."""

NEWER: Final = ("SchedulingGates", "DynamicResources", "NodeDeclaredFeatures")
"""Came after all older versions; each concerns only pods that ask for what it is there for."""

NOT_SCORED_THEN: Final = frozenset({*NEWER, "VolumeBinding"})
"""In v1's Score list by default, without an effect unless a pod or a feature gate asks for it."""

POINTS: Final = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "multiPoint",
)

_FILTER: Final = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "EBSLimits",
    "GCEPDLimits",
    "NodeVolumeLimits",
    "AzureDiskLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
_SCORE: Final = (
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("InterPodAffinity", 1),
    ("NodeResourcesFit", 1),
    ("NodeAffinity", 1),
    ("PodTopologySpread", 2),
    ("TaintToleration", 1),
)
_EARLIER_SCORE: Final = (
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
    ("InterPodAffinity", 1),
    ("NodeResourcesLeastAllocated", 1),
    ("NodeAffinity", 1),
    ("NodePreferAvoidPods", 10000),
    ("PodTopologySpread", 2),
    ("TaintToleration", 1),
)
_SCORES: Final = {
    "v1alpha1": (*_EARLIER_SCORE, ("SelectorSpread", 1)),
    "v1alpha2": (*_EARLIER_SCORE, ("SelectorSpread", 1)),
    "v1beta1": _EARLIER_SCORE,
    "v1beta2": _SCORE,
}


def lists_plugins_by_point(version: str) -> bool:
    """MultiPoint came with v1beta3, and with it v1's weights."""
    return version in _SCORES


def default_filter() -> PluginSet:
    return PluginSet(enabled=tuple(Plugin(name=name) for name in _FILTER))


def default_score(version: str, *, packing: bool = False) -> PluginSet:
    """``packing``: of ClusterAutoscalerProvider, which had another plugin for resources."""
    names = {"NodeResourcesLeastAllocated": "NodeResourcesMostAllocated"} if packing else {}
    return PluginSet(
        enabled=tuple(Plugin(name=names.get(name, name), weight=weight) for name, weight in _SCORES[version])
    )
