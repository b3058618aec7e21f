"""The filter of one attempt: nodes grouped by the first plugin that refused them, nearest to fitting first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from django.db.models import QuerySet

from framework.configuration import EffectiveProfile
from framework.interface import Code, Status
from framework.objects.resources import pod_requests
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace, FilterTrace
from framework.trace.extended import after_extenders
from schedweb.api.errors import ApiError, not_found
from schedweb.api.windows import Window
from schedweb.engine.amounts import BINARY, amount_text, in_bytes
from schedweb.engine.usage_log import Amounts, padded, usage_at
from schedweb.runs.attempts.selectors import StoredAttempt
from schedweb.runs.filtering.node_remarks import REMARKED, node_remarks
from schedweb.runs.filtering.nominations import Kept, kept_rooms
from schedweb.runs.filtering.places import Places
from schedweb.runs.filtering.standing import StandingOf, read_pod
from schedweb.runs.models import Attempt, AttemptChunk, NodeRecord, PodRecord
from schedweb.runs.objects.claims import has_claims
from schedweb.runs.objects.selectors import ObjectLookup
from schedweb.runs.records.json_columns import parsed, text_of
from schedweb.runs.records.pods import pod_manifest
from schedweb.runs.records.profiles import FILTER, profile_at
from schedweb.runs.records.runs import resources_of
from schedweb.sentences import both, counted, figure, say

NEAREST: Final = 20
FIT: Final = "NodeResourcesFit"


class NodeFacts(NamedTuple):
    zone: str
    type: str
    allocatable: Sequence[int]
    requested: Sequence[int]


@dataclass(frozen=True)
class Wanted:
    """What the pod asks for, in the order of the run's resources."""

    resources: list[str]
    amounts: list[int]

    def shown(self) -> list[int]:
        """Places of the resources worth showing: those the pod asks for."""
        return [place for place, amount in enumerate(self.amounts) if amount > 0]


def usage_before(stored: StoredAttempt) -> dict[int, Amounts]:
    """What nodes had in use when the attempt began; empty when it is no longer stored."""
    number = stored.row.number
    chunks = AttemptChunk.objects.filter(run=stored.row.run_id, first__lte=number)
    base = chunks.exclude(usage_base=None).order_by("-first").values_list("first", "usage_base").first()
    if base is None:
        return {}
    changes = chunks.filter(first__gte=base[0]).order_by("first").values_list("usage", flat=True)
    return usage_at(bytes(base[1] or b""), (bytes(blob) for blob in changes), number)


def node_facts(stored: StoredAttempt, size: int) -> dict[str, NodeFacts]:
    """``size``: of how many resources; nodes have nothing of those that ``Run.resources`` does not know."""
    usage = usage_before(stored)
    nodes = NodeRecord.objects.filter(run=stored.row.run_id).order_by("present", "row")
    rows = list(nodes.values_list("row", "name", "zone", "type", text_of("allocatable")))
    moment = stored.row.run.moment
    then = {} if moment is None else {each.row: padded(each.allocatable, size) for each in moment.nodes}
    now = {} if usage else usage_now(nodes, size)
    texts = list({row[4] for row in rows})
    offered = {text: padded(amounts, size) for text, amounts in zip(texts, parsed(texts), strict=True)}
    nothing = padded((), size)
    facts: dict[str, NodeFacts] = {}
    for row, name, zone, type_, allocatable in rows:
        before = usage.get(row)
        if name not in facts or before is not None:
            used = (nothing if before is None else before) if usage else now[row]
            facts[name] = NodeFacts(
                zone, type_, then.get(row, offered[allocatable]), used if len(used) == size else padded(used, size)
            )
    return facts


def usage_now(nodes: QuerySet[NodeRecord], size: int) -> dict[int, list[int]]:
    """Row → what is in use."""
    rows = list(nodes.values_list("row", text_of("requested"), text_of("reserved")))
    return {
        row[0]: [a + b for a, b in zip(padded(requested, size), padded(reserved, size), strict=True)]
        for row, requested, reserved in zip(
            rows, parsed(row[1] for row in rows), parsed(row[2] for row in rows), strict=True
        )
    }


def record_of(row: Attempt) -> PodRecord | None:
    """The attempt's pod, as it is at the moment at which its run is shown."""
    if row.run.moment is not None:
        return next((each for each in row.run.moment.pods if each.uid == row.pod_uid), None)
    found = PodRecord.objects.filter(run=row.run_id, uid=row.pod_uid)
    return found.only("detail", "priority", "manifest").first()


