"""Registers what migrations need: they may take as long as they take."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import pre_migrate


class DatabaseConfig(AppConfig):
    name = "schedweb.database"
    label = "database"

    def ready(self) -> None:
        pre_migrate.connect(without_limits, dispatch_uid="without_limits")


def without_limits(using: str, **kwargs: Any) -> None:
    """On the connection that migrates, until it is closed."""
    connection = connections[using]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute("SET idle_in_transaction_session_timeout = 0")
            cursor.execute("SET lock_timeout = 0")
