"""Events as kubectl writes them, and those that the shop's scheduler really said."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.schedweb.snapshots.files import DATA

SAID = DATA / "scheduler-events.json.gz"


def make_event(pod: str, reason: str, message: str, *, at: str = "2026-11-20T10:00:00Z", **more: Any) -> dict[str, Any]:
    """core/v1, about ``namespace/name``."""
    namespace, _, name = pod.partition("/")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{abs(hash((reason, message, at))):x}", "namespace": namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name},
        "reason": reason,
        "message": message,
        "type": "Normal" if reason == "Scheduled" else "Warning",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-host-7",
        "source": {"component": "default-scheduler"},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": at,
        **more,
    }


def newer(event: dict[str, Any]) -> dict[str, Any]:
    """The same event of events.k8s.io/v1."""
    kept = {key: event[key] for key in ("kind", "metadata", "reason", "type", "eventTime")}
    return {
        "apiVersion": "events.k8s.io/v1",
        **kept,
        "action": "Scheduling",
        "regarding": event["involvedObject"],
        "note": event["message"],
        "reportingController": event["reportingComponent"],
        "reportingInstance": event["reportingInstance"],
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": event["firstTimestamp"],
        "deprecatedLastTimestamp": event["lastTimestamp"],
        "deprecatedCount": event.get("count", 0),
    }


def assigned(pod: str, node: str, **more: Any) -> dict[str, Any]:
    return make_event(pod, "Scheduled", f"Successfully assigned {pod} to {node}", **more)


def failed(pod: str, message: str, **more: Any) -> dict[str, Any]:
    return make_event(pod, "FailedScheduling", message, **more)


def event_list(*events: dict[str, Any]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(events)}).encode()


def shop_events() -> list[dict[str, Any]]:
    """What kube-scheduler said while it placed the pods of the shop."""
    said = json.loads(gzip.decompress(SAID.read_bytes()))
    return [
        make_event(each["object"], each["reason"], each["message"], at=each["at"], count=each["count"])
        for each in said
        if each["kind"] == "Pod"
    ]
