"""`manage.py create_account NAME --role operator`: an account with one of the four roles."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from schedweb.accounts import services
from schedweb.accounts.roles import BY_GROUP
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = "Creates an account; its password is asked for, or read from standard input."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", choices=list(BY_GROUP), default="viewer")

    def handle(self, *args: Any, **options: Any) -> None:
        password = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        username = options["username"]
        try:
            validate_password(password, User(username=username))
            services.account_create(username=username, role=BY_GROUP[options["role"]], password=password)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        except services.AccountError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{username} is a {options['role']} now.")
