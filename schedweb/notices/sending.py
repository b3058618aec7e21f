"""Looks for what waits for a person, and which shadow agrees too little, and tells each target of each once. Workers do
it, beside what they play.

What is to be told is a row before it is told, and the row is claimed before anything is sent: of several workers one
sends, and one that dies meanwhile leaves a row of which nobody knows whether it arrived. That is said, not sent again.
"""

from __future__ import annotations

import datetime
import hashlib
import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError, close_old_connections
from django.db.models import QuerySet
from django.utils import timezone

from schedweb.notices.models import Notice
from schedweb.notices.targets import NotSent, Target, targets
from schedweb.notices.topics import TOPICS, Topic
from schedweb.observing.metrics import NOTICES
from schedweb.runs.models import Run
from schedweb.runs.shadowing.alerts import Crossings
from schedweb.runs.storing.lease import close_own_connection

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 2.0
AT_ONCE: Final = 500
FIRST_PAUSE: Final = datetime.timedelta(seconds=10)
LONGEST_PAUSE: Final = datetime.timedelta(minutes=30)
TRIES: Final = 12
"""Over some three hours."""
LOST_AFTER: Final = datetime.timedelta(minutes=10)
"""Longer than any sending takes."""
CROSSINGS: Final = Crossings()


def write_down(target: Target) -> None:
    """What this target is not told of yet."""
    for topic in TOPICS:
        Notice.objects.bulk_create(topic.untold(target.key, AT_ONCE), ignore_conflicts=True)


def send_due(target: Target) -> None:
    """One message for all of a run and a topic that is due and was tried equally often."""
    due = Notice.objects.filter(target=target.key, state=Notice.State.PENDING, at__lte=timezone.now())
    rows = list(due.order_by("pk")[:AT_ONCE])
    for topic in TOPICS:
        groups: dict[tuple[UUID, int], list[Notice]] = defaultdict(list)
        for each in filter(topic.holds, rows):
            groups[each.run_id, each.tries].append(each)
        for (run, tries), notices in groups.items():
            _send(target, topic, run, tries, notices)


def _send(target: Target, topic: Topic, run_id: UUID, tries: int, notices: Sequence[Notice]) -> None:
    standing = topic.standing(run_id, notices)
    still = {each.pk for each in standing}
    _pending(each.pk for each in notices if each.pk not in still).update(state=Notice.State.OVER)
    mine = [each for each in standing if _pending([each.pk]).update(state=Notice.State.SENDING, at=timezone.now())]
    if not mine:
        return
    run = Run.objects.select_related("snapshot").defer("columns", "snapshot__payload").get(pk=run_id)
    keys = sorted(each.pk for each in mine)
    identity = f"msg_{hashlib.sha256(repr((target.key, keys)).encode()).hexdigest()[:24]}"
    about = f"{len(keys)} {topic.noun} of {run}"
    try:
        target.send(topic.message(run, mine), identity)
    except NotSent as why:
        _failed(target, about, tries + 1, keys, str(why))
        return
    Notice.objects.filter(pk__in=keys).update(state=Notice.State.SENT, tries=tries + 1, at=timezone.now())
    NOTICES.labels(target.kind, "sent").inc()
    log.info("told %s of %s", target.kind, about)


def _pending(keys: Iterable[int]) -> QuerySet[Notice]:
    return Notice.objects.filter(pk__in=list(keys), state=Notice.State.PENDING)


def _failed(target: Target, about: str, tries: int, keys: Sequence[int], why: str) -> None:
    rows = Notice.objects.filter(pk__in=keys)
    if tries >= TRIES:
        rows.update(state=Notice.State.GIVEN_UP, tries=tries, at=timezone.now())
        NOTICES.labels(target.kind, "given_up").inc()
        log.error("%s is not told of %s, after %s tries: %s", target.kind, about, tries, why)
        return
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tries - 1))
    rows.update(state=Notice.State.PENDING, tries=tries, at=timezone.now() + pause)
    NOTICES.labels(target.kind, "failed").inc()
    log.warning("%s could not be told of %s, try %s: %s", target.kind, about, tries, why)


def leave_lost() -> None:
    """What a worker was sending when it died."""
    lost = Notice.objects.filter(state=Notice.State.SENDING, at__lt=timezone.now() - LOST_AFTER)
    if count := lost.update(state=Notice.State.UNKNOWN):
        NOTICES.labels("any", "unknown").inc(count)
        log.warning("of %s notices nobody knows whether they arrived: their worker ended while it sent them", count)


def notify() -> None:
    """One look: everything that is due now."""
    leave_lost()
    CROSSINGS.look()
    for target in targets():
        write_down(target)
        send_due(target)


def notices_until(stop: threading.Event) -> None:
    """In a thread of a worker's. Ends at once where nobody is to be told."""
    try:
        if not targets():
            return
    except ValueError as error:
        log.error("no notices are sent: %s", error)
        return
    try:
        while not stop.wait(LOOK_SECONDS):
            try:
                close_old_connections()
                notify()
            except (DatabaseError, InterfaceError, OSError) as error:
                log.warning("notices have to wait: %s", str(error).strip())
                close_own_connection()
            except Exception:
                log.exception("notices failed, and go on")
                close_own_connection()
    finally:
        close_own_connection()
