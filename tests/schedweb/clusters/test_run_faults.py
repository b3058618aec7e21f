"""A run of a real cluster while the API server is busy, refuses, or credentials expire; and fixes that stay copies."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from schedweb.clusters.reading import access, reflector
from schedweb.engine.frames import Batch
from schedweb.runs.models import Run
from schedweb.worker.analyst import analyse
from schedweb.worker.supervisor import Supervisor
from tests.apiserver import ApiServer
from tests.apiserver.manifests import node, pod
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import Worker, until
from tests.schedweb.clusters.followed import column, followed, live, replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, node_of, ours

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


@pytest.mark.parametrize("code", [429, 503])
def test_a_busy_server_is_asked_again_and_the_pod_is_bound_once(
    server: ApiServer, operator: Client, version: str, workers: Begin, code: int
) -> None:
    run = begun(operator, version)
    worker = workers(run)
    with server.faults.answer(code, retry_after=1, times=2, **BINDINGS) as busy:
        server.add(ours("p1"))
        busy.wait_hit()
        until(lambda: node_of(server, "p1"))
    until(stands(run, "p1", "bound"))
    at_rest(run)
    assert bindings(server) == ["p1"] * 3
    worker.end()
    replay_is_the_same(run)


def test_an_answer_whose_batch_was_not_stored_is_heard_again(
    server: ApiServer, operator: Client, version: str, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Supervisor.store_and_tell
    killed: list[int] = []

    def losing(self: Supervisor, batch: Batch) -> None:
        if not killed and any(row.outcomes for row in batch.heard):
            assert self.child is not None
            killed.append(self.child.pid)
            self.child.child.kill()
        if self.child is not None and self.child.pid not in killed:
            store(self, batch)

    monkeypatch.setattr(Supervisor, "store_and_tell", losing)
    run = begun(operator, version)
    worker = workers(run)
    server.add(ours("p1"))
    until(stands(run, "p1", "bound"))
    at_rest(run)
    assert killed
    assert bindings(server) == ["p1"]
    worker.end()
    replay_is_the_same(run)


def test_a_token_that_expires_is_said_and_nobody_is_forgotten(
    server: ApiServer,
    operator: Client,
    version: str,
    workers: Begin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One pod waits for a person meanwhile, and one comes."""
    monkeypatch.setattr(access, "LOADED_SECONDS", 0.2)
    server.add(asks("waits"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "waits", "waiting"))
    kubeconfig = tmp_path / "config"
    server.expire(yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"])
    server.cut_watches()
    server.add(ours("comes"))
    until(lambda: state(operator, run)["state"] != "scheduling")
    until(lambda: "401" in operator.get(f"/api/v1/runs/{run.pk}/follow/").json()["problem"])
    assert column(run, "waits") == "waiting"

    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"]["token"] = server.user(SCHEDULER, groups=["system:authenticated"])
    kubeconfig.write_text(yaml.safe_dump(config))
    until(stands(run, "comes", "bound"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    decide(operator, run, "approve", "waits")
    until(lambda: node_of(server, "waits"))
    until(stands(run, "waits", "bound"))
    at_rest(run)
    # One that was sent with the old token was refused, and sent again with the new one.
    carried_out = [each.name for each in server.requests.select(**BINDINGS) if each.status == 201]
    assert sorted(carried_out) == ["comes", "waits"]
    worker.end()
    replay_is_the_same(run)


def test_a_server_that_stands_still_while_a_pod_is_approved_binds_it_once(
    server: ApiServer, operator: Client, version: str, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half open: connections stay, and nobody answers for some seconds."""
    monkeypatch.setattr(reflector, "SILENT_SECONDS", 2.0)
    server.add(asks("p1"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "p1", "waiting"))
    server.pause()
    decide(operator, run, "approve", "p1")
    resumed = threading.Timer(4.0, server.resume)
    resumed.start()
    until(lambda: not resumed.is_alive())
    until(lambda: node_of(server, "p1"))
    until(stands(run, "p1", "bound"))
    at_rest(run)
    assert len([each for each in server.requests.select(**BINDINGS) if each.status == 201]) == 1
    worker.end()
    replay_is_the_same(run)


def test_what_would_help_is_tried_on_a_fork_and_the_cluster_hears_nothing(
    cluster: ApiServer, operator: Client, workers: Begin
) -> None:
    """``cluster`` looks at all requests itself afterwards: none may write."""
    cluster.add(node("cordoned", cpu="8", spec={"unschedulable": True}), large("large"))
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    until(stands(run, "large", "active"))
    path = f"/api/v1/runs/{run.pk}"
    question = {"name": "what_would_help", "arguments": {"namespace": "shop", "name": "large"}}
    remedy = answer_of(operator, path, question)["remedies"][0]
    assert remedy["node"] == "cordoned"
    body = {"changes": remedy["operations"], "play": True}
    made = operator.post(f"{path}/forks/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    fork = Run.objects.get(pk=made.json()["id"])
    playing: Worker = workers(fork)
    until(stands(fork, "large", "bound"))
    playing.end()
    assert column(run, "large") == "active"
    assert "nodeName" not in cluster.get("Pod", "large", "shop")["spec"]
    worker.end()


def large(name: str) -> dict[str, Any]:
    return pod(name, "shop", spec={"containers": [{"name": "m", "resources": {"requests": {"cpu": "6"}}}]})


def answer_of(client: Client, path: str, question: dict[str, Any]) -> dict[str, Any]:
    asked = client.post(f"{path}/analyses/", question, content_type="application/json")
    assert asked.status_code == 202, asked.content
    assert analyse(asked.json()["id"])
    answer = client.get(f"{path}/analyses/{asked.json()['id']}/").json()
    assert answer["status"] == "done", answer["error"]
    result: dict[str, Any] = answer["result"]
    return result
