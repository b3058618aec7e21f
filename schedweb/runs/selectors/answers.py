"""Why a pod is pending, in one sentence and one more: from the latest attempt's verdicts and what nodes had free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from framework.interface import Code
from schedweb.runs.amounts import amount_text
from schedweb.runs.selectors.claim_answers import refused_at_once, refused_on_nodes
from schedweb.runs.selectors.claims import Objects
from schedweb.runs.selectors.filters import FilterView, NodeFacts, Wanted, distance, node_body, shortage

FIT: Final = "NodeResourcesFit"
_EVERY_NODE: Final[Mapping[str, str]] = {
    "NodeName": "No node has the name that it asks for.",
    "NodeUnschedulable": "Every node that it could use is cordoned.",
    "TaintToleration": "Every node that it could use has a taint that it does not tolerate.",
    "NodePorts": "Its host ports are taken on every node that it could use.",
    "InterPodAffinity": "On every node that it could use pod (anti-)affinity keeps it away.",
    "VolumeBinding": "No node that it could use can have its volumes.",
    "VolumeZone": "No node that it could use is in the zone of its volumes.",
    "DynamicResources": "No node that it could use has the devices that it asks for.",
    "PodTopologySpread": "On every node that it could use it would break its topology spread constraints.",
}
_IN_SHORT: Final[Mapping[str, tuple[str, str]]] = {
    FIT: ("has no room", "have no room"),
    "NodeUnschedulable": ("is cordoned", "are cordoned"),
    "TaintToleration": ("has a taint that it does not tolerate", "have taints that it does not tolerate"),
    "NodeAffinity": ("does not match its node affinity or selector", "do not match its node affinity or selector"),
    "NodePorts": ("has its host port taken", "have its host ports taken"),
    "PodTopologySpread": ("would break its spreading", "would break its spreading"),
    "InterPodAffinity": ("does not fit its pod (anti-)affinity", "do not fit its pod (anti-)affinity"),
    "VolumeRestrictions": ("has a pod with the same volume", "have a pod with the same volume"),
    "NodeVolumeLimits": ("has no room for another volume", "have no room for another volume"),
    "VolumeBinding": ("cannot have its volumes", "cannot have its volumes"),
    "VolumeZone": ("is not in the zone of its volumes", "are not in the zone of its volumes"),
    "DynamicResources": ("lacks the devices", "lack the devices"),
    "NodeDeclaredFeatures": ("does not declare the features it needs", "do not declare the features it needs"),
}


def pending_answer(view: FilterView, manifest: Mapping[str, Any], objects: Objects) -> tuple[str, str]:
    """(headline, detail) of an attempt that ended without a node. ``manifest`` is the pod's."""
    refused = view.trace.pre_filter_status
    if refused is not None:
        if said := refused_at_once(refused.plugin, refused.message, manifest, objects):
            return said
        return f"{refused.plugin or 'PreFilter'} refuses it before any node is looked at.", f"{refused.message}."
    groups = view.ordered()
    if not groups:
        return "This cluster has no nodes, so every pod stays pending.", ""
    by_plugin: dict[str, int] = {}
    for (plugin, _, _), nodes in groups:
        by_plugin[plugin] = by_plugin.get(plugin, 0) + len(nodes)
    decisive = FIT if FIT in by_plugin else groups[0][0][0]
    if decisive == FIT:
        headline, detail = _no_room(view)
    elif decisive == "NodeAffinity":
        headline, detail = f"No node that it could use has {_asked_labels(manifest)}.", ""
    else:
        reasons = groups[0][0][2]
        headline = _EVERY_NODE.get(decisive) or f"{decisive}: {reasons[0] if reasons else 'no reason'}."
        detail = ""
        named = [node["name"] for node in groups[0][1]]
        if said := refused_on_nodes(decisive, reasons, named, manifest, objects):
            headline, detail = said
    rest = _counted({plugin: n for plugin, n in by_plugin.items() if plugin != decisive}, len(view.facts))
    can = sum(len(nodes) for (_, code, _), nodes in groups if code is Code.UNSCHEDULABLE)
    return headline, " ".join(part for part in (detail, rest, _hope(can, sum(by_plugin.values()))) if part)


def _hope(can: int, total: int) -> str:
    """Unschedulable can become free, UnschedulableAndUnresolvable never does by pods that leave."""
    if can == 0:
        return "No pod that leaves would change that."
    return f"Pods that leave can make room on {can}, not on the other {total - can}." if can < total else ""


