"""What a run is said to use is what is free when it is gone."""

from __future__ import annotations

import threading
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from django.db import connection

from schedweb.runs.deleting.services import run_delete, run_remove
from schedweb.runs.models import PodRecord, Run
from schedweb.runs.storing import sizes
from schedweb.runs.storing.sizes import Measuring, measure, sizes_of
from tests.schedweb.keeping.test_deleted import overdue
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
PODS = 4_000


def used() -> int:
    """Bytes of the database, without what is free."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Path(str(connection.settings_dict["NAME"])).stat().st_size


def test_a_run_s_size_is_what_is_free_when_it_is_gone(played: Game) -> None:
    row = played.run.pod_records.first()
    assert row is not None
    facts = {field.name: getattr(row, field.name) for field in PodRecord._meta.concrete_fields}
    many = [{**facts, "id": None, "uid": f"uid-{number}", "name": f"pod-{number}"} for number in range(PODS)]
    PodRecord.objects.bulk_create([PodRecord(**each) for each in many])
    sizes = measure(played.id)
    said = Run.objects.get(pk=played.id)
    assert said.stored_bytes == sum(sizes.values()) > 1_000_000
    assert said.stored == sizes
    before = used()
    run_delete(run=played.id, user=played.user)
    overdue(played.run)
    run_remove(run=Run.every.get(pk=played.id))
    freed = before - used()
    assert 0.8 < said.stored_bytes / freed < 1.25, (said.stored_bytes, freed)


def test_it_is_measured_when_the_run_comes_to_rest(played: Game) -> None:
    assert played.run.measured_at is not None
    assert played.run.stored_bytes == sum(played.run.stored.values())
    now = sizes_of(played.id)
    # Its own row has the sizes by now.
    assert {**played.run.stored, "run": 0} == {**now, "run": 0}
    assert min(now[kind] for kind in ("pods", "breakdowns", "journal", "checkpoints")) > 0


def test_who_plays_a_run_does_not_wait_until_it_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on, measured = threading.Semaphore(0), threading.Event(), list[UUID]()

    def slow(run: UUID) -> dict[str, int]:
        began.release()
        assert go_on.wait(60)
        measured.append(run)
        return {}

    monkeypatch.setattr(sizes, "measure", slow)
    measuring = Measuring(uuid4())
    measuring.when_due()
    assert began.acquire(timeout=60)
    measuring.when_due()
    assert measured == []
    go_on.set()
    measuring.now()
    assert measured == [measuring.run, measuring.run], "once beside, and once when it came to rest"
    measuring.when_due()
    assert len(measured) == 2, "it is not due yet"
