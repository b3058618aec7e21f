"""Why a pod is pending, in one sentence and one more: from the latest attempt's verdicts and what nodes had free."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from framework.extenders import EXTENDER
from framework.interface import Code
from schedweb.runs.filtering.filters import FIT, FilterView, NodeFacts, Wanted, amount_in_words, holds, shortage
from schedweb.runs.filtering.places import Places
from schedweb.runs.filtering.standing import Standing, read_pod
from schedweb.runs.objects.claims import Objects
from schedweb.runs.pending.catalogue_answers import refused_by_group, refused_by_quota, refused_in_catalogue
from schedweb.runs.pending.catalogue_endings import refused_before_nodes
from schedweb.runs.pending.claim_answers import allocated_elsewhere, refused_at_once, refused_on_nodes
from schedweb.runs.pending.extender_answers import extenders_in_short, refusals, refused_by_extender
from schedweb.runs.pending.in_the_way import (
    held_off,
    holders_of_ports,
    holders_words,
    in_the_way,
    in_the_way_words,
    ports_taken,
    spread_words,
    unspread_key,
    would_skew,
)
from schedweb.runs.pending.koordinator_answers import (
    LOAD,
    RESERVATION,
    refused_by_load,
    refused_by_reservations,
    refused_by_tree,
)
from schedweb.runs.pending.place_answers import kept_off, large_but_closed, mistyped, no_place
from schedweb.sentences import both, clauses, counted, forms, noted, one_after_another, say

_EVERY_NODE: Final[Mapping[str, str]] = {
    "InterPodAffinity": noted("Pod anti-affinity keeps it off every node that it may use."),
    "VolumeBinding": noted("No node that it may use can have its volumes."),
    "DynamicResources": noted("No node that it may use has the devices that it asks for."),
    "PodTopologySpread": noted("On every node that it may use it would break its topology spread constraints."),
}
IN_SHORT: Final = {
    FIT: forms("{count} has no room", "{count} have no room"),
    "NodePorts": forms("{count} has its host port taken", "{count} have its host ports taken"),
    "PodTopologySpread": forms("{count} would break its spreading", "{count} would break its spreading"),
    "InterPodAffinity": forms(
        "{count} is ruled out by pod anti-affinity", "{count} are ruled out by pod anti-affinity"
    ),
    "VolumeRestrictions": forms("{count} has a pod with the same volume", "{count} have a pod with the same volume"),
    "NodeVolumeLimits": forms("{count} has no room for another volume", "{count} have no room for another volume"),
    "VolumeBinding": forms("{count} cannot have its volumes", "{count} cannot have its volumes"),
    "DynamicResources": forms("{count} lacks the devices", "{count} lack the devices"),
    "NodeDeclaredFeatures": forms(
        "{count} does not declare the features it needs", "{count} do not declare the features it needs"
    ),
    "NodeResourceTopologyMatch": forms(
        "{count} has no NUMA zone with room for it", "{count} have no NUMA zone with room for it"
    ),
    RESERVATION: forms("{count} is kept by reservations", "{count} are kept by reservations"),
    LOAD: forms("{count} is too busy by its load", "{count} are too busy by their load"),
    "NetworkOverhead": forms(
        "{count} is too far from the pods it talks to", "{count} are too far from the pods it talks to"
    ),
}
_REFUSED: Final = forms("{count} is refused by {plugin}", "{count} are refused by {plugin}")
_NO_SPREAD_LABEL: Final = forms(
    "{count} lacks the label {key} that it is spread by", "{count} lack the label {key} that it is spread by"
)


class Whose(enum.Enum):
    """The nodes that a sentence speaks of."""

    EVERY = enum.auto()
    ONE = enum.auto()
    """The only one that the pod may use."""
    OWN = enum.auto()
    """Those that it may use."""


class Lack(NamedTuple):
    none: str
    """No node has any of the resource."""
    gone: str
    """What large enough nodes have is in use, to the last bit."""
    small: str
    """No node is large enough."""
    taken: str
    """What a large enough node has is in use."""
    short: str
    """The same, where the nearest of all nodes is not one of these."""


_LACK: Final = {
    Whose.EVERY: Lack(
        noted("No node has {unit}; it asks for {wanted}."),
        noted("No node has free {unit}; it asks for {wanted}."),
        noted("No node is that large: it asks for {wanted}, the largest, {node}, has {has}."),
        noted("No node has {amount} free {unit}; the nearest, {node}, has {free}."),
        noted("No node has {amount} free {unit}."),
    ),
    Whose.ONE: Lack(
        noted("No node that it may use has {unit}; it asks for {wanted}."),
        noted("No node that it may use has free {unit}; it asks for {wanted}."),
        noted("No node that it may use is that large: it asks for {wanted}, the largest, {node}, has {has}."),
        noted("No node that it may use has {amount} free {unit}; the nearest, {node}, has {free}."),
        noted("No node that it may use has {amount} free {unit}."),
    ),
    Whose.OWN: Lack(
        noted("None of the {nodes} nodes that it may use has {unit}; it asks for {wanted}."),
        noted("None of the {nodes} nodes that it may use has free {unit}; it asks for {wanted}."),
        noted(
            "None of the {nodes} nodes that it may use is that large: it asks for {wanted}, "
            "the largest, {node}, has {has}."
        ),
        noted("None of the {nodes} nodes that it may use has {amount} free {unit}; the nearest, {node}, has {free}."),
        noted("None of the {nodes} nodes that it may use has {amount} free {unit}."),
    ),
}


class _Kind(NamedTuple):
    """Nodes that are counted together."""

    plugin: str
    unspread: str
    """The topology key that these nodes lack: pods that leave help them no more than spreading does; "" else."""


def pending_answer(
    view: FilterView, manifest: Mapping[str, Any], objects: Objects, standing: Standing
) -> tuple[str, str]:
    """(headline, detail) of an attempt that ended without a node. ``manifest`` is the pod's."""
    refused = view.trace.pre_filter_status
    if refused is not None:
        if answered := refused_by_quota(refused.plugin, refused.message, manifest, objects, standing.pods):
            return answered
        if answered := refused_by_group(refused.plugin, refused.message):
            return answered
        if answered := refused_by_tree(view, manifest, objects, standing):
            return answered
        if answered := refused_at_once(refused.plugin, refused.message, manifest, objects):
            return answered
        if answered := refused_before_nodes(refused.plugin, refused.message):
            return answered
        by = {"plugin": refused.plugin or "PreFilter"}
        return say("{plugin} refuses it before any node is looked at.", **by), f"{refused.message}."
    if not view.members:
        return say("This cluster has no nodes, so every pod stays pending."), ""
    places = Places(view, manifest, read_pod(manifest), objects, standing)
    headline, detail = _of_usable(view, manifest, places) if places.usable else no_place(places)
    return headline, one_after_another([detail, _hope(view, places)])


