"""Leases: who plays a run. Every new holder gets a higher epoch, and writes are accepted in the newest epoch only.

free → held (claim) → held (renew, every two seconds) → free (release, or by running out after eight).
"""

from __future__ import annotations

import datetime
import os
import socket
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections, transaction
from django.db.models import F, Q
from django.utils import timezone

from schedweb.runs.models import JournalEntry, Run

#: One name per process; a process that starts again is another owner.
OWNER = f"{socket.gethostname()[:50]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


#: Fewer than a slow disk writes.
ROWS_PER_SECOND = 1000


class LeaseLost(Exception):
    """Somebody else holds the run now, or it is gone; nothing more may be written."""


@dataclass(frozen=True)
class Lease:
    run: uuid.UUID
    epoch: int
    owner: str
    taken_over: bool
    """Another holder did not give it back: it died, or was not heard of for too long."""
    lost_at: datetime.datetime | None


def expiry(*, rows: int = 0) -> datetime.datetime:
    """`rows`: how many are about to be written in one transaction, which nobody can renew the lease beside."""
    return timezone.now() + datetime.timedelta(seconds=settings.ENGINE_LEASE_SECONDS + rows / ROWS_PER_SECOND)


def claim(run: uuid.UUID, owner: str = OWNER) -> Lease | None:
    """None when somebody else holds it, or nobody has to."""
    now = timezone.now()
    with transaction.atomic():
        row = (
            Run.objects.select_for_update()
            .only("epoch", "lease_owner", "lease_expires", "wanted", "state")
            .filter(pk=run)
            .first()
        )
        if row is None or not row.wanted or row.state in (Run.State.FAILED, Run.State.STOPPED):
            return None
        if row.lease_owner and row.lease_expires is not None and row.lease_expires > now:
            return None
        taken_over = row.lease_owner != ""
        claimed = Run.objects.filter(pk=run, epoch=row.epoch).update(
            epoch=F("epoch") + 1,
            lease_owner=owner,
            lease_expires=expiry(),
            worker_since=now,
            taking_over=taken_over,
        )
        if not claimed:
            return None
    return Lease(run, row.epoch + 1, owner, taken_over, row.lease_expires if taken_over else None)


def mine(lease: Lease) -> Q:
    return Q(pk=lease.run, epoch=lease.epoch)


def renew(lease: Lease) -> None:
    if not Run.objects.filter(mine(lease)).update(lease_expires=expiry()):
        raise LeaseLost(f"run {lease.run} has another holder")


def give_back(lease: Lease, *, only_if_idle: bool = False) -> bool:
    """False when a command came in the meantime and the lease is kept."""
    with transaction.atomic():
        row = Run.objects.select_for_update().only("pk").filter(mine(lease)).first()
        if row is None:
            return True
        pending = JournalEntry.objects.filter(run=lease.run, status=JournalEntry.Status.PENDING).exists()
        if pending and only_if_idle:
            return False
        Run.objects.filter(mine(lease)).update(
            lease_owner="", lease_expires=None, taking_over=False, **({"wanted": False} if only_if_idle else {})
        )
    return True


class Renewal:
    """Renews a lease from a thread of its own, so that a long write does not cost it."""

    def __init__(self, lease: Lease, on_loss: Callable[[], None]) -> None:
        self.lease = lease
        self.on_loss = on_loss
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, name=f"lease-{lease.run}", daemon=True)

    def __enter__(self) -> Renewal:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()

    def _renew(self) -> None:
        try:
            while not self._stop.wait(settings.ENGINE_RENEW_SECONDS):
                try:
                    close_old_connections()
                    renew(self.lease)
                except LeaseLost:
                    self.on_loss()
                    return
                except DatabaseError:
                    # The next try may succeed; when none does, the lease runs out and the epoch guards what is written.
                    continue
        finally:
            close_own_connection()


def close_own_connection() -> None:
    """Connections belong to threads; a thread that ends closes its own."""
    connections.close_all()
