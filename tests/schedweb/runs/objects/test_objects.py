"""Objects besides pods and nodes: two API groups may have a kind of the same name."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils.translation import override

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.objects.selectors import STATES
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from tests.schedweb.engine.worlds import DEFAULT, START, node
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import check_shape, get
from tests.schedweb.saying import LETTERS

pytestmark = pytest.mark.django_db(transaction=True)
OURS, THEIRS = "scheduling.k8s.io", "scheduling.x-k8s.io"


def pod_group(group: str, version: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "train", "namespace": "ml"}
    return {"apiVersion": f"{group}/{version}", "kind": "PodGroup", "metadata": metadata, "spec": spec}


@pytest.fixture
def run(operator: User) -> str:
    """A played run with a PodGroup ml/train of either API."""
    objects = [
        node("a", "4"),
        pod_group(OURS, "v1alpha2", {"schedulingPolicy": {"gang": {"minCount": 3}}}),
        pod_group(THEIRS, "v1alpha1", {"minMember": 2}),
    ]
    made = snapshot_from_manifests(
        name="groups", description="", source=Snapshot.Source.IMPORT, objects=objects, timeline=[], taken_at=START
    )
    configuration = Configuration.objects.create(name="plain", slug="plain")
    version = ConfigurationVersion.objects.create(configuration=configuration, number=1, text=DEFAULT)
    game = Game(
        run_create(user=operator, snapshot=made.pk, configuration_version=version.pk, seed=7, speed="max"), operator
    )
    game.command("play", speed="max")
    game.play()
    return f"/api/v1/runs/{game.id}/objects/"


def test_both_are_kept_and_listed(run: str, client: Client) -> None:
    body = get(client, run)
    check_shape("/api/v1/runs/{run}/objects/", body)
    assert body["kinds"] == [{"kind": "PodGroup", "group": group, "count": 1} for group in (OURS, THEIRS)]
    assert get(client, f"{run}?kind=PodGroup")["count"] == 2
    [row] = get(client, f"{run}?kind=PodGroup.{THEIRS}")["results"]
    assert (row["kind"], row["group"], row["namespace"], row["name"]) == ("PodGroup", THEIRS, "ml", "train")


def test_each_has_its_own_yaml(run: str, client: Client) -> None:
    where = "namespace=ml&name=train"
    assert "minCount: 3" in get(client, f"{run}yaml/?kind=PodGroup.{OURS}&{where}")["yaml"]
    assert "minMember: 2" in get(client, f"{run}yaml/?kind=PodGroup.{THEIRS}&{where}")["yaml"]
    refused = get(client, f"{run}yaml/?kind=PodGroup&{where}", want=400)
    assert refused["error"]["message"] == (
        f"This run has two objects PodGroup ml/train: ask for PodGroup.{OURS} or PodGroup.{THEIRS}."
    )


NAMED = {"name": "x"}
HELD: dict[str, dict[str, Any]] = {
    "PersistentVolumeClaim": {"spec": {"volumeName": "pv"}},
    "PersistentVolume": {"spec": {"claimRef": {"namespace": "shop", "name": "data"}}},
    "ResourceClaim": {"status": {"allocation": {"devices": {}}, "reservedFor": [NAMED]}},
    "ResourceSlice": {"spec": {"driver": "gpu.example.com", "allNodes": True, "devices": [NAMED, NAMED]}},
    "CSINode": {"spec": {"drivers": [{"name": "csi.example.com", "allocatable": {"count": 25}}]}},
    "PodDisruptionBudget": {"status": {"disruptionsAllowed": 2}},
    "CSIDriver": {"spec": {"storageCapacity": True}},
    "CSIStorageCapacity": {"storageClassName": "fast"},
    "Reservation": {
        "status": {
            "phase": "Available",
            "nodeName": "a",
            "allocatable": {"cpu": "4", "memory": "34359738368"},
            "allocated": {"cpu": "1500m"},
            "currentOwners": [{"namespace": "shop", "name": f"web-{i}"} for i in range(5)],
        }
    },
}


@pytest.mark.parametrize("kind", HELD)
def test_what_state_an_object_is_in_is_said_in_the_readers_language(kind: str) -> None:
    state = STATES[kind]
    with override("en"):
        english = state(HELD[kind])
    assert english
    for language, letters in LETTERS.items():
        with override(language):
            assert letters.search(state(HELD[kind])), (language, english)


def test_states_in_english() -> None:
    with override("en"):
        said = {kind: STATES[kind](manifest) for kind, manifest in HELD.items()}
    assert said["ResourceSlice"] == "gpu.example.com, 2 devices on all nodes"
    assert said["CSINode"] == "csi.example.com up to 25"
    assert said["PodDisruptionBudget"] == "2 disruptions allowed"
    assert said["CSIStorageCapacity"] == "fast, nothing free"
    used = "1500m of 4 cpu used, 0 of 32Gi memory used, by shop/web-0, shop/web-1, shop/web-2, 2 more pods"
    assert said["Reservation"] == f"Available on a, {used}"
