"""Events as kube-scheduler writes them (events.k8s.io/v1), and what it does when one comes again.

The second of the same (type, action, reason, controller, pod with its version; not the note) makes a series of the
first. Further ones are counted here, and told when the series has been told last half an hour ago, or has ended
(client-go tools/events, event_broadcaster.go).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from framework.cycle.failure import truncated
from framework.objects import Pod
from framework.objects.timestamps import SECOND, format_timestamp
from framework.reports.events import action_of, micro_time
from schedweb.clusters.writing.writes import STRATEGIC, About, Body, Outcome, Write

ENDS_AFTER: Final = 360 * SECOND
TOLD_EVERY: Final = 1800 * SECOND
_EVENTS: Final = "/apis/events.k8s.io/v1/namespaces/{}/events"


def event(type_: str, reason: str, pod: Pod, note: str, *, host: str, now: int, action: str = "") -> Write:
    """``now``: nanoseconds. ``action``: what kube-scheduler says for this reason, where nothing else is given."""
    metadata, controller = pod.metadata, pod.spec.scheduler_name
    name = f"{metadata.name}.{now:x}"
    body: Body = {
        "kind": "Event",
        "apiVersion": "events.k8s.io/v1",
        "metadata": {"name": name, "namespace": metadata.namespace},
        "eventTime": micro_time(now),
        "reportingController": controller,
        "reportingInstance": f"{controller}-{host}",
        "action": action or action_of(reason),
        "reason": reason,
        "regarding": {
            "kind": "Pod",
            "namespace": metadata.namespace,
            "name": metadata.name,
            "uid": metadata.uid,
            "apiVersion": "v1",
            "resourceVersion": metadata.resource_version,
        },
        "note": truncated(note),
        "type": type_,
        # client-go cannot leave them out.
        "deprecatedSource": {},
        "deprecatedFirstTimestamp": None,
        "deprecatedLastTimestamp": None,
    }
    path = _EVENTS.format(metadata.namespace)
    about = About(metadata.namespace, name)
    return Write("event", "POST", path, body, about, metadata.namespace)


def series(first: Write, count: int, last: int) -> Write:
    """``first``: the Event that came again; ``last``: when, in nanoseconds."""
    body: Body = {"series": {"count": count, "lastObservedTime": micro_time(last)}}
    about = first.about
    return Write("series", "PATCH", f"{first.path}/{about.name}", body, about, first.for_namespace, STRATEGIC)


def became_leader(lease: dict[str, Any], identity: str, component: str, now: int) -> Write:
    """The only Event of the older kind that kube-scheduler writes."""
    metadata = lease["metadata"]
    name, namespace, at = metadata["name"], metadata["namespace"], format_timestamp(now // SECOND * SECOND)
    body: Body = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{name}.{now:x}", "namespace": namespace},
        "involvedObject": {
            "kind": "Lease",
            "namespace": namespace,
            "name": name,
            "uid": metadata["uid"],
            "apiVersion": "coordination.k8s.io/v1",
            "resourceVersion": metadata["resourceVersion"],
        },
        "reason": "LeaderElection",
        "message": f"{identity} became leader",
        "source": {"component": component},
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
        "type": "Normal",
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": "",
    }
    path = f"/api/v1/namespaces/{namespace}/events"
    about = About(namespace, f"{name}.{now:x}")
    return Write("leader", "POST", path, body, about, "")


@dataclass(slots=True)
class _Series:
    first: Write
    last: int
    count: int = 1
    told: int = 0
    """When its count was sent last, nanoseconds."""


class Events:
    """What was written a short while ago, so that what comes again is a series. Safe to be used by many threads."""

    def __init__(self, send: Callable[[Write], Outcome], host: str) -> None:
        self._send, self._host = send, host
        self._lock = threading.Lock()
        self._open: dict[tuple[str, ...], _Series] = {}

    def write(self, type_: str, reason: str, pod: Pod, note: str, now: int, action: str = "") -> Outcome | None:
        """None where it is only counted."""
        new = event(type_, reason, pod, note, host=self._host, now=now, action=action)
        body, regarding = new.body, new.body["regarding"]
        key = (type_, body["action"], reason, body["reportingController"], *map(str, regarding.values()))
        with self._lock:
            known = self._open.get(key)
            if known is None:
                self._open[key] = _Series(new, now)
            else:
                known.count, known.last = known.count + 1, now
                if known.count > 2:
                    return None
                known.told = now
        return self._send(new) if known is None else self._tell(known)

    def tick(self, now: int) -> None:
        """Now and then: what was counted is told, and what has ended is forgotten."""
        with self._lock:
            ended = [key for key, each in self._open.items() if now - each.last >= ENDS_AFTER]
            due = [self._open.pop(key) for key in ended]
            due = [each for each in due if each.count > 1]
            due += [each for each in self._open.values() if each.count > 1 and now - each.told >= TOLD_EVERY]
            for each in due:
                each.told = now
        for each in due:
            self._tell(each)

    def _tell(self, known: _Series) -> Outcome:
        patch = series(known.first, known.count, known.last)
        outcome = self._send(patch)
        if outcome.result != "gone":
            return outcome
        # Events live an hour; it is written again, with its series.
        first = known.first
        body = {**first.body, **patch.body}
        return self._send(Write(first.purpose, first.method, first.path, body, first.about, first.for_namespace))
