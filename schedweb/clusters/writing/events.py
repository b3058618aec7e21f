"""Events as kube-scheduler writes them (events.k8s.io/v1), and what it does when one comes again.

The second of the same (type, action, reason, controller, pod with its version; not the note) makes a series of the
first. Further ones are counted here, and told when the series has been told last half an hour ago, or has ended
(client-go tools/events, event_broadcaster.go).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from framework.objects.timestamps import SECOND
from schedweb.writes.events import series
from schedweb.writes.writes import Outcome, Write

ENDS_AFTER: Final = 360 * SECOND
TOLD_EVERY: Final = 1800 * SECOND


@dataclass(slots=True)
class _Series:
    first: Write
    last: int
    count: int = 1
    told: int = 0
    """When its count was sent last, nanoseconds."""


class Events:
    """What was written a short while ago, so that what comes again is a series. Safe to be used by many threads."""

    def __init__(self, send: Callable[[Write], Outcome]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._open: dict[tuple[str, ...], _Series] = {}

    def take(self, new: Write, now: int) -> Outcome | None:
        """Sends an Event (``schedweb.writes.events.event``), or tells of the series that it makes. ``now``: nanoseconds
        since 1970. None where it is only counted."""
        body, regarding = new.body, new.body["regarding"]
        key = (body["type"], body["action"], body["reason"], body["reportingController"], *map(str, regarding.values()))
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
