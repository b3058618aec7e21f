"""What tests of the Django project have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from django.utils import translation
from whitenoise import WhiteNoise

from schedweb.processes.forks import FORKS, Forks
from schedweb.worker import process


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    """A request leaves its language with the thread; the next request of a thread sets its own."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def _emptied_tables_stay_empty() -> None:
    """After each test with transactions of its own Django would make permissions again, which nothing here asks."""
    assert post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    assert post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session", autouse=True)
def _files_of_the_ui_are_read_once() -> Iterator[None]:
    """Every client of a test begins with middleware of its own, and WhiteNoise with what it says of 270 files."""
    read, known = WhiteNoise.get_static_file, {}

    def once(self: Any, path: str, url: str, stat_cache: Any = None) -> Any:
        if stat_cache is None:
            return read(self, path, url)
        key = path, url, stat_cache[path].st_mtime_ns
        if key not in known:
            known[key] = read(self, path, url, stat_cache)
        return known[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WhiteNoise, "get_static_file", once)
        yield


@pytest.fixture(autouse=True)
def _a_fork_server_is_kept() -> None:
    """The first test that needs it waits for its imports; a test of a worker's end closes it."""
    FORKS.keep(at_once=False)


@pytest.fixture(scope="session", autouse=True)
def _no_fork_server_stays() -> Iterator[None]:
    yield
    FORKS.close()


@pytest.fixture
def own_fork_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Forks]:
    """For tests that change what a process finds when it begins: engines are copies of one that began within the
    test."""
    forks = Forks()
    forks.keep(at_once=False)
    monkeypatch.setattr(process, "FORKS", forks)
    yield forks
    forks.close()
