"""Forks of runs beside the stand-in's cluster that take what came to it afterwards, made and played as people do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.forking import arrivals
from schedweb.runs.models import ClusterWrite, JournalEntry, Run, RunBase
from schedweb.runs.playing.commands import command_append
from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import bind, column, followed, live, replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import begun as scheduling
from tests.schedweb.clusters.scheduling.conftest import node_of, ours
from tests.schedweb.clusters.test_own_world import asking
from tests.schedweb.engine.test_judged import PACKED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
Begin = Callable[[Run], Worker]


@pytest.fixture
def packed(transactional_db: None) -> ConfigurationVersion:
    known = Configuration.objects.create(name="bin packing", slug="bin-packing")
    return ConfigurationVersion.objects.create(configuration=known, number=1, text=PACKED)


def forked(operator: Client, run: Run, **wanted: Any) -> Run:
    answer = operator.post(f"/api/v1/runs/{run.pk}/forks/", wanted, content_type="application/json")
    assert answer.status_code == 201, answer.content
    return Run.objects.get(pk=answer.json()["id"])


def refusal(operator: Client, run: Run, **wanted: Any) -> tuple[int, str, str]:
    answer = operator.post(f"/api/v1/runs/{run.pk}/forks/", wanted, content_type="application/json")
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def played(workers: Begin, user: User, fork: Run) -> dict[str, str]:
    """To its end: pod → its node."""
    command_append(run_id=fork.pk, user=user, body={"type": "play", "speed": "max"})
    worker = workers(fork)
    until(lambda: Run.objects.get(pk=fork.pk).state == "finished")
    worker.end()
    fork.refresh_from_db()
    return dict(fork.pod_records.exclude(column="deleted").values_list("name", "node"))


def an_hour(cluster: ApiServer, operator: Client, workers: Begin) -> tuple[Run, int]:
    """A followed run, and the step before all that came: two pods that were spread there, a third that goes, a node."""
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    run.refresh_from_db()
    step = run.position
    for name, on in (("first", "n0"), ("second", "n1")):
        cluster.add(asking(name, "1"))
        until(stands(run, name, "active"))
        bind(cluster, name, on)
        until(stands(run, name, "bound"))
    cluster.add(asking("short", "1"), node("n3"))
    until(stands(run, "short", "active"))
    until(run.node_records.filter(name="n3").exists)
    cluster.remove("pods", "short", "shop")
    until(stands(run, "short", ""))
    worker.end()
    run.refresh_from_db()
    return run, step


def test_what_if_we_had_used_the_other_configuration_since_then(
    cluster: ApiServer, operator: Client, olga: User, packed: ConfigurationVersion, workers: Begin
) -> None:
    run, step = an_hour(cluster, operator, workers)
    fork = forked(operator, run, position=step, configuration_version=str(packed.pk), arrivals=True)
    found = played(workers, olga, fork)
    assert found["first"] == found["second"], "packed, where the real scheduler spread them"
    assert "short" not in found
    assert fork.node_records.count() == 4
    body = operator.get(f"/api/v1/runs/{fork.pk}/").json()
    later = body["later_arrivals"]
    told = JournalEntry.objects.filter(run=run, type="cluster_changes", position__gte=step).order_by("number")
    assert later["cluster"] == CONTEXT
    assert later["changes"] == sum(len(each.command["changes"]) for each in told) >= 7
    assert body["arrivals"] == {"left": 0, "total": later["changes"], "next_at": None}
    leaves = JournalEntry.objects.get(run=fork, type="unfollow")
    assert leaves.command["expects"] == later["changes"], "known at the step before they are told"
    assert later["first"] < later["last"] <= body["clock"]["now"]
    assert any(f"takes what came to {CONTEXT} afterwards" in each["text"] for each in body["fork_changes"])
    assert [body["follows"], body["clock"]["mode"]] == ["", "virtual"]
    told_people = operator.get(f"/api/v1/runs/{fork.pk}/journal/").json()["results"]
    assert {each["command"]["type"] for each in told_people} <= {"play", "unfollow", "set_configuration"}
    replay_is_the_same(fork)
    compared = operator.get(f"/api/v1/runs/{run.pk}/comparison/{fork.pk}/")
    assert compared.status_code == 200, compared.content


def test_a_fork_of_the_fork_has_what_is_still_to_come(
    cluster: ApiServer, operator: Client, olga: User, packed: ConfigurationVersion, workers: Begin
) -> None:
    run, step = an_hour(cluster, operator, workers)
    fork = forked(operator, run, position=step, configuration_version=str(packed.pk), arrivals=True)
    first = played(workers, olga, fork)
    entry = JournalEntry.objects.filter(run=fork, type="arrivals").latest("number")
    assert entry.position is not None

    middle = (entry.position + fork.position) // 2
    inner = forked(operator, fork, position=middle)
    assert inner.later_arrivals == fork.later_arrivals
    assert played(workers, olga, inner) == first
    assert inner.digest == fork.digest
    code = refusal(operator, fork, position=middle, arrivals=True)
    assert code[:2] == (409, "no_arrivals")
    assert "comes to its forks as well" in code[2]

    # Between leaving the cluster and being told what is still to come: that comes as well.
    between = forked(operator, fork, position=entry.position, configuration_version=str(packed.pk))
    assert between.later_arrivals == fork.later_arrivals
    assert played(workers, olga, between) == first

    # Before the fork left the cluster: what it was told to expect is what came there.
    again = forked(operator, fork, position=step, configuration_version=str(packed.pk), arrivals=True)
    assert again.later_arrivals == fork.later_arrivals
    assert played(workers, olga, again) == first
    plain = forked(operator, fork, position=step)
    assert (plain.later_arrivals, "first" in played(workers, olga, plain)) == (None, False)


def test_where_nothing_comes_it_is_refused(
    cluster: ApiServer, operator: Client, olga: User, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, step = an_hour(cluster, operator, workers)
    runs = Run.objects.count()
    assert refusal(operator, run, arrivals=True) == (
        409,
        "no_arrivals",
        f"Nothing came to {CONTEXT} after step {run.position:,} of {run}. Choose an earlier step.",
    )
    monkeypatch.setattr(arrivals, "MOST", 3)
    many = refusal(operator, run, position=step, arrivals=True)
    assert many[:2] == (422, "too_many")
    assert "More than 3 changes" in many[2]
    monkeypatch.undo()
    Run.objects.filter(pk=run.pk).update(base_position=step + 1, base_clock=run.clock)
    RunBase.objects.create(run=run, digest="", engine_version="", created_at=run.created_at, data=b"")
    thinned = refusal(operator, run, position=step, arrivals=True)
    assert thinned[:2] == (422, "thinned")
    assert f"The past of {run} before" in thinned[2]
    assert Run.objects.count() == runs
    Run.objects.filter(pk=run.pk).update(began_observing=False, base_position=0)
    assert refusal(operator, run, position=step, arrivals=True)[:2] == (409, "no_arrivals")
    forged = {"type": "arrivals", "told": []}
    answer = operator.post(f"/api/v1/runs/{run.pk}/commands/", forged, content_type="application/json")
    assert answer.status_code == 400


def test_a_fork_of_a_run_that_schedules_writes_nothing(
    server: ApiServer, operator: Client, olga: User, version: str, workers: Begin
) -> None:
    run = scheduling(operator, version)
    worker = workers(run)
    server.add(ours("early"))
    until(stands(run, "early", "bound"))
    run.refresh_from_db()
    step = run.position
    server.add(ours("late"))
    until(stands(run, "late", "bound"))
    server.change("nodes", node_of(server, "late"), by=lambda it: it["spec"].update(unschedulable=True))
    until(lambda: Run.objects.get(pk=run.pk).position > step)
    server.add(ours("last"))
    until(stands(run, "last", "bound"))
    worker.end()
    server.requests.clear()
    fork = forked(operator, run, position=step, arrivals=True)
    found = played(workers, olga, fork)
    assert all(found[name] for name in ("early", "late", "last"))
    assert found["last"] != node_of(server, "late"), "that was cordoned by then"
    assert not server.requests.writes()
    assert not ClusterWrite.objects.filter(run=fork).exists()
    assert column(fork, "late") == "bound"
    replay_is_the_same(fork)
