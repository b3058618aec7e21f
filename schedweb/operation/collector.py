"""Metrics that the database and the broker know, read when somebody asks: the same from every web process."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Count
from django.db.models.functions import Now
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from schedweb.api.room import KINDS, WATCH
from schedweb.celery import app
from schedweb.operation.readiness import BROKER, UNREACHABLE, problems
from schedweb.runs.models import Analysis, JournalEntry, PodRecord, Run
from schedweb.runs.playing.dispatch import waiting_runs
from schedweb.runs.records.analyses import being_answered
from schedweb.snapshots.models import Import, Snapshot
from schedweb.snapshots.queue import untaken

log = logging.getLogger(__name__)
Family = Callable[[], GaugeMetricFamily]


class StoredState(Collector):
    """A family that cannot be read (the broker is gone) is left out and logged; the others are told."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for family in FAMILIES:
            try:
                yield family()
            except UNREACHABLE as error:
                log.warning("a metric could not be read (%s): %s", family.__name__, error)

    def describe(self) -> list[GaugeMetricFamily]:
        """Nothing is read when it is registered."""
        return []


def runs() -> GaugeMetricFamily:
    counts = dict(Run.objects.order_by().values_list("state").annotate(Count("pk")))
    return by_label("playground_runs", "Runs", "state", {state: counts.get(state, 0) for state in Run.State.values})


def runs_without_worker() -> GaugeMetricFamily:
    """Their lease ran out and nobody has taken it yet."""
    lost = Run.objects.filter(wanted=True, lease_expires__lt=Now()).exclude(lease_owner="")
    return number(
        "playground_runs_without_worker", "Runs whose worker was lost and that nobody plays yet", lost.count()
    )


def commands_pending() -> GaugeMetricFamily:
    pending = JournalEntry.objects.filter(status=JournalEntry.Status.PENDING).exclude(run__state=Run.State.PARKED)
    text = "Commands that are stored and not yet applied, without those that parked runs keep"
    return number("playground_commands_pending", text, pending.count())


def pods_waiting() -> GaugeMetricFamily:
    waiting = PodRecord.objects.filter(column=PodRecord.Column.WAITING, asks_person=True)
    return number("playground_pods_waiting_for_a_person", "Pods on Permit that a person decides about", waiting.count())


def analyses() -> GaugeMetricFamily:
    counts = dict(Analysis.objects.order_by().values_list("status").annotate(Count("pk")))
    return by_label("playground_analyses", "Questions that are stored, with their answers", "status", counts)


def imports() -> GaugeMetricFamily:
    counts = dict(Import.objects.order_by().values_list("state").annotate(Count("pk")))
    return by_label("playground_imports", "Uploads that are not yet snapshots", "state", counts)


def snapshots() -> GaugeMetricFamily:
    return number("playground_snapshots", "Snapshots", Snapshot.objects.count())


def waiting_for_a_place() -> GaugeMetricFamily:
    waiting = {
        "runs": waiting_runs().count(),
        "imports": untaken().count(),
        "questions": Analysis.objects.filter(being_answered(), status=Analysis.Status.PENDING).count(),
    }
    return by_label("playground_waiting", "What waits for a worker with a free place, by kind", "kind", waiting)


def tasks_queued() -> GaugeMetricFamily:
    """A message has a worker look at what waits, so there are none as long as workers listen."""
    with BROKER.reached() as broker, broker.channel() as channel:
        declare: Callable[[str], Any] = channel.queue_declare  # type: ignore[attr-defined]  # every transport has it
        waiting = {name: declare(name).message_count for name in sorted(queue_names())}
    return by_label("playground_tasks_queued", "Tasks that no worker has taken yet", "queue", waiting)


def queue_names() -> set[str]:
    return {app.conf.task_default_queue, *(app.amqp.queues or {})}


def database_size() -> GaugeMetricFamily:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            size = cursor.fetchone()[0]
    else:
        main = Path(connection.settings_dict["NAME"])
        files = [main, main.with_name(f"{main.name}-wal")]
        size = sum(file.stat().st_size for file in files if file.exists())
    return number("playground_database_size_bytes", "Size of the database on disk", size)


def kept_limit() -> GaugeMetricFamily:
    text = "How much all runs may use before the oldest go (KEEP_TOTAL_GB); 0: any amount"
    return number("playground_kept_limit_bytes", text, settings.KEEP_TOTAL_BYTES)


def data_free() -> GaugeMetricFamily:
    disk = os.statvfs(settings.DATA_DIR)
    return number("playground_data_free_bytes", "Free on the disk of the data folder", disk.f_bavail * disk.f_frsize)


def data_size() -> GaugeMetricFamily:
    disk = os.statvfs(settings.DATA_DIR)
    return number("playground_data_size_bytes", "Size of the disk of the data folder", disk.f_blocks * disk.f_frsize)


def storage_trouble() -> GaugeMetricFamily:
    found = WATCH.trouble()
    values = {kind: int(found is not None and found.kind == kind) for kind in KINDS}
    return by_label("playground_storage_trouble", "1 while nothing can be stored, by what stops it", "kind", values)


def ready() -> GaugeMetricFamily:
    """Takes as long as /readyz does: three seconds where no worker or no broker answers."""
    checks = {check: int(not problem) for check, problem in problems(frozenset()).items()}
    return by_label("playground_ready", "1 while a check of /readyz passes, 0 while it fails", "check", checks)


FAMILIES: Final[tuple[Family, ...]] = (
    runs,
    runs_without_worker,
    commands_pending,
    pods_waiting,
    analyses,
    imports,
    snapshots,
    waiting_for_a_place,
    tasks_queued,
    database_size,
    kept_limit,
    data_free,
    data_size,
    storage_trouble,
    ready,
)


def number(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def by_label(name: str, text: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