def _no_room(view: FilterView) -> tuple[str, str]:
    """Says it of all nodes where that is true, else of those that only lack room."""
    without_room = [name for (plugin, _, _), names in view.members.items() if plugin == FIT for name in names]
    every, own = view.facts, {name: view.facts[name] for name in without_room if name in view.facts}
    its = "No node that it may use" if len(own) == 1 else f"None of the {len(own)} nodes that it may use"
    for nodes, whose in ((every, "No node"), (own, its)):
        place = _scarcest(nodes.values(), view.wanted)
        if place is not None:
            return _lacking(nodes, view.wanted, place, whose)
    bodies = sorted((node_body(name, facts, view.wanted) for name, facts in own.items()), key=distance)
    if bodies and (missing := shortage(bodies[0])):
        return f"No node has room for all that it asks for; the nearest, {bodies[0]['name']}, lacks {missing}.", ""
    full = any("Too many pods" in reasons for (_, _, reasons) in view.members)
    return ("Every node that it could use has as many pods as it may have." if full else "No node has room for it."), ""


def _scarcest(nodes: Iterable[NodeFacts], wanted: Wanted) -> int | None:
    """The resource that no node has enough of; among several the one whose best node lacks the largest share."""
    nodes = list(nodes)
    lacking: list[tuple[float, int]] = []
    for place in wanted.shown():
        best = max((f.allocatable[place] - f.requested[place] for f in nodes), default=0)
        if best < wanted.amounts[place]:
            lacking.append((best / wanted.amounts[place], place))
    return min(lacking)[1] if lacking else None


def _lacking(nodes: Mapping[str, NodeFacts], wanted: Wanted, place: int, whose: str) -> tuple[str, str]:
    name, amount = wanted.resources[place], wanted.amounts[place]
    large = {n: f for n, f in nodes.items() if f.allocatable[place] >= amount}
    having = sum(1 for f in nodes.values() if f.allocatable[place] > 0)
    unit = unit_of(name, amount)
    if not large:
        if having == 0:
            return f"{whose} has {unit_of(name, 2)}; it asks for {in_words(name, amount)}.", ""
        largest = max(nodes, key=lambda n: (nodes[n].allocatable[place], n))
        has = in_words(name, nodes[largest].allocatable[place])
        return (
            f"{whose} is that large: it asks for {in_words(name, amount)}, the largest, {largest}, has {has}.",
            "",
        )
    nearest = max(large, key=lambda n: (large[n].allocatable[place] - large[n].requested[place], n))
    free = large[nearest].allocatable[place] - large[nearest].requested[place]
    headline = f"{whose} has {number(name, amount)} free {unit}; the nearest, {nearest}, has {number(name, free)}."
    if name in ("cpu", "memory", "ephemeral-storage", "pods"):
        return headline, ""
    own = f"{having} of {len(nodes)} nodes {'has' if having == 1 else 'have'} {unit_of(name, 2)}"
    return headline, f"{own}; {len(large)} of those {'has' if len(large) == 1 else 'have'} {number(name, amount)}."


def _counted(plugins: Mapping[str, int], total: int) -> str:
    """``6 nodes have taints that it does not tolerate, 1 is cordoned.``"""
    parts = []
    for plugin, count in sorted(plugins.items(), key=lambda item: (-item[1], item[0])):
        one, many = _IN_SHORT.get(plugin, (f"is refused by {plugin}", f"are refused by {plugin}"))
        parts.append(f"{count} {one if count == 1 else many}")
    if not parts:
        return ""
    first, *others = parts
    how_many, _, said = first.partition(" ")
    return f"{', '.join([f'{how_many} of {total} nodes {said}', *others])}."


def _asked_labels(manifest: Mapping[str, Any]) -> str:
    """``kubernetes.io/os=windows`` and the like, from nodeSelector and required node affinity."""
    spec = manifest.get("spec", {})
    parts = [f"{key}={value}" for key, value in (spec.get("nodeSelector") or {}).items()]
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    written = []
    for term in terms:
        wanted = [
            f"{each['key']} {each['operator']} {', '.join(each.get('values') or [])}".strip()
            for each in (*(term.get("matchExpressions") or []), *(term.get("matchFields") or []))
        ]
        written.append(" and ".join(wanted))
    if written:
        parts.append(" or ".join(written))
    return " and ".join(parts) or "the labels that its profile asks for"


def unit_of(resource: str, amount: int) -> str:
    if resource.endswith("/gpu"):
        return "GPU" if amount == 1 else "GPUs"
    return resource


def number(resource: str, amount: int) -> str:
    return f"{amount / 1000:g}" if resource == "cpu" else amount_text(resource, amount)


def in_words(resource: str, amount: int) -> str:
    return f"{number(resource, amount)} {unit_of(resource, amount)}"
