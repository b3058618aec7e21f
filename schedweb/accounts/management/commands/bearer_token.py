"""`manage.py bearer_token NAME`: a token for scripts, printed once."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from schedweb.accounts import services


class Command(BaseCommand):
    help = "Creates a bearer token with the role of an account (the owner's unless --user names one) and prints it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the token is for")
        parser.add_argument("--user", help="the account's name")

    def handle(self, *args: Any, **options: Any) -> None:
        username = options["user"]
        user = User.objects.filter(username=username).first() if username else services.owner_get()
        if user is None:
            raise CommandError(f"There is no account named {username}.")
        try:
            self.stdout.write(services.bearer_token_create(user=user, name=options["name"]))
        except services.AccountError as error:
            raise CommandError(str(error)) from None
