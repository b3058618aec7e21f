"""What the points of each Score plugin stand for, in a sentence; their rules are in docs/semantics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schedweb.sentences import noted, say

POINTS: Final[Mapping[str, str]] = {
    "TaintToleration": noted("Fewer PreferNoSchedule taints that it does not tolerate give more points."),
    "NodeAffinity": noted("More weight of its preferred terms that match gives more points."),
    "NodeResourcesFit": noted(
        "The share of the node that would be free with it (LeastAllocated) or used (MostAllocated) gives points, by "
        "the scoring strategy."
    ),
    "VolumeBinding": noted("How full its claims would make the volumes gives points, by the plugin's shape."),
    "PodTopologySpread": noted("Fewer pods like it in the node's zone, or whatever it is spread over, give more."),
    "InterPodAffinity": noted(
        "Pods that it wants near, or that want it, give points; those that it avoids, or that avoid it, take some."
    ),
    "DynamicResources": noted("Devices of an alternative that its claim names earlier give more points."),
    "NodeResourcesBalancedAllocation": noted("A node whose resources it makes more evenly used has more points."),
    "ImageLocality": noted("Its images that a node has give points, by their size and by how many nodes have them."),
    "NodeResourcesAllocatable": noted(
        "What the node offers in all gives points, whatever is used: less (Least) or more (Most) is better."
    ),
    "NodeResourceTopologyMatch": noted(
        "NUMA zones give points, as the scoring strategy says: by what would be used of them, or by how few it takes."
    ),
    "TargetLoadPacking": noted("Points rise with the predicted cpu load up to the target, and fall above it."),
    "LoadVariationRiskBalancing": noted("Measured load that is low and varies little gives more points."),
    "LowRiskOverCommitment": noted(
        "The less limits exceed the node, and the less likely its load exceeds what is requested, the more points."
    ),
    "Peaks": noted("The less it raises the node's power consumption, the more points."),
    "NetworkOverhead": noted("Lower network costs to the pods of its AppGroup that it talks to give more points."),
    "SySched": noted("The fewer system calls differ between it and the pods on the node, the more points."),
    "PodState": noted("More terminating pods and fewer nominated ones give more points."),
    "NodeMetadata": noted("The number or time in the node's label or annotation gives points, as the strategy says."),
    "LoadAwareScheduling": noted("What measured load, and pods not measured yet, leave of the node gives points."),
    "Reservation": noted("A reservation that it may use gives points: the fuller it is then, the more."),
}


def about_points(plugin: str) -> str:
    """Of the plugin's column, in the reader's language; "" for extenders and for plugins that somebody installed."""
    text = POINTS.get(plugin)
    return "" if text is None else say(text)
