"""Celery tasks of runs, and the sweep that every worker does beside them."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from celery import current_app, shared_task
from celery.signals import celeryd_init, worker_ready, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections

from schedweb.clusters.services import import_read_anyhow
from schedweb.database.silence import SILENCE
from schedweb.database_version import refuse_to_work
from schedweb.keeping.housekeeping import keep_house_until
from schedweb.notices.sending import notices_until
from schedweb.processes.forks import FORKS
from schedweb.processes.long_lived import settle_down
from schedweb.processes.structs import learn_structs
from schedweb.runs.following.ends import end_due
from schedweb.runs.live.telling import tell_outcome
from schedweb.runs.playing.dispatch import PLAY, next_run, refuse_late, runs_unheard_of, waiting_runs
from schedweb.runs.records.analyses import ANALYSE, next_question, questions_wait
from schedweb.runs.storing.lease import OWNER, close_own_connection
from schedweb.snapshots.queue import READ, imports_wait, next_import
from schedweb.snapshots.services import LeftToOthers, imports_lost
from schedweb.stopping import STOPPING
from schedweb.worker.analyst import analyse
from schedweb.worker.following import ENDING_SECONDS, FOLLOWERS
from schedweb.worker.giving_way import make_room
from schedweb.worker.listening import listen_until
from schedweb.worker.measures import serve_metrics
from schedweb.worker.playing import play_run, shut_down_all
from schedweb.worker.shares import Share
from schedweb.worker.standby import STANDBYS

log = logging.getLogger(__name__)
PASS_ON_SECONDS: Final = 0.25
UNHEARD_SECONDS: Final = 0.25
"""So often is looked while a run's holder is not heard of."""
GONE_SECONDS: Final = 9.0
"""After a worker was told to end it does, whatever it waits for: what it left undone others take over."""
GIVING_BACK_SECONDS: Final = 7.0
"""So long runs, questions and imports have to be given back."""


def work_on(next_one: Callable[[], UUID | None], work: Callable[[UUID], object]) -> Callable[[], bool]:
    """For a share: False when nothing waits, or this worker begins nothing any more."""

    def work_on_next() -> bool:
        found = None if STOPPING.is_set() else next_one()
        if found is not None:
            work(found)
        return found is not None

    return work_on_next


def read_unless_stopping(found: UUID) -> None:
    try:
        import_read_anyhow(import_id=found)
    except LeftToOthers:
        log.info("import %s is left to another worker", found)


RUNS: Final = Share("runs", settings.WORKER_PLACES["runs"], work_on(next_run, play_run))
QUESTIONS: Final = Share("questions", settings.WORKER_PLACES["questions"], work_on(next_question, analyse))
IMPORTS: Final = Share("imports", settings.WORKER_PLACES["imports"], work_on(next_import, read_unless_stopping))


def look(share: Share, name: str) -> None:
    """What a message asks for. One that came to a worker that is told to end is for another one, which may not have
    heard of it: this process may still be listening, so others are to come first."""
    if STOPPING.is_set():
        time.sleep(PASS_ON_SECONDS)
        current_app.send_task(name)
    else:
        share.look()


# An argument is what older versions put into the broker: which run, which question, which import.
celeryd_init.connect(refuse_to_work)


@celeryd_init.connect
def fork_server_begins(**kwargs: Any) -> None:
    """It has its imports behind it when the worker is ready."""
    FORKS.keep()


@shared_task(name=PLAY)
def play(run: str = "") -> None:
    look(RUNS, PLAY)


@shared_task(name=ANALYSE)
def answer(analysis: str = "") -> None:
    look(QUESTIONS, ANALYSE)


@shared_task(name=READ)
def read(import_id: str = "") -> None:
    look(IMPORTS, READ)


def look_around() -> float:
    """For what no message told of. Where all places are taken, those who wait hear that there is a worker.

    Returns after how many seconds it is to be looked again.
    """
    if RUNS.is_full:
        make_room()
    else:
        RUNS.look_beside(waiting_runs().count())
    FORKS.look()
    if next_question() is not None:
        questions_wait() if QUESTIONS.is_full else QUESTIONS.look_beside()
    if next_import() is not None:
        imports_wait() if IMPORTS.is_full else IMPORTS.look_beside()
    FOLLOWERS.look()
    unheard = runs_unheard_of(OWNER)
    STANDBYS.look(unheard, RUNS.free)
    return UNHEARD_SECONDS if unheard else settings.ENGINE_SWEEP_SECONDS


def sweep_until_stopped() -> None:
    SILENCE.set(settings.ENGINE_LEASE_SECONDS)
    pause: float = settings.ENGINE_SWEEP_SECONDS
    try:
        while not STOPPING.wait(pause):
            pause = settings.ENGINE_SWEEP_SECONDS
            try:
                close_old_connections()
                pause = look_around()
                end_due()
                for ended, outcomes in refuse_late():
                    for outcome in outcomes:
                        tell_outcome(ended, outcome)
                imports_lost()
            except (DatabaseError, InterfaceError, OSError) as error:
                log.warning("the sweep has to wait: %s", error)
                close_own_connection()
            except Exception:
                # Without the sweep nobody would take over what other workers leave.
                log.exception("the sweep failed, and goes on")
                close_own_connection()
    finally:
        close_own_connection()


@worker_ready.connect
def worker_begins(**kwargs: Any) -> None:
    learn_structs()
    settle_down()
    serve_metrics()
    FORKS.keep()
    STOPPING.clear()
    threading.Thread(target=sweep_until_stopped, name="sweep", daemon=True).start()
    threading.Thread(target=listen_until, args=(STOPPING,), name="wake-ups", daemon=True).start()
    threading.Thread(target=notices_until, args=(STOPPING,), name="notices", daemon=True).start()
    threading.Thread(target=keep_house_until, args=(STOPPING,), name="housekeeping", daemon=True).start()


@worker_shutting_down.connect
def stop_playing(**kwargs: Any) -> None:
    """Runs are given back with a checkpoint, so that another worker goes on at once."""
    STOPPING.set()
    if settings.MODE == "distributed":
        end = threading.Timer(GONE_SECONDS, os._exit, (1,))
        end.daemon = True
        end.start()
    until = time.monotonic() + GIVING_BACK_SECONDS
    shut_down_all()
    FOLLOWERS.wait(ENDING_SECONDS)
    # Celery waits for its own tasks only, and what was found by looking is played beside them.
    for share in (RUNS, QUESTIONS, IMPORTS):
        share.wait_until_empty(until - time.monotonic())
    STANDBYS.end()
    FORKS.close()
