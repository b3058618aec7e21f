"""Registers the app with Django."""

from __future__ import annotations

from django.apps import AppConfig


class WorkerConfig(AppConfig):
    name = "schedweb.worker"
    label = "worker"

    def ready(self) -> None:
        """Tasks belong to the Celery application, which the package itself does not load: engines need none."""
        import schedweb.celery  # noqa: F401, PLC0415 - settings have to be there
