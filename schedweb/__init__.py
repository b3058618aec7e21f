"""The Django project: storage, workers, REST API, WebSocket, login. All I/O of the product lives here."""

from __future__ import annotations

from schedweb.celery import app as celery_app

__all__ = ["celery_app"]
