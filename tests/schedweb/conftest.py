"""What tests of the Django project have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db.models.signals import post_migrate
from django.utils import translation

from schedweb.spares import started
from schedweb.worker import process
from tests.schedweb.forked_engines import Forks


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
def _engines_are_forked() -> Iterator[None]:
    """What is started when no spare waits; the first test that needs an engine pays for the imports."""
    forks = Forks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "started", forks.started)
        yield
    forks.close()


@pytest.fixture
def engines_as_in_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of how they start and end, and of what is in their environment."""
    monkeypatch.setattr(process, "started", started)
