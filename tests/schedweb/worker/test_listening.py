"""Supervisors are woken by commands of other processes (on PostgreSQL: tests/deploy/test_on_postgresql.py)."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator

import pytest
from django.db import connection

from schedweb.runs.playing.wakeups import WAKEUPS, wake_holder
from schedweb.worker.listening import LOOK_SECONDS, listen_until

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 20.0


class Supervisor:
    def __init__(self) -> None:
        self.woken = threading.Event()

    def wake(self) -> None:
        self.woken.set()


@pytest.fixture
def listening() -> Iterator[threading.Thread]:
    stopping = threading.Event()
    thread = threading.Thread(target=listen_until, args=(stopping,))
    thread.start()
    yield thread
    stopping.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def is_woken_from_elsewhere(run: uuid.UUID, supervisor: Supervisor) -> bool:
    """As another process does it: nothing here knows the supervisor."""
    for _ in range(int(PATIENCE / 0.1)):
        WAKEUPS.forget(run, supervisor.wake)
        wake_holder(run)
        WAKEUPS.register(run, supervisor.wake)
        if supervisor.woken.wait(0.1):
            return True
    return False


def test_a_command_stored_by_another_process_wakes_the_supervisor(listening: threading.Thread) -> None:
    if connection.vendor == "sqlite":
        # All supervisors are in one process, and there is nothing to listen to.
        listening.join(PATIENCE)
        assert not listening.is_alive()
        return
    run, supervisor = uuid.uuid4(), Supervisor()
    assert is_woken_from_elsewhere(run, supervisor)
    # Of other runs nothing reaches it; what comes for this one came before, as they come in their order.
    other, beside = uuid.uuid4(), Supervisor()
    assert is_woken_from_elsewhere(other, beside)
    supervisor.woken.clear()
    beside.woken.clear()
    assert is_woken_from_elsewhere(other, beside)
    assert not supervisor.woken.is_set()
    WAKEUPS.forget(run, supervisor.wake)
    WAKEUPS.forget(other, beside.wake)


def backends() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return {pid for (pid,) in cursor.fetchall()}


def test_who_is_told_nothing_keeps_the_connection(listening: threading.Thread) -> None:
    """It was closed each second, and what was told until it was opened again was missed."""
    if connection.vendor == "sqlite":
        return
    run, supervisor = uuid.uuid4(), Supervisor()
    assert is_woken_from_elsewhere(run, supervisor)
    before = backends()
    time.sleep(2.5 * LOOK_SECONDS)
    assert backends() == before
    WAKEUPS.forget(run, supervisor.wake)


def test_who_lost_the_connection_listens_again(listening: threading.Thread) -> None:
    if connection.vendor == "sqlite":
        return
    before, supervisor = uuid.uuid4(), Supervisor()
    assert is_woken_from_elsewhere(before, supervisor)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchall()
    after, another = uuid.uuid4(), Supervisor()
    assert is_woken_from_elsewhere(after, another)
    WAKEUPS.forget(before, supervisor.wake)
    WAKEUPS.forget(after, another.wake)
