"""Who reads a cluster: one worker at a time holds its connection, and only what the holder says is stored."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from schedweb.clusters.models import Connection
from schedweb.clusters.reading.following import ClusterState

LEASE: Final = datetime.timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Held:
    pk: int
    context: str
    owner: str
    epoch: int
    asks: int

    def row(self) -> QuerySet[Connection]:
        return Connection.objects.filter(pk=self.pk, lease_owner=self.owner, epoch=self.epoch)


def waiting() -> QuerySet[Connection]:
    """Connections that nobody reads."""
    nobody = Q(lease_owner="") | Q(lease_expires=None) | Q(lease_expires__lte=timezone.now())
    return Connection.objects.filter(nobody, wanted=True)


def claim(row: Connection, owner: str) -> Held | None:
    """None when somebody was faster."""
    as_read = waiting().filter(pk=row.pk, epoch=row.epoch, lease_owner=row.lease_owner)
    if not as_read.update(epoch=F("epoch") + 1, lease_owner=owner, lease_expires=timezone.now() + LEASE):
        return None
    return Held(row.pk, row.context, owner, row.epoch + 1, row.asks)


def store(held: Held, state: ClusterState | None, encoded: str) -> int | None:
    """Renews the lease, too. How often somebody asked for a try now; None: it is somebody else's, or not wanted.

    ``state`` None: nothing new, and only the lease is renewed.
    """
    now = timezone.now()
    changes: dict[str, object] = {"lease_expires": now + LEASE}
    if state is not None:
        changes |= {"state": encoded, "state_at": now}
        changes |= {"version": state.version[:60]} if state.version else {}
    if not held.row().filter(wanted=True).update(**changes):
        return None
    return held.row().values_list("asks", flat=True).first()


def give_back(held: Held) -> None:
    held.row().update(lease_owner="", lease_expires=None)
