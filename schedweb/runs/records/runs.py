"""A run that an address names: as it is, or as it was at a position."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet

from schedweb.api.errors import ApiError, not_found, was_deleted
from schedweb.runs.models import Followed, Run
from schedweb.runs.records.converters import MomentRef, RunKey, run_of
from schedweb.runs.records.moments import as_of
from schedweb.sentences import say
from schedweb.soft_delete import deleted_sentence


def runs_with_names() -> QuerySet[Run]:
    rows = Run.objects.select_related("snapshot", "configuration_version__configuration").defer(
        "snapshot__payload", "configuration_version__text"
    )
    shadows = Followed.objects.filter(run=OuterRef("pk"), shadow=True)
    return rows.annotate(parent_deleted_at=F("parent__deleted_at"), is_shadow=Exists(shadows))


def no_such_run(run: UUID) -> ApiError:
    """The answer to who asks for a run that is not there, or is deleted."""
    deleted = Run.every.only("number", "deleted_at", "deleted_by_name", "goes_at").filter(pk=run).first()
    if deleted is None or deleted.deleted_at is None:
        return not_found(say("There is no such run; it may have been deleted."))
    return was_deleted(deleted_sentence(deleted, deleted))


def run_get(run: RunKey) -> Run:
    """A run, or what it was at a position."""
    found = runs_with_names().filter(pk=run_of(run)).first()
    if found is None:
        raise no_such_run(run_of(run))
    return as_of(found, run) if isinstance(run, MomentRef) else found


def resources_of(run: Run) -> list[str]:
    """What the integers of rows count, asked after these were read: a batch may have been stored since the run's own
    row was read, and resources are only ever added."""
    if run.moment is None:
        run.resources = Run.every.values_list("resources", flat=True).filter(pk=run.pk).first() or run.resources
    known: list[str] = run.resources
    return known
