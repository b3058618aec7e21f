"""What is proposed for what is missing, the way a person goes: asked over the API, tried on a fork, seen there."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.models import Analysis, Run
from schedweb.worker.analyst import analyse
from tests.schedweb.engine.crowded import DEVICE_CLASS, SLICE, ZONE, low, pvc, storage_class, using
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import Game, played_out

pytestmark = pytest.mark.django_db(transaction=True)
DRIVER: Manifest = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "ebs.csi.aws.com"},
    "spec": {},
}
NOWHERE = {
    **storage_class("nowhere", "WaitForFirstConsumer", "ebs.csi.aws.com"),
    "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["eu-1x"]}]}],
}
OBJECTS: list[Manifest] = [
    node("west-1", **{ZONE: "eu-1a"}),
    node("full", "1", pool="full"),
    DRIVER,
    DEVICE_CLASS,
    SLICE,
    NOWHERE,
    storage_class("late", "WaitForFirstConsumer", "ebs.csi.aws.com"),
    pvc("of-no-class", "gone"),
    pvc("of-a-far-class", "nowhere"),
    using(pod("claims"), "missing"),
    using(pod("classes"), "of-no-class"),
    using(pod("far"), "of-a-far-class"),
    using(pod("devices"), devices="one-gpu"),
    low("low", "full", 0, "1"),
    pod("urgent", "1"),
]
OBJECTS[-1]["spec"]["nodeSelector"] = {"pool": "full"}
#: Pod → (which of its remedies, where it goes, what the fork says of itself).
WANTED = {
    "claims": (
        "Create the missing PersistentVolumeClaim missing",
        "west-1",
        [("", "added PersistentVolumeClaim missing")],
    ),
    "classes": ("Create the missing StorageClass gone", "west-1", [("", "added StorageClass gone")]),
    "far": (
        "Delete the claim of-a-far-class and make it anew with the StorageClass late",
        "west-1",
        [("of-a-far-class", "uses the StorageClass late instead of nowhere")],
    ),
    "devices": ("Create the missing ResourceClaim one-gpu", "west-1", [("", "added ResourceClaim one-gpu")]),
    "urgent": (
        "Create a PriorityClass of 1 for it, instead of 0",
        "full",
        [("", "added PriorityClass priority-1"), ("urgent", "priority 0 → 1")],
    ),
}


def test_what_is_missing_is_made_on_a_fork_and_the_pod_is_placed(operator: User, client: Client) -> None:
    parent = played_out(operator, OBJECTS)
    pending = {name for name, column in parent.places().items() if column != "bound"}
    assert pending == WANTED.keys()
    for name, (text, where, told) in WANTED.items():
        remedy = next(each for each in remedies_of(client, parent, name) if each["text"] == text)
        assert remedy["node"] == where
        body = {"changes": remedy["operations"], "play": True}
        made = client.post(f"/api/v1/runs/{parent.id}/forks/", body, content_type="application/json").json()
        assert [(each["workload"], each["text"]) for each in made["fork_changes"]] == told
        fork = Game(Run.objects.get(pk=made["id"]), operator)
        fork.play()
        assert not fork.run.journal.exclude(status="applied").exists()
        seen = client.get(f"/api/v1/runs/{made['id']}/pods/shop/{name}/").json()
        assert (seen["column"], seen["node"]) == ("bound", where), (name, seen["answer"]["headline"])


def remedies_of(client: Client, game: Game, name: str) -> list[Any]:
    body = {"name": "what_would_help", "arguments": {"namespace": "shop", "name": name}}
    asked = client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json").json()
    assert analyse(Analysis.objects.get(pk=asked["id"]).pk)
    answer = client.get(f"/api/v1/runs/{game.id}/analyses/{asked['id']}/").json()
    assert answer["status"] == "done", answer["error"]
    found: list[Any] = answer["result"]["remedies"]
    return found
