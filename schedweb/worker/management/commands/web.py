"""`manage.py web`: the web process alone, as deployments start any number of them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from schedweb.serving import origin_of
from schedweb.web_server import serve


class Command(BaseCommand):
    help = "Serves the site and its sockets until it is told to end (SIGTERM); workers are started with celery."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        environment = settings.ENVIRONMENT
        parser.add_argument("--host", default=environment.host, help="address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=environment.port, help="port to listen on (PORT)")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        serve(host, port, lambda: self.stdout.write(f"Listening on {origin_of(host, port)}."))
