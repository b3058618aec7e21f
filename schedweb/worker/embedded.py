"""A Celery worker inside the web process: the embedded mode's only one. Killing it is killing the product.

The broker is in the process too. Tasks that wait (one per playing run) each hold a thread; the engines are processes
of their own, so that a busy run does not take the web server's interpreter lock.
"""

from __future__ import annotations

import threading
from types import TracebackType

from celery.worker import WorkController
from django.conf import settings

from schedweb.celery import app
from schedweb.worker.tasks import stop_playing, worker_begins


class EmbeddedWorker:
    def __init__(self) -> None:
        self.controller = WorkController(
            app=app,
            hostname="embedded@localhost",
            pool_cls=settings.CELERY_WORKER_POOL,
            concurrency=settings.CELERY_WORKER_CONCURRENCY,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            quiet=True,
        )
        self._thread = threading.Thread(target=self.controller.start, name="worker", daemon=True)

    def __enter__(self) -> EmbeddedWorker:
        self._thread.start()
        # The signal worker_ready is sent by the command-line program only.
        worker_begins()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stop_playing()
        self.controller.stop(in_sighandler=False)
        self._thread.join(timeout=settings.ENGINE_LEASE_SECONDS)
