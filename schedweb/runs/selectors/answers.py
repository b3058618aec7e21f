"""Why a pod is pending, in one sentence and one more: from the latest attempt's verdicts and what nodes had free."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from framework.interface import Code
from schedweb.runs.selectors.claim_answers import refused_at_once, refused_on_nodes
from schedweb.runs.selectors.claims import Objects
from schedweb.runs.selectors.filters import FilterView, GroupKey, NodeFacts, Wanted, amount_in_words, shortage
from schedweb.sentences import both, clauses, counted, either, forms, noted, say, told, told_one_after_another

FIT: Final = "NodeResourcesFit"
NOT_ITS_NODES: Final = frozenset({"NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity"})
"""What these refuse are nodes that the pod may not use, whatever runs there."""
Group = tuple[GroupKey, list[str]]
_EVERY_NODE: Final[Mapping[str, str]] = {
    "NodeName": noted("No node has the name that it asks for."),
    "NodeUnschedulable": noted("Every node that it could use is cordoned."),
    "TaintToleration": noted("Every node that it could use has a taint that it does not tolerate."),
    "NodePorts": noted("Its host ports are taken on every node that it could use."),
    "InterPodAffinity": noted("On every node that it could use pod (anti-)affinity keeps it away."),
    "VolumeBinding": noted("No node that it could use can have its volumes."),
    "VolumeZone": noted("No node that it could use is in the zone of its volumes."),
    "DynamicResources": noted("No node that it could use has the devices that it asks for."),
    "PodTopologySpread": noted("On every node that it could use it would break its topology spread constraints."),
}
_IN_SHORT: Final = {
    FIT: forms("{count} has no room", "{count} have no room"),
    "NodeUnschedulable": forms("{count} is cordoned", "{count} are cordoned"),
    "TaintToleration": forms(
        "{count} has a taint that it does not tolerate", "{count} have taints that it does not tolerate"
    ),
    "NodeAffinity": forms(
        "{count} does not match its node affinity or selector", "{count} do not match its node affinity or selector"
    ),
    "NodePorts": forms("{count} has its host port taken", "{count} have its host ports taken"),
    "PodTopologySpread": forms("{count} would break its spreading", "{count} would break its spreading"),
    "InterPodAffinity": forms(
        "{count} does not fit its pod (anti-)affinity", "{count} do not fit its pod (anti-)affinity"
    ),
    "VolumeRestrictions": forms("{count} has a pod with the same volume", "{count} have a pod with the same volume"),
    "NodeVolumeLimits": forms("{count} has no room for another volume", "{count} have no room for another volume"),
    "VolumeBinding": forms("{count} cannot have its volumes", "{count} cannot have its volumes"),
    "VolumeZone": forms("{count} is not in the zone of its volumes", "{count} are not in the zone of its volumes"),
    "DynamicResources": forms("{count} lacks the devices", "{count} lack the devices"),
    "NodeDeclaredFeatures": forms(
        "{count} does not declare the features it needs", "{count} do not declare the features it needs"
    ),
}
_REFUSED: Final = forms("{count} is refused by {plugin}", "{count} are refused by {plugin}")


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


_LACK: Final = {
    Whose.EVERY: Lack(
        noted("No node has {unit}; it asks for {wanted}."),
        noted("No node has free {unit}; it asks for {wanted}."),
        noted("No node is that large: it asks for {wanted}, the largest, {node}, has {has}."),
        noted("No node has {amount} free {unit}; the nearest, {node}, has {free}."),
    ),
    Whose.ONE: Lack(
        noted("No node that it may use has {unit}; it asks for {wanted}."),
        noted("No node that it may use has free {unit}; it asks for {wanted}."),
        noted("No node that it may use is that large: it asks for {wanted}, the largest, {node}, has {has}."),
        noted("No node that it may use has {amount} free {unit}; the nearest, {node}, has {free}."),
    ),
    Whose.OWN: Lack(
        noted("None of the {nodes} nodes that it may use has {unit}; it asks for {wanted}."),
        noted("None of the {nodes} nodes that it may use has free {unit}; it asks for {wanted}."),
        noted(
            "None of the {nodes} nodes that it may use is that large: it asks for {wanted}, "
            "the largest, {node}, has {has}."
        ),
        noted("None of the {nodes} nodes that it may use has {amount} free {unit}; the nearest, {node}, has {free}."),
    ),
}


def pending_answer(view: FilterView, manifest: Mapping[str, Any], objects: Objects) -> tuple[str, str]:
    """(headline, detail) of an attempt that ended without a node. ``manifest`` is the pod's."""
    refused = view.trace.pre_filter_status
    if refused is not None:
        if said := refused_at_once(refused.plugin, refused.message, manifest, objects):
            return said
        by = {"plugin": refused.plugin or "PreFilter"}
        return say("{plugin} refuses it before any node is looked at.", **by), f"{refused.message}."
    groups = view.ordered()
    if not groups:
        return say("This cluster has no nodes, so every pod stays pending."), ""
    by_plugin: dict[str, int] = {}
    for (plugin, _, _), nodes in groups:
        by_plugin[plugin] = by_plugin.get(plugin, 0) + len(nodes)
    own = {plugin: n for plugin, n in by_plugin.items() if plugin not in NOT_ITS_NODES}
    decisive = FIT if FIT in by_plugin else groups[0][0][0]
    if len(own) > 1 and not (FIT in own and _scarcest(view.facts.values(), view.wanted) is not None):
        return _several(own, by_plugin, groups, len(view.facts))
    if decisive == FIT:
        headline, detail = _no_room(view)
    elif decisive == "NodeAffinity":
        headline = say("No node that it could use has {labels}.", labels=_asked_labels(manifest))
        detail = ""
    else:
        reasons = groups[0][0][2]
        known = _EVERY_NODE.get(decisive)
        headline = say(known) if known else f"{decisive}: {reasons[0] if reasons else say('no reason')}."
        detail = ""
        if said := refused_on_nodes(decisive, reasons, groups[0][1], manifest, objects):
            headline, detail = said
    rest = _counted({plugin: n for plugin, n in by_plugin.items() if plugin != decisive}, len(view.facts))
    return headline, told_one_after_another([detail, rest, _hope(groups)])


