"""Snapshots and imports through the API: upload, preview, commit, discard, and what is refused."""

from __future__ import annotations

import datetime
import gzip
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from kombu.exceptions import OperationalError

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.snapshots import queue, reader, services
from schedweb.snapshots.models import Import, Snapshot
from schedweb.snapshots.reader import Answer, Request
from schedweb.snapshots.samples.loading import samples_load
from schedweb.worker import tasks as worker
from tests.schedweb.snapshots.files import EXPORT_JSON, make_node, make_pod, read_next

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(client: Client) -> Client:
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    return client


@pytest.fixture(autouse=True)
def read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's part, in the test's own process; the reader stays a process of its own."""
    monkeypatch.setattr(queue, "announce", read_next)


def upload(client: Client, content: bytes, name: str = "export.json") -> dict[str, Any]:
    answer = client.post("/api/v1/imports/", {"file": SimpleUploadedFile(name, content)})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = client.get(f"/api/v1/imports/{answer.json()['id']}/").json()
    return body


def test_upload_preview_filter_commit(editor: Client) -> None:
    body = upload(editor, gzip.decompress(EXPORT_JSON.read_bytes()), "kubectl-export.json")
    assert (body["state"], body["counts"]["pods"], body["counts"]["gated"]) == ("ready", 231, 1)
    url = f"/api/v1/imports/{body['id']}/"
    filtered = editor.get(url, {"exclude_namespaces": "monitoring"}).json()["filtered"]
    assert filtered == {"nodes": 36, "pods": 193, "pending": 47, "made_pods": 0, "unnamed_usage_pods": 38}
    made = editor.post(f"{url}commit/", {"exclude_namespaces": ["monitoring"]}, content_type="application/json")
    assert made.status_code == 201, made.content
    snapshot = made.json()
    assert (snapshot["name"], snapshot["source"], snapshot["counts"]["nodes"]) == ("kubectl-export", "import", 36)
    assert snapshot["taken_at"].startswith("2026-11-20T")
    assert not Import.objects.exists()
    assert not list(Import(id=body["id"]).upload.parent.glob(f"{body['id']}*"))
    pods = editor.get(f"/api/v1/snapshots/{snapshot['id']}/objects/", {"kind": "Pod", "namespace": "left-out"}).json()
    assert pods["count"] == 38


def test_pasted_yaml(editor: Client) -> None:
    text = "\n---\n".join(json.dumps(m) for m in (make_node("n1"), make_pod("p", "x")))
    answer = editor.post("/api/v1/imports/", {"text": text}, content_type="application/json")
    assert editor.get(f"/api/v1/imports/{answer.json()['id']}/").json()["counts"]["nodes"] == 1


def test_a_bad_object_is_told_and_the_rest_is_imported_without_it(editor: Client) -> None:
    manifests = {"apiVersion": "v1", "kind": "List", "items": [make_node("n1"), make_pod("web-1", "shop", cpu="-1")]}
    body = upload(editor, json.dumps(manifests).encode())
    assert (body["state"], body["problem_count"]) == ("ready", 1)
    [problem] = body["problems"]
    assert (problem["kind"], problem["namespace"], problem["name"]) == ("Pod", "shop", "web-1")
    assert "Pod shop/web-1: spec.containers[0].resources.requests" in problem["words"]
    commit = f"/api/v1/imports/{body['id']}/commit/"
    refused = editor.post(commit, {}, content_type="application/json")
    assert (refused.status_code, "1 object of export.json cannot be taken" in refused.json()["error"]["message"]) == (
        422,
        True,
    )
    assert not Snapshot.objects.exists()
    taken = editor.post(commit, {"leave_out_problems": True}, content_type="application/json")
    assert (taken.status_code, taken.json()["counts"]["pods"], taken.json()["counts"]["nodes"]) == (201, 0, 1)


def test_a_file_of_which_nothing_can_be_taken_has_failed(editor: Client) -> None:
    body = upload(editor, json.dumps(make_pod("web-1", "shop", cpu="-1")).encode())
    assert (body["state"], "Pod shop/web-1: spec.containers[0]" in body["error"]) == ("failed", True)
    refused = editor.post(f"/api/v1/imports/{body['id']}/commit/", {}, content_type="application/json")
    assert refused.status_code == 409


def test_workloads_of_an_import_are_pods_of_its_snapshot(editor: Client) -> None:
    """Written by hand, as people paste it: no namespaces, Windows line ends, a byte order mark, an older version."""
    text = (
        "---\n"
        + json.dumps(make_node("n1"))
        + """
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: apps/v1beta2
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web}}
    spec: {priorityClassName: urgent, containers: [{name: main, image: app}]}
