"""Events as kube-scheduler writes them (events.k8s.io/v1), and how one that comes again is told."""

from __future__ import annotations

from typing import Any, Final

from framework.cycle.failure import truncated
from framework.objects import Pod
from framework.objects.timestamps import SECOND, format_timestamp
from framework.reports.events import action_of, micro_time
from schedweb.writes.writes import STRATEGIC, About, Body, Write

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
