"""Load that is brought beside an import: added, made up, forgotten, stored with the snapshot, refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.snapshots import queue
from schedweb.snapshots.models import Import
from tests.schedweb.snapshots.files import make_node, make_pod, read_next

pytestmark = pytest.mark.django_db
NOW = 1_795_168_800


@pytest.fixture
def editor(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(queue, "announce", read_next)
    client.force_login(accounts.account_create(username="eda", role=Role.EDITOR, password=None))
    return client


@pytest.fixture
def address(editor: Client) -> str:
    """Of an import that was read."""
    manifests = [make_node("a"), make_node("b"), make_pod("p", "x", node="a", cpu="3"), old_load()]
    text = "\n---\n".join(json.dumps(each) for each in manifests)
    answer = editor.post("/api/v1/imports/", {"text": text}, content_type="application/json")
    return f"/api/v1/imports/{answer.json()['id']}/"


def old_load() -> dict[str, Any]:
    return {
        "apiVersion": "load-watcher.paypal.com/v1",
        "kind": "LoadMetrics",
        "metadata": {"name": "load-watcher"},
        "window": {"end": NOW - 3600},
        "data": {"NodeMetricsMap": {"b": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 99}]}}},
    }


def result(value: str, node: str = "a") -> bytes:
    series = [{"metric": {"node": node}, "values": [[NOW - 60, "10"], [NOW, value]]}]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}).encode()


def send(editor: Client, address: str, content: bytes, **more: str) -> Any:
    return editor.post(f"{address}load/", {"file": SimpleUploadedFile("load.json", content), **more})


def commit(editor: Client, address: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The snapshot, and the LoadMetrics in it."""
    made = editor.post(f"{address}commit/", {}, content_type="application/json")
    assert made.status_code == 201, made.content
    url = f"/api/v1/snapshots/{made.json()['id']}/objects/"
    return made.json(), [each["manifest"] for each in editor.get(url, {"kind": "LoadMetrics"}).json()["results"]]


def test_load_of_files_is_stored_with_the_snapshot_in_place_of_its_own(editor: Client, address: str) -> None:
    first = send(editor, address, result("30"), resource="CPU").json()["load"]
    assert first == {
        "source": "Prometheus",
        "nodes": 1,
        "notes": ["1 node has no load and gets 0 points from plugins that score by it: b."],
    }
    both = send(editor, address, result("50", "b"), resource="Memory").json()["load"]
    assert (both["nodes"], both["notes"]) == (2, [])
    assert editor.get(address).json()["load"] == both
    snapshot, [load] = commit(editor, address)
    assert snapshot["taken_at"] == "2026-11-20T10:00:00Z"
    assert snapshot["counts"]["kinds"]["LoadMetrics"] == 1
    nodes = load["data"]["NodeMetricsMap"]
    assert [(each["operator"], each["value"]) for each in nodes["a"]["metrics"]] == [("AVG", 20.0), ("STD", 10.0)]
    assert nodes["a"]["history"] == [{"type": "CPU", "step": 60, "values": [10.0, 30.0]}]
    assert [each["type"] for each in nodes["b"]["metrics"]] == ["Memory", "Memory"]
    assert not list(Import(id=address.split("/")[-2]).load_file.parent.glob("*.load*"))


def test_a_load_is_made_up_from_a_seed(editor: Client, address: str) -> None:
    def loads(seed: int) -> Any:
        answer = editor.post(f"{address}load/", {"seed": seed}, content_type="application/json")
        assert answer.status_code == 200, answer.content
        return answer.json()["load"], Import.objects.get().load_file.read_bytes()

    (told, first), (_, other), (_, again) = loads(7), loads(8), loads(7)
    assert told == {"source": "generated, seed 7", "nodes": 2, "notes": []}
    assert first == again != other
    _, [load] = commit(editor, address)
    assert len(load["data"]["NodeMetricsMap"]["b"]["history"][0]["values"]) == 60


def test_load_is_forgotten(editor: Client, address: str) -> None:
    send(editor, address, result("30"), resource="CPU")
    assert editor.delete(f"{address}load/").json()["load"] is None
    _, [load] = commit(editor, address)
    assert list(load["data"]["NodeMetricsMap"]) == ["b"], "what the file came with stays"


def test_what_is_no_load_changes_nothing(editor: Client, address: str) -> None:
    before = send(editor, address, result("30"), resource="CPU").json()["load"]
    refused = send(editor, address, result("30"))
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        422,
        "The result does not say whether it is of cpu or of memory. Say which: CPU or Memory.",
    )
    assert send(editor, address, b"{").status_code == 422
    assert send(editor, address, result("30"), resource="disk").status_code == 400
    assert editor.post(f"{address}load/", {"seed": -1}, content_type="application/json").status_code == 400
    assert editor.post(f"{address}load/", {}, content_type="application/json").status_code == 400
    assert editor.get(address).json()["load"] == before
    _, [load] = commit(editor, address)
    assert list(load["data"]["NodeMetricsMap"]) == ["a"]


def test_load_by_another_name_is_told(editor: Client) -> None:
    other = {**old_load(), "metadata": {"name": "ours"}}
    text = "\n---\n".join(json.dumps(each) for each in (make_node("a"), old_load(), other))
    answer = editor.post("/api/v1/imports/", {"text": text}, content_type="application/json")
    preview = editor.get(f"/api/v1/imports/{answer.json()['id']}/").json()
    assert preview["warnings"] == [
        "Nothing reads the load in LoadMetrics ours: plugins ask for the one that is called load-watcher."
    ]
