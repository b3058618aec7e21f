"""Objects besides pods and nodes: two API groups may have a kind of the same name."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.services.runs import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from tests.schedweb.engine.worlds import DEFAULT, START, node
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import check_shape, get

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
