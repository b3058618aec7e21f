"""What older versions stored of manifests stays readable, and is shown without what is not kept today."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
import pytest
import zstandard
from django.test import Client
from django.utils import timezone

from framework.interface import FilterPlugin
from framework.reading.redaction import KEPT_ANNOTATIONS
from schedweb.engine.payload import decode_manifests, encode_payload
from schedweb.runs.models import Analysis, JournalEntry, NodeRecord, ObjectRecord, PodRecord
from schedweb.snapshots import redaction
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.selectors import snapshot_manifests
from schedweb.snapshots.services import snapshot_from_manifests
from tests.schedweb.engine.worlds import START
from tests.schedweb.runs.conftest import CLUSTER, Game
from tests.schedweb.runs.exporting.test_simulator_annotations import body_of

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "hunter2"
VOLUMES = [
    {"name": "a", "azureFile": {"secretName": SECRET, "shareName": "s"}},
    {"name": "b", "scaleIO": {"gateway": f"https://me:{SECRET}@host", "system": "s"}},
    {"name": "c", "cephfs": {"monitors": ["m"], "secretFile": f"/etc/{SECRET}"}},
]


def with_secrets(manifest: dict[str, Any]) -> dict[str, Any]:
    """As a version stored it that kept more."""
    metadata = {**manifest["metadata"], "annotations": {"objectset.rio.cattle.io/applied": SECRET}}
    spec = {**manifest.get("spec", {})}
    if "containers" in spec:
        spec["containers"] = [{**each, "args": [SECRET], "env": [{"value": SECRET}]} for each in spec["containers"]]
        spec["volumes"] = VOLUMES
    if manifest.get("kind") == "PersistentVolume":
        spec |= {"azureFile": {"secretName": SECRET, "secretNamespace": "keys", "shareName": "s"}}
    return {**manifest, "metadata": metadata, "spec": spec}


def as_before(stored: bytes | memoryview | None) -> bytes:
    assert stored is not None
    manifest = msgspec.json.decode(zstandard.ZstdDecompressor().decompress(bytes(stored)))
    return zstandard.ZstdCompressor().compress(msgspec.json.encode(with_secrets(manifest)))


@pytest.fixture
def snapshot(transactional_db: None) -> Snapshot:
    made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk"}, "spec": {"hostPath": {}}}
    return snapshot_from_manifests(
        name="small",
        description="",
        source=Snapshot.Source.IMPORT,
        objects=[made, *CLUSTER],
        timeline=[],
        taken_at=START,
    )


@pytest.fixture
def older(played: Game) -> Game:
    """Everything that holds manifests holds secrets."""
    for model in (PodRecord, NodeRecord, ObjectRecord):
        for row in model.objects.filter(run=played.id).exclude(manifest=None):
            model.objects.filter(pk=row.pk).update(manifest=as_before(row.manifest))
    snapshot = played.run.snapshot
    kept = decode_manifests(bytes(snapshot.payload))
    Snapshot.objects.filter(pk=snapshot.pk).update(payload=encode_payload(map(with_secrets, kept)))
    snapshot_manifests.cache_clear()
    command = {"type": "pod_add", "manifest": with_secrets(kept[-1])}
    JournalEntry.objects.filter(run=played.id, number=1).update(type="pod_add", command=command)
    Analysis.objects.create(
        run=played.run,
        name="capacity_pods",
        position=1,
        arguments={"manifest": with_secrets(kept[-1])},
        status=Analysis.Status.FAILED,
        expires=timezone.now(),
    )
    return played


def test_nobody_is_shown_what_is_not_kept_today(older: Game, client: Client) -> None:
    run, snapshot = f"/api/v1/runs/{older.id}", f"/api/v1/snapshots/{older.run.snapshot_id}"
    entry = JournalEntry.objects.get(run=older.id, number=1).pk
    analysis = Analysis.objects.get(run=older.id).pk
    visitor = Client()
    made = client.post(f"{run}/share-links/", {"name": "all", "days": 1}, content_type="application/json").json()
    assert visitor.get(made["path"]).status_code == 302
    pages = {
        f"{run}/pods/shop/web-1/": "web-1",
        f"{run}/pods/shop/web-1/yaml/": "azureFile",
        f"{run}/nodes/a/": "a",
        f"{run}/nodes/a/yaml/": "kind: Node",
        f"{run}/journal/": "pod_add",
        f"{run}/journal/{entry}/": "pod_add",
        f"{run}/analyses/{analysis}/": "capacity_pods",
        f"{run}/annotations/?as=json": "web-1",
        f"{snapshot}/objects/": "web-1",
        f"{snapshot}/objects/?kind=PersistentVolume": "azureFile",
        f"{run}/objects/yaml/?kind=PersistentVolume&name=disk": "azureFile",
    }
    for page, said in pages.items():
        for reader in (client, visitor):
            answer = reader.get(page)
            if reader is visitor and answer.status_code in (403, 404):
                continue
            assert answer.status_code == 200, (page, answer.content)
            body = (body_of(answer) if answer.streaming else answer.content).decode()
            assert (SECRET in body, said in body) == (False, True), page


def test_what_samples_and_traces_bring_goes_through_the_door_too() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "x"}, "spec": {"containers": []}}
    pod["spec"] = {"containers": [{"name": "c", "image": "i", "args": [SECRET]}]}
    made = snapshot_from_manifests(
        name="n",
        description="",
        source=Snapshot.Source.TRACE,
        objects=[pod],
        timeline=[],
        taken_at=0,
    )
    assert SECRET not in str(decode_manifests(bytes(made.payload)))


class ReadsAnAnnotation(FilterPlugin):
    name: ClassVar[str] = "ReadsAnAnnotation"
    annotations: ClassVar[tuple[str, ...]] = ("example.com/tier",)


class Entry:
    """An entry point of an installed package."""

    def __init__(self, name: str, plugin: type | None) -> None:
        self.name = self.value = name
        self._plugin = plugin

    def load(self) -> type:
        if self._plugin is None:
            raise ImportError("broken")
        return self._plugin


def test_annotations_that_installed_plugins_read_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Entry("broken", None), Entry("reads", ReadsAnAnnotation)]
    monkeypatch.setattr(redaction, "entry_points", lambda group: found)
    redaction.annotations_kept.cache_clear()
    try:
        metadata = {"name": "n", "annotations": {"example.com/tier": "gold", "example.com/other": SECRET}}
        kept = redaction.redact({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
        assert kept["metadata"]["annotations"] == {"example.com/tier": "gold"}
        assert redaction.annotations_kept() == KEPT_ANNOTATIONS | {"example.com/tier"}
    finally:
        redaction.annotations_kept.cache_clear()