def _of_usable(view: FilterView, manifest: Mapping[str, Any], places: Places) -> tuple[str, str]:
    """Of a pod that may use some of the nodes, and finds no place on them."""
    counts: Counter[str] = Counter()
    kinds: Counter[_Kind] = Counter()
    for (plugin, code, _), names in places.usable.items():
        counts[plugin] += len(names)
        unlabelled = plugin == "PodTopologySpread" and code is not Code.UNSCHEDULABLE
        kinds.update(_Kind(plugin, unspread_key(places, name) if unlabelled else "") for name in names)
    facts = {name: view.facts[name] for name in places.names if name in view.facts}
    rest = one_after_another([kept_off(places), mistyped(places)])
    if FIT in counts and (len(counts) == 1 or _scarcest(facts.values(), view.wanted) is not None):
        headline, detail = _no_room(view, facts, places)
        closed = large_but_closed(places, view.facts, view.wanted)
        if closed.nodes == places.total - len(places.names):
            rest = mistyped(places)  # the rest would be told twice
        if closed.only:
            return closed.words, one_after_another([headline, detail, rest])
        return headline, one_after_another([detail, rest, closed.words])
    refused = refusals(view.trace, places.usable) if EXTENDER in counts else []
    if len(counts) > 1 or len(refused) > 1 or len({bool(kind.unspread) for kind in kinds}) > 1:
        headline = say(
            "None of the {nodes} nodes that it may use takes it: {reasons}.",
            nodes=kinds.total(),
            reasons=clauses(_in_short(kinds, extenders_in_short(refused))),
        )
        return headline, one_after_another([_who(places), _nearest(view, places), rest])
    [decisive] = counts
    (_, _, reasons), names = next(iter(places.usable.items()))
    groups = {"; ".join(said): each for (_, _, said), each in places.usable.items()}
    known = _EVERY_NODE.get(decisive)
    headline = say(known) if known else f"{decisive}: {reasons[0] if reasons else say('no reason')}."
    detail = ""
    if refused:
        headline = refused_by_extender(refused[0])
    elif decisive == "NodePorts":
        headline, detail = ports_taken(places, places.names)
    elif decisive == "InterPodAffinity":
        headline, detail = held_off(places, places.names) or (headline, "")
    elif decisive == "PodTopologySpread":
        headline, detail = would_skew(places, places.names) or (headline, "")
    elif (
        (answered := refused_in_catalogue(decisive, groups, manifest, places.objects))
        or (answered := refused_by_load(decisive, groups, places))
        or (answered := refused_by_reservations(decisive, groups, places))
        or (answered := refused_on_nodes(decisive, reasons, names, manifest, places.objects, places.standing.pods))
    ):
        headline, detail = answered
    return headline, one_after_another([detail, rest])


