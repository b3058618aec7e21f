"""The filter of one attempt: nodes grouped by the first plugin that refused them, nearest to fitting first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from django.db.models import QuerySet

from framework.interface import Code, Status
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED
from schedweb.api.errors import not_found
from schedweb.api.windows import Window
from schedweb.engine.usage_log import Amounts, padded, usage_at
from schedweb.runs.amounts import amount_text
from schedweb.runs.models import AttemptChunk, NodeRecord, PodRecord
from schedweb.runs.selectors.attempts import StoredAttempt
from schedweb.runs.selectors.json_columns import parsed, text_of
from schedweb.sentences import say

NEAREST: Final = 20


@dataclass(frozen=True)
class NodeFacts:
    zone: str
    type: str
    allocatable: list[int]
    requested: list[int]


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
    facts = {}
    for (row, name, zone, type_, _), allocatable in zip(rows, parsed(row[4] for row in rows), strict=True):
        before = usage.get(row)
        used = padded(before or (), size) if usage else now[row]
        if name not in facts or before is not None:
            facts[name] = NodeFacts(zone, type_, padded(allocatable, size), used)
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


def wanted_of(stored: StoredAttempt) -> Wanted:
    resources: list[str] = stored.row.run.resources
    record = PodRecord.objects.filter(run=stored.row.run_id, uid=stored.row.pod_uid).only("detail").first()
    amounts = record.detail.get("amounts", []) if record else []
    return Wanted(resources, padded(amounts, len(resources)))


def node_body(name: str, facts: NodeFacts | None, wanted: Wanted) -> dict[str, Any]:
    if facts is None:
        return {"name": name, "zone": "", "type": "", "resources": [], "note": "deleted since"}
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


def distance(body: dict[str, Any]) -> tuple[float, str]:
    """How far from fitting: the sum of what is missing, each as a share of what the pod asks for."""
    return (sum(each["short"] / each["wanted"] for each in body["resources"]), body["name"])


def shortage(body: dict[str, Any]) -> str:
    missing = [
        f"{amount_text(each['name'], each['short'])} {each['name']}" for each in body["resources"] if each["short"]
    ]
    return " and ".join(missing)


def nearest_note(nodes: Sequence[dict[str, Any]], status: Status) -> str:
    if not nodes:
        return ""
    if missing := shortage(nodes[0]):
        return f"short of {missing}" if len(nodes) == 1 else f"nearest: {nodes[0]['name']}, short of {missing}"
    if status.plugin == "NodeResourcesFit":
        return ""
    return "has room for it" if len(nodes) == 1 else f"{nodes[0]['name']} has room for it"


class FilterView:
    """Groups of one attempt; node bodies are made only for what is shown, distances for all of a group."""

    def __init__(self, stored: StoredAttempt) -> None:
        self.stored = stored
        self.trace = stored.trace
        self.wanted = wanted_of(stored)
        self.members: dict[tuple[str, Code, tuple[str, ...]], list[str]] = {}
        self.status: dict[tuple[str, Code, tuple[str, ...]], Status] = {}
        self.not_checked = 0
        self.feasible = 0
        if self.trace.filter is not None:
            self.collect()
        elif self.trace.pre_filter_status is not None:
            self.add(self.trace.pre_filter_status, list(self.facts))

    @cached_property
    def facts(self) -> dict[str, NodeFacts]:
        """Of all nodes; an attempt that no node refused needs none."""
        return node_facts(self.stored)

    def collect(self) -> None:
        found = self.trace.filter
        assert found is not None
        for name, index in zip(found.nodes, found.verdict.tolist(), strict=True):
            if index == FEASIBLE:
                self.feasible += 1
            elif index != NOT_EVALUATED:
                self.add(found.verdicts[index], [name])
            elif self.trace.absent_status is not None:
                self.add(self.trace.absent_status, [name])
            else:
                self.not_checked += 1

    def add(self, status: Status, names: list[str]) -> None:
        key = (status.plugin, status.code, status.all_reasons)
        self.members.setdefault(key, []).extend(names)
        self.status[key] = status

    def nodes(self, names: list[str]) -> list[dict[str, Any]]:
        return sorted((node_body(name, self.facts.get(name), self.wanted) for name in names), key=distance)

    def ordered(self) -> list[tuple[tuple[str, Code, tuple[str, ...]], list[dict[str, Any]]]]:
        groups = [(key, self.nodes(names)) for key, names in self.members.items()]
        # What can become free comes before what never can, then nearest to fitting.
        return sorted(groups, key=lambda group: (group[0][1] is not Code.UNSCHEDULABLE, distance(group[1][0])))


def group_body(view: FilterView, key: tuple[str, Code, tuple[str, ...]], nodes: list[dict[str, Any]]) -> dict[str, Any]:
    plugin, code, reasons = key
    return {
        "plugin": plugin,
        "code": code.name_,
        "reasons": list(reasons),
        "text": ", ".join(reasons),
        "count": len(nodes),
        "can_become_free": code is Code.UNSCHEDULABLE,
        "nearest_note": nearest_note(nodes, view.status[key]),
        "nodes": nodes[:NEAREST],
    }


def table_rows(view: FilterView) -> list[dict[str, Any]]:
    found = view.trace.filter
    if found is None:
        return []
    rows = []
    for name, index in zip(found.nodes, found.verdict.tolist(), strict=True):
        status = view.trace.absent_status if index == NOT_EVALUATED else found.verdicts[index]
        if status is None:
            rows.append({"node": name, "plugin": "", "code": "NotChecked", "reasons": []})
        else:
            reasons = list(status.all_reasons)
            rows.append({"node": name, "plugin": status.plugin, "code": status.code.name_, "reasons": reasons})
    return rows


def occurs(query: str, *texts: str) -> bool:
    word = query.removeprefix("!").lower()
    return any(word in text.lower() for text in texts) is not query.startswith("!")


def filter_body(
    stored: StoredAttempt, window: Window, *, group: int | None = None, table: bool = False, query: str = ""
) -> dict[str, Any]:
    view = FilterView(stored)
    body: dict[str, Any] = {
        "feasible": view.feasible,
        "not_checked": view.not_checked,
        "groups": [],
        "count": 0,
        "offset": window.offset,
        "limit": window.limit,
        "nodes": [],
        "rows": [],
    }
    if table:
        rows = table_rows(view)
        if query:
            rows = [row for row in rows if occurs(query, row["node"], row["plugin"], *row["reasons"])]
        return {**body, "count": len(rows), "rows": window.cut(rows)}
    groups = view.ordered()
    if group is not None:
        if group >= len(groups):
            raise not_found(say("This attempt has no group {group}.", group=group))
        nodes = [node for node in groups[group][1] if not query or occurs(query, node["name"])]
        return {**body, "count": len(nodes), "nodes": window.cut(nodes)}
    if query:
        groups = [
            (key, kept)
            for key, nodes in groups
            if (kept := [node for node in nodes if occurs(query, node["name"], key[0], *key[2])])
        ]
    bodies = [group_body(view, key, nodes) for key, nodes in groups]
    return {**body, "count": len(bodies), "groups": bodies}
