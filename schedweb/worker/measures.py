"""What a worker counts and logs of the runs that it plays."""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.utils import timezone
from prometheus_client import start_http_server

from schedweb.observing.metrics import BATCH_LAG_SECONDS, BATCHES, COMMAND_SECONDS
from schedweb.observing.spans import Span
from schedweb.observing.trace_context import parsed, within
from schedweb.runs.models import JournalEntry

log = logging.getLogger(__name__)
_SERVING = threading.Event()


def batch_sent(arrived: float) -> None:
    """``arrived``: of time.monotonic."""
    BATCHES.inc()
    BATCH_LAG_SECONDS.observe(time.monotonic() - arrived)


def command_settled(entry: JournalEntry, status: str, batch: int | None) -> None:
    """What became of a command is stored. ``batch``: the number of the engine's batch that said so."""
    seconds = (timezone.now() - entry.created_at).total_seconds()
    COMMAND_SECONDS.labels(entry.type, status).observe(max(0.0, seconds))
    context = parsed(entry.traceparent)
    facts = {"run": str(entry.run_id), "command": str(entry.pk), "status": status}
    if batch is not None:
        facts["batch"] = str(batch)
    Span(f"command {entry.type}", context, start=int(entry.created_at.timestamp() * 1e9)).end(facts)
    with within(context):
        log.info("command %s %s", entry.type, status, extra=facts)


def serve_metrics() -> None:
    """On METRICS_PORT, where one is set: a worker has no other address. Once per process."""
    environment = settings.ENVIRONMENT
    if not environment.metrics_port or _SERVING.is_set():
        return
    start_http_server(environment.metrics_port, environment.metrics_host)
    _SERVING.set()
