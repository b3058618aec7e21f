"""A run that an address names: as it is, or as it was at a position."""

from __future__ import annotations

from django.db.models import QuerySet

from schedweb.api.errors import not_found
from schedweb.runs.models import Run
from schedweb.runs.records.converters import MomentRef, RunKey, run_of
from schedweb.runs.records.moments import as_of
from schedweb.sentences import say


def runs_with_names() -> QuerySet[Run]:
    return Run.objects.select_related("snapshot", "configuration_version__configuration").defer(
        "snapshot__payload", "configuration_version__text"
    )


def run_get(run: RunKey) -> Run:
    """A run, or what it was at a position."""
    found = runs_with_names().filter(pk=run_of(run)).first()
    if found is None:
        raise not_found(say("There is no such run; it may have been deleted."))
    return as_of(found, run) if isinstance(run, MomentRef) else found
