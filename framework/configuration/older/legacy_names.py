"""Predicates and priorities of a Policy: what they are called, what they are today.

Upstream: ``legacy_registry.go`` of Kubernetes 1.22 (``predicateOrdering``,
``NewLegacyRegistry``); names that earlier versions had and that were taken out before.
"""

from __future__ import annotations

from typing import Final

PREDICATE_ORDER: Final = (
    "CheckNodeUnschedulable",
    "GeneralPredicates",
    "HostName",
    "PodFitsHostPorts",
    "MatchNodeSelector",
    "PodFitsResources",
    "NoDiskConflict",
    "PodToleratesNodeTaints",
    "CheckNodeLabelPresence",
    "CheckServiceAffinity",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxCSIVolumeCountPred",
    "MaxAzureDiskVolumeCount",
    "MaxCinderVolumeCount",
    "CheckVolumeBinding",
    "NoVolumeZoneConflict",
    "EvenPodsSpread",
    "MatchInterPodAffinity",
)
"""In which they were asked, whatever the file's order."""

PREDICATE_PLUGINS: Final[dict[str, tuple[str, ...]]] = {
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeLabelPresence": (),
    "CheckServiceAffinity": (),
    "MaxEBSVolumeCount": ("NodeVolumeLimits",),
    "MaxGCEPDVolumeCount": ("NodeVolumeLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("NodeVolumeLimits",),
    "MaxCinderVolumeCount": ("NodeVolumeLimits",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
COUNTED_BY_KIND: Final = (
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCinderVolumeCount",
)
PREDICATE_ALIASES: Final = {"PodFitsPorts": "PodFitsHostPorts", "NoVolumeNodeConflict": "CheckVolumeBinding"}
CONDITIONS: Final = (
    "CheckNodeCondition",
    "CheckNodeMemoryPressure",
    "CheckNodeDiskPressure",
    "CheckNodePIDPressure",
    "PodToleratesNodeNoExecuteTaints",
)
"""Predicates of before 1.18 about what are taints today."""

MANDATORY: Final = ("CheckNodeUnschedulable", "PodToleratesNodeTaints")
DEFAULT_PREDICATES: Final = (
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "PodToleratesNodeTaints",
    "CheckVolumeBinding",
    "CheckNodeUnschedulable",
    "EvenPodsSpread",
)

PRIORITY_PLUGINS: Final = {
    "InterPodAffinityPriority": "InterPodAffinity",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
    "EvenPodsSpreadPriority": "PodTopologySpread",
}
PRIORITY_STRATEGIES: Final = {
    "LeastRequestedPriority": "LeastAllocated",
    "MostRequestedPriority": "MostAllocated",
    "RequestedToCapacityRatioPriority": "RequestedToCapacityRatio",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
SELECTOR_SPREAD: Final = "SelectorSpreadPriority"
PRIORITY_ALIASES: Final = {"ServiceSpreadingPriority": SELECTOR_SPREAD}
PRIORITIES_GONE: Final = {
    "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "ResourceLimitsPriority": "NodeResourceLimits",
}
EQUAL_PRIORITY: Final = "EqualPriority"
DEFAULT_PRIORITIES: Final = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
    "EvenPodsSpreadPriority": 2,
}
