"""The filter of one attempt: nodes grouped by the first plugin that refused them, nearest to fitting first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from django.db.models import QuerySet

from framework.interface import Code, Status
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace, FilterTrace
from schedweb.api.errors import not_found
from schedweb.api.windows import Window
from schedweb.engine.usage_log import Amounts, padded, usage_at
from schedweb.runs.amounts import BINARY, amount_text, in_bytes
from schedweb.runs.models import AttemptChunk, NodeRecord, PodRecord
from schedweb.runs.selectors.attempts import StoredAttempt
from schedweb.runs.selectors.json_columns import parsed, text_of
from schedweb.runs.selectors.node_remarks import REMARKED, node_remarks
from schedweb.runs.selectors.nominations import Kept, kept_rooms
from schedweb.runs.selectors.pods import pod_manifest
from schedweb.sentences import both, figure, say

NEAREST: Final = 20


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


def node_facts(stored: StoredAttempt) -> dict[str, NodeFacts]:
    size = len(stored.row.run.resources)
    usage = usage_before(stored)
    nodes = NodeRecord.objects.filter(run=stored.row.run_id).order_by("present", "row")
    rows = list(nodes.values_list("row", "name", "zone", "type", text_of("allocatable")))
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
                zone, type_, offered[allocatable], used if len(used) == size else padded(used, size)
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
    lacking = [
        f"{amount_in_words(each['name'], each['short'])} {each['name']}" for each in body["resources"] if each["short"]
    ]
    return both(lacking)


def nearest_note(nodes: Sequence[dict[str, Any]], status: Status) -> str:
    if not nodes:
        return ""
    if lacking := shortage(nodes[0]):
        if len(nodes) == 1:
            return say("short of {lacking}", lacking=lacking)
        return say("nearest: {node}, short of {lacking}", node=nodes[0]["name"], lacking=lacking)
    if status.plugin == "NodeResourcesFit":
        return ""
    return say("has room for it") if len(nodes) == 1 else say("{node} has room for it", node=nodes[0]["name"])


GroupKey = tuple[str, Code, tuple[str, ...]]
"""(plugin, code, reasons)."""


def evaluated(trace: AttemptTrace) -> tuple[int, int]:
    """(feasible nodes, nodes that were not looked at)."""
    found = trace.filter
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
        read = PodRecord.objects.filter(run=row.run_id, uid=row.pod_uid).only("detail", "priority", "manifest")
        self.record = read.first()
        self.wanted = wanted_of(row.run.resources, self.record)
        self.members: dict[GroupKey, list[str]] = {}
        self.status: dict[GroupKey, Status] = {}
        if self.trace.filter is not None:
            self.collect(self.trace.filter)
        elif self.trace.pre_filter_status is not None:
            self.add(self.trace.pre_filter_status, list(self.facts))

    @cached_property
    def facts(self) -> dict[str, NodeFacts]:
        """Of all nodes, with what was kept for others; an attempt that no node refused needs none."""
        facts = node_facts(self.stored)
        for name, kept in self.kept.items():
            if name in facts:
                used = [sum(each) for each in zip(facts[name].requested, *(one.amounts for one in kept), strict=True)]
                facts[name] = facts[name]._replace(requested=used)
        return facts

    @cached_property
    def kept(self) -> dict[str, list[Kept]]:
        """Node → for whom this attempt had to leave room there."""
        priority = 0 if self.record is None else self.record.priority
        return kept_rooms(self.stored.row, priority, len(self.wanted.resources))

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
        groups = [(key, sorted(names, key=self.distance)) for key, names in self.members.items()]
        # What can become free comes before what never can, then nearest to fitting.
        return sorted(groups, key=lambda group: (group[0][1] is not Code.UNSCHEDULABLE, self.distance(group[1][0])))


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
        return (
            body if trace.filter is None else {**body, **table_window(trace.filter, trace.absent_status, window, query)}
        )
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
