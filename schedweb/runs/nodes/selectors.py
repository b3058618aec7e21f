"""The nodes of a run: as columns for the picture, and one by one."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import QuerySet

from schedweb.api.errors import not_found
from schedweb.api.windows import Window, window_body
from schedweb.engine.amounts import amount_text
from schedweb.runs.models import NodeRecord, PodRecord, Run
from schedweb.runs.objects.measured_load import load_of, node_load_body
from schedweb.runs.objects.numa_zones import numa_of
from schedweb.runs.objects.reservations import held_on
from schedweb.runs.objects.selectors import ObjectLookup
from schedweb.runs.records.beginning import refuse_until_begun
from schedweb.runs.records.json_columns import parsed, text_of
from schedweb.runs.records.manifests import manifest_of, yaml_of
from schedweb.runs.records.pods import PodFilter, cards, moment_window
from schedweb.runs.records.runs import resources_of
from schedweb.sentences import say

MAX_NODES: Final = 5000
TABLE_FIELDS: Final = (
    "row", "name", "zone", "pool", "type", "cordoned", "tainted", "allocatable", "requested", "reserved", "pods"
)  # fmt: skip
AMOUNTS: Final = frozenset({"allocatable", "requested", "reserved", "pods"})


class Coded:
    """Texts as places in a list of distinct ones, in the order of first sight."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def code(self, text: str) -> int:
        return self.places.setdefault(text, len(self.places))

    @property
    def texts(self) -> list[str]:
        return list(self.places)


def present_nodes(run: Run) -> QuerySet[NodeRecord]:
    return NodeRecord.objects.filter(run=run, present=True)


def table_rows(run: Run, window: Window) -> tuple[int, list[tuple[Any, ...]]]:
    """(how many there are, those of the window in the order of their rows)"""
    if run.moment is not None:
        nodes: list[NodeRecord] = run.moment.nodes
        return len(nodes), [tuple(getattr(node, field) for field in TABLE_FIELDS) for node in window.cut(nodes)]
    present = present_nodes(run)
    asked = [text_of(field) if field in AMOUNTS else field for field in TABLE_FIELDS]
    rows = list(window.cut(present.order_by("row").values_list(*asked)))
    columns = [
        parsed(column) if field in AMOUNTS else column
        for field, column in zip(TABLE_FIELDS, zip(*rows, strict=True), strict=False)
    ]
    return present.count(), list(zip(*columns, strict=True))


def node_names(run: Run) -> list[str]:
    """In the order of the table."""
    if run.moment is not None:
        return [node.name for node in run.moment.nodes[:MAX_NODES]]
    return list(present_nodes(run).order_by("row").values_list("name", flat=True)[:MAX_NODES])


def node_table(run: Run, window: Window) -> dict[str, Any]:
    count, rows = table_rows(run, window)
    if not count:
        refuse_until_begun(run)
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in TABLE_FIELDS]
    row, names, zone, pool, type_, cordoned, tainted, allocatable, requested, reserved, pods = columns
    zones, pools, types = Coded(), Coded(), Coded()
    zone_codes = [zones.code(text) for text in zone]
    sizes = [0] * len(zones.texts)
    for code in zone_codes:
        sizes[code] += 1
    return {
        "seq": run.seq,
        "count": count,
        "resources": resources_of(run),
        "zones": [{"name": name, "nodes": size} for name, size in zip(zones.texts, sizes, strict=True)],
        "row": row,
        "names": names,
        "zone": zone_codes,
        "pool": [pools.code(text) for text in pool],
        "pools": pools.texts,
        "type": [types.code(text) for text in type_],
        "types": types.texts,
        "cordoned": [int(flag) for flag in cordoned],
        "tainted": [int(flag) for flag in tainted],
        "allocatable": allocatable,
        "requested": requested,
        "reserved": reserved,
        "pods": pods,
    }


def node_get(run: Run, name: str) -> NodeRecord:
    if run.moment is not None:
        there: NodeRecord | None = run.moment.node(name)
        if there is None:
            raise not_found(say("At step {position:,} this run had no node {name}.", position=run.position, name=name))
        return there
    found = NodeRecord.objects.filter(run=run, name=name).order_by("-present", "-row").first()
    if found is None:
        refuse_until_begun(run)
        raise not_found(say("This run has no node {name}.", name=name))
    return found


def node_yaml(node: NodeRecord) -> str:
    return yaml_of(node.manifest)


def pods_on(run: Run, name: str, window: Window) -> dict[str, Any]:
    """The newest first."""
    if run.moment is not None:
        return moment_window(run, window, PodFilter(node=name, sort="-since"))
    on_it = PodRecord.objects.filter(run=run, node=name).exclude(column=PodRecord.Column.DELETED)
    return window_body(window, on_it.count(), cards(on_it.order_by("-since", "pk"), window))


def node_body(run: Run, name: str, window: Window) -> dict[str, Any]:
    node = node_get(run, name)
    manifest = manifest_of(node.manifest)
    spec, status = manifest.get("spec", {}), manifest.get("status", {})
    objects = ObjectLookup(run)
    amounts = zip(resources_of(run), node.allocatable, node.requested, node.reserved, strict=False)
    return {
        "name": node.name,
        "row": node.row,
        "labels": manifest.get("metadata", {}).get("labels", {}),
        "taints": spec.get("taints", []),
        "cordoned": node.cordoned,
        "present": node.present,
        "zone": node.zone,
        "type": node.type,
        "resources": [
            {
                "name": resource,
                "allocatable": amount_text(resource, allocatable),
                "requested": amount_text(resource, requested),
                "reserved": amount_text(resource, reserved),
                "free": amount_text(resource, allocatable - requested - reserved),
            }
            for resource, allocatable, requested, reserved in amounts
        ],
        "pods": pods_on(run, name, window),
        "conditions": [
            {"type": each.get("type", ""), "status": each.get("status", ""), "reason": each.get("reason", "")}
            for each in status.get("conditions", [])
        ],
        "numa": numa_of(objects, name),
        "load": node_load_body(load_of(objects), name),
        "held": held_on(objects, name),
    }
