"""Which entries are shown, and how one is."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any, Final

from django.db.models import Q, QuerySet

from schedweb.accounts.models import AuditEntry

BATCH: Final = 1000
COLUMNS: Final = (
    "id", "at", "account", "username", "via", "address", "action", "result", "target", "target_id", "details",
)  # fmt: skip


def entries(
    *,
    action: str = "",
    result: str = "",
    who: str = "",
    q: str = "",
    since: datetime.datetime | None = None,
    until: datetime.datetime | None = None,
) -> QuerySet[AuditEntry]:
    """Newest first. ``action``: one, or the part before its dot; ``who``: an account's name; ``q``: in what it was done
    to or where from; ``since`` is within, ``until`` is not."""
    found = AuditEntry.objects.order_by("-pk")
    if action:
        found = found.filter(Q(action=action) | Q(action__startswith=f"{action}."))
    if result:
        found = found.filter(result=result)
    if who:
        found = found.filter(username__iexact=who)
    for word in q.split():
        found = found.filter(Q(target__icontains=word) | Q(address__icontains=word) | Q(via__icontains=word))
    if since is not None:
        found = found.filter(at__gte=since)
    if until is not None:
        found = found.filter(at__lt=until)
    return found


def entry_body(entry: AuditEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in COLUMNS}


def batches(found: QuerySet[AuditEntry]) -> Iterator[list[dict[str, Any]]]:
    """By their ids, so that entries that come meanwhile move none."""
    below: int | None = None
    while rows := list((found if below is None else found.filter(pk__lt=below))[:BATCH]):
        yield [entry_body(row) for row in rows]
        below = rows[-1].pk
