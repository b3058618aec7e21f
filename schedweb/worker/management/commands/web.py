"""`manage.py web`: the web process alone, as deployments start any number of them."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from schedweb.database_version import NewerDatabase, refuse_newer_database
from schedweb.serving import origin_of
from schedweb.web_server import serve

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Serves the site and its sockets until it is told to end (SIGTERM); workers are started with celery."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        environment = settings.ENVIRONMENT
        parser.add_argument("--host", default=environment.host, help="address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=environment.port, help="port to listen on (PORT)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            refuse_newer_database()
        except NewerDatabase as error:
            raise CommandError(str(error)) from None
        except DatabaseError as error:
            # Pages say so until it is there.
            log.warning("the database does not answer: %s", str(error).strip())
        finally:
            connection.close()
        host, port = options["host"], options["port"]
        serve(host, port, lambda: self.stdout.write(f"Listening on {origin_of(host, port)}."))
