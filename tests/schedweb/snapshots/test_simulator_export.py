"""What kube-scheduler-simulator exports, imported: every object with its kind, and the configuration as one of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from framework.reading.documents import FileRefused
from framework.reading.redaction import REDACTED
from schedweb.configurations.models import Configuration
from schedweb.snapshots.cluster import count_cluster
from schedweb.snapshots.manifests import is_json, read_manifests
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.reading import read_cluster
from tests.schedweb.snapshots.files import decoded_pods, told
from tests.schedweb.snapshots.test_api import editor, read_at_once, upload

__all__ = ["editor", "read_at_once"]
pytestmark = pytest.mark.django_db
EXPORT = Path(__file__).parents[2] / "data" / "simulator" / "export.json"
KINDS = {
    "Namespace": 1,
    "Node": 2,
    "PersistentVolume": 1,
    "PersistentVolumeClaim": 1,
    "Pod": 3,
    "PriorityClass": 1,
    "StorageClass": 1,
}


def exported() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXPORT.read_text())
    return found


@pytest.mark.parametrize("language", ["json", "yaml"])
def test_every_list_becomes_objects_of_its_kind(tmp_path: Path, language: str) -> None:
    path = tmp_path / "export"
    path.write_text(EXPORT.read_text() if language == "json" else yaml.safe_dump(exported()))
    cluster = read_cluster(read_manifests(path), from_json=is_json(path))
    counts = count_cluster(cluster)
    assert counts["kinds"] == KINDS
    assert (counts["pending"], counts["unused_kinds"]) == (2, {})
    assert cluster.configuration is not None
    assert cluster.configuration["profiles"] == exported()["schedulerConfig"]["profiles"]
    bound = next(pod for pod in decoded_pods(cluster).values() if pod.name == "pod-bound")
    assert bound.spec.node_name == "node-1"
    assert counts["removed"]["annotations"] > 0


def test_the_configuration_becomes_one_that_runs_begin_with(editor: Client) -> None:
    body = upload(editor, EXPORT.read_bytes())
    assert (body["state"], body["configuration_errors"]) == ("ready", [])
    assert body["configuration"].startswith("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfig")
    made = editor.post(f"/api/v1/imports/{body['id']}/commit/", {"name": "sim"}, content_type="application/json").json()
    configuration = Configuration.objects.get(slug=made["configuration_slug"])
    assert configuration.name == "sim, its own"
    assert "NodeResourcesFit\n        weight: 7" in configuration.versions.get().text
    again = upload(editor, EXPORT.read_bytes())
    editor.post(f"/api/v1/imports/{again['id']}/commit/", {"name": "sim"}, content_type="application/json")
    assert Configuration.objects.filter(name="sim, its own (2)").exists()


def test_the_configuration_may_be_left_out(editor: Client) -> None:
    body = upload(editor, EXPORT.read_bytes())
    left = {"take_configuration": False}
    made = editor.post(f"/api/v1/imports/{body['id']}/commit/", left, content_type="application/json").json()
    assert made["configuration_slug"] == ""
    assert not Configuration.objects.exists()


def test_a_configuration_of_another_time_is_named_and_the_cluster_still_comes(editor: Client) -> None:
    old = exported()
    old["schedulerConfig"]["profiles"][0]["plugins"]["filter"] = {"enabled": [{"name": "EBSLimits"}]}
    body = upload(editor, json.dumps(old).encode())
    assert body["state"] == "ready"
    assert any("EBSLimits" in each for each in body["configuration_errors"])
    made = editor.post(f"/api/v1/imports/{body['id']}/commit/", {}, content_type="application/json")
    assert (made.status_code, made.json()["configuration_slug"]) == (201, "")
    assert Snapshot.objects.count() == 1


def test_keys_of_extenders_are_redacted(tmp_path: Path) -> None:
    found = exported()
    tls = {"certFile": "/a", "keyData": "c2VjcmV0", "certData": "c2VjcmV0"}
    found["schedulerConfig"]["extenders"] = [{"urlPrefix": "https://x/", "tlsConfig": tls}]
    (tmp_path / "e").write_text(json.dumps(found))
    cluster = read_cluster(read_manifests(tmp_path / "e"))
    assert cluster.configuration is not None
    assert cluster.configuration["extenders"][0]["tlsConfig"] == {
        "certFile": "/a",
        "keyData": REDACTED,
        "certData": REDACTED,
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pods": [5]}, "found a number"),
        ({"pods": [{"metadata": {"name": "Odd_1", "namespace": "x"}}]}, "Pod x/Odd_1: metadata.name"),
        ({"schedulerConfig": 7}, "schedulerConfig must be an object"),
    ],
    ids=["no object", "bad object", "bad configuration"],
)
@pytest.mark.parametrize("language", ["json", "yaml"])
def test_what_is_wrong_is_named(tmp_path: Path, change: dict[str, Any], words: str, language: str) -> None:
    found = {**exported(), **change}
    (tmp_path / "e").write_text(json.dumps(found) if language == "json" else yaml.safe_dump(found))
    try:
        said = told(read_cluster(read_manifests(tmp_path / "e")))
    except FileRefused as error:
        said = str(error)
    assert words in said


def test_lists_that_are_null_are_empty(tmp_path: Path) -> None:
    (tmp_path / "e").write_text('{"pods": null, "nodes": [], "pvs": null, "schedulerConfig": null}')
    with pytest.raises(FileRefused, match="holds no Kubernetes object"):
        list(read_manifests(tmp_path / "e"))
