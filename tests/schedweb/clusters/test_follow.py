"""Following a cluster: a run whose inputs are what it tells, with a real supervisor, engine and reader."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from uuid import uuid4

import msgspec
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.clusters.reading.following import ClusterState
from schedweb.clusters.reading.reflector import KindState
from schedweb.engine.frames import Seen
from schedweb.runs.following.changes import store_state
from schedweb.runs.models import Analysis, JournalEntry, Run
from schedweb.runs.playing.commands import command_append
from schedweb.runs.storing.lease import Lease
from schedweb.snapshots.models import Import
from schedweb.worker.analyst import analyse
from schedweb.worker.watching import Watching
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node, pod
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.followed import (
    MESSAGE,
    URL,
    bind,
    column,
    followed,
    live,
    replay_is_the_same,
    same_as_the_cluster,
    stands,
    state,
    unschedulable,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


def test_pods_come_are_bound_and_go(cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]) -> None:
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    until(same_as_the_cluster(cluster, run))
    assert column(run, "web-0") == "active"
    assert column(run, "over") == "", "a pod that is over is none of the scheduler's"

    cluster.add(unschedulable("large"))
    until(stands(run, "large", "unschedulable"))
    shown = operator.get(f"/api/v1/runs/{run.pk}/pods/shop/large/").json()
    assert shown["answer"]["message"] == MESSAGE
    assert shown["since"].startswith("2026-11-20T10:00:00")

    asked = {"name": "why_pending", "arguments": {"namespace": "shop", "name": "large"}}
    why = operator.post(f"/api/v1/runs/{run.pk}/analyses/", asked, content_type="application/json").json()
    assert analyse(Analysis.objects.get(pk=why["id"]).pk)
    found = operator.get(f"/api/v1/runs/{run.pk}/analyses/{why['id']}/").json()
    assert (found["status"], found["result"]["node"]) == ("done", "")
    assert found["result"]["headline"].startswith("No node is that large: it asks for 900 cpu")
    assert "3 Insufficient cpu" in found["result"]["message"]

    cluster.add(pod("gated", "shop", spec={"schedulingGates": [{"name": "example.com/g"}]}))
    until(stands(run, "gated", "gated"))
    bind(cluster, "large", "n1")
    until(stands(run, "large", "bound"))
    cluster.remove("pods", "large", "shop")
    cluster.remove("nodes", "n2")
    cluster.add(node("n9"))
    cluster.change("nodes", "n0", by=lambda it: it["spec"].update(unschedulable=True))
    until(lambda: column(run, "large") == "")
    until(lambda: dict(run.node_records.filter(present=True).values_list("name", "cordoned")).get("n0") is True)
    until(lambda: "n9" in run.node_records.filter(present=True).values_list("name", flat=True))
    assert not run.attempt_rows.exists(), "nothing is decided here"
    worker.end()
    replay_is_the_same(run)


def test_a_watch_that_is_too_old_loses_nothing(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    workers(run)
    live(operator, run)
    until(same_as_the_cluster(cluster, run))
    cluster.pause()
    cluster.cut_watches()
    cluster.remove("pods", "web-1", "shop")
    cluster.add(pod("meanwhile", "shop", on="n1"))
    cluster.forget_history()
    cluster.resume()
    until(same_as_the_cluster(cluster, run))
    with cluster.stopped():
        until(lambda: state(operator, run)["state"] == "stale")
    until(lambda: state(operator, run)["state"] == "live")


def test_another_worker_goes_on_and_no_change_is_lost(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    first = workers(run)
    live(operator, run)
    for number in range(20):
        cluster.add(pod(f"before-{number}", "shop"))
    until(stands(run, "before-3", "active"))
    first.lose_the_lease()
    for number in range(20):
        cluster.remove("pods", f"before-{number}", "shop")
        cluster.add(pod(f"after-{number}", "shop", on="n1"))
    second = workers(run)
    until(same_as_the_cluster(cluster, run))
    second.end()
    replay_is_the_same(run)


def test_a_reader_whose_engine_does_not_look_is_not_silent(cluster: ApiServer, operator: Client) -> None:
    """Its lines wait, and it is not ended for that."""
    run = followed(operator)
    reading = Watching(run, Lease(run.pk, run.epoch, "me", False, None), lambda: None)
    waiting: queue.Queue[Seen] = queue.Queue(1)
    waiting.put(Seen("whole", b"{}"))
    heard = threading.Event()
    line = b'["added",{"apiVersion":"v1","kind":"Pod"}]\n'
    thread = threading.Thread(target=reading._put, args=(line, threading.Event(), waiting, heard.set))
    thread.start()
    assert heard.wait(60)
    waiting.get()
    assert waiting.get(timeout=60).what == "added"
    thread.join(60)
    assert not thread.is_alive()


KINDS = [KindState("Pod", "pods", "", state="live", since=5.0), KindState("Node", "nodes", "", state="live", since=5.0)]
LIVE = msgspec.json.encode(ClusterState(at=9.0, kinds=KINDS))


def test_it_is_live_when_the_lists_are_in_the_run_and_not_before(
    cluster: ApiServer, operator: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = followed(operator)
    lease = Lease(run.pk, run.epoch, "me", False, None)
    store_state(lease, LIVE.decode())
    assert state(operator, run)["state"] == "live"
    reading = Watching(run, lease, lambda: None)
    begun = threading.Event()
    monkeypatch.setattr(Watching, "_read", lambda *args: begun.set())
    reading.begins_anew(reading=False)
    assert state(operator, run)["state"] == "catching_up", "an engine is made ready, whatever was known before"
    assert not begun.is_set()
    reading.begins_anew(reading=True)
    assert begun.wait(60), "while it is made ready"

    reading.begin()
    about = (reading._ended, reading._waiting)
    for what in ("list", "listed", "whole"):
        reading._put(msgspec.json.encode([what, {"apiVersion": "v1", "kind": "Pod"}]) + b"\n", *about, lambda: None)
    reading._stored = 0.0
    reading._store(LIVE, about[0])
    assert (state(operator, run)["state"], state(operator, run)["kinds_done"]) == ("catching_up", 1)
    assert [each.what for each in reading.take()] == ["list", "listed", "whole"]
    assert reading._as_far_as_looked_at(LIVE) != LIVE
    reading.was_looked_at(1)
    assert reading._as_far_as_looked_at(LIVE) != LIVE, "the batch that has it is not stored"
    reading.was_looked_at(0)
    assert reading._as_far_as_looked_at(LIVE) == LIVE
    reading._stored = 0.0
    reading._store(LIVE, about[0])
    assert state(operator, run)["state"] == "live"

    settings.MODE = "embedded"
    Run.objects.filter(pk=run.pk).update(lease_owner="of-the-process-before")
    assert state(operator, run)["state"] == "catching_up"
    parked = {"at": "2026-11-24T10:00:00.000Z", "state": "playing", "ended": "", "lines": ""}
    Run.objects.filter(pk=run.pk).update(state=Run.State.PARKED, parked=parked, error="It died.", lease_owner="")
    body = state(operator, run)
    assert (body["state"], body["since"][:16]) == ("ended", "2026-11-24T10:00")
    assert "It died." in body["problem"]


def test_a_configuration_that_is_not_there_is_refused_before_anything_is_read(
    cluster: ApiServer, operator: Client
) -> None:
    asked = {"configuration_version": str(uuid4())}
    answer = operator.post(URL, asked, content_type="application/json")
    assert answer.status_code == 404
    assert "no such configuration version" in answer.json()["error"]["message"]
    assert not Import.objects.exists()
    assert not cluster.requests


def test_an_engine_that_dies_is_told_again_what_it_may_have_missed(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    worker.supervisor.child.child.kill()
    cluster.add(pod("later", "shop"))
    until(stands(run, "later", "active"))
    until(same_as_the_cluster(cluster, run))


def test_heartbeats_are_no_entries_of_the_journal(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    workers(run)
    live(operator, run)
    until(same_as_the_cluster(cluster, run))
    before = JournalEntry.objects.filter(run=run).count()
    for second in range(5):
        beat = {"type": "Ready", "status": "True", "lastHeartbeatTime": f"2026-11-24T10:00:0{second}Z"}
        cluster.change("nodes", "n0", by=lambda it, beat=beat: it["status"].update(conditions=[beat]))  # type: ignore[misc]
    cluster.add(pod("a-change", "shop"))
    until(stands(run, "a-change", "active"))
    told = JournalEntry.objects.filter(run=run, type="cluster_changes").order_by("position")
    changes = [each["manifest"]["kind"] for row in told[max(0, before - 1) :] for each in row.command["changes"]]
    assert changes.count("Node") <= 1, "only that the condition came"


def test_a_fork_is_played_by_our_scheduler(
    cluster: ApiServer, operator: Client, olga: User, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    cluster.add(pod("late", "shop"))
    until(stands(run, "late", "active"))
    worker.end()
    answer = operator.post(f"/api/v1/runs/{run.pk}/forks/", {}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    fork = Run.objects.get(pk=answer.json()["id"])
    assert (fork.follows, answer.json()["clock"]["mode"]) == ("", "virtual")
    command_append(run_id=fork.pk, user=olga, body={"type": "play", "speed": "max"})
    workers(fork)
    until(stands(fork, "late", "bound"))
    until(lambda: Run.objects.get(pk=fork.pk).state == "finished")
    assert column(run, "late") == "active"


def test_from_the_command_line(cluster: ApiServer, olga: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("cluster", "follow", CONTEXT, "--user", "olga")
    run = Run.objects.get()
    assert capsys.readouterr().out.strip().endswith(f"/runs/{run.pk}")
    assert (run.follows, run.started_by, run.clock_mode) == (CONTEXT, olga, "real")
    assert not Import.objects.exists()
    with pytest.raises(CommandError, match="There is no account named nobody"):
        call_command("cluster", "follow", CONTEXT, "--user", "nobody")


def test_what_would_be_no_picture_of_the_cluster_is_refused(cluster: ApiServer, operator: Client, olga: User) -> None:
    run = followed(operator)
    url = f"/api/v1/runs/{run.pk}/commands/"
    for command in ({"type": "pause"}, {"type": "pod_delete", "namespace": "shop", "name": "web-1"}):
        answer = operator.post(url, command, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "follows")
    forged = {"type": "cluster_changes", "at": 0, "changes": []}
    assert operator.post(url, forged, content_type="application/json").status_code == 400
    assert operator.post(url, {"type": "unfollow"}, content_type="application/json").status_code == 400
    assert command_append(run_id=run.pk, user=olga, body={"type": "stop"}).type == "stop"


def test_a_viewer_begins_nothing_and_rights_that_are_missing_are_said(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    viewer = Client()
    viewer.force_login(accounts.account_create(username="vera", role=Role.VIEWER, password=None))
    assert viewer.post(URL).status_code == 403
    assert operator.post("/api/v1/clusters/nowhere/follow/", {}, content_type="application/json").status_code == 404
    run = followed(operator)
    cluster.revoke("reader")
    cluster.grant("reader", [rule for rule in READER if "policy" not in rule["apiGroups"]])
    workers(run)
    until(lambda: state(operator, run)["state"] == "partly")
    assert state(operator, run)["refused"] == ["poddisruptionbudgets"]
    assert viewer.get(f"/api/v1/runs/{run.pk}/follow/").status_code == 200