def wanted_of(resources: list[str], record: PodRecord | None) -> Wanted:
    amounts = record.detail.get("amounts", []) if record else []
    return Wanted(resources, padded(amounts, len(resources)))


def node_body(name: str, facts: NodeFacts | None, wanted: Wanted) -> dict[str, Any]:
    if facts is None:
        return {"name": name, "zone": "", "type": "", "resources": [], "note": say("deleted since")}
    resources = []
    for place in wanted.shown():
        free = facts.allocatable[place] - facts.requested[place]
        resources.append(
            {
                "name": wanted.resources[place],
                "allocatable": facts.allocatable[place],
                "requested": facts.requested[place],
                "free": free,
                "wanted": wanted.amounts[place],
                "short": max(0, wanted.amounts[place] - free),
            }
        )
    return {"name": name, "zone": facts.zone, "type": facts.type, "resources": resources}


def holds(facts: NodeFacts, wanted: Wanted, *, free: bool) -> bool:
    """Whether the node is large enough; ``free``: beside what is there."""
    used: Any = facts.requested if free else [0] * len(facts.allocatable)
    return all(facts.allocatable[place] - used[place] >= wanted.amounts[place] for place in wanted.shown())


def missing(facts: NodeFacts | None, wanted: Wanted) -> float:
    """How far from fitting: the sum of what is missing, each as a share of what the pod asks for."""
    if facts is None:
        return 0.0
    lacking = 0.0
    for place in wanted.shown():
        short = wanted.amounts[place] - facts.allocatable[place] + facts.requested[place]
        if short > 0:
            lacking += short / wanted.amounts[place]
    return lacking


def amount_in_words(resource: str, amount: int) -> str:
    """``35.87``, ``96 Gi``, ``1,200``"""
    if resource == "cpu":
        return figure(f"{amount / 1000:,.10g}")
    if in_bytes(resource) and amount >= BINARY[-1][0]:
        text = amount_text(resource, amount)
        return f"{figure(text[:-2])} {text[-2:]}"
    return figure(f"{amount:,}")


def shortage(body: dict[str, Any]) -> str:
    return both([lacking_words(each["name"], each["short"]) for each in body["resources"] if each["short"]])


def lacking_words(resource: str, amount: int) -> str:
    """``0.5 cpu``, ``1 pod``"""
    if resource == "pods":
        return counted("{count} pod", "{count} pods", amount)
    return f"{amount_in_words(resource, amount)} {resource}"


def nearest_note(nodes: Sequence[dict[str, Any]], status: Status) -> str:
    if not nodes:
        return ""
    if lacking := shortage(nodes[0]):
        if len(nodes) == 1:
            return say("short of {lacking}", lacking=lacking)
        return say("nearest: {node}, short of {lacking}", node=nodes[0]["name"], lacking=lacking)
    if status.plugin == FIT:
        return ""
    return say("has room for it") if len(nodes) == 1 else say("{node} has room for it", node=nodes[0]["name"])


GroupKey = tuple[str, Code, tuple[str, ...]]
"""(plugin, code, reasons)."""


def evaluated(trace: AttemptTrace) -> tuple[int, int]:
    """(feasible nodes, nodes that were not looked at)."""
    found = after_extenders(trace)
    if found is None:
        return 0, 0
    verdict = found.verdict
    skipped = 0 if trace.absent_status is not None else int(np.count_nonzero(verdict == NOT_EVALUATED))
    return int(np.count_nonzero(verdict == FEASIBLE)), skipped