"""
    )
    body = upload(editor, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), "web.yaml")
    assert body["notes"] == ["3 pods were made from 1 Deployment, as their controllers would make them."]
    assert (body["counts"]["made_pods"], body["counts"]["made_from"]) == (3, {"Deployment": 1})
    assert body["counts"]["pods_by_namespace"] == [{"name": "default", "pods": 3}]
    url = f"/api/v1/imports/{body['id']}/"
    assert editor.get(url).json()["filtered"]["made_pods"] == 3
    assert editor.get(url, {"label_selector": "app=other"}).json()["filtered"]["made_pods"] == 0
    made = editor.post(f"{url}commit/", {"label_selector": "app=web"}, content_type="application/json").json()
    assert (made["counts"]["made_pods"], made["counts"]["made_from"]) == (3, {"Deployment": 1})
    listed = editor.get(f"/api/v1/snapshots/{made['id']}/objects/", {"kind": "Pod"}).json()["results"]
    assert [each["manifest"]["metadata"]["ownerReferences"][0]["kind"] for each in listed] == ["ReplicaSet"] * 3


def test_a_bad_selector_is_refused_and_the_import_stays(editor: Client) -> None:
    body = upload(editor, json.dumps(make_node("n1")).encode())
    url = f"/api/v1/imports/{body['id']}/"
    refused = editor.get(url, {"label_selector": "a in ("})
    assert (refused.status_code, refused.json()["error"]["path"]) == (400, "label_selector")
    committed = editor.post(f"{url}commit/", {"label_selector": "a in ("}, content_type="application/json")
    assert committed.status_code == 422
    assert Import.objects.exists()


def test_nothing_sent(editor: Client) -> None:
    answer = editor.post("/api/v1/imports/", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "file")


def test_an_upload_over_the_limit_is_refused_before_it_is_read(editor: Client) -> None:
    answer = editor.post(
        "/api/v1/imports/", {"text": "x"}, content_type="application/json", CONTENT_LENGTH=str(600 * 1024 * 1024)
    )
    assert answer.status_code == 413
    assert "600 MB; 512 MB are the most" in answer.json()["error"]["message"]


def test_discard_leaves_nothing(editor: Client) -> None:
    body = upload(editor, json.dumps(make_node("n1")).encode())
    assert editor.delete(f"/api/v1/imports/{body['id']}/").status_code == 204
    assert editor.get(f"/api/v1/imports/{body['id']}/").status_code == 404


def test_an_import_that_is_discarded_while_it_is_read_leaves_nothing(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = services.run_reader

    def discarding(request: Request, **watched: Callable[[], object]) -> Answer:
        answer = read(request)
        services.import_discard(row=Import.objects.get())
        Path(request.target).touch()
        return answer

    monkeypatch.setattr(services, "run_reader", discarding)
    made = editor.post("/api/v1/imports/", {"file": SimpleUploadedFile("n.json", json.dumps(make_node("n1")).encode())})
    assert not Import.objects.exists()
    assert not list(Import(id=made.json()["id"]).upload.parent.glob(f"{made.json()['id']}*"))


def test_an_import_is_committed_once(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two clicks at the same time, and when its files went away, the second is told so."""
    body = upload(editor, json.dumps(make_node("n1")).encode())
    commit = f"/api/v1/imports/{body['id']}/commit/"
    choose = reader.answer

    def twice(request: Request) -> Answer:
        answer = choose(request)
        monkeypatch.setattr(reader, "answer", choose)
        assert editor.post(commit, {}, content_type="application/json").status_code == 201
        return answer

    monkeypatch.setattr(reader, "answer", twice)
    second = editor.post(commit, {}, content_type="application/json")
    assert (second.status_code, Snapshot.objects.count()) == (409, 1)
    assert second.json()["error"]["message"] == "export.json was imported or discarded meanwhile."
    other = upload(editor, json.dumps(make_node("n2")).encode())
    Import(id=other["id"]).cluster.unlink()
    gone = editor.post(f"/api/v1/imports/{other['id']}/commit/", {}, content_type="application/json")
    assert (gone.status_code, gone.json()["error"]["message"]) == (
        409,
        "The imported file is no longer here. Choose it again.",
    )


