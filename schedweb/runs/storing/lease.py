"""Leases: who plays a run. Every new holder gets a higher epoch, and writes are accepted in the newest epoch only.

free → held (claim) → held (renew, twice a second) → free (release, or by running out after 6.5 seconds).

Each of these is one statement: nobody who stands still in the middle of one keeps others waiting. When a lease runs out
the database's clock says, in the statement itself: hosts' clocks differ and jump.
"""

from __future__ import annotations

import datetime
import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connections
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from schedweb.database.silence import SILENCE
from schedweb.runs.models import JournalEntry, Run

log = logging.getLogger(__name__)
#: One name per process; a process that starts again is another owner.
OWNER = f"{socket.gethostname()[:50]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
RENEWAL_SILENCE: Final = 2.0
"""A renewal that is not answered for so many seconds is tried on another connection, while the lease lasts."""
RETRY_SECONDS: Final = 0.2


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


def expiry() -> CombinedExpression:
    """By the database's clock, when the statement that it is part of begins."""
    return Now() + datetime.timedelta(seconds=settings.ENGINE_LEASE_SECONDS)


def has_commands() -> Exists:
    """Of a run: whether commands wait."""
    return Exists(JournalEntry.objects.filter(run=OuterRef("pk"), status=JournalEntry.Status.PENDING))


def to_be_held() -> Q:
    """Runs that somebody should hold."""
    pending = JournalEntry.objects.filter(status=JournalEntry.Status.PENDING)
    return (Q(wanted=True) | Q(pk__in=pending.values("run"))) & ~Q(state__in=Run.AT_REST)


def held() -> Q:
    return ~Q(lease_owner="") & Q(lease_expires__gt=Now())


def held_by_nobody() -> Q:
    return Q(lease_owner="") | Q(lease_expires=None) | Q(lease_expires__lte=Now())


class Claim:
    """Taking a run's lease. ``once`` may be called again when its answer was lost: a lease that an earlier try took is
    not taken for somebody else's, which nobody would play until it ran out. When several threads of a process claim the
    same run, one of them gets the lease, also where the tries of all failed at first."""

    _taken: ClassVar[dict[tuple[str, uuid.UUID], tuple[int, Claim]]] = {}
    """The newest epoch that a claim of this process returned, and which claim did."""
    _lock: ClassVar = threading.Lock()

    def __init__(self, run: uuid.UUID, owner: str = OWNER) -> None:
        self.run = run
        self.owner = owner
        self._tried: Lease | None = None

    def once(self) -> Lease | None:
        """None when somebody else holds it, or nobody has to."""
        if self._tried is not None and Run.objects.filter(mine(self._tried), held(), lease_owner=self.owner).exists():
            return self._alone(self._tried)
        free = Run.objects.filter(to_be_held(), held_by_nobody(), pk=self.run)
        row = free.only("epoch", "lease_owner", "lease_expires").first()
        if row is None:
            return None
        taken_over = row.lease_owner != ""
        self._tried = Lease(self.run, row.epoch + 1, self.owner, taken_over, row.lease_expires if taken_over else None)
        # Of the row as it was read: nothing is left to claim where another one was faster, or the holder was heard of.
        as_read = Run.objects.filter(
            pk=self.run, epoch=row.epoch, lease_owner=row.lease_owner, lease_expires=row.lease_expires
        )
        claimed = as_read.update(
            epoch=F("epoch") + 1,
            lease_owner=self.owner,
            lease_expires=expiry(),
            worker_since=Now(),
            taking_over=taken_over,
            wanted=True,
        )
        return self._alone(self._tried) if claimed else None

    def _alone(self, lease: Lease) -> Lease | None:
        """None when another thread has it: the database knows owners only, and they have one."""
        with self._lock:
            epoch, claim = self._taken.get((self.owner, self.run), (0, self))
            if epoch == lease.epoch and claim is not self:
                return None
            self._taken[self.owner, self.run] = (lease.epoch, self)
        return lease


def claim(run: uuid.UUID, owner: str = OWNER) -> Lease | None:
    """None when somebody else holds it, or nobody has to."""
    return Claim(run, owner).once()


def mine(lease: Lease) -> Q:
    return Q(pk=lease.run, epoch=lease.epoch)


def renew(lease: Lease) -> None:
    if not Run.objects.filter(mine(lease)).update(lease_expires=expiry()):
        raise LeaseLost(f"run {lease.run} has another holder")


def give_back(lease: Lease, *, only_if_idle: bool = False) -> bool:
    """``only_if_idle``: False when a command came in the meantime and the lease is kept. Otherwise somebody else is to
    hold it next."""
    free = {"lease_owner": "", "lease_expires": None, "taking_over": False}
    held = Run.objects.filter(mine(lease))
    if not only_if_idle:
        held.update(**free)
        return True
    if held.filter(~has_commands()).update(**free, wanted=False):
        return True
    return not held.exists()


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
        SILENCE.set(RENEWAL_SILENCE)
        pause = settings.ENGINE_RENEW_SECONDS
        try:
            while not self._stop.wait(pause):
                try:
                    close_old_connections()
                    renew(self.lease)
                except LeaseLost:
                    self.on_loss()
                    return
                except (DatabaseError, InterfaceError) as error:
                    # The next try may succeed; when none does, the lease runs out and the epoch guards what is written.
                    log.warning("the lease of run %s is not renewed: %s", self.lease.run, str(error).strip())
                    close_own_connection()
                    pause = RETRY_SECONDS
                else:
                    pause = settings.ENGINE_RENEW_SECONDS
        finally:
            close_own_connection()


def close_own_connection() -> None:
    """Connections belong to threads; a thread that ends closes its own."""
    connections.close_all()