class FilterView:
    """Groups of one attempt. Thousands of nodes are ordered; bodies are made for those that are shown."""

    def __init__(self, stored: StoredAttempt) -> None:
        self.stored = stored
        self.trace = stored.trace
        row = stored.row
        self.record = record_of(row)
        self.members: dict[GroupKey, list[str]] = {}
        self.status: dict[GroupKey, Status] = {}
        self.found = after_extenders(self.trace)
        if self.found is not None:
            self.collect(self.found)
        elif self.trace.pre_filter_status is not None:
            self.add(self.trace.pre_filter_status, list(self.facts))

    @cached_property
    def wanted(self) -> Wanted:
        """With what no node offers, which ``Run.resources`` does not know."""
        known = wanted_of(resources_of(self.stored.row.run), self.record)
        if self.record is None:
            return known
        requests = pod_requests(read_pod(pod_manifest(self.record)))
        unknown = [name for name, amount in requests.items() if amount and name not in known.resources]
        unknown = [name for name in unknown if self._is_checked(name)]
        return Wanted([*known.resources, *unknown], [*known.amounts, *(requests[name] for name in unknown)])

    def _is_checked(self, resource: str) -> bool:
        """False of a resource that NodeResourcesFit is told to ignore or leaves to DynamicResources: where no node
        offers it, some node got past that plugin or was refused for other resources only."""
        if evaluated(self.trace)[0]:
            return False
        behind = frozenset(self.filters[self.filters.index(FIT) + 1 :]) if FIT in self.filters else frozenset()
        return not any(
            plugin in behind or (plugin == FIT and f"Insufficient {resource}" not in reasons)
            for plugin, _, reasons in self.members
        )

    @cached_property
    def facts(self) -> dict[str, NodeFacts]:
        """Of all nodes, with what was kept for others; an attempt that no node refused needs none."""
        facts = node_facts(self.stored, len(self.wanted.resources))
        found = after_extenders(self.trace)
        if found is not None:  # nodes that came later had no part in it
            facts = {name: facts[name] for name in found.nodes if name in facts}
        return self.with_kept(facts)

    def with_kept(self, facts: dict[str, NodeFacts]) -> dict[str, NodeFacts]:
        for name, kept in self.kept.items():
            if name in facts:
                used = [sum(each) for each in zip(facts[name].requested, *(one.amounts for one in kept), strict=True)]
                facts[name] = facts[name]._replace(requested=used)
        return facts

    @cached_property
    def kept(self) -> dict[str, list[Kept]]:
        """Node → for whom this attempt had to leave room there."""
        return kept_rooms(self.stored.row, self.priority, len(self.wanted.resources))

    @property
    def priority(self) -> int:
        return 0 if self.record is None else self.record.priority

    @cached_property
    def profile(self) -> EffectiveProfile | None:
        """None when a package of its plugins is gone."""
        row = self.stored.row
        try:
            return profile_at(row.run, row.run.position if row.position is None else row.position, row.profile)
        except ApiError:
            return None

    @cached_property
    def filters(self) -> tuple[str, ...]:
        """Filter plugins in the order in which they were asked, as far as that is known."""
        return () if self.profile is None else tuple(plugin.name for plugin in self.profile.point(FILTER).plugins)

    @property
    def adds_affinity(self) -> bool:
        """Whether the profile asks for labels of nodes, beside the pod."""
        arguments = None if self.profile is None else self.profile.args.get("NodeAffinity")
        return getattr(arguments, "added_affinity", None) is not None

    def collect(self, found: FilterTrace) -> None:
        """In the order in which the groups' first nodes stand in the list."""
        verdict = found.verdict
        numbers, firsts = np.unique(verdict, return_index=True)
        for number in numbers[np.argsort(firsts)].tolist():
            status = self.trace.absent_status if number == NOT_EVALUATED else found.verdicts[number]
            if number != FEASIBLE and status is not None:
                self.add(status, [found.nodes[at] for at in np.flatnonzero(verdict == number).tolist()])

    def add(self, status: Status, names: list[str]) -> None:
        key = (status.plugin, status.code, status.all_reasons)
        self.members.setdefault(key, []).extend(names)
        self.status[key] = status

    def distance(self, name: str) -> tuple[float, str]:
        return missing(self.facts.get(name), self.wanted), name

    @cached_property
    def never(self) -> frozenset[str]:
        """Nodes on which no pod that leaves makes room."""
        refused = (names for (_, code, _), names in self.members.items() if code is not Code.UNSCHEDULABLE)
        return self.out_of_reach.union(*refused)

    @cached_property
    def out_of_reach(self) -> frozenset[str]:
        """Nodes where Filter said no before it came to the plugin that says it for good: a volume that is elsewhere, no
        pod beside which the pod has to run."""
        movable = any(code is Code.UNSCHEDULABLE for _, code, _ in self.members)
        manifest = {} if self.record is None or not movable else pod_manifest(self.record)
        spec = manifest.get("spec", {})
        if not (has_claims(manifest) or (spec.get("affinity") or {}).get("podAffinity")):
            return frozenset()
        run = self.stored.row.run
        places = Places(self, manifest, read_pod(manifest), ObjectLookup(run), StandingOf(run))
        return frozenset(name for names in places.kept_off.values() for name in names)

    def rank(self, name: str) -> tuple[int, float, str]:
        """In the order of the groups: what can become free, what is large enough, the rest; then nearest to fitting."""
        facts = self.facts.get(name)
        large = facts is None or holds(facts, self.wanted, free=False)
        return (2 if not large else int(name in self.never)), *self.distance(name)

    def nearest(self, names: Iterable[str] | None = None) -> str:
        """The first of ``names`` in that order, by default of all nodes; "" of none."""
        among = [name for group in self.members.values() for name in group] if names is None else names
        return min(among, key=self.rank, default="")

    def body(self, name: str) -> dict[str, Any]:
        body = node_body(name, self.facts.get(name), self.wanted)
        if kept := self.kept.get(name):
            body["note"] = say("Room is kept for {pods}, nominated to this node.", pods=both([one.pod for one in kept]))
        return body

    def bodies(self, plugin: str, names: Sequence[str]) -> list[dict[str, Any]]:
        """Of nodes that ``plugin`` refused."""
        remarks: dict[str, str] = {}
        if plugin in REMARKED and self.record is not None:
            remarks = node_remarks(self.stored.row.run_id, plugin, names, pod_manifest(self.record))
        return [{**self.body(name), **({"remark": remarks[name]} if remarks.get(name) else {})} for name in names]

    def ordered(self) -> list[tuple[GroupKey, list[str]]]:
        """Names, nearest to fitting first."""
        groups = [(key, sorted(names, key=self.rank)) for key, names in self.members.items()]
        return sorted(groups, key=lambda group: self.rank(group[1][0]))


