"""`manage.py login_link`: prints another one-time link for the owner, or for an account."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from schedweb.accounts import services
from schedweb.serving import origin_known
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = "Prints a link that logs its first visitor in (as the owner unless --user names an account)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="the account's name")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["user"]:
            user = User.objects.filter(username=options["user"]).first()
            if user is None:
                raise CommandError(f"There is no account named {options['user']}.")
        else:
            user = services.owner_get()
        origin, known = origin_known()
        self.stdout.write(services.login_url(origin, user))
        if not known:
            self.stderr.write(f"No server of {settings.DATA_DIR} runs here now; {origin} is HOST and PORT.")
