"""`manage.py account list|disable|enable|role|password|identity`: accounts after they were made (`create_account`)."""

from __future__ import annotations

import getpass
import sys
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from schedweb.accounts import openid, services
from schedweb.accounts.roles import BY_GROUP, own_role_of
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = "Lists accounts, disables and enables one, or gives it another role or password."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="names, roles and when they logged in last")
        for name, help_ in (
            ("disable", "ends its sessions, tokens and login links, at once and for good"),
            ("enable", "lets it log in again"),
            ("password", "asked for, or read from standard input; ends its sessions"),
        ):
            actions.add_parser(name, help=help_).add_argument("username")
        identity = actions.add_parser("identity", help="the subject of the OpenID Connect provider that logs in as it")
        identity.add_argument("username")
        identity.add_argument("subject")
        role = actions.add_parser("role", help="gives it another role")
        role.add_argument("username")
        role.add_argument("role", choices=list(BY_GROUP))

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "list":
            for each in User.objects.prefetch_related("groups").order_by("username"):
                self.stdout.write(line_of(each))
            return
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no account named {options['username']}.")
        try:
            self.change(user, options)
        except services.AccountError as error:
            raise CommandError(str(error)) from None

    def change(self, user: User, options: dict[str, Any]) -> None:
        match options["action"]:
            case "disable":
                services.account_disable(user=user)
                self.stdout.write(f"{user} is disabled; its sessions, tokens and login links are gone.")
            case "enable":
                services.account_enable(user=user)
                self.stdout.write(f"{user} may log in again.")
            case "role":
                services.account_set_role(user=user, role=BY_GROUP[options["role"]])
                self.stdout.write(f"{user} is a {options['role']} now.")
            case "identity":
                if openid.provider() is None:
                    raise CommandError("OIDC_ISSUER is not set, so there is no provider.")
                openid.identity_link(user=user, subject=options["subject"])
                self.stdout.write(f"{options['subject']} logs in as {user}.")
            case "password":
                services.account_set_password(user=user, password=asked_password(user))
                self.stdout.write(f"{user} has another password; its sessions have ended.")


def line_of(user: User) -> str:
    role = own_role_of(user)
    last = "never logged in" if user.last_login is None else f"last login {user.last_login:%Y-%m-%d %H:%M} UTC"
    state = "" if user.is_active else ", disabled"
    return f"{user.get_username()}: {'no role' if role is None else role.group}{state}, {last}"


def asked_password(user: User) -> str:
    password = getpass.getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    return password
