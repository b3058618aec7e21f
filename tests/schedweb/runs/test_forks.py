"""Forks: they begin where their parent was, go their own way, and change nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import Attempt, Checkpoint, JournalEntry, Run
from schedweb.runs.services.forks import run_fork
from schedweb.sentences import told
from tests.schedweb.engine.worlds import DEFAULT, node
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
DERIVED = ("position", "points", "attempts", "digest", "clock", "counts", "columns", "cycle", "node_count", "pod_count")


def pods_of(run: Run) -> list[Any]:
    rows = run.pod_records.order_by("uid")
    return list(rows.values_list("uid", "column", "node", "attempts", "since", "card", "detail", "labels"))


def nodes_of(run: Run) -> list[Any]:
    return list(
        run.node_records.order_by("row").values_list("row", "name", "present", "allocatable", "requested", "reserved")
    )


def attempts_of(run: Run) -> list[Any]:
    rows = Attempt.objects.filter(run=run).order_by("number")
    return list(rows.values_list("number", "pod_uid", "at", "ended", "result", "node", "message", "score"))


def stored(run: Run) -> dict[str, Any]:
    """Every row of a run."""
    run.refresh_from_db()
    journal = list(JournalEntry.objects.filter(run=run).order_by("number").values())
    facts = {name: getattr(run, name) for name in (*DERIVED, "seq", "epoch", "state", "wanted")}
    return {**facts, "journal": journal, "pods": pods_of(run), "nodes": nodes_of(run), "attempts": attempts_of(run)}


def test_a_fork_now_is_what_its_parent_is_and_leaves_it_alone(played: Game, client: Client) -> None:
    before = stored(played.run)
    answer = client.post(f"/api/v1/runs/{played.id}/forks/", {}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    body = answer.json()
    assert body["parent"] == {"id": str(played.id), "number": str(played.run), "position": played.run.position}
    assert body["state"] == "paused"
    fork = Game(Run.objects.get(pk=body["id"]), played.user)
    fork.play()
    assert fork.run.error == ""
    assert fork.run.state == "paused"
    after = stored(fork.run)
    assert {name: after[name] for name in DERIVED} == {name: before[name] for name in DERIVED}
    assert (after["pods"], after["nodes"], after["attempts"]) == (before["pods"], before["nodes"], before["attempts"])
    assert Checkpoint.objects.filter(run=fork.run, position=fork.run.position).exists()
    fork.command("node_delete", name="a")
    fork.command("play", speed="max")
    fork.play()
    assert stored(fork.run)["nodes"] != before["nodes"]
    assert stored(played.run) == before


def test_a_fork_of_an_earlier_moment_with_a_remedy(played: Game) -> None:
    """Half way, a node is added that the large pod fits on: it goes there, and the parent's does not."""
    half = played.run.position // 2
    before = stored(played.run)
    changes = [{"verb": "add", "manifest": node("huge", "32")}]
    fork = Game(run_fork(parent=played.run, user=played.user, position=half, changes=changes), played.user)
    fork.command("play", speed="max")
    fork.play()
    assert fork.run.error == ""
    own = JournalEntry.objects.filter(run=fork.run, type="change").get()
    assert (own.status, told((own.result or {})["text"])) == ("applied", "added Node huge")
    assert own.position is not None
    assert own.position >= half
    large = fork.run.pod_records.get(name="large")
    assert (large.column, large.node) == ("bound", "huge")
    common = [row for row in attempts_of(fork.run) if row[3] is not None and row[3] <= (own.clock or 0)]
    assert common == [row for row in before["attempts"] if row in common]
    assert stored(played.run) == before


def test_forks_of_one_moment_are_alike_and_survive_their_parent(played: Game) -> None:
    changes = [{"type": "node_cordon", "name": "b"}]
    digests: list[tuple[str, int]] = []
    for _ in range(2):
        fork = Game(run_fork(parent=played.run, user=played.user, position=5, changes=changes), played.user)
        fork.command("play", speed="max")
        if digests:
            # Without its parent, and from the beginning: the journal is its own.
            played.run.delete()
        fork.play()
        Checkpoint.objects.filter(run=fork.run).delete()
        fork.command("node_uncordon", name="b")
        fork.play()
        assert fork.run.error == ""
        digests.append((fork.run.digest, fork.run.position))
    assert digests[0] == digests[1]
    assert Run.objects.get(pk=fork.id).parent is None
    assert fork.run.parent_name


def test_a_fork_with_another_configuration(played: Game, version: ConfigurationVersion) -> None:
    other = ConfigurationVersion.objects.create(configuration=version.configuration, number=2, text=DEFAULT)
    fork = Game(run_fork(parent=played.run, user=played.user, position=0, configuration_version=other.pk), played.user)
    fork.command("play", speed="max")
    fork.play()
    assert fork.run.error == ""
    assert fork.run.configuration_version_id == other.pk
    # Nobody is asked under the other configuration.
    assert fork.places()["asks-2"] == "bound"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"position": 10**9}, "position"),
        ({"changes": [{"type": "play"}]}, "changes"),
        ({"changes": [{"verb": "melt", "manifest": {}}]}, "verb"),
        ({"changes": [{"type": "node_cordon"}]}, ""),
    ],
    ids=["beyond", "pacing", "verb", "nameless"],
)
def test_what_cannot_be_forked_is_refused(client: Client, played: Game, body: dict[str, Any], path: str) -> None:
    answer = client.post(f"/api/v1/runs/{played.id}/forks/", body, content_type="application/json")
    assert answer.status_code in (400, 422), answer.content
    assert answer.json()["error"].get("path", "") == path
    assert Run.objects.count() == 1
