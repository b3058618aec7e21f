"""`manage.py playground`: everything on this machine with one command, and a link to open.

Embedded: migrate, samples, a worker in a thread, the server. With REDIS_URL and DATABASE_URL: the same server as a
process beside a worker process.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from schedweb.accounts.services import login_url, owner_get
from schedweb.api.room import folder_trouble, sentence_of
from schedweb.checks import refuse_bad_environment
from schedweb.configurations.services import builtins_load
from schedweb.environment import ROOT, folder_problem, managed_by
from schedweb.serving import AlreadyRunning, alone, origin_known, origin_of
from schedweb.snapshots.samples.loading import samples_load
from schedweb.web_server import serve
from schedweb.worker.embedded import EmbeddedWorker

STOP_SECONDS = 20


class Command(BaseCommand):
    help = "Starts the playground on this machine and prints its link."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        environment = settings.ENVIRONMENT
        parser.add_argument("--host", default=environment.host, help="address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=environment.port, help="port to listen on (PORT)")

    def execute(self, *args: Any, **options: Any) -> str | None:
        refuse_bad_environment()  # the server would, when a database has been made
        return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        # uvicorn ends in order and then lets the signal act; it must not end us before the worker has ended in order.
        signal.signal(signal.SIGTERM, interrupt)
        with contextlib.suppress(KeyboardInterrupt):
            self.play(options["host"], options["port"])

    def play(self, host: str, port: int) -> None:
        if settings.MODE == "distributed":
            self.play_distributed(host, port, self.prepare(host, port))
            return
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(alone())
                link = self.prepare(host, port)
            except AlreadyRunning:
                raise CommandError(self.where_it_runs()) from None
            except (OperationalError, OSError) as error:
                raise CommandError(folder_problem(settings.DATA_DIR, why_unusable(error))) from None
            stack.enter_context(EmbeddedWorker())
            serve(host, port, lambda: self.say(link))

    def where_it_runs(self) -> str:
        origin, known = origin_known()
        if not known:
            return f"Another playground of {settings.DATA_DIR} is starting or ending; it prints its own link."
        link = login_url(origin, owner_get())
        return f"The playground of {settings.DATA_DIR} is running already. Open this link; it works once:\n\n    {link}"

    def prepare(self, host: str, port: int) -> str:
        """The link to open."""
        call_command("migrate", interactive=False, verbosity=0)
        builtins_load()
        samples_load()
        origin = settings.ENVIRONMENT.public_url or origin_of(host, port)
        return login_url(origin, owner_get())

    def say(self, link: str) -> None:
        self.stdout.write(f"\n  Scheduling Playground is ready. Open this link; it works once:\n\n    {link}\n")
        self.stdout.write(f"  Another one: {managed_by()} login_link. Ctrl C ends it; runs go on at the next start.\n")
        if trouble := folder_trouble(settings.DATA_DIR):
            self.stdout.write(f"\n  {sentence_of(trouble)}\n")
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


def why_unusable(error: Exception) -> str:
    # Of a disk that is full SQLite may say "disk I/O error".
    with contextlib.suppress(OSError):
        if os.statvfs(settings.DATA_DIR).f_bavail == 0:
            return os.strerror(errno.ENOSPC)
    return getattr(error, "strerror", None) or str(error)


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