def _several(
    own: Mapping[str, int], by_plugin: Mapping[str, int], groups: Sequence[Group], total: int
) -> tuple[str, str]:
    """Of nodes that it may use, which several plugins share between them."""
    headline = say(
        "None of the {nodes} nodes that it may use takes it: {reasons}.",
        nodes=sum(own.values()),
        reasons=clauses(_in_short(own)),
    )
    rest = _counted({plugin: n for plugin, n in by_plugin.items() if plugin not in own}, total)
    return headline, told_one_after_another([rest, _hope(groups)])


def _hope(groups: Sequence[Group]) -> str:
    """Unschedulable can become free, UnschedulableAndUnresolvable never does by pods that leave."""
    total = sum(len(nodes) for _, nodes in groups)
    can = sum(len(nodes) for (_, code, _), nodes in groups if code is Code.UNSCHEDULABLE)
    if can == 0:
        return say("No pod that leaves would change that.")
    if can == total:
        return ""
    return counted(
        "Pods that leave can make room on {can}, not on the other one.",
        "Pods that leave can make room on {can}, not on the other {count}.",
        total - can,
        can=can,
    )


def _no_room(view: FilterView) -> tuple[str, str]:
    """Says it of all nodes where that is true, else of those that only lack room."""
    without_room = [name for (plugin, _, _), names in view.members.items() if plugin == FIT for name in names]
    every, own = view.facts, {name: view.facts[name] for name in without_room if name in view.facts}
    for nodes, whose in ((every, Whose.EVERY), (own, Whose.ONE if len(own) == 1 else Whose.OWN)):
        place = _scarcest(nodes.values(), view.wanted)
        if place is not None:
            return _lacking(nodes, view.wanted, place, whose)
    node = min(own, key=view.distance, default="")
    if node and (missing := shortage(view.body(node))):
        nearest = {"node": node, "missing": missing}
        return say("No node has room for all that it asks for; the nearest, {node}, lacks {missing}.", **nearest), ""
    full = any("Too many pods" in reasons for (_, _, reasons) in view.members)
    if full:
        return say("Every node that it could use has as many pods as it may have."), ""
    return say("No node has room for it."), ""


