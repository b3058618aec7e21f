"""What a worker does whose places for runs are all taken while somebody waits for one."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from django.conf import settings

from schedweb.runs.models import Run
from schedweb.runs.playing.dispatch import next_run, runs_held
from schedweb.worker.playing import RUNNING
from schedweb.worker.supervisor import Supervisor

log = logging.getLogger(__name__)


def make_room() -> None:
    """A run that rests is given back early. Else one of somebody who has more of them than who waits gives way, and
    waits itself: the one that was played longest of those that had their turn."""
    waits = next_run()
    if waits is None:
        return
    supervisors = list(RUNNING.values())
    resting = [each for each in supervisors if each.is_resting]
    if resting:
        min(resting, key=lambda each: each.rested_since).rest_soon()
        return
    held = runs_held()
    person = Run.objects.filter(pk=waits).values_list("started_by", flat=True).first()
    found = who_gives_way(supervisors, held, held.get(person, 0))
    if found is not None:
        log.info("%s gives way to a run of somebody who has fewer", found.run)
        found.shut_down()


def who_gives_way(supervisors: list[Supervisor], held: Mapping[int | None, int], has: int) -> Supervisor | None:
    """`has`: how many who waits has already. Afterwards nobody has fewer than before and gives way in turn."""
    able = [
        each
        for each in supervisors
        if held.get(each.run.started_by_id, 0) > has + 1 and each.held_seconds >= settings.RUN_TURN_SECONDS
    ]
    return max(able, key=lambda each: (held[each.run.started_by_id], each.held_seconds), default=None)
