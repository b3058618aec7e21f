"""Connecting through the API: a worker reads the cluster in a process of its own, and what it says is shown."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test import Client

from schedweb.accounts import services as accounts
from schedweb.accounts.models import AuditEntry
from schedweb.accounts.roles import Role
from schedweb.clusters import processes
from schedweb.clusters.leases import claim
from schedweb.clusters.models import Connection
from schedweb.stopping import STOPPING
from schedweb.worker import following
from schedweb.worker.following import Followers
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, WAIT_SECONDS, until

pytestmark = pytest.mark.django_db(transaction=True)
URL = f"/api/v1/clusters/{CONTEXT}/"


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    return client


@pytest.fixture
def followers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Followers]:
    """A worker's part of it; the process that reads stays one of its own."""
    monkeypatch.setattr(following, "STORE_SECONDS", 0.1)
    made = Followers()
    yield made
    STOPPING.set()
    made.wait(WAIT_SECONDS)
    STOPPING.clear()


def shown(client: Client) -> dict[str, Any]:
    body: dict[str, Any] = client.get(URL).json()
    return body


def connected(client: Client, followers: Followers) -> None:
    answer = client.post(f"{URL}connect/")
    assert (answer.status_code, answer.json()["state"]) == (200, "waiting")
    followers.look()


def live(client: Client) -> None:
    until(lambda: shown(client)["state"] == "live" and shown(client)["rights"])


def test_nothing_is_connected_by_itself(cluster: ApiServer, editor: Client, followers: Followers) -> None:
    followers.look()
    [listed] = editor.get("/api/v1/clusters/").json()["results"]
    assert (listed["name"], listed["server"], listed["state"]) == (CONTEXT, cluster.url, "off")
    assert not list(cluster.requests)


def test_a_cluster_is_followed_until_it_is_let_go(cluster: ApiServer, editor: Client, followers: Followers) -> None:
    connected(editor, followers)
    live(editor)
    body = shown(editor)
    assert (body["nodes"], body["pods"], body["pending"], body["can_be_read"]) == (3, 25, 3, True)
    assert body["version"].startswith("v1.36")
    assert (body["kinds_done"], body["kinds_of"]) == (21, 21)
    assert {each["state"] for each in body["kinds"]} == {"live"}
    assert [(each["mode"], each["granted"], each["of"]) for each in body["rights"]["modes"]] == [
        ("look", 22, 22),
        ("schedule", 0, 11),
        ("default_scheduler", 0, 1),
    ]
    assert "kind: ClusterRoleBinding" in body["rights"]["modes"][1]["yaml"]
    cluster.add(pod("new", "shop"))
    until(lambda: (shown(editor)["pods"], shown(editor)["pending"]) == (26, 4))
    until(lambda: shown(editor)["behind"] is not None)
    assert editor.post(f"{URL}disconnect/").status_code == 204
    assert shown(editor)["state"] == "off"
    until(lambda: cluster.open_watches() == 0)
    assert list(AuditEntry.objects.values_list("action", "target").order_by("pk"))[-2:] == [
        ("cluster.connect", CONTEXT),
        ("cluster.disconnect", CONTEXT),
    ]


def test_a_server_that_goes_away_is_stale_and_comes_back(
    cluster: ApiServer, editor: Client, followers: Followers
) -> None:
    connected(editor, followers)
    live(editor)
    with cluster.stopped():
        until(lambda: shown(editor)["state"] == "stale")
        assert "cannot be reached" in shown(editor)["problem"]
        assert shown(editor)["pods"] == 25, "what was read stays"
    editor.post(f"{URL}ask/")
    live(editor)


def test_rules_that_are_missing_are_shown_and_noticed_when_they_are_granted(
    cluster: ApiServer, editor: Client, followers: Followers
) -> None:
    cluster.revoke("reader")
    cluster.grant("reader", [rule for rule in READER if "policy" not in rule["apiGroups"]])
    connected(editor, followers)
    until(lambda: shown(editor)["state"] == "partly" and shown(editor)["rights"])
    budgets = next(each for each in shown(editor)["kinds"] if each["plural"] == "poddisruptionbudgets")
    assert budgets["state"] == "refused"
    assert 'User "reader" cannot' in budgets["problem"]
    look = shown(editor)["rights"]["modes"][0]
    assert (look["granted"], look["of"]) == (21, 22)
    role, _ = yaml.safe_load_all(look["yaml"])
    cluster.grant("reader", role["rules"])
    assert editor.post(f"{URL}ask/").status_code == 202
    until(lambda: shown(editor)["rights"]["modes"][0]["granted"] == 22)
    live(editor)


