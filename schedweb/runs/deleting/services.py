"""Deleting runs, bringing them back, and removing them for good.

A deleted run keeps all that it stored. Who held its lease loses it, and commands that waited are refused. One that
played is told to pause when it comes back: its journal has it playing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from rest_framework import status

from schedweb.accounts.audit.recording import record
from schedweb.accounts.roles import Role, role_of
from schedweb.api.errors import ApiError, was_deleted
from schedweb.configurations.models import Configuration
from schedweb.configurations.services import configuration_restore
from schedweb.engine.shapes import UntranslatedOutcome
from schedweb.runs.live.telling import tell_deletion
from schedweb.runs.models import (
    Analysis,
    Attempt,
    AttemptChunk,
    Checkpoint,
    FeedItem,
    JournalEntry,
    NodeRecord,
    PodRecord,
    Run,
    StepChunk,
)
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.playing.wakeups import wake_holder
from schedweb.runs.records.analyses import OPEN
from schedweb.runs.records.runs import no_such_run
from schedweb.runs.storing.batches import deleted, refuse_pending
from schedweb.sentences import say
from schedweb.snapshots.services import snapshot_restore
from schedweb.soft_delete import KEPT, deleted_sentence, deletion_of, may_come_back

TRIES: Final = 5
MOVING: Final = (Run.State.PLAYING, Run.State.WAITING_FOR_PERSON)
LARGE: Final[tuple[type[models.Model], ...]] = (
    AttemptChunk,
    Checkpoint,
    Analysis,
    StepChunk,
    PodRecord,
    NodeRecord,
    Attempt,
    FeedItem,
)
"""Tables with many or large rows per run."""
AT_ONCE: Final = 500
"""Rows that one transaction removes: others have to write between them."""


def may_delete(user: Any, run: Run) -> bool:
    """Editors any run, operators their own."""
    role = role_of(user)
    return role is not None and (role >= Role.EDITOR or (role >= Role.OPERATOR and run.started_by_id == user.pk))


def refuse_to_others(user: Any, run: Run) -> None:
    if not may_delete(user, run):
        raise ApiError(
            say(
                "{run} was started by {name}. Its starter and editors may delete it and bring it back.",
                run=run,
                name=run.started_by_name,
            ),
            code="forbidden",
            status_code=status.HTTP_403_FORBIDDEN,
        )


def run_found(run: UUID) -> Run:
    """Deleted or not."""
    found = Run.every.defer("columns", "cycle").filter(pk=run).first()
    if found is None:
        raise no_such_run(run)
    return found


@transaction.atomic
def run_delete(*, run: UUID, user: Any) -> None:
    """Deleting twice is no mistake. A run that plays stops: nothing of it is stored after this."""
    found = run_found(run)
    refuse_to_others(user, found)
    if found.deleted_at is not None:
        return
    record("run.delete", target=found, target_id=found.pk)
    mark_deleted(found, user)


def mark_deleted(found: Run, user: Any) -> None:
    """``user``: None where it goes to make room."""
    refused = refuse_pending(found, deleted(found))
    Analysis.objects.filter(run=found, status__in=OPEN).update(status=Analysis.Status.CANCELLED)
    # A new epoch keeps a worker that still holds the lease from writing.
    Run.objects.filter(pk=found.pk).update(
        **deletion_of(user),
        epoch=F("epoch") + 1,
        wanted=False,
        lease_owner="",
        lease_expires=None,
        taking_over=False,
    )
    transaction.on_commit(lambda: after_deletion(found, refused))


def after_deletion(run: Run, refused: Iterable[UntranslatedOutcome]) -> None:
    wake_holder(run.pk)
    tell_deletion(run, refused)


def runs_delete(*, ids: Sequence[UUID], user: Any) -> dict[str, Any]:
    """{deleted, kept: [{id, why}]}: each by itself, so that one that stays keeps no other one."""
    deleted: list[str] = []
    kept: list[dict[str, str]] = []
    for key in dict.fromkeys(ids):
        try:
            run_delete(run=key, user=user)
        except ApiError as error:
            kept.append({"id": str(key), "why": error.body["message"]})
        else:
            deleted.append(str(key))
    return {"deleted": deleted, "kept": kept}


def run_restore(*, run: UUID, user: Any) -> Run:
    """Brings it back, and the cluster and configurations that it needs. One that is not deleted stays as it is."""
    for attempt in range(TRIES):
        try:
            return restored(run, user)
        except IntegrityError:
            # Somebody who brings it back at the same moment took the number of the journal's next row.
            if attempt == TRIES - 1:
                raise
    raise AssertionError("the loop above returns or raises")


@transaction.atomic
def restored(run: UUID, user: Any) -> Run:
    found = run_found(run)
    refuse_to_others(user, found)
    if found.deleted_at is None:
        return found
    if not may_come_back(found):
        raise was_deleted(deleted_sentence(found, found))
    snapshot_restore(snapshot=found.snapshot)
    for configuration in Configuration.every.filter(versions__in=versions_named(Run.every.filter(pk=run))).distinct():
        configuration_restore(configuration=configuration)
    is_scheduler = found.scheduling is not None and bool(found.follows)
    if found.state in MOVING or (found.obeying and found.state != Run.State.PARKED):
        # Its journal has it playing; the engine that begins anew does this next. Nobody is the scheduler of a real
        # cluster because somebody looked for a run.
        command_insert(run=found, user=user, content={"type": "stop" if is_scheduler else "pause"})
    Run.every.filter(pk=run).update(**KEPT, wanted=is_unfinished(found), used_at=timezone.now())
    run_dispatch(found.pk)
    transaction.on_commit(lambda: tell_deletion(found, ()))
    return found


def is_unfinished(run: Run) -> bool:
    """Whether a worker has to take it up: it had not begun, or something is half done."""
    return run.seq == 0 or run.obeying or run.unwritten > 0


def run_remove(*, run: Run) -> None:
    """For good, with all that is stored of it. It must be deleted, and its time up: then nobody brings it back
    meanwhile. Interrupted, it is gone on with by whoever removes it next."""
    assert run.deleted_at is not None
    assert not may_come_back(run)
    for table in LARGE:
        rows = table._default_manager.filter(run=run)
        while keys := list(rows.order_by().values_list("pk", flat=True)[:AT_ONCE]):
            table._default_manager.filter(pk__in=keys).delete()
    with transaction.atomic():
        versions = versions_named(Run.every.filter(pk=run.pk))
        run.delete()
        what_ifs_forget(versions)


def versions_named(runs: QuerySet[Run]) -> set[UUID]:
    """Every configuration version that these runs use, began with, or were told to use."""
    switches = JournalEntry.objects.filter(run__in=runs, type="set_configuration").values_list(
        "command__version", flat=True
    )
    used = runs.values_list("configuration_version", "first_configuration_version")
    return {UUID(version) for version in switches} | {version for pair in used for version in pair}


def what_ifs_forget(versions: Iterable[UUID]) -> None:
    """Configurations that were made for an exact run and kept by nobody go with the last run that knows them."""
    for configuration in Configuration.every.filter(what_if=True, versions__in=list(versions)).distinct():
        known = [str(version) for version in configuration.versions.values_list("pk", flat=True)]
        used = Q(configuration_version__in=known) | Q(first_configuration_version__in=known)
        named = Q(journal__type="set_configuration", journal__command__version__in=known)
        if not Run.every.filter(used | named).exists():
            configuration.delete()
