"""What people delete is kept for a while: out of every list at once, and gone for good when its time is up.

kept → deleted (`deletion_of`) → kept again (restored before `goes_at`) | gone (schedweb/keeping removes it after that).
A row's default manager does not know what is deleted, so a query that does not think of it cannot find it; `every`
knows all rows. Foreign keys lead to deleted rows, too: a fork knows its parent.
"""

from __future__ import annotations

import datetime
from typing import Any, ClassVar, Final, Self, TypeVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from schedweb.sentences import say

T = TypeVar("T", bound=models.Model)


class KeptManager(models.Manager[T]):
    def get_queryset(self) -> models.QuerySet[T]:
        return super().get_queryset().filter(deleted_at=None)


class Deletable(models.Model):
    deleted_at = models.DateTimeField(null=True, default=None, db_index=True)
    deleted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    deleted_by_name = models.CharField(max_length=150, blank=True, default="")
    #: Until then it can be brought back, afterwards it goes. The setting is that of the day of its deletion.
    goes_at = models.DateTimeField(null=True, default=None)

    objects: ClassVar[KeptManager[Self]] = KeptManager()
    every: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        abstract = True


KEPT: dict[str, Any] = {"deleted_at": None, "deleted_by": None, "deleted_by_name": "", "goes_at": None}
"""The fields of what is not deleted."""


RETENTION: Final = "retention"
"""The name that stands in place of a person's where something went to make room."""


def deletion_of(user: Any) -> dict[str, Any]:
    """The fields of what ``user`` deletes now; None: what goes to make room."""
    now = timezone.now()
    days = settings.KEEP_PRUNED_DAYS if user is None else settings.KEEP_DELETED_DAYS
    return {
        "deleted_at": now,
        "deleted_by": user,
        "deleted_by_name": RETENTION if user is None else user.get_username(),
        "goes_at": now + datetime.timedelta(days=days),
    }


def may_come_back(row: Any) -> bool:
    """Whether its time is not up."""
    return row.goes_at is not None and row.goes_at > timezone.now()


def deleted_sentence(name: object, row: Any) -> str:
    """What somebody is told who asks for a row that is deleted."""
    if not may_come_back(row):
        return say("{name} was deleted and cannot be brought back any more.", name=name)
    return say(
        "{name} was deleted by {who} on {day}. It can be brought back until {until}, under Recently deleted.",
        name=name,
        who=row.deleted_by_name,
        day=f"{row.deleted_at:%Y-%m-%d}",
        until=f"{row.goes_at:%Y-%m-%d}",
    )
