"""Following a cluster: a run whose inputs are what it tells, with a real supervisor, engine and reader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client
from pytest_django import Settings

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.clusters.services import import_read_anyhow
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.engine.child import replayed
from schedweb.engine.commands import ObservedChange
from schedweb.engine.moments import moment
from schedweb.runs.following.changes import store_changes
from schedweb.runs.models import Analysis, Followed, JournalEntry, Run
from schedweb.runs.playing.commands import command_append
from schedweb.runs.storing.lease import Lease, LeaseLost
from schedweb.runs.storing.stored import begin_of
from schedweb.snapshots import queue
from schedweb.snapshots.models import Import
from schedweb.worker import playing, watching
from schedweb.worker.analyst import analyse
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node, pod
from tests.schedweb.clusters.conftest import CONTEXT, WAIT_SECONDS, until
from tests.schedweb.engine.worlds import DEFAULT

pytestmark = pytest.mark.django_db(transaction=True)
URL = f"/api/v1/clusters/{CONTEXT}/follow/"
MESSAGE = "0/3 nodes are available: 3 Insufficient cpu."


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(queue, "announce", lambda *args: None)
    monkeypatch.setattr(watching, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(watching, "STORE_SECONDS", 0.1)
    settings.ENGINE_POLL_SECONDS = 0.2


@pytest.fixture
def olga(transactional_db: None) -> User:
    known = Configuration.objects.create(name="kube-scheduler", slug="default", builtin=True)
    ConfigurationVersion.objects.create(configuration=known, number=1, text=DEFAULT)
    return accounts.account_create(username="olga", role=Role.OPERATOR, password=None)


@pytest.fixture
def operator(client: Client, olga: User) -> Client:
    client.force_login(olga)
    return client


class Worker:
    """Plays a run in a thread, until it is told to end, in order or as one that dies."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()
        until(lambda: run.pk in playing.RUNNING)

    def _play(self) -> None:
        try:
            playing.play_run(self.run.pk)
        finally:
            connections.close_all()

    @property
    def supervisor(self) -> Any:
        return playing.RUNNING[self.run.pk]

    def end(self) -> None:
        found = playing.RUNNING.get(self.run.pk)
        if found is not None:
            found.shut_down()
        self.join()

    def join(self) -> None:
        self._thread.join(WAIT_SECONDS)
        assert not self._thread.is_alive()

    def lose_the_lease(self) -> None:
        """As one that stood still for too long: it writes nothing more, and says goodbye to nobody."""
        epoch = self.supervisor.lease.epoch + 1
        Run.objects.filter(pk=self.run.pk).update(lease_expires=None, lease_owner="", epoch=epoch)
        self.supervisor.lose()
        self.join()


@pytest.fixture
def workers() -> Iterator[Callable[[Run], Worker]]:
    made: list[Worker] = []

    def begin(run: Run) -> Worker:
        made.append(Worker(run))
        return made[-1]

    yield begin
    for each in made:
        each.end()


def followed(operator: Client) -> Run:
    """The run, which nobody plays yet."""
    began = operator.post(URL, {}, content_type="application/json")
    assert began.status_code == 202, began.content
    reading = began.json()["reading"]["id"]
    asked = {"import_id": reading}
    assert operator.post(URL, asked, content_type="application/json").json()["reading"]["state"] == "reading"
    import_read_anyhow(import_id=Import.objects.get(pk=reading).pk)
    answer = operator.post(URL, asked, content_type="application/json")
    assert answer.status_code == 201, answer.content
    body = answer.json()["run"]
    assert (body["follows"], body["clock"]["mode"]) == (CONTEXT, "real")
    return Run.objects.get(pk=body["id"])


def state(operator: Client, run: Run) -> dict[str, Any]:
    body: dict[str, Any] = operator.get(f"/api/v1/runs/{run.pk}/follow/").json()
    return body


def live(operator: Client, run: Run) -> None:
    until(lambda: state(operator, run)["state"] == "live")


def column(run: Run, name: str) -> str:
    found = run.pod_records.filter(name=name).exclude(column="deleted").values_list("column", flat=True).first()
    return found or ""


def stands(run: Run, name: str, where: str) -> Callable[[], bool]:
    return lambda: column(run, name) == where


def bind(cluster: ApiServer, name: str, on: str) -> None:
    """As the real scheduler's binding leaves a pod."""

    def bound(it: dict[str, Any]) -> None:
        it["spec"]["nodeName"] = on
        it["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]

    cluster.change("pods", name, "shop", by=bound)


def unschedulable(name: str, namespace: str = "shop") -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE}
    condition["lastTransitionTime"] = "2026-11-20T10:00:00Z"
    containers = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "900"}}}]
    status = {"phase": "Pending", "conditions": [condition]}
    return pod(name, namespace, spec={"containers": containers}, status=status)


def same_as_the_cluster(cluster: ApiServer, run: Run) -> Callable[[], bool]:
    def is_same() -> bool:
        there = {
            (each["metadata"]["name"], each["spec"].get("nodeName", ""))
            for each in cluster.all("pods")
            if each["status"].get("phase") not in ("Succeeded", "Failed")
        }
        shown = run.pod_records.exclude(column__in=("deleted", "completed")).values_list("name", "node")
        return set(shown) == there

    return is_same


def replay_is_the_same(run: Run) -> None:
    """From the beginning, without any checkpoint."""
    run.checkpoints.all().delete()
    run.refresh_from_db()
    again = replayed(begin_of(run))
    assert (again.player.digest, again.player.position) == (run.digest, run.position)
    moment(begin_of(run, run.position // 2))


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
    told = JournalEntry.objects.filter(run=run, type="cluster_changes").order_by("number")
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


def test_it_ends_with_a_sentence_where_the_journal_is_full(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator)
    Followed.objects.filter(run=run).update(most_bytes=2000)
    worker = workers(run)
    for number in range(20):
        cluster.add(pod(f"more-{number}", "shop"))
    until(lambda: Run.objects.get(pk=run.pk).state == "stopped")
    worker.join()
    body = state(operator, run)
    assert body["state"] == "ended"
    assert "fills 0 MB, the most that is kept of it" in body["problem"]
    until(lambda: cluster.open_watches() == 0)


def test_who_lost_the_lease_stores_nothing(cluster: ApiServer, operator: Client) -> None:
    run = followed(operator)
    lost = Lease(run.pk, run.epoch + 7, "somebody", False, None)
    with pytest.raises(LeaseLost):
        store_changes(run, lost, [ObservedChange("added", {})])
    assert not JournalEntry.objects.filter(run=run, type="cluster_changes").exists()


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