def _who(places: Places) -> str:
    """Whom and what the nodes of several plugins have in the way."""
    by_plugin: dict[str, list[str]] = {}
    for (plugin, _, _), names in places.usable.items():
        by_plugin.setdefault(plugin, []).extend(names)
    ports, pods = by_plugin.get("NodePorts", []), by_plugin.get("InterPodAffinity", [])
    return one_after_another(
        [
            holders_words(holders_of_ports(places, ports)) if ports else "",
            in_the_way_words(in_the_way(places, pods)) if pods else "",
            spread_words(places) if "PodTopologySpread" in by_plugin else "",
            allocated_elsewhere(places.manifest, places.objects) if "DynamicResources" in by_plugin else "",
        ]
    )


def _nearest(view: FilterView, places: Places) -> str:
    node = view.nearest(name for (plugin, _, _), names in view.members.items() if plugin == FIT for name in names)
    if node in places.names and (missing := shortage(view.body(node))):
        return say("Of those without room {node} is nearest, short of {missing}.", node=node, missing=missing)
    return ""


def _hope(view: FilterView, places: Places) -> str:
    """Unschedulable can become free, UnschedulableAndUnresolvable never does by pods that leave.

    A node whose host port is taken may be too small besides, so its size is looked at again.
    """
    can = sum(
        name not in view.facts or holds(view.facts[name], view.wanted, free=False)
        for (_, code, _), names in places.usable.items()
        if code is Code.UNSCHEDULABLE
        for name in names
    )
    if any(plugin in ("DynamicResources", LOAD, EXTENDER) for plugin, _, _ in places.usable):
        # Preemption does not help, but a claim that goes with its pod gives its devices back, and load falls later.
        # What an extender would say then nobody knows.
        return ""
    if can == 0:
        return say("No pod that leaves would change that.")
    if any(code is not Code.UNSCHEDULABLE and plugin != FIT for plugin, code, _ in places.usable):
        return ""  # nodes without room may lack the volumes or the devices as well: nobody looked
    if can == places.total:
        return ""
    return counted(
        "Pods that leave can make room on {can}, not on the other one.",
        "Pods that leave can make room on {can}, not on the other {count}.",
        places.total - can,
        can=can,
    )


def _no_room(view: FilterView, own: Mapping[str, NodeFacts], places: Places) -> tuple[str, str]:
    """Says it of all nodes where that is true, else of those that it may use."""
    if all("Too many pods" in reasons for (_, _, reasons) in places.usable):
        return say("Every node that it may use has as many pods as it may have."), ""
    for nodes, whose in ((view.facts, Whose.EVERY), (own, Whose.ONE if len(own) == 1 else Whose.OWN)):
        place = _scarcest(nodes.values(), view.wanted)
        if place is not None:
            return _lacking(view, nodes, place, whose)
    node = view.nearest()
    others = len(own) < places.total  # and those may have room
    if node in own and (missing := shortage(view.body(node))):
        nearest = {"node": node, "missing": missing}
        if others:
            return say(
                "No node that it may use has room for all that it asks for; the nearest, {node}, lacks {missing}.",
                **nearest,
            ), ""
        return say("No node has room for all that it asks for; the nearest, {node}, lacks {missing}.", **nearest), ""
    return say("No node that it may use has room for it.") if others else say("No node has room for it."), ""


