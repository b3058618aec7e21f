"""Registers the app with Django."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.core.management.base import CommandError
from django.db.models.signals import pre_migrate


class WorkerConfig(AppConfig):
    name = "schedweb.worker"
    label = "worker"

    def ready(self) -> None:
        """Tasks belong to the Celery application, which the package itself does not load: engines need none."""
        import schedweb.celery  # noqa: F401, PLC0415 - settings have to be there

        # Django tells it to apps with models only; to one of them, so that it is looked once.
        pre_migrate.connect(before_migrating, sender=apps.get_app_config("runs"))


def before_migrating(**kwargs: Any) -> None:
    from schedweb.database_version import NewerDatabase, refuse_newer_database  # noqa: PLC0415 - likewise

    try:
        refuse_newer_database()
    except NewerDatabase as error:
        raise CommandError(str(error)) from None
