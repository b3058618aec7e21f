"""What somebody is shown and saves unchanged changes nothing: seals, which nobody is shown, stay."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from msgspec import convert

from framework.objects.pod import Volume
from framework.reading.yaml_documents import read_yaml
from schedweb.runs.models import JournalEntry, ObjectRecord, PodRecord
from schedweb.runs.records.manifests import manifest_of
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.test_api import get

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "hunter2"
VOLUMES = [
    {"name": "a", "csi": {"driver": "d.example.com", "volumeAttributes": {"password": SECRET}}},
    {"name": "b", "azureFile": {"secretName": SECRET, "shareName": "s"}},
    {"name": "c", "gitRepo": {"repository": f"https://me:{SECRET}@host/it"}},
    {"name": "d", "iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": "iqn.2001-04.com.example:s", "lun": 0}},
    {"name": "e", "projected": {"sources": [{"secret": {"name": SECRET}}, {"configMap": {"name": "k"}}]}},
    {"name": "f", "hostPath": {"path": "/it"}},
    {"name": "g", "configMap": {"name": "k"}},
    {
        "name": "h",
        "ephemeral": {
            "volumeClaimTemplate": {
                "metadata": {"annotations": {"example.com/password": SECRET}},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            }
        },
    },
]
DISK: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    # A text that YAML takes for a boolean unless it is quoted.
    "metadata": {"name": "disk", "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
    "spec": {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "azureFile": {"secretName": SECRET, "secretNamespace": "keys", "shareName": "s"},
    },
}

LEAN: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "lean"},
    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "azureFile": {"shareName": "s"}},
}
CLAIM: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "copy", "namespace": "shop"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "9Gi"}},
        "dataSource": {"kind": "PersistentVolumeClaim", "name": "first"},
    },
}


def with_volumes(name: str, cpu: str) -> dict[str, Any]:
    made = pod(name, cpu)
    return {**made, "spec": {**made["spec"], "volumes": VOLUMES}}


@pytest.fixture
def game(operator: User) -> Game:
    pods = [with_volumes("runs", "1"), with_volumes("waits", "16")]
    return played_out(operator, [node("a", "8"), DISK, LEAN, CLAIM, *pods])


def save(game: Game, client: Client, kind: str, namespace: str, name: str, text: str) -> JournalEntry:
    body = {"type": "change", "verb": "replace", "manifest": text, "client_id": str(uuid4())}
    body |= {"kind": kind, "namespace": namespace, "name": name}
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    game.command("play", speed="max")
    game.play()
    entry = JournalEntry.objects.get(pk=answer.json()["id"])
    assert entry.status == "applied", entry.text
    return entry


def stored(game: Game, name: str) -> tuple[str, int, list[dict[str, Any]]]:
    """(uid, attempts, volumes)"""
    row = PodRecord.objects.filter(run=game.id, name=name).latest("pk")
    manifest = manifest_of(row.manifest)
    return manifest["metadata"]["uid"], row.attempts, manifest["spec"]["volumes"]


@pytest.mark.parametrize("name", ["runs", "waits"])
def test_a_pod_that_is_saved_as_it_was_shown_stays_the_same(game: Game, client: Client, name: str) -> None:
    before = stored(game, name)
    assert str(before[2]).count("sealed:") == 5
    text = get(client, f"/api/v1/runs/{game.id}/pods/shop/{name}/yaml/")["yaml"]
    assert "sealed:" not in text
    assert SECRET not in text
    assert "lun: 0" in text
    assert "repository" not in text
    save(game, client, "Pod", "shop", name, text)
    assert stored(game, name) == before


def test_a_volume_that_is_changed_is_what_was_asked_for(game: Game, client: Client) -> None:
    uid, _, volumes = stored(game, "runs")
    text = get(client, f"/api/v1/runs/{game.id}/pods/shop/runs/yaml/")["yaml"]
    save(game, client, "Pod", "shop", "runs", text.replace("d.example.com", "other.example.com"))
    after, _, changed = stored(game, "runs")
    assert after != uid
    assert changed[0] == {"name": "a", "csi": {"driver": "other.example.com"}}
    assert convert(changed[1:], list[Volume]) == convert(volumes[1:], list[Volume])


def spec_of(game: Game, kind: str, name: str) -> dict[str, Any]:
    row = ObjectRecord.objects.get(run=game.id, kind=kind, name=name)
    found: dict[str, Any] = manifest_of(row.manifest)["spec"]
    return found


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "source", "shown"),
    [
        ("PersistentVolume", "", "lean", "azureFile", {"secretName": "", "shareName": "s", "secretNamespace": None}),
        (
            *("PersistentVolumeClaim", "shop", "copy", "dataSource"),
            {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "first"},
        ),
    ],
)
def test_fields_that_an_api_server_writes_though_they_are_empty_are_shown(
    game: Game, client: Client, kind: str, namespace: str, name: str, source: str, shown: dict[str, Any]
) -> None:
    before = spec_of(game, kind, name)
    address = f"/api/v1/runs/{game.id}/objects/yaml/?kind={kind}&namespace={namespace}&name={name}"
    text = get(client, address)["yaml"]
    [found] = read_yaml(text.encode())
    assert found["spec"][source] == shown
    assert shown.items() - before[source].items(), "they are not stored"
    save(game, client, kind, namespace, name, text)
    assert spec_of(game, kind, name) == before


def test_a_persistent_volume_stays_too(game: Game, client: Client) -> None:
    before = spec_of(game, "PersistentVolume", "disk")
    assert str(before).count("sealed:") == 1
    text = get(client, f"/api/v1/runs/{game.id}/objects/yaml/?kind=PersistentVolume&name=disk")["yaml"]
    assert "sealed:" not in text
    assert SECRET not in text
    assert "secretNamespace: keys" in text
    assert "secretName:" not in text
    save(game, client, "PersistentVolume", "", "disk", text)
    assert spec_of(game, "PersistentVolume", "disk") == before
