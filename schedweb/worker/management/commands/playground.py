"""`manage.py playground`: everything on this machine with one command, and a link to open.

Embedded: migrate, samples, a worker in a thread, the server. With REDIS_URL and DATABASE_URL: the same server as a
process beside a worker process.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from types import FrameType
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from schedweb.accounts.services import login_link_create, owner_get
from schedweb.configurations.services import builtins_load
from schedweb.environment import ROOT, managed_by
from schedweb.serving import noted, origin_of
from schedweb.snapshots.services import samples_load
from schedweb.worker.embedded import EmbeddedWorker

STOP_SECONDS = 20


class Command(BaseCommand):
    help = "Starts the playground on this machine and prints its link."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        environment = settings.ENVIRONMENT
        parser.add_argument("--host", default=environment.host, help="address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=environment.port, help="port to listen on (PORT)")

    def handle(self, *args: Any, **options: Any) -> None:
        # uvicorn ends in order and then lets the signal act; it must not end us before the worker has ended in order.
        signal.signal(signal.SIGTERM, interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            self.play(options["host"], options["port"])

    def play(self, host: str, port: int) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        builtins_load()
        samples_load()
        origin = settings.ENVIRONMENT.public_url or origin_of(host, port)
        link = f"{origin}/login?token={login_link_create(user=owner_get())}"
        if settings.MODE == "distributed":
            self.play_distributed(host, port, link)
        else:
            with EmbeddedWorker():
                serve(host, port, lambda: self.say(link))

    def say(self, link: str) -> None:
        self.stdout.write(f"\n  Scheduling Playground is ready. Open this link; it works once:\n\n    {link}\n")
        self.stdout.write(f"  Another one: {managed_by()} login_link. Ctrl C ends it; runs go on at the next start.\n")
        self.stdout.flush()

    def play_distributed(self, host: str, port: int, link: str) -> None:
        worker = [sys.executable, "-m", "celery", "-A", "schedweb", "worker", "--loglevel", "INFO"]
        # In a group of its own: a Ctrl C is passed on below, once, when the server has ended.
        child = subprocess.Popen(worker, cwd=ROOT, start_new_session=True)
        try:
            serve(host, port, lambda: self.say(link))
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


class Server(uvicorn.Server):
    """Says the link once the port is open, and notes its address for other commands until it is closed."""

    def __init__(self, config: uvicorn.Config, ready: Any) -> None:
        super().__init__(config)
        self.ready = ready
        self.note = contextlib.ExitStack()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.note.enter_context(noted(self.config.host, self.config.port))
            self.ready()

    async def shutdown(self, sockets: Any = None) -> None:
        self.note.close()
        await super().shutdown(sockets)


def serve(host: str, port: int, ready: Any) -> None:
    config = uvicorn.Config(
        "schedweb.asgi:application",
        host=host,
        port=port,
        log_level="warning",
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=64 * 1024,
        # Every browser's stream would be compressed by itself, most often for one on the same machine.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    try:
        Server(config, ready).run()
    except SystemExit as error:
        # uvicorn has said why (the port is taken, for instance).
        raise CommandError(f"The server could not be started on {host}:{port}.") from error
