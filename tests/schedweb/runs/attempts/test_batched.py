"""An attempt that took the next best node of an equal pod says so: in its picture, on the node picture, in the feed."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.models import Attempt
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from tests.schedweb.engine.worlds import DEFAULT, START, node, pod
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
NO_DEFAULT_CONSTRAINTS = """profiles:
- pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
"""


def played(operator: User) -> Game:
    manifests: list[dict[str, Any]] = [node(f"n{index}", "4") for index in range(3)]
    manifests += [pod(f"web-{index}", "3") for index in range(3)]
    snapshot = snapshot_from_manifests(
        name="full", description="", source=Snapshot.Source.IMPORT, objects=manifests, timeline=[], taken_at=START
    )
    configuration = Configuration.objects.create(name="list", slug="list")
    version = ConfigurationVersion.objects.create(
        configuration=configuration, number=1, text=DEFAULT + NO_DEFAULT_CONSTRAINTS
    )
    run = run_create(user=operator, snapshot=snapshot.pk, configuration_version=version.pk, seed=7, speed="max")
    game = Game(run, operator)
    game.command("play", speed="max")
    game.play()
    assert game.run.state == "finished"
    return game


def test_an_attempt_that_was_batched_names_the_pod_whose_node_was_next(client: Client, operator: User) -> None:
    game = played(operator)
    first, second = (client.get(f"/api/v1/runs/{game.id}/attempts/{number}/").json() for number in (1, 2))
    key = "{namespace}/{name}".format(**first["pod"])
    assert first["sampling"]["batched_with"] is None
    assert second["sampling"] == {
        "checked": 1, "feasible": 1, "of": 3, "sampled": False, "nominated": None, "batched_with": key
    }  # fmt: skip
    assert [point["state"] for point in second["points"] if point["point"] == "Score"] != ["ok"]
    assert Attempt.objects.get(run=game.run, number=2).score is None
    about = {key: second["pod"][key] for key in ("namespace", "name")}
    selection = client.get(f"/api/v1/runs/{game.id}/selection/", about).json()
    assert selection["batched_with"] == key
    lines = client.get(f"/api/v1/runs/{game.id}/feed/?limit=50").json()
    assert f"the next best node of {key}" in str(lines)
