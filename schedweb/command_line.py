"""``scheduling-playground``: the command of the installed package.

``run`` starts the playground, ``manage`` is what manage.py is; the other commands are the framework's (framework/cli)
and need no database.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from framework.cli.main import main as framework_main
from framework.cli.main import parser
from schedweb.environment import built_ui
from schedweb.processes.collecting import begin_loading

PROGRAM: Final = "scheduling-playground"
OWN: Final = {
    "run": "start the playground on this machine and print its link (--host, --port)",
    "manage": "what manage.py is in a clone: login_link, create_account, bearer_token, doctor, …",
}
NOT_BUILT: Final = (
    f"{PROGRAM} run: this package was built without the user interface. In a clone, `make run` builds and starts it; "
    "after `make setup` there, `pip install .` installs it, too."
)


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["run"]:
        return _run(given[1:])
    if given[:1] == ["manage"]:
        return _manage(f"{PROGRAM} manage", given[1:])
    return framework_main(given, parser(PROGRAM, OWN))


def _run(arguments: list[str]) -> int:
    if built_ui() is None:
        print(NOT_BUILT, file=sys.stderr)
        return 2
    return _manage(PROGRAM, ["playground", *arguments])


def _manage(program: str, arguments: list[str]) -> int:
    begin_loading()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedweb.settings")
    # Django is large, and no other command needs it.
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line([program, *arguments])
    return 0