def test_credentials_that_may_read_nothing_are_refused_and_not_out_of_date(
    cluster: ApiServer, editor: Client, followers: Followers
) -> None:
    cluster.revoke("reader")
    connected(editor, followers)
    until(lambda: shown(editor)["state"] not in ("waiting", "catching_up"))
    body = shown(editor)
    assert body["state"] == "refused"
    assert body["since"] is not None
    assert 'User "reader" cannot' in body["problem"]
    assert (body["can_be_read"], body["nodes"], body["pods"]) == (False, 0, 0)
    cluster.grant("reader", READER)
    editor.post(f"{URL}ask/")
    live(editor)


def test_credentials_that_never_worked_are_told(
    cluster: ApiServer, editor: Client, followers: Followers, tmp_path: Path
) -> None:
    cluster.write_kubeconfig(tmp_path / "config", token="expired", context=CONTEXT)
    connected(editor, followers)
    until(lambda: shown(editor)["state"] == "failed")
    body = shown(editor)
    assert body["code"] == "unauthorized"
    assert body["again_at"] is not None


def test_a_process_that_dies_is_started_again(cluster: ApiServer, editor: Client, followers: Followers) -> None:
    started: list[Any] = []

    def child(*arguments: Any) -> Any:
        started.append(begin(*arguments))
        return started[-1]

    begin = processes.child
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "child", child)
        patch.setattr(following, "FIRST_PAUSE", 0.1)
        connected(editor, followers)
        live(editor)
        started[0].kill()
        until(lambda: len(started) == 2)
        live(editor)


def test_one_worker_reads_and_another_takes_over(cluster: ApiServer, editor: Client) -> None:
    editor.post(f"{URL}connect/")
    row = Connection.objects.get()
    first = claim(row, "worker-1")
    assert first is not None
    assert claim(row, "worker-2") is None
    assert shown(editor)["state"] == "waiting"
    Connection.objects.update(lease_expires="2026-01-01T00:00:00Z")
    second = claim(Connection.objects.get(), "worker-2")
    assert second is not None
    assert (second.epoch, first.row().exists()) == (first.epoch + 1, False)


def test_a_team_s_server_offers_what_its_administrator_names(cluster: ApiServer, editor: Client, settings: Any) -> None:
    settings.MODE = "distributed"
    body = editor.get("/api/v1/clusters/").json()
    assert body == {
        "results": [],
        "problem": "No context is offered. The administrator lists them in PLAYGROUND_CONTEXTS.",
    }
    assert editor.post(f"{URL}connect/").json()["error"]["code"] == "not_offered"
    settings.CONTEXTS = (CONTEXT,)
    assert [each["name"] for each in editor.get("/api/v1/clusters/").json()["results"]] == [CONTEXT]
    assert editor.post(f"{URL}connect/").status_code == 200


def test_a_worker_reads_only_what_is_offered_where_it_runs(
    cluster: ApiServer, editor: Client, followers: Followers, settings: Any
) -> None:
    editor.post(f"{URL}connect/")
    settings.CONTEXTS = ("another",)
    followers.look()
    until(lambda: shown(editor)["state"] == "failed")
    assert shown(editor)["problem"] == f"The context {CONTEXT} is not offered here."
    assert not list(cluster.requests)


def test_credentials_appear_nowhere(
    cluster: ApiServer, editor: Client, followers: Followers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The token and the key of the kubeconfig, in tables, answers and logs, after everything that works or fails."""
    token = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["token"]
    answers: list[bytes] = []
    with caplog.at_level(logging.DEBUG):
        connected(editor, followers)
        live(editor)
        answers += [editor.get(each).content for each in ("/api/v1/clusters/", URL)]
        cluster.expire(token)
        cluster.cut_watches()
        until(lambda: "401" in shown(editor)["problem"])
        answers += [editor.get(each).content for each in ("/api/v1/clusters/", URL)]
        stored = "".join(every_value())
    assert CONTEXT in stored
    assert token not in stored
    assert token.encode() not in b"".join(answers)
    assert token not in caplog.text
    assert not list(Path("/dev/shm").glob(f"playground-cluster-*/*{token}*"))


def every_value() -> Iterator[str]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            yield from (str(value) for row in cursor.fetchall() for value in row)


def test_a_context_with_slashes_in_its_name(cluster: ApiServer, editor: Client, tmp_path: Path) -> None:
    token = cluster.user("reader", READER)
    name = "default/api-prod:6443/eda"
    cluster.write_kubeconfig(tmp_path / "config", token=token, context=name)
    assert editor.get(f"/api/v1/clusters/{name}/").json()["name"] == name
    assert editor.post(f"/api/v1/clusters/{name}/connect/").json()["is_connected"]
    assert editor.get("/api/v1/clusters/nope/").status_code == 404
