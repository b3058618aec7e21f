"""`manage.py health web|worker`: exit 0 when it is well. The health checks of docker-compose.yml."""

from __future__ import annotations

import http.client
import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from schedweb.celery import app

SECONDS = 5.0


class Command(BaseCommand):
    help = "Exits with 0 when the web process or a worker answers."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["web", "worker"])

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "web":
            self.web()
        else:
            self.worker()

    def web(self) -> None:
        port = settings.ENVIRONMENT.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        try:
            connection.request("GET", "/healthz", headers={"Host": "127.0.0.1"})
            status = connection.getresponse().status
        except OSError as error:
            raise CommandError(f"Nothing answers on port {port}: {error}") from None
        finally:
            connection.close()
        if status != http.HTTPStatus.OK:
            raise CommandError(f"The web process answers {status}.")

    def worker(self) -> None:
        """The worker of this container: of several, each answers for itself."""
        destination = [f"celery@{os.uname().nodename}"]
        try:
            answers = app.control.ping(destination=destination, timeout=SECONDS)
        except OSError as error:
            raise CommandError(f"The broker does not answer: {error}") from None
        if not answers:
            raise CommandError("The worker does not answer.")
