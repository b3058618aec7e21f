"""Celery tasks of this app."""

from __future__ import annotations

import uuid

from celery import shared_task

from schedweb.snapshots import services


@shared_task(name="snapshots.read_import")
def read_import(import_id: str) -> None:
    services.import_read(import_id=uuid.UUID(import_id))
