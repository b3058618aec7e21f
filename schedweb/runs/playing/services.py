"""Creating and deleting runs."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet

from schedweb.api.errors import ApiError, conflict, not_found
from schedweb.configurations.models import Configuration
from schedweb.engine.times import nanoseconds
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.playing.playable import playable_version
from schedweb.sentences import say
from schedweb.snapshots.models import Snapshot

TRIES = 5


def run_create(
    *,
    user: Any,
    snapshot: UUID,
    configuration_version: UUID,
    seed: int = 0,
    clock: str = "virtual",
    speed: str = "10",
    approvals: str = "hold",
    ties: str = "seeded",
    paused: bool = True,
    start: datetime.datetime | None = None,
) -> Run:
    found = Snapshot.objects.defer("payload").filter(pk=snapshot).first()
    if found is None:
        raise not_found(say("There is no such snapshot."))
    version = playable_version(configuration_version)
    begin = nanoseconds(start or found.taken_at)

    def begun(run: Run) -> None:
        if not paused:
            command_insert(run=run, user=user, content={"type": "play"})

    return run_insert(
        begun,
        snapshot=found,
        configuration_version=version,
        first_configuration_version=version,
        started_by=user,
        started_by_name=user.get_username(),
        seed=seed,
        ties=ties,
        approvals=approvals,
        clock_mode=clock,
        clock_start=begin,
        clock=begin,
        speed=speed,
        first_speed=speed,
    )


def run_insert(begun: Callable[[Run], None], **facts: Any) -> Run:
    """A run with the next number, offered to a worker. `begun` adds to it in the same transaction."""
    for attempt in range(TRIES):
        try:
            with transaction.atomic():
                newest = Run.objects.aggregate(newest=Max("number"))["newest"] or 0
                run = Run.objects.create(number=newest + 1, engine_version=ENGINE_VERSION, wanted=True, **facts)
                begun(run)
        except IntegrityError:
            # Two creations at once took one number.
            if attempt == TRIES - 1:
                raise
            continue
        run_dispatch(run.pk)
        return run
    raise AssertionError("the loop above returns or raises")


def run_delete(*, run: Run) -> None:
    """A run that a worker holds has to be stopped first, so that nothing is written into nothing."""
    if run.state in (Run.State.PLAYING, Run.State.WAITING_FOR_PERSON):
        raise conflict(say("{run} is playing. Stop it before deleting it.", run=run), code="playing")
    with transaction.atomic():
        # A new epoch keeps a worker that still holds the lease from writing.
        Run.objects.filter(pk=run.pk).update(epoch=run.epoch + 1, wanted=False)
        versions = versions_named(Run.objects.filter(pk=run.pk))
        run.delete()
        what_ifs_forget(versions)


def versions_named(runs: QuerySet[Run]) -> set[UUID]:
    """Every configuration version that these runs use, began with, or were told to use."""
    told = JournalEntry.objects.filter(run__in=runs, type="set_configuration").values_list(
        "command__version", flat=True
    )
    used = runs.values_list("configuration_version", "first_configuration_version")
    return {UUID(version) for version in told} | {version for pair in used for version in pair}


def what_ifs_forget(versions: Iterable[UUID]) -> None:
    """Configurations that were made for an exact run and kept by nobody go with the last run that knows them."""
    for configuration in Configuration.objects.filter(what_if=True, versions__in=list(versions)).distinct():
        known = [str(version) for version in configuration.versions.values_list("pk", flat=True)]
        used = Q(configuration_version__in=known) | Q(first_configuration_version__in=known)
        named = Q(journal__type="set_configuration", journal__command__version__in=known)
        if not Run.objects.filter(used | named).exists():
            configuration.delete()


def runs_delete(*, ids: Sequence[UUID]) -> dict[str, Any]:
    """{deleted, kept: [{id, why}]}: each by itself, so that one that plays keeps no other one."""
    found = Run.objects.defer("columns", "cycle").in_bulk(ids)
    deleted: list[str] = []
    kept: list[dict[str, str]] = []
    for key in dict.fromkeys(ids):
        if key not in found:
            kept.append({"id": str(key), "why": say("There is no such run; it may have been deleted.")})
            continue
        try:
            run_delete(run=found[key])
        except ApiError as error:
            kept.append({"id": str(key), "why": error.body["message"]})
        else:
            deleted.append(str(key))
    return {"deleted": deleted, "kept": kept}
