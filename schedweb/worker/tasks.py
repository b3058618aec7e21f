"""Celery tasks of runs, and the sweep that every worker does beside them."""

from __future__ import annotations

import logging
import threading
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import DatabaseError, close_old_connections

from schedweb.runs.playing.dispatch import PLAY, sweep
from schedweb.runs.records.analyses import ANALYSE
from schedweb.runs.storing.lease import close_own_connection
from schedweb.snapshots.services import imports_lost
from schedweb.spares import ENGINE, READER, SPARES
from schedweb.worker.analyst import analyse
from schedweb.worker.supervisor import RUNNING, play_run, shut_down_all

log = logging.getLogger(__name__)
STOP = threading.Event()


@shared_task(name=PLAY)
def play(run: str) -> bool:
    return play_run(UUID(run))


@shared_task(name=ANALYSE)
def answer_analysis(analysis: str) -> bool:
    return analyse(UUID(analysis))


def sweep_until_stopped() -> None:
    try:
        while not STOP.wait(settings.ENGINE_SWEEP_SECONDS):
            try:
                close_old_connections()
                for run in sweep(settings.CELERY_WORKER_CONCURRENCY - len(RUNNING)):
                    log.info("run %s has no worker: offered", run)
                imports_lost()
            except (DatabaseError, OSError) as error:
                log.warning("the sweep has to wait: %s", error)
    finally:
        close_own_connection()


@worker_ready.connect
def worker_begins(**kwargs: Any) -> None:
    SPARES.keep(ENGINE, READER)
    STOP.clear()
    threading.Thread(target=sweep_until_stopped, name="sweep", daemon=True).start()


@worker_shutting_down.connect
def stop_playing(**kwargs: Any) -> None:
    """Runs are given back with a checkpoint, so that another worker goes on at once."""
    STOP.set()
    shut_down_all()
    SPARES.close()