def group_body(view: FilterView, key: GroupKey, names: list[str]) -> dict[str, Any]:
    plugin, code, reasons = key
    nodes = view.bodies(plugin, names[:NEAREST])
    return {
        "plugin": plugin,
        "code": code.name_,
        "reasons": list(reasons),
        "text": ", ".join(reasons),
        "count": len(names),
        "can_become_free": code is Code.UNSCHEDULABLE,
        "nearest_note": nearest_note(nodes, view.status[key]),
        "nodes": nodes,
    }


def table_row(name: str, status: Status | None) -> dict[str, Any]:
    if status is None:
        return {"node": name, "plugin": "", "code": "NotChecked", "reasons": []}
    reasons = list(status.all_reasons)
    return {"node": name, "plugin": status.plugin, "code": status.code.name_, "reasons": reasons}


def table_window(found: FilterTrace, absent: Status | None, window: Window, query: str) -> dict[str, Any]:
    """Rows are made for the window only: thousands of small objects per answer keep the garbage collector busy."""
    # NOT_EVALUATED is the index of the last one.
    statuses = [*found.verdicts, absent]
    verdicts = found.verdict.tolist()
    kept: Sequence[int] = range(len(found.nodes))
    if query:
        rows = [table_row("", status) for status in statuses]
        texts = [(row["plugin"], *row["reasons"]) for row in rows]
        kept = [at for at in kept if occurs(query, found.nodes[at], *texts[verdicts[at]])]
    return {"count": len(kept), "rows": [table_row(found.nodes[at], statuses[verdicts[at]]) for at in window.cut(kept)]}


def occurs(query: str, *texts: str) -> bool:
    word = query.removeprefix("!").lower()
    return any(word in text.lower() for text in texts) is not query.startswith("!")


def filter_body(
    stored: StoredAttempt, window: Window, *, group: int | None = None, table: bool = False, query: str = ""
) -> dict[str, Any]:
    trace = stored.trace
    feasible, not_checked = evaluated(trace)
    body: dict[str, Any] = {
        "feasible": feasible,
        "not_checked": not_checked,
        "groups": [],
        "count": 0,
        "offset": window.offset,
        "limit": window.limit,
        "nodes": [],
        "rows": [],
    }
    if table:
        found = after_extenders(trace)
        return body if found is None else {**body, **table_window(found, trace.absent_status, window, query)}
    view = FilterView(stored)
    groups = view.ordered()
    if group is not None:
        if group >= len(groups):
            raise not_found(say("This attempt has no group {group}.", group=group))
        names = [name for name in groups[group][1] if not query or occurs(query, name)]
        return {**body, "count": len(names), "nodes": view.bodies(groups[group][0][0], window.cut(names))}
    if query:
        groups = [
            (key, kept) for key, names in groups if (kept := [n for n in names if occurs(query, n, key[0], *key[2])])
        ]
    bodies = [group_body(view, key, names) for key, names in groups]
    return {**body, "count": len(bodies), "groups": bodies}
