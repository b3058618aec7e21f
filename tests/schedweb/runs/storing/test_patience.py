"""What is tried again, and what is not: errors as PostgreSQL itself has them."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from django.db import DataError, InternalError, OperationalError
from django.db.utils import DatabaseErrorWrapper
from pytest_django import Settings

from schedweb.runs.storing import patience
from schedweb.runs.storing.patience import patiently
from scripts.services import Services

pytestmark = pytest.mark.services


class Told:
    """What Django makes of errors, without a database of its own."""

    Database = psycopg
    errors_occurred = False


def failing_once(url: str, statement: str) -> Callable[[], str]:
    """Work that meets what the statement leads to, and is well the next time."""
    done = [False]

    def work() -> str:
        if done[0]:
            return "done"
        done[0] = True
        with DatabaseErrorWrapper(Told()), psycopg.connect(url) as connection:
            connection.execute(statement.encode())
            connection.execute("SELECT pg_sleep(0)")
        raise AssertionError("the statement leads to an error")

    return work


@pytest.fixture(autouse=True)
def _no_database_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "close_own_connection", lambda: None)


def test_a_connection_that_was_ended_because_its_client_stood_still_is_another_try(services: Services) -> None:
    url, done = services.database_url, [False]

    def work() -> str:
        if done[0]:
            return "done"
        done[0] = True
        with DatabaseErrorWrapper(Told()), psycopg.connect(url) as connection:
            connection.execute("SET idle_in_transaction_session_timeout = 1")
            with psycopg.connect(url, autocommit=True) as other:
                # It is gone as soon as the server has noticed.
                mine = [connection.info.backend_pid]
                while other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", mine).fetchone():
                    pass
            with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout) as met:
                connection.execute("SELECT 1")
            raise met.value
        raise AssertionError

    with pytest.raises(InternalError):
        work()
    done[0] = False
    assert patiently(work) == "done"


def test_a_cut_connection_is_another_try(services: Services) -> None:
    assert patiently(failing_once(services.database_url, "SELECT pg_terminate_backend(pg_backend_pid())")) == "done"


def test_what_the_database_refuses_is_not_tried_again(services: Services) -> None:
    with pytest.raises(DataError):
        patiently(failing_once(services.database_url, "SELECT 1 / 0"))


def test_after_a_try_that_took_too_long_there_is_one_more(services: Services, settings: Settings) -> None:
    settings.ENGINE_LEASE_SECONDS = -1.0
    cut = "SELECT pg_terminate_backend(pg_backend_pid())"
    assert patiently(failing_once(services.database_url, cut)) == "done"
    tries = 0

    def away() -> None:
        nonlocal tries
        tries += 1
        failing_once(services.database_url, cut)()

    with pytest.raises(OperationalError):
        patiently(away)
    assert tries == 2
