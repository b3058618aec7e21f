"""A snapshot of a cluster is what an import of `kubectl get … -A -o json` of the same objects is, to the byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from schedweb.accounts import services as accounts
from schedweb.accounts.models import AuditEntry
from schedweb.accounts.roles import Role
from schedweb.clusters.reading.kinds import STANDARD
from schedweb.clusters.services import import_read_anyhow
from schedweb.engine.payload import decode_manifests
from schedweb.snapshots import queue
from schedweb.snapshots.models import Import, Snapshot
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.kinds import Kind
from tests.schedweb.clusters.conftest import CONTEXT, SECRET

pytestmark = pytest.mark.django_db
EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "web-0.1", "namespace": "shop"},
    "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-0"},
    "reason": "FailedScheduling",
    "type": "Warning",
    "message": "0/3 nodes are available: 3 Insufficient cpu.",
    "reportingComponent": "default-scheduler",
    "eventTime": "2026-11-20T10:00:00.000000Z",
}


def read_next() -> None:
    """The worker's part, in the test's own process."""
    found = queue.next_import()
    if found is not None:
        import_read_anyhow(import_id=found)


@pytest.fixture
def editor(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(queue, "announce", read_next)
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    yield client
    for row in Import.objects.all():
        for path in row.upload.parent.glob(f"{row.pk}*"):
            path.unlink()


def exported(cluster: ApiServer) -> bytes:
    """As kubectl writes it: fields by name."""
    items = [item for kind in STANDARD for item in cluster.all(kind.plural)]
    whole = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    return json.dumps(whole, sort_keys=True).encode()


def committed(client: Client, started: Any) -> Snapshot:
    assert started.status_code == 201, started.content
    url = f"/api/v1/imports/{started.json()['id']}/"
    read = client.get(url).json()
    assert (read["state"], read["error"]) == ("ready", "")
    made = client.post(f"{url}commit/", {}, content_type="application/json")
    assert made.status_code == 201, made.content
    return Snapshot.objects.get(pk=made.json()["id"])


def imported(client: Client, text: bytes) -> Snapshot:
    return committed(client, client.post("/api/v1/imports/", {"text": text.decode()}, content_type="application/json"))


def taken(client: Client) -> Snapshot:
    return committed(client, client.post(f"/api/v1/clusters/{CONTEXT}/snapshot/"))


def same(taken: Snapshot, imported: Snapshot) -> bool:
    names = ("digest", "counts", "bars", "taken_at", "event_count", "size_bytes")
    return all(getattr(taken, name) == getattr(imported, name) for name in names)


def test_it_is_what_an_import_of_the_same_objects_is(cluster: ApiServer, editor: Client) -> None:
    cluster.add(EVENT)
    snapshot = taken(editor)
    assert same(snapshot, imported(editor, exported(cluster)))
    assert (snapshot.counts["nodes"], snapshot.counts["pods"], snapshot.event_count) == (3, 26, 1)
    assert (snapshot.context, snapshot.source) == (CONTEXT, Snapshot.Source.IMPORT)
    assert snapshot.name.startswith(f"{CONTEXT}, 20")
    assert SECRET not in json.dumps(decode_manifests(bytes(snapshot.payload)))
    assert snapshot.counts["removed"]["environment"] == 25
    actions = AuditEntry.objects.values_list("action", flat=True)
    assert {"cluster.snapshot", "snapshot.import"} <= set(actions)


def test_so_it_is_in_pages_and_with_credentials_that_may_only_list(
    cluster: ApiServer, editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = taken(editor)
    cluster.limits.streaming_lists = False
    assert same(taken(editor), first)
    cluster.limits.streaming_lists = True
    cluster.limits.storage_progress = False
    assert same(taken(editor), first)
    cluster.limits.storage_progress = True
    cluster.revoke("reader")
    cluster.grant("reader", [{**rule, "verbs": ["list"]} for rule in READER])
    assert same(taken(editor), first)


def test_kinds_of_other_plugins_are_read_where_there_are_any(cluster: ApiServer, editor: Client) -> None:
    cluster.register(Kind("scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup"))
    cluster.grant("reader", [{"verbs": ["*"], "apiGroups": ["scheduling.x-k8s.io"], "resources": ["podgroups"]}])
    cluster.add(
        {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "PodGroup",
            "metadata": {"name": "gang", "namespace": "shop"},
            "spec": {"minMember": 3},
        }
    )
    assert taken(editor).counts["kinds"]["PodGroup"] == 1


def test_what_may_not_be_read_is_said_and_the_rest_is_there(cluster: ApiServer, editor: Client) -> None:
    cluster.revoke("reader")
    cluster.grant("reader", [rule for rule in READER if "policy" not in rule["apiGroups"]])
    started = editor.post(f"/api/v1/clusters/{CONTEXT}/snapshot/")
    read = editor.get(f"/api/v1/imports/{started.json()['id']}/").json()
    assert read["warnings"][0] == "Not read, because the credentials may not: poddisruptionbudgets."
    assert read["counts"]["pods"] == 26


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda server: server.revoke("reader"), 'The credentials may not: pods is forbidden: User "reader" cannot'),
        (lambda server: server.stop(), "cannot be reached: Connection refused"),
    ],
)
def test_without_nodes_and_pods_there_is_no_snapshot(
    cluster: ApiServer, editor: Client, spoil: Any, error: str
) -> None:
    spoil(cluster)
    started = editor.post(f"/api/v1/clusters/{CONTEXT}/snapshot/")
    read = editor.get(f"/api/v1/imports/{started.json()['id']}/").json()
    assert read["state"] == "failed"
    assert error in read["error"]


def test_a_list_that_was_too_busy_at_first_is_begun_again(cluster: ApiServer, editor: Client) -> None:
    with cluster.faults.answer(429, retry_after=0, resource="nodes", times=2):
        assert taken(editor).counts["nodes"] == 3


def test_a_list_that_is_cut_off_is_no_snapshot_of_half_a_cluster(cluster: ApiServer, editor: Client) -> None:
    cluster.limits.streaming_lists = False
    with cluster.faults.cut_answer(resource="pods", verb="list"):
        started = editor.post(f"/api/v1/clusters/{CONTEXT}/snapshot/")
    read = editor.get(f"/api/v1/imports/{started.json()['id']}/").json()
    assert read["state"] == "failed"


def test_a_context_that_is_not_offered(cluster: ApiServer, editor: Client, settings: Any) -> None:
    settings.CONTEXTS = ("another",)
    answer = editor.post(f"/api/v1/clusters/{CONTEXT}/snapshot/")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_offered")
    assert not Import.objects.exists()


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("cluster", *arguments)
    return capsys.readouterr().out


def test_the_commands(cluster: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "contexts").splitlines()[1].split() == [CONTEXT, cluster.url]
    assert json.loads(said(capsys, "contexts", "--json")) == {"contexts": [{"name": CONTEXT, "server": cluster.url}]}
    checked = said(capsys, "check", CONTEXT)
    assert "look: 22 of 22 rules" in checked
    assert "name: scheduling-playground-schedule" in checked
    modes = json.loads(said(capsys, "check", CONTEXT, "--json"))["modes"]
    assert [(each["mode"], each["granted"], each["of"]) for each in modes] == [
        ("look", 22, 22),
        ("schedule", 0, 11),
        ("default_scheduler", 0, 1),
    ]
    assert ": 3 nodes, 26 pods, 3 pending, read in " in said(capsys, "snapshot", CONTEXT)
    made = json.loads(said(capsys, "snapshot", CONTEXT, "--json", "--name", "mine", "--exclude-namespace", "shop"))
    assert Snapshot.objects.get(pk=made["id"]).name == "mine"
    assert made["counts"]["namespaces"] == 6
    assert not Import.objects.exists()


def test_the_commands_say_what_is_wrong(cluster: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: str) -> str:
        with pytest.raises(CommandError) as caught:
            call_command("cluster", *arguments)
        assert caught.value.returncode == 2
        return str(caught.value)

    assert wrong("check", "nope") == "The kubeconfig has no context nope. It has: prod"
    assert "unable to parse requirement" in wrong("snapshot", CONTEXT, "--label-selector", "a b")
    cluster.revoke("reader")
    assert "The credentials may not: pods is forbidden" in wrong("snapshot", CONTEXT)
    with pytest.raises(SystemExit) as ended:
        call_command("cluster", "check", CONTEXT)
    assert ended.value.code == 1
    with cluster.stopped():
        assert "cannot be reached" in wrong("check", CONTEXT)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "nothing"))
    assert "There is no kubeconfig" in wrong("contexts")
