"""Windows over the pods of a run, and a pod's manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet

from schedweb.api.errors import ApiError, not_found
from schedweb.api.windows import Window, window_body
from schedweb.runs.models import PodRecord, Run
from schedweb.runs.records.beginning import refuse_until_begun, refuse_until_written
from schedweb.runs.records.fields import POD_COLUMNS
from schedweb.runs.records.manifests import manifest_of, yaml_of
from schedweb.runs.records.moments import Moment, in_order
from schedweb.runs.records.pod_query import filter_pods
from schedweb.sentences import say

SORTS: Final = {"place": "place", "name": "name", "priority": "priority", "attempts": "attempts", "since": "since"}
#: Active is in the order of the queue's sort: priority first.
IN_COLUMN_ORDER: Final = ("-priority", "place", "pk")


@dataclass(frozen=True)
class PodFilter:
    column: str = ""
    group: str = ""
    q: str = ""
    namespace: str = ""
    node: str = ""
    sort: str = ""


def ordering(sort: str, column: str) -> tuple[str, ...]:
    if not sort:
        return IN_COLUMN_ORDER if column == PodRecord.Column.ACTIVE else ("column", "place", "pk")
    field = SORTS.get(sort.removeprefix("-"))
    if field is None:
        raise ApiError(
            say("sort must be one of {sorts}, not {sort!r}.", sorts=", ".join(SORTS), sort=sort),
            code="invalid",
            path="sort",
        )
    return (f"-{field}" if sort.startswith("-") else field, "namespace", "name", "pk")


def check_column(column: str) -> None:
    if column and column not in POD_COLUMNS:
        raise ApiError(say("There is no column {column!r}.", column=column), code="invalid", path="column")


def pod_rows(run: Run, asked: PodFilter) -> QuerySet[PodRecord]:
    rows = PodRecord.objects.filter(run=run)
    if asked.column:
        check_column(asked.column)
        rows = rows.filter(column=asked.column)
    else:
        rows = rows.exclude(column=PodRecord.Column.DELETED)
    if asked.group:
        rows = rows.filter(group_key=asked.group)
    if asked.namespace:
        rows = rows.filter(namespace=asked.namespace)
    if asked.node:
        rows = rows.filter(node=asked.node)
    return filter_pods(rows, asked.q) if asked.q else rows


def cards(rows: QuerySet[PodRecord], window: Window) -> list[dict[str, Any]]:
    return [{**card, "column": column} for card, column in window.cut(rows.values_list("card", "column"))]


def pod_window(run: Run, window: Window, asked: PodFilter) -> dict[str, Any]:
    if run.moment is not None:
        return moment_window(run, window, asked)
    rows = pod_rows(run, asked)
    ordered = rows.order_by(*ordering(asked.sort, asked.column))
    if not (count := rows.count()):
        refuse_until_begun(run)
    return window_body(window, count, cards(ordered, window))


def moment_window(run: Run, window: Window, asked: PodFilter) -> dict[str, Any]:
    moment: Moment = run.moment
    check_column(asked.column)
    rows = moment.pods_by(
        query=asked.q, column=asked.column, group_key=asked.group, namespace=asked.namespace, node=asked.node
    )
    ordered = in_order(rows, ordering(asked.sort, asked.column))
    return window_body(window, len(rows), [{**row.card, "column": row.column} for row in window.cut(ordered)])


def pod_get(run: Run, namespace: str, name: str) -> PodRecord:
    """The pod of that name; of several the newest, and one that still exists before one that does not."""
    if run.moment is not None:
        there: PodRecord | None = run.moment.pod(namespace, name)
        if there is None:
            raise not_found(
                say(
                    "At step {position:,} this run had no pod {namespace}/{name}.",
                    position=run.position,
                    namespace=namespace,
                    name=name,
                )
            )
        return there
    rows = PodRecord.objects.filter(run=run, namespace=namespace, name=name).order_by("-pk")
    found = rows.exclude(column=PodRecord.Column.DELETED).first() or rows.first()
    if found is None:
        refuse_until_written(run)
        raise not_found(say("This run has no pod {namespace}/{name}.", namespace=namespace, name=name))
    return found


def pod_manifest(pod: PodRecord) -> dict[str, Any]:
    return manifest_of(pod.manifest)


def pod_yaml(pod: PodRecord) -> str:
    return yaml_of(pod.manifest)
