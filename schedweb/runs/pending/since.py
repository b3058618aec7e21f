"""What became of an attempt's verdict: the cluster at the moment that is shown, held against what the attempt found.

A pending pod's first sentence has the figures of its last attempt, as the table of that attempt below it. Where pods or
nodes came, went or changed since, it is said to be of that attempt, and what is so at the moment shown follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from framework.interface import Code, Status
from framework.objects import Node
from framework.objects.timestamps import SECOND
from schedweb.engine.usage_log import padded
from schedweb.engine.words import seconds_text
from schedweb.runs.filtering.filters import FIT, FilterView, GroupKey, NodeFacts, holds
from schedweb.runs.filtering.nominations import kept_rooms
from schedweb.runs.filtering.places import Places, Step, refused_by, untolerated
from schedweb.runs.filtering.standing import Standing, read_pod
from schedweb.runs.models import Attempt, NodeRecord, Run
from schedweb.runs.objects.claims import Objects
from schedweb.runs.pending.answers import pending_answer
from schedweb.runs.pending.claim_answers import is_there_now
from schedweb.runs.pending.in_the_way import OWN, holders_of_ports, in_the_way, some, spreads
from schedweb.runs.records.json_columns import parsed, text_of
from schedweb.sentences import counted, one_after_another, say, translated

Explanation = tuple[str, str]
TENTH: Final = SECOND // 10
PORTS: Final = "NodePorts"
SPREAD: Final = "PodTopologySpread"
APART: Final = "InterPodAffinity"
Obstacle = Step | str
"""A step, or the plugin that says no: NodeResourcesFit, and those that look at placed pods."""
OF_PODS: Final = (PORTS, SPREAD, APART)
ORDER: Final[tuple[Obstacle, ...]] = (*Step, PORTS, FIT, SPREAD, APART)
_SAID: Final = {
    PORTS: "node(s) didn't have free ports for the requested pod ports",
    SPREAD: "node(s) didn't match pod topology spread constraints",
    APART: OWN,
}


def answer_at(
    run: Run, latest: Attempt, view: FilterView, manifest: Mapping[str, Any], objects: Objects, standing: Standing
) -> Explanation:
    """(headline, detail) of a pod whose last attempt ``view`` shows, at the moment at which ``run`` is shown."""
    found = pending_answer(view, manifest, objects, standing)
    refused = view.trace.pre_filter_status
    if refused is not None:
        if not is_there_now(refused.message, manifest, objects):
            return found
        return _of_attempt(run, latest, found[0]), say("Now it exists; the pod has not been tried again.")
    now = AsItIsNow(view, run, Places(view, manifest, read_pod(manifest), objects, standing))
    if now.takers:
        return _of_attempt(run, latest, found[0]), counted(
            "Now {nodes} has room for it and is open to it; it has not been tried again.",
            "Now {nodes} have room for it and are open to it; it has not been tried again.",
            len(now.takers),
            nodes=some(now.takers),
        )
    answer = pending_answer(now, manifest, objects, standing)
    if answer[0] == found[0]:
        return answer
    return _of_attempt(run, latest, found[0]), one_after_another([say("Now: {text}", text=answer[0]), answer[1]])


def _of_attempt(run: Run, latest: Attempt, text: str) -> str:
    passed = round((run.clock - latest.at) / TENTH) * TENTH
    if passed <= 0:
        return say("Attempt {attempt} found: {text}", attempt=latest.attempt, text=text)
    ago = translated(seconds_text(passed))
    return say("Attempt {attempt}, {ago} earlier, found: {text}", attempt=latest.attempt, ago=ago, text=text)


class AsItIsNow(FilterView):
    """Every node of the moment that is shown, by what keeps the pod off it there.

    What nodes and placed pods tell is looked at anew: labels, volumes' places, pod affinity and anti-affinity, cordons,
    taints, room, host ports, topology spread. Any other refusal of the attempt is taken to stand.
    """

    def __init__(self, then: FilterView, run: Run, places: Places) -> None:
        self.stored, self.trace, self.record = then.stored, then.trace, then.record
        self.wanted, self.filters, self.profile = then.wanted, then.filters, then.profile
        self.places = places
        size = len(self.wanted.resources)
        self.kept = kept_rooms(then.stored.row, self.priority, size, before=run.attempts + 1)
        self.facts = self.with_kept(facts_now(run, size))
        self.refused = {name: then.status[key] for key, names in then.members.items() for name in names}
        self.members: dict[GroupKey, list[str]] = {}
        self.status: dict[GroupKey, Status] = {}
        self.takers: list[str] = []
        """Nodes on which nothing of that is in its way."""
        for name in dict.fromkeys([*(name for name in self.refused if name in self.facts), *self.facts]):
            status = self._verdict(name)
            if status is None:
                self.takers.append(name)
            else:
                self.add(status, [name])

    def _verdict(self, name: str) -> Status | None:
        before = self.refused.get(name)
        if before is not None:
            kind = obstacle_of(before)
            if kind is None or self._blocks(kind, name):
                return before
        kind = next((each for each in ORDER if self._blocks(each, name)), None)
        return None if kind is None else self._status(kind, name)

    def _blocks(self, kind: Obstacle, name: str) -> bool:
        node, plugin = self.places.standing.nodes.get(name), kind.value if isinstance(kind, Step) else kind
        if node is None or (self.filters and plugin not in self.filters):
            return False
        return _BLOCKS[kind](self, node, name)

    def _status(self, kind: Obstacle, name: str) -> Status:
        if isinstance(kind, Step):
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (), kind.value)
        if kind != FIT:
            return Status(Code.UNSCHEDULABLE, (_SAID[kind],), kind)
        facts, wanted = self.facts[name], self.wanted
        lacking = [
            wanted.resources[place]
            for place in wanted.shown()
            if facts.allocatable[place] - facts.requested[place] < wanted.amounts[place]
        ]
        reasons = ["Too many pods" if each == "pods" else f"Insufficient {each}" for each in lacking]
        large = holds(facts, wanted, free=False)
        return Status(Code.UNSCHEDULABLE if large else Code.UNSCHEDULABLE_AND_UNRESOLVABLE, tuple(reasons), FIT)

    # --- placed pods, read when the first node asks for them ----------------------------------------------------------

    @cached_property
    def asking(self) -> list[str]:
        """Nodes of which it matters who is there: whom pods kept off before, and those that have room."""
        return [
            name
            for name, facts in self.facts.items()
            if holds(facts, self.wanted, free=True)
            or (name in self.refused and obstacle_of(self.refused[name]) in OF_PODS)
        ]

    @cached_property
    def ports(self) -> Mapping[str, object]:
        return holders_of_ports(self.places, self.asking)

    @cached_property
    def apart(self) -> frozenset[str]:
        found = in_the_way(self.places, self.asking)
        return frozenset([*found.own, *found.others])

    def skews(self, node: Node) -> bool:
        labels = node.metadata.labels
        return any(
            (value := labels.get(each.constraint.topology_key)) is None
            or (value in each.counts and not each.allows(value))
            for each in self.spreads
        )

    @cached_property
    def spreads(self) -> list[Any]:
        return spreads(self.places)


_BLOCKS: Final[Mapping[Obstacle, Callable[[AsItIsNow, Node, str], bool]]] = {
    Step.LABELS: lambda now, node, name: now.adds_affinity or not now.places.matches(node),
    Step.VOLUMES: lambda now, node, name: not now.places.reaches_volumes(node),
    Step.BESIDE: lambda now, node, name: not now.places.is_beside(node),
    Step.CORDON: lambda now, node, name: node.spec.unschedulable and not now.places.tolerates_cordon,
    Step.TAINT: lambda now, node, name: bool(untolerated(now.places.pod, node)),
    PORTS: lambda now, node, name: name in now.ports,
    FIT: lambda now, node, name: not holds(now.facts[name], now.wanted, free=True),
    SPREAD: lambda now, node, name: now.skews(node),
    APART: lambda now, node, name: name in now.apart,
}


def obstacle_of(status: Status) -> Obstacle | None:
    """None of a refusal that is not looked at anew."""
    step = refused_by((status.plugin, status.code, status.all_reasons))
    if step is not None:
        return step
    return status.plugin if status.plugin in ORDER else None


def facts_now(run: Run, size: int) -> dict[str, NodeFacts]:
    """Of the nodes that are there at the moment shown. ``size``: of how many resources."""
    if run.moment is not None:
        rows = [
            (each.name, each.zone, each.type, each.allocatable, each.requested, each.reserved)
            for each in run.moment.nodes
            if each.present
        ]
    else:
        texts = [text_of(column) for column in ("allocatable", "requested", "reserved")]
        found = list(NodeRecord.objects.filter(run=run, present=True).values_list("name", "zone", "type", *texts))
        columns = [parsed([row[at] for row in found]) for at in (3, 4, 5)]
        rows = [(*row[:3], *amounts) for row, *amounts in zip(found, *columns, strict=True)]
    return {
        name: NodeFacts(
            zone,
            type_,
            padded(allocatable, size),
            [a + b for a, b in zip(padded(requested, size), padded(reserved, size), strict=True)],
        )
        for name, zone, type_, allocatable, requested, reserved in rows
    }
