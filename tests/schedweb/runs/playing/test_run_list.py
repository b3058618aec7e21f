"""The list of runs: what it is searched and filtered by, and deleting several at once."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.models import Run
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from tests.schedweb.engine.worlds import DEFAULT, START, node
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import NOBODYS, check_shape, get

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/api/v1/runs/"
DELETE = "/api/v1/runs/delete/"


@pytest.fixture
def runs(game: Game, operator: User) -> dict[str, Run]:
    """r-0001: small, asks a person. r-0002: edge, packed. r-0003: edge, packed, a fork of it, which has finished."""
    edge = snapshot_from_manifests(
        name="edge", description="", source=Snapshot.Source.IMPORT, objects=[node("a")], timeline=[], taken_at=START
    )
    packed = Configuration.objects.create(name="packed 100 %", slug="packed")
    version = ConfigurationVersion.objects.create(configuration=packed, number=1, text=DEFAULT)
    second, third = (run_create(user=operator, snapshot=edge.pk, configuration_version=version.pk) for _ in "12")
    Run.objects.filter(pk=third.pk).update(parent=second, parent_name=str(second), parent_position=4, state="finished")
    return {str(run): run for run in Run.objects.all()}


FOUND: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["r-0003", "r-0002", "r-0001"]),
    ({"q": "EDGE"}, ["r-0003", "r-0002"]),
    ({"q": "edge packed"}, ["r-0003", "r-0002"]),
    ({"q": "small packed"}, []),
    ({"q": "mira"}, ["r-0003", "r-0002", "r-0001"]),
    ({"q": "R-2"}, ["r-0002"]),
    ({"q": "0003"}, ["r-0003"]),
    ({"q": "100 %"}, ["r-0003", "r-0002"]),
    ({"q": "9" * 40}, []),
    ({"state": "finished"}, ["r-0003"]),
    ({"fork": "true"}, ["r-0003"]),
    ({"fork": "false", "q": "edge"}, ["r-0002"]),
    ({"snapshot": NOBODYS}, []),
    ({"configuration": NOBODYS}, []),
]


@pytest.mark.parametrize(("asked", "numbers"), FOUND)
def test_what_the_list_is_asked_for(
    runs: dict[str, Run], client: Client, asked: dict[str, str], numbers: list[str]
) -> None:
    body = client.get(LIST, asked).json()
    check_shape("/api/v1/runs/", body)
    assert ([run["number"] for run in body["results"]], body["count"]) == (numbers, len(numbers))


def test_runs_of_a_cluster_and_of_a_configuration(runs: dict[str, Run], client: Client) -> None:
    first = runs["r-0001"]
    for asked in (
        {"snapshot": str(first.snapshot_id)},
        {"configuration": str(first.configuration_version.configuration_id)},
    ):
        assert [run["number"] for run in client.get(LIST, asked).json()["results"]] == ["r-0001"]


@pytest.mark.parametrize("name", ["snapshot", "configuration", "state", "fork"])
def test_a_filter_that_means_nothing_is_refused(client: Client, name: str) -> None:
    answer = client.get(LIST, {name: "nonsense"})
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, name)


def delete(client: Client, *keys: Any) -> Any:
    return client.post(DELETE, {"runs": [str(key) for key in keys]}, content_type="application/json")


def test_several_runs_are_deleted_and_those_of_others_stay(runs: dict[str, Run], client: Client) -> None:
    first, second, third = (runs[number].pk for number in ("r-0001", "r-0002", "r-0003"))
    Run.objects.filter(pk=first).update(started_by=None, started_by_name="olga")
    strange = uuid4()
    body = delete(client, second, first, strange, second).json()
    assert body["deleted"] == [str(second)]
    assert [(kept["id"], kept["why"].split(".")[0]) for kept in body["kept"]] == [
        (str(first), "r-0001 was started by olga"),
        (str(strange), "There is no such run; it may have been deleted"),
    ]
    # Its fork goes on without it.
    assert get(client, f"{LIST}{third}/")["parent"]["id"] is None
    assert set(Run.objects.values_list("pk", flat=True)) == {first, third}


def test_nobody_deletes_nothing_or_without_the_role(runs: dict[str, Run], client: Client, viewer: User) -> None:
    assert delete(client).status_code == 400
    assert delete(client, "r-0001").status_code == 400
    other = Client()
    other.force_login(viewer)
    assert delete(other, runs["r-0001"].pk).status_code == 403
    assert Run.objects.count() == 3
