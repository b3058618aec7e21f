"""The one clock that all hosts share: the database's. Hosts' own clocks differ and jump, so what one of them writes and
another one compares with the time (leases, above all) is of this one."""

from __future__ import annotations

import datetime

from django.db import connection
from django.utils import timezone


def database_now() -> datetime.datetime:
    """In a statement of its own; within one, ``django.db.models.functions.Now()`` says it. An SQLite file is of this
    host, and so is its clock."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT STATEMENT_TIMESTAMP()")
        found: datetime.datetime = cursor.fetchone()[0]
    return found
