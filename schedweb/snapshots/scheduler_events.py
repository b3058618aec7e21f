"""What the scheduler of a real cluster said of its pods: Events of core/v1 and events.k8s.io/v1, reduced to that.

Only these facts are kept: an event's annotations, labels and its reporter's host are not. Pure (reader process).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, Final

import msgspec
import zstandard

from framework.objects.timestamps import TimestampError, parse_timestamp
from framework.reading.documents import FileRefused, Manifest
from framework.sentences import sentence

EVENT: Final = "Event"
SCHEDULED: Final = "Scheduled"
FAILED: Final = "FailedScheduling"
PREEMPTED: Final = "Preempted"
REASONS: Final = frozenset({SCHEDULED, FAILED, PREEMPTED})
"""Said by schedulers only, whatever name they report under."""
DEFAULT_SCHEDULER: Final = "default-scheduler"
_LARGEST: Final = 1024**3


class SchedulerEvent(msgspec.Struct, array_like=True, frozen=True):
    """``first`` and ``last`` are nanoseconds since 1970; ``count`` is how often it was said between them."""

    namespace: str
    name: str
    uid: str
    reason: str
    message: str
    reporter: str
    count: int
    first: int
    last: int


class PodEvent(msgspec.Struct, frozen=True):
    """An event about a pod, of whoever: whether a scheduler said it is known when all pods are."""

    event: SchedulerEvent

    def is_schedulers(self, schedulers: Collection[str]) -> bool:
        event = self.event
        return event.reason in REASONS or event.reporter == DEFAULT_SCHEDULER or event.reporter in schedulers


def read_event(manifest: Manifest) -> PodEvent | None:
    """None when it is not about a pod. Raises FileRefused with the event and its field."""
    where = _where(manifest)
    newer = str(manifest.get("apiVersion", "")).startswith("events.k8s.io/")
    field = "regarding" if newer else "involvedObject"
    about = manifest.get(field)
    if not isinstance(about, dict):
        raise FileRefused(sentence("{event}: {field} is missing.", event=where, field=field))
    if about.get("kind") != "Pod":
        return None
    prefix = "deprecated" if newer else ""
    series = manifest.get("series")
    series = series if isinstance(series, dict) else {}
    observed = [
        (name, value)
        for name, value in (
            ("series.lastObservedTime", series.get("lastObservedTime")),
            (_named(prefix, "lastTimestamp"), manifest.get(_named(prefix, "lastTimestamp"))),
            (_named(prefix, "firstTimestamp"), manifest.get(_named(prefix, "firstTimestamp"))),
            ("eventTime", manifest.get("eventTime")),
        )
        if value
    ]
    created = (manifest.get("metadata") or {}).get("creationTimestamp")
    times = [_time(where, name, value) for name, value in observed] or (
        [_time(where, "metadata.creationTimestamp", created)] if created else []
    )
    if not times:
        raise FileRefused(sentence("{event}: it has no time.", event=where))
    source = manifest.get("deprecatedSource" if newer else "source")
    reporter = manifest.get("reportingController" if newer else "reportingComponent")
    if not reporter and isinstance(source, dict):
        reporter = source.get("component")
    count = series.get("count") or manifest.get(_named(prefix, "count")) or 1
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise FileRefused(
            sentence(
                "{event}: {field} must be a whole number above 0, not {value}.",
                event=where,
                field="count",
                value=repr(count),
            )
        )
    return PodEvent(
        SchedulerEvent(
            namespace=_text(where, f"{field}.namespace", about.get("namespace")),
            name=_text(where, f"{field}.name", about.get("name")),
            uid=_text(where, f"{field}.uid", about.get("uid", "")),
            reason=_text(where, "reason", manifest.get("reason", "")),
            message=_text(where, "note" if newer else "message", manifest.get("note" if newer else "message", "")),
            reporter=_text(where, "reportingController", reporter or ""),
            count=count,
            first=min(times),
            last=max(times),
        )
    )


def _named(prefix: str, field: str) -> str:
    return f"{prefix}{field[0].upper()}{field[1:]}" if prefix else field


def _where(manifest: Manifest) -> str:
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return f"Event {metadata.get('namespace', '')}/{metadata.get('name', '')}"


def _time(where: str, field: str, value: Any) -> int:
    try:
        return parse_timestamp(value)
    except (TimestampError, TypeError):
        raise FileRefused(
            sentence(
                "{event}: {field} must be a time as {example}, not {value}.",
                event=where,
                field=field,
                example="2026-01-31T12:00:00Z",
                value=repr(value),
            )
        ) from None


def _text(where: str, field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise FileRefused(sentence("{event}: {field} must be a text.", event=where, field=field))
    return value


# Many -----------------------------------------------------------------------------------------------------------------


def merged(events: Iterable[SchedulerEvent]) -> list[SchedulerEvent]:
    """In the order of their last times. An event that was exported twice, the second time with more, is one."""
    found: dict[tuple[str, str, str, str, str, int], SchedulerEvent] = {}
    for each in events:
        key = (each.namespace, each.name, each.uid, each.reason, each.message, each.first)
        known = found.get(key)
        if known is None or (each.last, each.count) > (known.last, known.count):
            found[key] = each
    return sorted(found.values(), key=lambda each: (each.last, each.first, each.namespace, each.name, each.reason))


def encode_events(events: Iterable[SchedulerEvent]) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(msgspec.msgpack.encode(list(events)))


def decode_events(blob: bytes) -> list[SchedulerEvent]:
    text = zstandard.ZstdDecompressor().decompress(blob, max_output_size=_LARGEST)
    return msgspec.msgpack.decode(text, type=list[SchedulerEvent])


def count_events(events: Iterable[SchedulerEvent], others: int) -> dict[str, Any]:
    """``others``: how many the file held that no scheduler said."""
    kept = list(events)
    return {
        "kept": len(kept),
        "others": others,
        "pods": len({(each.namespace, each.name) for each in kept}),
        "reasons": dict(sorted(Counter(each.reason for each in kept).items())),
    }
