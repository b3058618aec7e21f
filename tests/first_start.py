"""What the first start of an installation leaves behind, made once and copied for tests that are about something else.

All migrations and the sample clusters cost more than most of what is then tested. Starts from nothing stay where they
are the point: tests/deploy/test_playground.py in both modes, tests/deploy/test_compose.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.processes import ROOT, bare_environment
from scripts.services import REDIS_URL, scratch_database

MADE = "made"
STEPS = (("migrate", "--no-input", "--verbosity", "0"), ("load_configurations",), ("load_samples",))


def begun(**environment: str) -> None:
    """Migrations, built-in configurations and samples in this installation; nobody has an account yet."""
    for step in STEPS:
        command = [sys.executable, "manage.py", *step]
        done = subprocess.run(
            command, cwd=ROOT, env=bare_environment() | environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


class FirstStart:
    """Of all workers of a test run: whoever needs the folder first makes it. A database each makes for itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = contextlib.ExitStack()
        self._database: str | None = None

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
    def database(self) -> Iterator[str]:
        """The URL of such a PostgreSQL database, dropped afterwards."""
        if self._database is None:
            empty = self._left.enter_context(scratch_database())
            begun(PLAYGROUND_DATA=str(self._folder), DATABASE_URL=empty, REDIS_URL=REDIS_URL)
            self._database = empty
        with scratch_database(copied=self._database) as url:
            yield url

    def close(self) -> None:
        self._left.close()
