"""What is asked before every write must not take longer the more a run has lived through."""

from __future__ import annotations

import pytest
from django.db import connection

from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.storing.lease import claim
from schedweb.runs.storing.statements import may_write
from tests.schedweb.runs.conftest import Game


class Counted:
    """Steps of SQLite's virtual machine, in tens."""

    def __init__(self) -> None:
        self.tens = 0

    def __enter__(self) -> Counted:
        connection.ensure_connection()
        connection.connection.set_progress_handler(self._count, 10)
        return self

    def _count(self) -> int:
        self.tens += 1
        return 0

    def __exit__(self, *_: object) -> None:
        connection.connection.set_progress_handler(None, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts steps of SQLite")
def test_whether_a_run_may_write_is_known_as_soon_of_a_long_journal(game: Game) -> None:
    run = game.run
    Run.objects.filter(pk=run.pk).update(wanted=True, lease_owner="", lease_expires=None)
    lease = claim(run.pk)
    assert lease is not None

    def steps() -> int:
        with Counted() as counted:
            assert may_write(lease)
        return counted.tens

    few = steps()
    entries = (JournalEntry(run=run, number=None, type="cluster_changes", command={}, position=1) for _ in range(2000))
    JournalEntry.objects.bulk_create(entries)
    assert steps() <= few + 5
    JournalEntry.objects.create(run=run, number=99_999, type="stop", command={"type": "stop"})
    assert not may_write(lease)
