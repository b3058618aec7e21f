"""What the first start of an installation leaves behind, made once and copied for tests that are about something else.

All migrations and the sample clusters cost more than most of what is then tested. Starts from nothing stay where they
are the point: tests/deploy/test_playground.py in both modes, tests/deploy/test_compose.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from scripts.processes import ROOT, bare_environment
from scripts.services import REDIS_URL, scratch_database

MADE = "made"
STEPS = (["migrate", "--no-input", "--verbosity", "0"], ["load_configurations"], ["load_samples"])
ONE_BY_ONE = """
import json, sys
from django.core.management import execute_from_command_line
for words in json.load(sys.stdin):
    execute_from_command_line(["manage.py", *words])
"""
"""Commands as `manage.py` has them, in one process: each would begin with the same imports."""


def begun(*more: list[str], **environment: str) -> str:
    """Migrations, built-in configurations and samples in this installation, where nobody has an account yet; and what
    ``more`` commands do there. The last line that was printed."""
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE],
        cwd=ROOT,
        env=bare_environment() | {"DJANGO_SETTINGS_MODULE": "schedweb.settings"} | environment,
        input=json.dumps([*STEPS, *more]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip().rpartition("\n")[2]


class FirstStart:
    """Of all workers of a test run: whoever needs the folder first makes it. A database each makes for itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = contextlib.ExitStack()
        self._database: str | None = None
        self._login = ""

    def into(self, folder: Path) -> Path:
        """``folder``, an empty one, as the data folder of an installation that was started once."""
        shutil.copytree(self._made(), folder, dirs_exist_ok=True)
        return folder

    def _made(self) -> Path:
        self._folder.mkdir(exist_ok=True)
        data, made = self._folder / "data", self._folder / MADE
        with (self._folder / "lock").open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not made.exists():
                shutil.rmtree(data, ignore_errors=True)
                data.mkdir()
                begun(PLAYGROUND_DATA=str(data))
                made.touch()
        return data

    @contextlib.contextmanager
    def database(self) -> Iterator[tuple[str, str]]:
        """The URL of such a PostgreSQL database, dropped afterwards, and the path of a login link of its owner, which
        nobody has used."""
        if self._database is None:
            empty = self._left.enter_context(scratch_database())
            link = begun(["login_link"], PLAYGROUND_DATA=str(self._folder), DATABASE_URL=empty, REDIS_URL=REDIS_URL)
            self._login = urlsplit(link)._replace(scheme="", netloc="").geturl()
            self._database = empty
        with scratch_database(copied=self._database) as url:
            yield url, self._login

    def close(self) -> None:
        self._left.close()