def test_without_a_worker_an_import_says_so(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(queue, "announce", down)
    answer = editor.post("/api/v1/imports/", {"text": json.dumps(make_node("n1"))}, content_type="application/json")
    assert (answer.status_code, answer.json()["state"]) == (201, "failed")
    assert answer.json()["error"] == "No worker can be reached now. Try again."
    assert not Import.objects.get().upload.exists()


class Killed(BaseException):
    """What a worker has no time to catch."""


LONG_AGO = timezone.now() - datetime.timedelta(hours=1)
LOST = "The worker that read this file was lost. Try again."


def send(editor: Client) -> str:
    answer = editor.post("/api/v1/imports/", {"text": json.dumps(make_node("n1"))}, content_type="application/json")
    assert answer.status_code == 201
    path: str = f"/api/v1/imports/{answer.json()['id']}/"
    return path


def test_an_import_whose_worker_died_has_failed_and_is_sent_again(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(request: Request, **watched: Callable[[], object]) -> Answer:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(services, "run_reader", dying)
        with pytest.raises(Killed):
            send(editor)
    row = Import.objects.get()
    path = f"/api/v1/imports/{row.pk}/"
    assert editor.get(path).json()["state"] == "reading", "its worker may still be heard of"
    Import.objects.update(lease_expires=LONG_AGO)
    seen = editor.get(path).json()
    assert (seen["state"], seen["error"]) == ("failed", LOST)
    assert not list(row.upload.parent.glob(f"{row.pk}*"))
    assert editor.get(send(editor)).json()["state"] == "ready"


def test_an_import_that_no_worker_takes_has_failed_and_stays_so(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "announce", lambda: None)
    path = send(editor)
    assert editor.get(path).json()["state"] == "reading"
    Import.objects.update(created_at=LONG_AGO)
    queue.imports_wait()
    services.imports_lost()
    assert editor.get(path).json()["state"] == "reading", "a worker said that it is there"
    Import.objects.update(waits_until=LONG_AGO)
    services.imports_lost()
    services.import_read(import_id=Import.objects.get().pk)
    seen = editor.get(path).json()
    assert (seen["state"], seen["error"]) == ("failed", "No worker took this file up within 60 seconds. Try again.")


def test_workers_look_for_lost_imports_though_nobody_asks(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    class Once(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            looked = self.is_set()
            self.set()
            return looked

    monkeypatch.setattr(queue, "announce", lambda: None)
    send(editor)
    Import.objects.update(lease_expires=LONG_AGO)
    monkeypatch.setattr(worker, "STOPPING", Once())
    # The connection is the test's.
    monkeypatch.setattr(worker, "close_old_connections", lambda: None)
    monkeypatch.setattr(worker, "close_own_connection", lambda: None)
    worker.sweep_until_stopped()
    assert str(Import.objects.get().error) == LOST


def test_a_sweep_that_fails_is_not_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else would take over what another worker leaves, nor imports whose message was lost."""
    looks = 0

    class Twice(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            return looks == 2

    def failing() -> float:
        nonlocal looks
        looks += 1
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(worker, "STOPPING", Twice())
    monkeypatch.setattr(worker, "look_around", failing)
    monkeypatch.setattr(worker, "close_old_connections", lambda: None)
    monkeypatch.setattr(worker, "close_own_connection", lambda: None)
    worker.sweep_until_stopped()
    assert looks == 2


def test_a_worker_that_stands_still_at_once_has_handed_its_request_over(
    editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No time at all for the first look, as when a host freezes there."""
    monkeypatch.setattr(services, "RENEW_SECONDS", -1.0)
    monkeypatch.setattr(services, "import_renew", lambda row: monkeypatch.setattr(services, "RENEW_SECONDS", 5.0))
    monkeypatch.setattr(services, "READER_SECONDS", 20)
    answer = editor.get(send(editor)).json()
    assert (answer["state"], answer["error"]) == ("ready", "")


def test_a_worker_that_reads_for_long_is_heard_of(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    renew, heard = services.import_renew, 0

    def renewing(row: Import) -> None:
        nonlocal heard
        heard += 1
        Import.objects.update(lease_expires=LONG_AGO)
        renew(row=row)
        services.imports_lost()

    monkeypatch.setattr(services, "RENEW_SECONDS", 0.001)
    monkeypatch.setattr(services, "import_renew", renewing)
    assert editor.get(send(editor)).json()["state"] == "ready"
    assert heard > 0


def test_what_a_worker_reads_that_was_given_up_counts_no_more(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    read = services.run_reader

    def late(request: Request, **watched: Callable[[], object]) -> Answer:
        answer = read(request)
        Import.objects.update(lease_expires=LONG_AGO)
        services.imports_lost()
        Path(request.target).touch()
        return answer

    monkeypatch.setattr(services, "run_reader", late)
    seen = editor.get(send(editor)).json()
    assert (seen["state"], seen["error"]) == ("failed", LOST)
    row = Import.objects.get()
    assert not list(row.upload.parent.glob(f"{row.pk}*"))


@pytest.mark.parametrize("body", ["[]", '"text"', "7", "null"])
def test_a_body_that_is_no_object_is_refused(editor: Client, body: str) -> None:
    answer = editor.post("/api/v1/imports/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "file")


def test_a_viewer_reads_but_does_not_import(client: Client) -> None:
    client.force_login(accounts.account_create(username="vic", role=Role.VIEWER, password=None))
    assert client.get("/api/v1/snapshots/").status_code == 200
    refused = client.post("/api/v1/imports/", {"text": "x"}, content_type="application/json")
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == "This needs the role editor."


def test_nobody_reads_nothing(client: Client) -> None:
    assert client.get("/api/v1/snapshots/").status_code == 401


def test_samples_load_once(editor: Client) -> None:
    assert len(samples_load()) == 5
    assert samples_load() == []
    names = [row["name"] for row in editor.get("/api/v1/snapshots/").json()["results"]]
    assert names == ["Three-zone shop", "GPU cluster", "Shared cluster", "Held places", "One thousand nodes"]
    counts = editor.get("/api/v1/snapshots/").json()["results"][1]["counts"]
    assert (counts["nodes"], counts["pods"], counts["gpus"]) == (24, 180, 96)


def test_the_list_costs_a_fixed_number_of_queries(editor: Client, django_assert_num_queries: Any) -> None:
    samples_load()
    editor.get("/api/v1/me/")  # once a minute it is written down that a session was seen
    with django_assert_num_queries(5):
        editor.get("/api/v1/snapshots/")


def test_a_body_nested_without_end_is_refused_with_a_sentence(editor: Client) -> None:
    for path in ("/api/v1/imports/", "/api/v1/runs/", "/api/v1/configurations/"):
        answer = editor.post(path, b"[" * 100_000 + b"]" * 100_000, content_type="application/json")
        assert (answer.status_code, "nested too deeply" in answer.json()["error"]["message"]) == (400, True), path
