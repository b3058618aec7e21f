"""`manage.py deleted list|restore|remove`: what people deleted, from the server's own command line."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from schedweb.accounts.services import owner_get
from schedweb.api.errors import ApiError
from schedweb.api.windows import Window
from schedweb.keeping.deleted import RUN, TABLES, Named, deleted_window, remove_now, restore
from schedweb.runs.models import Run
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = "Lists what was deleted, brings some of it back, or removes it for good."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="what can be brought back, and until when")
        for name, help_ in (("restore", "brings one back"), ("remove", "removes one for good, now")):
            action = actions.add_parser(name, help=help_)
            action.add_argument("kind", choices=list(TABLES))
            action.add_argument("id", help="as the list has it; of a run its number, too")

    def handle(self, *args: Any, **options: Any) -> None:
        user = owner_get()
        if options["action"] == "list":
            found = deleted_window(Window(limit=1_000_000), user)
            for each in found["results"]:
                about = f"{each['name']} of {each['of']}" if each["of"] else each["name"]
                self.stdout.write(
                    f"{each['kind']} {each['id']}  {about}, deleted by {each['deleted_by']}, goes {each['goes_at']}"
                )
            return
        named = Named(options["kind"], identity(options["kind"], options["id"]))
        try:
            name = {"restore": restore, "remove": remove_now}[options["action"]](named, user)
        except ApiError as error:
            raise CommandError(error.body["message"]) from None
        self.stdout.write(f"{name} is back." if options["action"] == "restore" else f"{name} is gone for good.")


def identity(kind: str, given: str) -> UUID:
    digits = given.removeprefix("r-")
    if kind == RUN and digits.isdecimal():
        found = Run.every.filter(number=int(digits)).values_list("pk", flat=True).first()
        if found is None:
            raise CommandError(f"There is no run {given}.")
        return found
    try:
        return UUID(given)
    except ValueError:
        raise CommandError(f"{given} is no id; `deleted list` shows them.") from None
