"""What rows of runs have in common is stored once, and goes with the last run that uses it."""

from __future__ import annotations

import datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client
from django.utils import timezone

from schedweb.engine.packing import dictionary_number
from schedweb.runs.deleting.services import run_delete, run_remove
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import Dictionary, PodRecord, Run
from schedweb.runs.models.packed import text_of
from schedweb.runs.storing import batches
from schedweb.runs.storing.dictionaries import forget_unused, keep_dictionary
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, played_out

pytestmark = pytest.mark.django_db(transaction=True)
PODS = 220


def test_runs_of_a_snapshot_share_a_dictionary(operator: User, client: Client) -> None:
    cluster = [*(node(f"n-{number}", "64") for number in range(4)), *(pod(f"web-{n}", "100m") for n in range(PODS))]
    game = played_out(operator, cluster)
    [dictionary] = Dictionary.objects.all()
    assert game.run.dictionary == dictionary
    [stored] = PodRecord.objects.filter(run=game.id, name="web-7").values_list("manifest", flat=True)
    assert dictionary_number(bytes(stored or b"")) == dictionary.number
    assert len(stored or b"") < len(text_of(stored or b"")) / 2
    shown = client.get(f"/api/v1/runs/{game.id}/pods/", {"limit": 200}).json()["results"]
    assert {card["column"] for card in shown} == {"bound"}
    page = client.get(f"/api/v1/runs/{game.id}/pods/shop/web-7/").json()
    assert (page["name"], page["column"]) == ("web-7", "bound")
    assert "name: web-7" in client.get(f"/api/v1/runs/{game.id}/pods/shop/web-7/yaml/").json()["yaml"]

    fork = Game(run_fork(parent=game.run, user=operator, position=0), operator)
    fork.command("play", speed="max")
    fork.play()
    assert fork.run.dictionary == dictionary
    assert Dictionary.objects.count() == 1
    assert fork.run.digest == game.run.digest
    # It is there as long as one of them is, and a day longer.
    with pytest.raises(ProtectedError):
        dictionary.delete()
    for run in (game.run, fork.run):
        Dictionary.objects.update(used_at=timezone.now() - datetime.timedelta(days=2))
        assert forget_unused() == 0
        run_delete(run=run.pk, user=operator)
        Run.every.filter(pk=run.pk).update(goes_at=timezone.now() - datetime.timedelta(seconds=1))
        run_remove(run=Run.every.get(pk=run.pk))
    keep_dictionary(dictionary.number, bytes(dictionary.data))
    assert forget_unused() == 0
    Dictionary.objects.update(used_at=timezone.now() - datetime.timedelta(days=2))
    assert forget_unused() == 1


def test_a_number_stands_for_one_dictionary(transactional_db: None) -> None:
    keep_dictionary(40_000, b"one")
    keep_dictionary(40_000, b"one")
    with pytest.raises(ValueError, match="another dictionary has the number 40000"):
        keep_dictionary(40_000, b"two")


def test_no_other_run_waits_for_the_batch_that_brings_a_dictionary(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stands still within that transaction would hold its row, which all runs of the snapshot ask for."""
    within: list[bool] = []

    def noting(number: int, data: bytes) -> None:
        within.append(connection.in_atomic_block)
        keep_dictionary(number, data)

    monkeypatch.setattr(batches, "keep_dictionary", noting)
    game = played_out(operator, [node("n", "64"), *(pod(f"web-{n}", "100m") for n in range(PODS))])
    assert game.run.dictionary is not None
    assert within == [False]
