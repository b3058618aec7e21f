"""Celery tasks of this app."""

from __future__ import annotations

import logging
import uuid

from celery import shared_task
from kombu.exceptions import OperationalError

from framework.said import said
from schedweb.snapshots import services
from schedweb.snapshots.models import Import

log = logging.getLogger(__name__)


@shared_task(name="snapshots.read_import")
def read_import(import_id: str) -> None:
    services.import_read(import_id=uuid.UUID(import_id))


def offer(row: Import) -> None:
    """To a worker; when none can be reached the import has failed, and says so."""
    try:
        read_import.delay(str(row.pk))
    except (OperationalError, OSError) as error:
        log.warning("import %s could not be given to a worker: %s", row.pk, error)
        services.import_unread(row=row, why=said("No worker can be reached now. Try again."))
