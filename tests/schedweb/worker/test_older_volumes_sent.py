"""A run on a snapshot of a version that sealed less: no secret of a volume is sent to an extender or shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.engine.payload import decode_manifests, encode_payload
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.selectors import snapshot_manifests
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.runs.conftest import Game, prepared
from tests.schedweb.worker.webhook import webhook

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "hunter2"
VOLUME = {"name": "files", "azureFile": {"secretName": SECRET, "shareName": "s"}}


def as_before(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest["kind"] != "Pod":
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "volumes": [VOLUME]}}


def older(operator: User, text: str) -> Game:
    """The second pod fits where the placed one goes."""
    urgent = pod("urgent", "6")
    urgent["spec"]["priority"] = 9
    pods = [pod("placed", "6", node_name="a"), pod("first", "1"), urgent]
    game = prepared(operator, [node("a", "8"), *pods], configuration=text)
    snapshot = Snapshot.objects.get(pk=game.run.snapshot_id)
    payload = encode_payload(map(as_before, decode_manifests(bytes(snapshot.payload))))
    Snapshot.objects.filter(pk=snapshot.pk).update(payload=payload)
    snapshot_manifests.cache_clear()
    return game


def test_no_secret_of_a_volume_leaves_the_server(operator: User, client: Client) -> None:
    with webhook() as hook:
        hook.says("/filter", {"Nodes": {"items": [node("a", "8")]}})
        hook.says("/preempt", {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "uid-placed"}]}}})
        verbs = {"filterVerb": "filter", "preemptVerb": "preempt"}
        extender = {"urlPrefix": hook.url, "httpTimeout": "30s", **verbs}
        text = f"{DEFAULT}extenders: {json.dumps([extender])}\n"
        game = older(operator, text)
        # The second one that is made has its own bodies.
        other = Configuration.objects.create(name="other", slug="other")
        version = ConfigurationVersion.objects.create(configuration=other, number=1, text=f"# other\n{text}")
        game.command("step", what="cycle")
        game.play()
        game.command("set_configuration", version=str(version.pk))
        game.command("play", speed="max")
        game.play()
        sent = list(hook.calls)
    assert {path for path, _ in sent} == {"/filter", "/preempt"}
    [victims] = [body["NodeNameToVictims"]["a"]["Pods"] for path, body in sent if path == "/preempt"]
    assert [each["metadata"]["name"] for each in victims] == ["placed"]
    assert SECRET not in json.dumps(sent)
    for told in (*victims, *(body["Pod"] for _, body in sent)):
        assert told["spec"]["volumes"] == [{"name": "files", "azureFile": {"shareName": "s"}}]
    shown = client.get(f"/api/v1/runs/{game.id}/attempts/1/extenders/").content.decode()
    assert "azureFile" in shown
    assert SECRET not in shown
