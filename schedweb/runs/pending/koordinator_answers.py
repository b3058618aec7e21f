"""First sentences about refusals of the plugins after koordinator (docs/koordinator.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from framework.objects.catalogue import LoadMetrics
from framework.objects.resources import CPU
from framework.plugins.loadaware.args import LoadAwareSchedulingArgs
from framework.plugins.loadaware.estimates import estimate_of
from framework.plugins.loadaware.plugin import LoadAwareScheduling
from framework.plugins.loadaware.usage import (
    Usage,
    came_at,
    percent_of,
    thresholds_needed,
)
from schedweb.runs.filtering.places import Places
from schedweb.runs.objects.measured_load import load_of
from schedweb.sentences import both, one_after_another, say

Explanation = tuple[str, str]
LOAD: Final = LoadAwareScheduling.name
_EXPIRED: Final = "node(s) nodeMetric expired"
NODES_TRIED: Final = 8
"""Those of the lowest load; the pods of these are read."""


def refused_by_load(plugin: str, groups: Mapping[str, Sequence[str]], places: Places) -> Explanation | None:
    """Of a pod whose nodes LoadAwareScheduling refused; ``groups``: message → nodes. None of other refusals."""
    if plugin != LOAD:
        return None
    again = say("The pod is tried again when the load changes, or a node, or one of the pods that came last goes.")
    if set(groups) == {_EXPIRED}:
        return say("The load of every node that it may use is too old to go by."), again
    headline = say("Every node that it may use is too busy, by its measured load.")
    return headline, one_after_another([_nearest(groups, places), again])


def _nearest(groups: Mapping[str, Sequence[str]], places: Places) -> str:
    """The node that lacks the least, with what is in use there and what may be; "" where that cannot be known."""
    profile, load = places.view.profile, load_of(places.objects)
    args = None if profile is None else profile.args.get(LOAD)
    if load is None or not isinstance(args, LoadAwareSchedulingArgs):
        return ""
    usage, factors = _usage_of(args, load, _least_busy(groups, load), places), args.estimated_scaling_factors or {}
    own, found = estimate_of(places.pod, factors), []
    for name in usage.rows:
        seen = usage.rows.get(name)
        needed = {} if seen is None else thresholds_needed(seen, own)
        if seen is not None and needed:
            lacking = max(percent - most for most, percent in needed.values())
            found.append((lacking, name, seen, needed))
    if not found:
        return ""
    _, name, seen, needed = min(found, key=lambda each: each[:2])
    said = [
        say(
            "{used} % of its {resource} is in use and would be {percent} % with this pod, of {most} % allowed",
            used=percent_of(*((seen.cpu_used, seen.cpu) if resource == CPU else (seen.memory_used, seen.memory))),
            resource=resource,
            percent=percent,
            most=most,
        )
        for resource, (most, percent) in needed.items()
    ]
    return say("Nearest is {node}: {facts}.", node=name, facts=both(said))


def _least_busy(groups: Mapping[str, Sequence[str]], load: LoadMetrics) -> set[str]:
    nodes = load.data.node_metrics_map

    def busy(name: str) -> tuple[float, str]:
        return max((each.value for each in nodes[name].metrics if each.operator != "STD"), default=0.0), name

    refused = (name for names in groups.values() for name in names if name in nodes)
    return set(sorted(refused, key=busy)[:NODES_TRIED])


def _usage_of(args: LoadAwareSchedulingArgs, load: LoadMetrics, nodes: set[str], places: Places) -> Usage:
    usage = Usage.of_args(args)
    usage.load_changed(load)
    for name in nodes:
        usage.node_changed(name, places.standing.nodes.get(name))
    for each in places.standing.pods:
        if each.node in nodes:
            pod = each.pod
            estimate = estimate_of(pod, args.estimated_scaling_factors or {})
            usage.place(each.node, pod.metadata.uid, came_at(pod) or 0, estimate)
    return usage
