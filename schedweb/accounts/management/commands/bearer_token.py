"""`manage.py bearer_token NAME`: a token for scripts, printed once."""

from __future__ import annotations

import datetime
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.roles import BY_GROUP
from schedweb.stored_command import StoredCommand

MOST_DAYS: Final = 3650


class Command(StoredCommand):
    help = "Creates a bearer token with the role of an account (the owner's unless --user names one) and prints it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the token is for")
        parser.add_argument("--user", help="the account's name")
        parser.add_argument("--role", choices=list(BY_GROUP), help="may do no more than this (default: as the account)")
        parser.add_argument("--days", type=int, help="expires after so many days (default: never)")

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["user"]
        user = User.objects.filter(username=username).first() if username else services.owner_get()
        if user is None:
            raise CommandError(f"There is no account named {username}.")
        try:
            _, token = services.bearer_token_create(
                user=user, name=options["name"], role=BY_GROUP.get(options["role"]), expires_at=expires(options["days"])
            )
        except services.AccountError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(token)


def expires(days: int | None) -> datetime.datetime | None:
    if days is None:
        return None
    if not 1 <= days <= MOST_DAYS:
        raise CommandError(f"--days must be between 1 and {MOST_DAYS}.")
    return timezone.now() + datetime.timedelta(days=days)
