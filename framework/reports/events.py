"""The Events of a scheduler as ``kubectl get events`` prints them: a table, or JSON.

Rules: docs/semantics/log.md#events. An Event that comes again is counted in the one of before (a series) where it is
the same but for its time, and so is the version of its pod, which a new condition changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.objects.timestamps import SECOND, format_timestamp
from framework.scheduler.observer import ClusterEventRecord

FAILED: Final = "FailedScheduling"
NOTE_LIMIT: Final = 1024
_CUT: Final = " ..."
_ACTIONS: Final = {"Scheduled": "Binding", "Preempted": "Preempting"}
_HEADERS: Final = ("NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")


@dataclass(slots=True)
class EventSeries:
    record: ClusterEventRecord
    """The first of them."""
    last: int
    """When it came last, nanoseconds."""
    count: int = 1


def series_of(records: Iterable[ClusterEventRecord]) -> list[EventSeries]:
    """In the order in which they came first."""
    found: list[EventSeries] = []
    versions: dict[str, int] = {}
    conditions: dict[str, str] = {}
    open_series: dict[tuple[str, str, str, int], EventSeries] = {}
    for record in records:
        pod = record.pod
        same = (pod, record.type, record.reason, versions.get(pod, 0))
        if (known := open_series.get(same)) is not None:
            known.last, known.count = record.at, known.count + 1
        else:
            open_series[same] = series = EventSeries(record, record.at)
            found.append(series)
        if record.reason != FAILED:
            versions[pod] = versions.get(pod, 0) + 1
            conditions.pop(pod, None)
        elif conditions.get(pod) != record.note:
            conditions[pod] = record.note
            versions[pod] = versions.get(pod, 0) + 1
    return found


def note_of(record: ClusterEventRecord) -> str:
    note = record.note
    return note if len(note) <= NOTE_LIMIT else note[: NOTE_LIMIT - len(_CUT)] + _CUT


def table(found: Sequence[EventSeries], now: int) -> Iterator[str]:
    """Lines as of ``kubectl get events -A``, the column as wide as its widest entry."""
    rows = [_HEADERS, *(_row(each, now) for each in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADERS) - 1)]
    for row in rows:
        cells = [f"{cell:<{width + 3}}" for cell, width in zip(row, widths, strict=False)]
        yield ("".join(cells) + row[-1]).rstrip()


def _row(each: EventSeries, now: int) -> tuple[str, ...]:
    namespace, _, name = each.record.pod.partition("/")
    seen = duration(now - each.last)
    if each.count > 1:
        seen = f"{seen} (x{each.count} over {duration(now - each.record.at)})"
    return namespace, seen, each.record.type, each.record.reason, f"pod/{name}", note_of(each.record)


def duration(nanos: int) -> str:
    """How long ago, as kubectl says it (apimachinery ``duration.HumanDuration``)."""
    seconds = max(nanos, 0) // SECOND
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return f"{days}d{hours % 24}h" if hours % 24 else f"{days}d"
    if days < 730:
        return f"{days}d"
    years, rest = divmod(days, 365)
    return f"{years}y{rest}d" if years < 8 and rest else f"{years}y"


def action_of(reason: str) -> str:
    return _ACTIONS.get(reason, "Scheduling")


def event_list(found: Iterable[EventSeries]) -> dict[str, Any]:
    """A List of Events (v1), as ``kubectl get events -o json`` writes them."""
    return {
        "apiVersion": "v1",
        "items": [_event(each) for each in found],
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }


def _event(each: EventSeries) -> dict[str, Any]:
    record = each.record
    namespace, _, name = record.pod.partition("/")
    event: dict[str, Any] = {
        "action": action_of(record.reason),
        "apiVersion": "v1",
        "eventTime": micro_time(record.at),
        "firstTimestamp": None,
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": namespace, "uid": record.uid},
        "kind": "Event",
        "lastTimestamp": None,
        "message": note_of(record),
        "metadata": {
            "creationTimestamp": format_timestamp(record.at // SECOND * SECOND),
            "name": f"{name}.{record.at:x}",
            "namespace": namespace,
        },
        "reason": record.reason,
        "reportingComponent": record.reporter,
        "reportingInstance": record.reporter,
        "source": {},
        "type": record.type,
    }
    if each.count > 1:
        event["series"] = {"count": each.count, "lastObservedTime": micro_time(each.last)}
    return event


def micro_time(at: int) -> str:
    """Kubernetes' MicroTime. ``at``: nanoseconds."""
    seconds, rest = divmod(at, SECOND)
    return f"{format_timestamp(seconds * SECOND).removesuffix('Z')}.{rest // 1000:06d}Z"
