"""Which runs this worker plays: taking one's lease, supervising it, and telling all supervisors to end."""

from __future__ import annotations

import logging
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from schedweb.database.silence import SILENCE
from schedweb.observing.metrics import RUNS_HELD
from schedweb.runs.models import Run
from schedweb.runs.playing.dispatch import offer
from schedweb.runs.playing.wakeups import WAKEUPS
from schedweb.runs.storing.lease import OWNER, Claim, Lease, Renewal, close_own_connection, give_back
from schedweb.runs.storing.patience import patiently
from schedweb.stopping import STOPPING
from schedweb.worker.supervisor import Supervisor

log = logging.getLogger(__name__)


def play_run(run: UUID) -> bool:
    """Plays the run if nobody else does. False when somebody else does, nobody has to, or this process ends."""
    if STOPPING.is_set():
        return False
    SILENCE.set(settings.ENGINE_LEASE_SECONDS)
    lease = patiently(Claim(run, OWNER).once)
    if lease is None:
        return False
    try:
        supervisor = Supervisor(lease)
    except Run.DoesNotExist:
        return False
    WAKEUPS.register(run, supervisor.wake)
    RUNNING[run] = supervisor
    RUNS_HELD.set(len(RUNNING))
    if STOPPING.is_set():
        # Whoever told all supervisors may not have known of this one.
        supervisor.shut_down()
    try:
        with Renewal(lease, supervisor.lose):
            supervisor.play()
    except Exception:
        log.exception("run %s: its supervisor ended by surprise", run)
        leave_to_others(lease)
        raise
    finally:
        # By now this worker may play it again, with another lease.
        if RUNNING.get(run) is supervisor:
            del RUNNING[run]
        RUNS_HELD.set(len(RUNNING))
        WAKEUPS.forget(run, supervisor.wake)
        close_own_connection()
    return True


def leave_to_others(lease: Lease) -> None:
    """The renewal may have got through a moment ago, and others would wait for that lease to run out."""
    try:
        close_own_connection()
        give_back(lease)
        offer(lease.run)
    except (DatabaseError, InterfaceError) as error:
        # It runs out by itself, and a sweep finds the run.
        log.warning("the lease of run %s is not given back: %s", lease.run, str(error).strip())


#: The supervisors of this process, for a shutdown in order.
RUNNING: dict[UUID, Supervisor] = {}


def shut_down_all() -> None:
    for supervisor in list(RUNNING.values()):
        supervisor.shut_down()