def _scarcest(nodes: Iterable[NodeFacts], wanted: Wanted) -> int | None:
    """The resource that no node has enough of; among several one that no node has at all, else that whose best node
    lacks the largest share."""
    nodes = list(nodes)
    lacking: list[tuple[bool, float, int]] = []
    for place in wanted.shown():
        best = max((f.allocatable[place] - f.requested[place] for f in nodes), default=0)
        if best < wanted.amounts[place]:
            has = any(f.allocatable[place] > 0 for f in nodes)
            lacking.append((has, best / wanted.amounts[place], place))
    return min(lacking)[2] if lacking else None


def _lacking(view: FilterView, nodes: Mapping[str, NodeFacts], place: int, whose: Whose) -> tuple[str, str]:
    wanted = view.wanted
    name, amount = wanted.resources[place], wanted.amounts[place]
    large = {n: f for n, f in nodes.items() if f.allocatable[place] >= amount}
    having = sum(1 for f in nodes.values() if f.allocatable[place] > 0)
    lack, wants = _LACK[whose], in_words(wanted, place, amount)
    units = unit_of(wanted, place, 2)
    if not large:
        if having == 0:
            wants = wants if units != name else number(name, amount)
            return say(lack.none, nodes=len(nodes), unit=units, wanted=wants), _of_the_same_kind(wanted, place, nodes)
        largest = max(nodes, key=lambda n: (nodes[n].allocatable[place], n))
        has = in_words(wanted, place, nodes[largest].allocatable[place])
        return say(lack.small, nodes=len(nodes), wanted=wants, node=largest, has=has), ""
    free = {n: f.allocatable[place] - f.requested[place] for n, f in large.items()}
    nearest = view.nearest()
    much, unit = number(name, amount), unit_of(wanted, place, amount)
    if all(each <= 0 for each in free.values()):
        headline = say(lack.gone, nodes=len(nodes), unit=units, wanted=wants)
    elif nearest not in free:
        headline = say(lack.short, nodes=len(nodes), amount=much, unit=unit)
    else:
        has = number(name, free[nearest])
        headline = say(lack.taken, nodes=len(nodes), amount=much, unit=unit, node=nearest, free=has)
    if name in ("cpu", "memory", "ephemeral-storage", "pods") or having == len(large) == len(nodes):
        return headline, ""
    own = counted(
        "{count} of {nodes} nodes has {unit}",
        "{count} of {nodes} nodes have {unit}",
        having,
        nodes=len(nodes),
        unit=units,
    )
    enough = counted(
        "{count} of those has {amount}",
        "{count} of those have {amount}",
        len(large),
        amount=number(name, amount),
    )
    return headline, say("{clauses}.", clauses=clauses([own, enough]))


def _in_short(kinds: Mapping[_Kind, int], of_extenders: Iterable[tuple[int, str]]) -> list[str]:
    """``29 have no room``, ``1 would break its spreading``, most nodes first."""
    ordered = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    told = [
        (
            count,
            counted(*_NO_SPREAD_LABEL, count, key=unspread)
            if unspread
            else counted(*IN_SHORT.get(plugin, _REFUSED), count, plugin=plugin),
        )
        for (plugin, unspread), count in ordered
        if plugin != EXTENDER
    ]
    return [text for _, text in sorted([*told, *of_extenders], key=lambda each: -each[0])]


def _of_the_same_kind(wanted: Wanted, place: int, nodes: Mapping[str, NodeFacts]) -> str:
    """Of a resource that no node has: another vendor's, another page size, that nodes have."""
    there = [
        name
        for at, name in enumerate(wanted.resources)
        if at != place
        and _kind(name) == _kind(wanted.resources[place])
        and any(f.allocatable[at] > 0 for f in nodes.values())
    ]
    return say("Nodes have {resources}.", resources=both(there)) if there else ""


def _kind(resource: str) -> str:
    return "hugepages" if resource.startswith("hugepages-") else resource.rpartition("/")[2]


def unit_of(wanted: Wanted, place: int, amount: int) -> str:
    """``GPUs`` where there are those of one vendor only."""
    resource = wanted.resources[place]
    if resource.endswith("/gpu") and sum(name.endswith("/gpu") for name in wanted.resources) == 1:
        return counted("GPU", "GPUs", amount)
    return resource


def number(resource: str, amount: int) -> str:
    return amount_in_words(resource, amount)


def in_words(wanted: Wanted, place: int, amount: int) -> str:
    return f"{number(wanted.resources[place], amount)} {unit_of(wanted, place, amount)}"
