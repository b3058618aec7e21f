"""First sentences about refusals of the plugins after koordinator (docs/koordinator.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.objects.catalogue import LoadMetrics
from framework.objects.reservations import AVAILABLE, Reservation
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
from framework.plugins.quotatree.args import ElasticQuotaTreeArgs
from framework.plugins.quotatree.plugin import ElasticQuotaTree
from framework.plugins.quotatree.tree import Short, counted_of
from framework.plugins.reservation.matching import AffinityError, affinity_of
from framework.plugins.reservation.plugin import NO_MATCH_HERE, NO_ROOM_IN_ANY, ReservationPlugin
from schedweb.runs.filtering.filters import FilterView, amount_in_words, lacking_words
from schedweb.runs.filtering.places import Places
from schedweb.runs.filtering.quota_trees import quota_tree_of
from schedweb.runs.filtering.standing import Standing, read_pod
from schedweb.runs.objects.claims import Objects
from schedweb.runs.objects.measured_load import load_of
from schedweb.runs.objects.reservations import left_of, reservations
from schedweb.sentences import both, clauses, one_after_another, say

Manifest = Mapping[str, Any]
Explanation = tuple[str, str]
LOAD: Final = LoadAwareScheduling.name
QUOTA_TREE: Final = ElasticQuotaTree.name
RESERVATION: Final = ReservationPlugin.name
_EXPIRED: Final = "node(s) nodeMetric expired"
NODES_TRIED: Final = 8
"""Those of the lowest load; the pods of these are read."""
HOLDS_NAMED: Final = 3


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


# --- the tree of quotas -----------------------------------------------------------------------------------------------


def refused_by_tree(view: FilterView, manifest: Manifest, objects: Objects, standing: Standing) -> Explanation | None:
    """Of a pod that ElasticQuotaTree refused; None of other refusals, and where there would be room by now."""
    refused = view.trace.pre_filter_status
    if refused is None or refused.plugin != QUOTA_TREE:
        return None
    args = None if view.profile is None else view.profile.args.get(QUOTA_TREE)
    if not isinstance(args, ElasticQuotaTreeArgs):
        return None
    pod = read_pod(manifest)
    tree = quota_tree_of(args, objects, standing)
    counted = counted_of(pod, placed=False)
    short = tree.short(pod.key, counted)
    if short is None:
        return None
    own = tree.chain(counted)[0]
    below = "" if own == short.quota.name else say("{own} is below it in the tree of quotas.", own=own)
    again = say("The pod is tried again when its ElasticQuotas have room: when pods go, nodes come or a quota changes.")
    return _short_words(short), one_after_another([_guaranteed(short), below, again])


def _short_words(short: Short) -> str:
    resource = short.resource
    about = {
        "quota": short.quota.name,
        "most": lacking_words(resource, short.share),
        "used": amount_in_words(resource, short.used),
        "asked": amount_in_words(resource, short.asked),
    }
    if short.over_max:
        return say("{quota} may use {most} at most; it uses {used}, and this pod asks for {asked}.", **about)
    return say("The share of {quota} is {most} now; it uses {used}, and this pod asks for {asked}.", **about)


def _guaranteed(short: Short) -> str:
    if short.over_max:
        return say("It is the max of ElasticQuota {quota}.", quota=short.quota.name)
    least = lacking_words(short.resource, short.quota.least.get(short.resource, 0))
    return say(
        "It is guaranteed {least}; what nobody is guaranteed goes by weight to all that ask for it.", least=least
    )


# --- reservations -----------------------------------------------------------------------------------------------------


def refused_by_reservations(plugin: str, groups: Mapping[str, Sequence[str]], places: Places) -> Explanation | None:
    """Of a pod whose nodes the plugin Reservation refused; ``groups``: message → nodes. None of other refusals."""
    if plugin != RESERVATION:
        return None
    known = reservations(places.objects)
    if set(groups) <= {NO_MATCH_HERE, NO_ROOM_IN_ANY}:
        again = say("The pod is tried again when a Reservation that it may use comes, or has more left.")
        if NO_ROOM_IN_ANY in groups:
            return say("It must use a reservation, and those that it may use have no room for it."), again
        headline = say("It must use a reservation, and no node that it may use has one for it.")
        return headline, one_after_another([_named(places, known), again])
    again = say("The pod is tried again when a Reservation ends or is used up, when pods go, or when nodes come.")
    headline = say("What it asks for is held by reservations, on every node that it may use.")
    return headline, one_after_another([_held(groups, known), again])


def _named(places: Places, known: Mapping[str, Reservation]) -> str:
    """What is the matter with the reservation that the pod names; "" where it names none."""
    try:
        affinity = affinity_of(places.pod)
    except AffinityError:
        return ""
    if affinity is None or not affinity.name:
        return ""
    found = known.get(affinity.name)
    if found is None:
        return say("It names Reservation {name}, which does not exist.", name=affinity.name)
    if found.status.phase != AVAILABLE:
        phase = found.status.phase or say("new")
        return say("It names Reservation {name}, which is {phase}.", name=affinity.name, phase=phase)
    node = found.status.node_name
    return say("It names Reservation {name} on {node}, which is not for it.", name=affinity.name, node=node)


def _held(groups: Mapping[str, Sequence[str]], known: Mapping[str, Reservation]) -> str:
    """Of the first nodes by name, who holds what there."""
    refused = {name for names in groups.values() for name in names}
    here = [each for each in known.values() if each.status.phase == AVAILABLE and each.status.node_name in refused]
    here.sort(key=lambda each: (each.status.node_name, each.metadata.name))
    said = [
        say(
            "Reservation {name} still holds {amounts} on {node}",
            name=each.metadata.name,
            amounts=both([lacking_words(resource, amount) for resource, amount in left.items()]),
            node=each.status.node_name,
        )
        for each in here[:HOLDS_NAMED]
        if (left := left_of(each))
    ]
    return say("{clauses}.", clauses=clauses(said)) if said else ""
