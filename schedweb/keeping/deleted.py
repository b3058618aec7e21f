"""What was deleted and can be brought back: runs, snapshots and configurations in one list."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, Sum
from django.db.models.functions import Length
from django.utils import timezone
from rest_framework import status

from schedweb.accounts.audit.recording import Action, record
from schedweb.accounts.roles import Role, role_of
from schedweb.api.errors import ApiError, not_found, was_deleted
from schedweb.api.windows import Window, window_body
from schedweb.configurations.models import Configuration
from schedweb.configurations.selectors import no_such_configuration
from schedweb.configurations.services import configuration_remove, configuration_restore
from schedweb.engine.times import wall
from schedweb.runs.deleting.services import may_delete, run_remove, run_restore
from schedweb.runs.models import JournalEntry, Run
from schedweb.sentences import say
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.selectors import no_such_snapshot
from schedweb.snapshots.services import snapshot_remove, snapshot_restore
from schedweb.soft_delete import deleted_sentence, may_come_back

log = logging.getLogger(__name__)
Kind = Literal["run", "snapshot", "configuration"]
RUN: Final = "run"
SNAPSHOT: Final = "snapshot"
CONFIGURATION: Final = "configuration"
TABLES: Final[Mapping[str, type[Run] | type[Snapshot] | type[Configuration]]] = {
    RUN: Run,
    SNAPSHOT: Snapshot,
    CONFIGURATION: Configuration,
}
RESTORED: Final[Mapping[Kind, Action]] = {
    RUN: "run.restore",
    SNAPSHOT: "snapshot.restore",
    CONFIGURATION: "configuration.restore",
}
REMOVED: Final[Mapping[Kind, Action]] = {
    RUN: "run.remove",
    SNAPSHOT: "snapshot.remove",
    CONFIGURATION: "configuration.remove",
}
DELETION: Final = ("deleted_at", "deleted_by_name", "goes_at")


@dataclass(frozen=True)
class Named:
    """One thing that somebody names."""

    kind: Kind
    id: UUID


def may_restore(user: Any, kind: str, row: Any) -> bool:
    """As with deleting: editors anything, operators their own runs."""
    if kind == RUN:
        return may_delete(user, row)
    role = role_of(user)
    return role is not None and role >= Role.EDITOR


def deleted_rows(kind: str) -> Iterable[Any]:
    """Those that can be brought back."""
    deleted = Q(deleted_at__isnull=False, goes_at__gt=timezone.now())
    if kind == RUN:
        named = Run.every.filter(deleted).select_related("snapshot")
        return named.only("number", "snapshot__name", "started_by", "started_by_name", "stored_bytes", *DELETION)
    if kind == SNAPSHOT:
        return Snapshot.every.filter(deleted).only("name", "size_bytes", *DELETION)
    return Configuration.every.filter(deleted).annotate(bytes=Sum(Length("versions__text"))).only("name", *DELETION)


def deleted_body(kind: str, row: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "id": str(row.pk),
        "name": str(row),
        "of": row.snapshot.name if kind == RUN else "",
        "started_by": row.started_by_name if kind == RUN else "",
        "deleted_at": wall(row.deleted_at),
        "deleted_by": row.deleted_by_name,
        "goes_at": wall(row.goes_at),
        "size_bytes": size_of(kind, row),
    }


def size_of(kind: str, row: Any) -> int:
    """Bytes."""
    match kind:
        case "run":
            return int(row.stored_bytes)
        case "snapshot":
            return int(row.size_bytes)
        case _:
            return int(row.bytes or 0)


def deleted_window(window: Window, user: Any, *, kind: str = "") -> dict[str, Any]:
    """Newest first: what ``user`` may bring back, of one kind or of all."""
    found = [
        (each.deleted_at, name, each)
        for name in ([kind] if kind else TABLES)
        for each in deleted_rows(name)
        if may_restore(user, name, each)
    ]
    found.sort(key=lambda each: (each[0], str(each[2].pk)), reverse=True)
    return window_body(window, len(found), [deleted_body(name, row) for _, name, row in window.cut(found)])


def found_deleted(named: Named, user: Any) -> Any:
    """The row, deleted or not, if ``user`` may bring it back."""
    row = TABLES[named.kind].every.filter(pk=named.id).first()
    if row is None:
        match named.kind:
            case "run":
                raise not_found(say("There is no such run; it may have been deleted."))
            case "snapshot":
                raise no_such_snapshot(named.id)
            case _:
                raise no_such_configuration(named.id)
    if not may_restore(user, named.kind, row):
        raise ApiError(
            say("Only editors bring back {name}, or remove it for good.", name=row)
            if named.kind != RUN
            else say("{run} is brought back by who started it, or by an editor.", run=row),
            code="forbidden",
            status_code=status.HTTP_403_FORBIDDEN,
        )
    return row


def restore(named: Named, user: Any) -> str:
    """The name under which it is back; one that was not deleted stays as it is."""
    row = found_deleted(named, user)
    if row.deleted_at is None:
        return str(row)
    if not may_come_back(row):
        raise was_deleted(deleted_sentence(row, row))
    with transaction.atomic():
        match named.kind:
            case "run":
                name = str(run_restore(run=row.pk, user=user))
            case "configuration":
                name = configuration_restore(configuration=row)
            case _:
                snapshot_restore(snapshot=row)
                name = str(row)
        record(RESTORED[named.kind], target=name, target_id=row.pk)
    return name


def remove_now(named: Named, user: Any) -> str:
    """Gone for good before its time. What is not deleted is refused: a mistake costs two steps."""
    row = found_deleted(named, user)
    if row.deleted_at is None:
        raise ApiError(
            say("{name} is not deleted. Delete it first.", name=row),
            code="not_deleted",
            status_code=status.HTTP_409_CONFLICT,
        )
    record(REMOVED[named.kind], target=row, target_id=row.pk)
    TABLES[named.kind].every.filter(pk=row.pk).update(goes_at=timezone.now() - datetime.timedelta(seconds=1))
    row.refresh_from_db(fields=["goes_at"])
    if not removed(named.kind, row):
        raise ApiError(
            say("{name} goes with the last deleted run that needs it.", name=row),
            code="in_use",
            status_code=status.HTTP_409_CONFLICT,
        )
    return str(row)


def with_each(items: Iterable[Named], user: User, act: Callable[[Named, Any], str]) -> dict[str, Any]:
    """{done: [{kind, id, name}], refused: [{kind, id, why}]}: each by itself, in the order of the list."""
    done: list[dict[str, str]] = []
    refused: list[dict[str, str]] = []
    for named in items:
        where = {"kind": named.kind, "id": str(named.id)}
        try:
            done.append({**where, "name": act(named, user)})
        except ApiError as error:
            refused.append({**where, "why": error.body["message"]})
    return {"done": done, "refused": refused}


def removed(kind: str, row: Any) -> bool:
    """Whether it could be removed for good; its time is up."""
    if kind == RUN:
        run_remove(run=row)
        return True
    if kind == SNAPSHOT:
        return snapshot_remove(snapshot=row)
    versions = [str(pk) for pk in row.versions.values_list("pk", flat=True)]
    told = JournalEntry.objects.filter(type="set_configuration", command__version__in=versions)
    return not told.exists() and configuration_remove(configuration=row)


def overdue(kind: str) -> Any:
    """What was deleted and whose time is up; runs first, as the others may be needed by them."""
    return TABLES[kind].every.filter(deleted_at__isnull=False, goes_at__lte=timezone.now()).order_by("goes_at")


def remove_overdue() -> dict[str, int]:
    """How many of each kind went for good."""
    counts: dict[str, int] = {}
    for kind in TABLES:
        rows = overdue(kind).defer("columns", "cycle") if kind == RUN else overdue(kind)
        if kind == SNAPSHOT:
            rows = rows.defer("payload")
        for row in rows:
            if removed(kind, row):
                counts[kind] = counts.get(kind, 0) + 1
                log.info("%s %s went for good; it was deleted by %s", kind, row, row.deleted_by_name)
    return counts
