"""What tests of the Django project have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from django.utils import translation

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