def _scarcest(nodes: Iterable[NodeFacts], wanted: Wanted) -> int | None:
    """The resource that no node has enough of; among several the one whose best node lacks the largest share."""
    nodes = list(nodes)
    lacking: list[tuple[float, int]] = []
    for place in wanted.shown():
        best = max((f.allocatable[place] - f.requested[place] for f in nodes), default=0)
        if best < wanted.amounts[place]:
            lacking.append((best / wanted.amounts[place], place))
    return min(lacking)[1] if lacking else None


def _lacking(nodes: Mapping[str, NodeFacts], wanted: Wanted, place: int, whose: Whose) -> tuple[str, str]:
    name, amount = wanted.resources[place], wanted.amounts[place]
    large = {n: f for n, f in nodes.items() if f.allocatable[place] >= amount}
    having = sum(1 for f in nodes.values() if f.allocatable[place] > 0)
    lack, wants = _LACK[whose], in_words(name, amount)
    if not large:
        if having == 0:
            return say(lack.none, nodes=len(nodes), unit=unit_of(name, 2), wanted=wants), ""
        largest = max(nodes, key=lambda n: (nodes[n].allocatable[place], n))
        has = in_words(name, nodes[largest].allocatable[place])
        return say(lack.small, nodes=len(nodes), wanted=wants, node=largest, has=has), ""
    nearest = max(large, key=lambda n: (large[n].allocatable[place] - large[n].requested[place], n))
    free = large[nearest].allocatable[place] - large[nearest].requested[place]
    much, unit = number(name, amount), unit_of(name, amount)
    if free <= 0:
        headline = say(lack.gone, nodes=len(nodes), unit=unit_of(name, 2), wanted=wants)
    else:
        headline = say(lack.taken, nodes=len(nodes), amount=much, unit=unit, node=nearest, free=number(name, free))
    if name in ("cpu", "memory", "ephemeral-storage", "pods") or having == len(large) == len(nodes):
        return headline, ""
    own = counted(
        "{count} of {nodes} nodes has {unit}",
        "{count} of {nodes} nodes have {unit}",
        having,
        nodes=len(nodes),
        unit=unit_of(name, 2),
    )
    enough = counted(
        "{count} of those has {amount}",
        "{count} of those have {amount}",
        len(large),
        amount=number(name, amount),
    )
    return headline, f"{own}; {enough}."


def _counted(plugins: Mapping[str, int], total: int) -> str:
    """``6 of 36 nodes have taints that it does not tolerate, 1 is cordoned.``"""
    if not plugins:
        return ""
    first, *others = _in_short(plugins)
    # Every one of these texts begins with its count.
    how_many, _, said = first.partition(" ")
    whole = say("{count} of {total} nodes {said}", count=how_many, total=total, said=said)
    return say("{clauses}.", clauses=clauses([whole, *others]))


def _in_short(plugins: Mapping[str, int]) -> list[str]:
    """``29 have no room``, ``1 is cordoned``, most nodes first."""
    ordered = sorted(plugins.items(), key=lambda item: (-item[1], item[0]))
    return [counted(*_IN_SHORT.get(plugin, _REFUSED), count, plugin=plugin) for plugin, count in ordered]


def _asked_labels(manifest: Mapping[str, Any]) -> str:
    """``kubernetes.io/os=windows`` and the like, from nodeSelector and required node affinity."""
    spec = manifest.get("spec", {})
    parts = [f"{key}={value}" for key, value in (spec.get("nodeSelector") or {}).items()]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    written = []
    for term in terms:
        wanted = [
            f"{each['key']} {each['operator']} {told(each.get('values') or [])}".strip()
            for each in (*(term.get("matchExpressions") or []), *(term.get("matchFields") or []))
        ]
        written.append(both(wanted))
    if written:
        parts.append(either(written))
    return both(parts) or say("the labels that its profile asks for")


def unit_of(resource: str, amount: int) -> str:
    if resource.endswith("/gpu"):
        return counted("GPU", "GPUs", amount)
    return resource


def number(resource: str, amount: int) -> str:
    return amount_in_words(resource, amount)


def in_words(resource: str, amount: int) -> str:
    return f"{number(resource, amount)} {unit_of(resource, amount)}"
