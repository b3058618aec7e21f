"""What became of every pod in the real cluster, by what its scheduler said of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from uuid import UUID

from schedweb.snapshots.models import SnapshotEvents
from schedweb.snapshots.scheduler_events import FAILED, PREEMPTED, SCHEDULED, SchedulerEvent, decode_events
from schedweb.snapshots.scheduler_messages import assigned_node

PLACED: Final = "placed"
PENDING: Final = "pending"
GONE: Final = "preempted"


@dataclass(slots=True)
class RealPod:
    """``outcome``: placed, pending or preempted; ``message`` and ``at`` are those of the event that says so."""

    uid: str
    first: int
    outcome: str = ""
    node: str = ""
    message: str = ""
    at: int = 0
    failures: int = 0
    """How often the scheduler said FailedScheduling."""

    def hears(self, event: SchedulerEvent) -> None:
        """In the order of time."""
        if event.reason == SCHEDULED:
            self.outcome, self.node = PLACED, assigned_node(event.message)
        elif event.reason == FAILED:
            self.outcome, self.node = PENDING, ""
            self.failures += event.count
        elif event.reason == PREEMPTED:
            # The node stays: it is where the pod was.
            self.outcome = GONE
        else:
            return
        self.message, self.at = event.message, event.last


RealPods = dict[tuple[str, str], list[RealPod]]
"""By name; of pods that came after one another under one name (known by their uids) the newest last."""


def outcomes_of(events: Iterable[SchedulerEvent]) -> RealPods:
    found: RealPods = {}
    for event in events:
        pods = found.setdefault((event.namespace, event.name), [])
        pod = next((each for each in pods if each.uid == event.uid), None)
        if pod is None:
            pod = RealPod(event.uid, event.first)
            pods.append(pod)
        pod.hears(event)
    return {key: kept for key, pods in found.items() if (kept := [each for each in pods if each.outcome])}


@dataclass(frozen=True, slots=True)
class Known:
    pods: RealPods
    events: int
    first: int | None
    last: int | None


NOTHING: Final = Known({}, 0, None, None)


@lru_cache(maxsize=4)
def known_of(snapshot: UUID, events: int) -> Known:
    """``events``: how many there are, because more can be added. What is returned is shared: do not change it."""
    row = SnapshotEvents.objects.filter(snapshot=snapshot).first()
    if row is None or not events:
        return NOTHING
    found = decode_events(bytes(row.payload))
    first, last = min(each.first for each in found), max(each.last for each in found)
    return Known(outcomes_of(found), len(found), first, last)


def same_pod(pods: list[RealPod], uid: str) -> RealPod | None:
    """The one with this uid. Events without a uid are about the pod of that name."""
    return next((each for each in reversed(pods) if each.uid in ("", uid)), None)
