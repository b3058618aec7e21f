"""Events have two forms, core/v1 and events.k8s.io/v1, of the same stored object (upstream's conversion)."""

from __future__ import annotations

from tests.apiserver.kinds import Json

_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_BACK = {new: old for old, new in _NAMES.items()}
_API = {"core": "v1", "new": "events.k8s.io/v1"}
_ALWAYS: Json = {
    "involvedObject": {},
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "eventTime": None,
    "reportingComponent": "",
    "reportingInstance": "",
}


def to_core(body: Json) -> Json:
    """An events.k8s.io/v1 Event as it is stored."""
    return completed({_BACK.get(key, key): value for key, value in body.items()} | {"apiVersion": "v1"})


def completed(body: Json) -> Json:
    """With what serialisation always writes."""
    return {**_ALWAYS, **body}


def to_new(body: Json) -> Json:
    """A stored Event as events.k8s.io/v1 shows it; empty texts are left out there."""
    shown = {_NAMES.get(key, key): value for key, value in body.items() if value != ""}
    return shown | {"apiVersion": "events.k8s.io/v1"}
