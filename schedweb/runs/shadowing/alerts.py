"""When a shadow came to agree too little with the real scheduler: for whoever tells people of it."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.db.models import F, QuerySet
from django.utils import timezone

from schedweb.runs.models import Followed, Run
from schedweb.runs.shadowing.selectors import last_hour

_OVER: Final = (Run.State.FINISHED, Run.State.STOPPED, Run.State.PARKED)


def below_rows() -> QuerySet[Followed]:
    """Shadows that are below their threshold, of runs that go on."""
    return _alerting().filter(below_since__isnull=False)


def _alerting() -> QuerySet[Followed]:
    rows = Followed.objects.filter(shadow=True, run__own_world=False, alert_below__isnull=False, run__deleted_at=None)
    return rows.exclude(run__state__in=_OVER)


class Crossings:
    """Looks which shadows crossed their threshold since it was looked last; ``Followed.alerts`` counts how often one
    fell below it. Of several workers one counts it."""

    def __init__(self) -> None:
        self._seen: dict[UUID, tuple[Any, ...]] = {}
        """What the last answer about a run went by: while that is as it was, so is the answer."""

    def look(self) -> None:
        seen: dict[UUID, tuple[Any, ...]] = {}
        for row in _alerting().select_related("run").defer("run__columns", "state", "scheduling"):
            seen[row.run_id] = about = (row.judgements_stored, row.alert_below, row.below_since)
            if self._seen.get(row.run_id) == about:
                continue
            below = last_hour(row.run, row)["is_below"]
            if below and row.below_since is None:
                stood = Followed.objects.filter(run=row.run_id, below_since=None, alert_below=row.alert_below)
                stood.update(below_since=timezone.now(), alerts=F("alerts") + 1)
            elif not below and row.below_since is not None:
                Followed.objects.filter(run=row.run_id, below_since=row.below_since).update(below_since=None)
        self._seen = seen
