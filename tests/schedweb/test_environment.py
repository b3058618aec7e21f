"""What the environment says reaches the connections that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from django.db import Error
from django.db.utils import load_backend
from pytest_django import DjangoDbBlocker

from schedweb.environment import database_settings, read_environment
from scripts.services import Services

Asked = Callable[[str, str], str]


@pytest.fixture
def asked(services: Services, django_db_blocker: DjangoDbBlocker) -> Iterator[Asked]:
    """What PostgreSQL answers to a query by a connection whose URL ends like this."""

    def ask(parameters: str, query: str) -> str:
        url = f"{services.database_url}?{parameters}"
        given = database_settings(read_environment({"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1"}))
        backend = load_backend("django.db.backends.postgresql")
        made = backend.DatabaseWrapper({"AUTOCOMMIT": True, "TIME_ZONE": None, **given}, "of-a-test")
        with closing(made), made.cursor() as cursor:
            cursor.execute(query)
            return str(cursor.fetchone()[0])

    with django_db_blocker.unblock():
        yield ask


def test_parameters_of_the_database_url_are_those_of_the_connection(asked: Asked) -> None:
    assert asked("application_name=two%20words", "SHOW application_name") == "two words"
    ours = "options=-c%20search_path%3Dours"
    assert asked(ours, "SHOW search_path") == "ours"
    assert asked(ours, "SHOW idle_in_transaction_session_timeout") == "5s"


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ("sslmod=require", 'invalid connection option "sslmod"'),
        ("sslmode=requir", 'invalid sslmode value: "requir"'),
        ("sslmode=verify-full&sslrootcert=/nowhere", 'does not support SSL|root certificate file "/nowhere"'),
    ],
)
def test_what_cannot_be_fulfilled_is_refused_and_not_left_out(asked: Asked, parameters: str, complaint: str) -> None:
    with pytest.raises(Error, match=complaint):
        asked(parameters, "SELECT 1")


def test_a_key_that_a_full_disk_left_empty_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "secret.key"
    file.touch()
    made = read_environment({"PLAYGROUND_DATA": str(tmp_path)}).secret_key
    assert len(made) > 50
    assert file.read_text() == made == read_environment({"PLAYGROUND_DATA": str(tmp_path)}).secret_key


def test_processes_that_start_together_have_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as together:
        found = list(together.map(lambda _: read_environment({"PLAYGROUND_DATA": str(tmp_path)}).secret_key, range(64)))
    assert len(set(found)) == 1
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0
