"""Of a run that decides and whose oldest part went: what is left of its attempts, decisions and pages."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.engine.moments import moment
from schedweb.runs.following.thinning import forget, gone_nodes, rebase
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import Attempt, AttemptChunk, Checkpoint, Decision, NodeRecord, Run
from schedweb.runs.storing.lease import Lease
from schedweb.runs.storing.stored import begin_of
from tests.schedweb.engine.worlds import ASKING, START, node, pod
from tests.schedweb.runs.conftest import CLUSTER, Game, prepared


@pytest.fixture
def thinned(operator: User) -> Game:
    """Six pods were bound, two decided about and one refused before its base; two more pods came after it."""
    game = prepared(operator, CLUSTER, configuration=ASKING)
    game.command("play", speed="max")
    game.play()
    game.decide("approve", "asks-1")
    game.command("pod_delete", namespace="shop", name="web-0")
    game.play()
    base = Checkpoint.objects.filter(run=game.run).latest("position").position
    for name in ("late-1", "late-2"):
        game.command("change", verb="add", manifest=pod(name, "250m", app="late"))
        game.play()
    before = game.run.digest
    Run.objects.filter(pk=game.id).update(lease_owner="me")
    game.run.refresh_from_db()
    lease = Lease(game.id, game.run.epoch, "me", False, None)
    assert rebase(game.run, lease, base)
    game.run.refresh_from_db()
    forget(game.run, lease)
    Run.objects.filter(pk=game.id).update(lease_owner="", lease_expires=None)
    game.run.refresh_from_db()
    assert game.run.digest == before
    return game


def names(run: Run) -> set[str]:
    return set(Attempt.objects.filter(run=run).values_list("name", flat=True))


def test_pods_that_are_there_keep_their_last_attempt(thinned: Game, client: Client) -> None:
    run = thinned.run
    assert names(run) == set(thinned.places()) - {"web-0"}
    assert "web-0" not in thinned.places(), "it went before the base"
    assert Decision.objects.filter(run=run, name="asks-1").count() == 1, "it is there"
    assert Attempt.objects.filter(run=run).count() == len(names(run)), "no older ones"
    assert run.attempts > len(names(run)), "and the count goes on"

    for name in ("web-1", "late-1"):
        assert client.get(f"/api/v1/runs/{run.pk}/pods/shop/{name}/").status_code == 200
    number = Attempt.objects.get(run=run, name="late-1").number
    shown = client.get(f"/api/v1/runs/{run.pk}/attempts/{number}/")
    assert (shown.status_code, shown.json()["result"]) == (200, "bound")
    nodes = client.get(f"/api/v1/runs/{run.pk}/attempts/{number}/filter/")
    assert nodes.status_code == 200, nodes.content


def test_what_was_said_in_an_attempt_before_is_refused_with_the_sentence(thinned: Game, client: Client) -> None:
    run = thinned.run
    AttemptChunk.objects.filter(run=run, first=1).delete()
    number = Attempt.objects.get(run=run, name="web-1").number
    gone = client.get(f"/api/v1/runs/{run.pk}/attempts/{number}/")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "thinned")
    assert f"(step {run.base_position})" in gone.json()["error"]["message"]


def test_it_goes_on_and_forks_from_there(thinned: Game, operator: User) -> None:
    run = thinned.run
    Checkpoint.objects.all().delete()
    assert moment(begin_of(run)).digest == run.digest
    thinned.decide("approve", "asks-2")
    thinned.play()
    assert thinned.places()["asks-2"] == "bound"
    assert Decision.objects.get(run=run, name="asks-2").author == operator

    fork = Game(run_fork(parent=run, user=operator, played=True), operator)
    fork.play()
    assert (fork.run.state, fork.run.digest) == (Run.State.FINISHED, thinned.run.digest)
    assert fork.places() == {name: column for name, column in thinned.places().items() if column != "deleted"}
    assert moment(begin_of(fork.run, fork.run.base_position)).position == run.base_position


def test_the_timeline_begins_with_what_is_kept(thinned: Game, client: Client) -> None:
    run = thinned.run
    kept = Attempt.objects.filter(run=run, name="web-1", position__lt=run.base_position)
    assert kept.update(result="unschedulable") == 1
    line = client.get(f"/api/v1/runs/{run.pk}/timeline/").json()
    assert (line["first"], line["last"]) == (run.base_position, run.position)
    assert min(mark["position"] for mark in line["marks"]) >= run.base_position


def test_nodes_that_went_go_where_nothing_names_them(operator: User) -> None:
    game = prepared(operator, [node(name) for name in ("empty", "named", "back", "between", "stays")])
    game.command("play", speed="max")
    for name in ("empty", "named", "back", "between"):
        game.command("node_delete", name=name)
    game.command("change", verb="add", manifest=node("back"))
    game.command("change", verb="add", manifest=pod("web"))
    game.play()
    run = game.run
    gone = NodeRecord.objects.filter(run=run, present=False)
    assert set(gone.values_list("name", flat=True)) == {"empty", "named", "back", "between"}
    assert not gone.exclude(gone_by__range=(START, run.clock))
    assert not NodeRecord.objects.filter(run=run, present=True).exclude(gone_by=None)

    began = Attempt.objects.get(run=run).at
    gone.exclude(name="between").update(gone_by=began - 1)
    gone.filter(name="between").update(gone_by=began)
    run.pod_records.update(node="named")

    def going(clock: int) -> list[tuple[str, bool]]:
        return sorted(gone_nodes(run, run.position, clock).values_list("name", "present"))

    assert going(began - 1) == [], "they were there at the base"
    assert going(began + 1) == [("back", False), ("empty", False)]
    Attempt.objects.filter(run=run).update(node="empty")
    assert going(began + 1) == [("back", False)]
    Attempt.objects.all().delete()
    run.pod_records.update(node="back")
    assert going(began + 1) == [(name, False) for name in ("back", "between", "empty", "named")]
