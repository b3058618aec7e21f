"""What is told: which pods of a run wait for a person, where to decide, and how long there is."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

import msgspec
from django.utils import timezone

from schedweb.engine.times import iso, nanoseconds, wall
from schedweb.runs.models import PodRecord, Run
from schedweb.runs.waiting.selectors import is_held
from schedweb.serving import origin_known

SHOWN: Final = 20
"""Pods that a message lists; of others it says how many."""


class WaitingPod(msgspec.Struct):
    namespace: str
    name: str
    uid: str
    node: str
    link: str
    deadline: str
    """By the run's clock."""
    seconds_left: int
    """Until then; 0 when it is over."""
    clock_stands: bool
    """Until somebody decides: the run is held before the deadline."""

    def line(self) -> str:
        left = f"{duration(self.seconds_left)} left by the run's clock"
        if self.clock_stands:
            left += ", which stands until somebody decides"
        return f"{self.namespace}/{self.name} would go to {self.node}, {left}: {self.link}"


class Message(msgspec.Struct):
    run: str
    run_number: str
    link: str
    pods: list[WaitingPod]
    more: int = 0
    """Pods that are not listed."""

    @property
    def title(self) -> str:
        count = len(self.pods) + self.more
        if count == 1:
            return f"{self.pods[0].namespace}/{self.pods[0].name} waits for a decision in {self.run_number}"
        return f"{count:,} pods wait for a decision in {self.run_number}"

    @property
    def text(self) -> str:
        lines = [each.line() for each in self.pods]
        if self.more:
            lines.append(f"and {self.more:,} more: {self.link}")
        return "\n".join(lines)

    def body(self) -> dict[str, Any]:
        """Of the webhook."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return {"type": "pods.waiting", "timestamp": wall(timezone.now()), "data": data}


def message_of(run: Run, waiting: Iterable[PodRecord]) -> Message:
    origin, _ = origin_known()
    pods = list(waiting)
    listed = [_pod(run, each, origin) for each in pods[:SHOWN]]
    return Message(str(run.pk), str(run), f"{origin}/runs/{run.pk}", listed, len(pods) - len(listed))


def trial() -> Message:
    """What `manage.py notices --test` sends: it looks like a real one and names no pod of anybody's."""
    origin, _ = origin_known()
    now = wall(timezone.now())
    pod = WaitingPod("example", "a-trial", "trial", "no node", origin, now, 300, clock_stands=False)
    return Message("", "a trial of notices", origin, [pod])


def _pod(run: Run, pod: PodRecord, origin: str) -> WaitingPod:
    waits = [each for each in pod.card.get("waiting", []) if each["asks_person"]]
    deadline = min((datetime.datetime.fromisoformat(each["deadline"]) for each in waits), default=None)
    until = run.clock if deadline is None else nanoseconds(deadline)
    place = "/".join(quote(each, safe="") for each in (pod.namespace, pod.name))
    return WaitingPod(
        pod.namespace,
        pod.name,
        pod.uid,
        pod.node,
        f"{origin}/runs/{run.pk}/pods/{place}",
        iso(until),
        max(0, (until - run.clock) // 10**9),
        is_held(run, pod),
    )


def duration(seconds: int) -> str:
    """The two largest units."""
    found: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if seconds >= size and len(found) < 2:
            found.append(f"{seconds // size} {unit}")
            seconds %= size
    return " ".join(found) or "0 s"
