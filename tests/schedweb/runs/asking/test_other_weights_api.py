"""Other weights over a run: the estimate from stored attempts, and the exact run beside it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.deleting.services import run_remove
from schedweb.runs.models import Analysis, Attempt, Run
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from schedweb.worker.analyst import analyse
from tests.schedweb.engine.worlds import DEFAULT, START, Manifest, node, pod
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
PROFILE = "default-scheduler"


def wide(name: str, cpu: str, memory: str) -> Manifest:
    made = node(name, cpu)
    made["status"]["allocatable"] = made["status"]["capacity"] = {"cpu": cpu, "memory": memory, "pods": "110"}
    return made


@pytest.fixture
def weighed(operator: User) -> Game:
    """Nodes on which LeastAllocated and BalancedAllocation want different things; ties go to the smallest name."""
    manifests = [
        wide("a-even", "4", "8Gi"),
        wide("b-odd", "16", "9Gi"),
        wide("c-small", "2", "4Gi"),
        *({**pod(f"web-{index}", "250m")} for index in range(12)),
    ]
    for each in manifests[3:]:
        each["spec"]["containers"][0]["resources"]["requests"]["memory"] = "512Mi"
    snapshot = snapshot_from_manifests(
        name="weighed", description="", source=Snapshot.Source.IMPORT, objects=manifests, timeline=[], taken_at=START
    )
    configuration = Configuration.objects.create(name="Default", slug="default-here")
    version = ConfigurationVersion.objects.create(configuration=configuration, number=1, text=DEFAULT)
    run = run_create(
        user=operator, snapshot=snapshot.pk, configuration_version=version.pk, seed=7, speed="max", ties="smallest"
    )
    game = Game(run, operator)
    game.command("play", speed="max")
    game.play()
    assert game.run.state == "finished"
    return game


@pytest.fixture
def editor(transactional_db: None) -> Client:
    browser = Client()
    browser.force_login(account_create(username="eda", role=Role.EDITOR, password=None))
    return browser


def estimated(client: Client, game: Game, weights: dict[str, int]) -> dict[str, Any]:
    body = {"name": "other_weights", "arguments": {"profile": PROFILE, "weights": weights}}
    asked = client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json")
    assert asked.status_code == 202, asked.content
    assert analyse(Analysis.objects.get(pk=asked.json()["id"]).pk)
    answered: dict[str, Any] = client.get(f"/api/v1/runs/{game.id}/analyses/{asked.json()['id']}/").json()
    assert answered["status"] == "done", answered["error"]
    return answered


WEIGHTS = {"NodeResourcesFit": 0, "NodeResourcesBalancedAllocation": 5}


def test_the_estimate_names_the_pods_and_where_they_would_have_gone(client: Client, weighed: Game) -> None:
    answered = estimated(client, weighed, WEIGHTS)
    found = answered["result"]
    assert found["attempts"] == 12
    assert found["elsewhere"] > 0
    assert found["same"] + found["elsewhere"] + found["open"] == found["attempts"]
    assert found["workloads"] == [
        {"namespace": "shop", "workload": "web", "elsewhere": found["elsewhere"], "open": found["open"]}
    ]
    address = f"/api/v1/runs/{weighed.id}/analyses/{answered['id']}/moved/"
    rows = client.get(address).json()
    assert rows["count"] == found["elsewhere"]
    nodes = dict(Attempt.objects.filter(run=weighed.run).values_list("number", "node"))
    for row in rows["results"]:
        assert row["node"] == nodes[row["number"]] != row["to"]
        assert row["pod"]["workload"] == "web"
    assert client.get(f"{address}?limit=1&offset=1").json()["results"] == rows["results"][1:2]
    assert client.get(f"{address}?q=nobody").json()["count"] == 0
    assert client.get(f"{address}?kind=open").json()["count"] == found["open"]
    assert client.get(f"{address}?kind=other").status_code == 400


def test_the_first_moved_pod_goes_there_in_the_exact_run(client: Client, weighed: Game) -> None:
    """Up to the first pod that moves both runs are alike, so there the estimate is exact."""
    answered = estimated(client, weighed, WEIGHTS)
    first = client.get(f"/api/v1/runs/{weighed.id}/analyses/{answered['id']}/moved/").json()["results"][0]
    body = {"profile": PROFILE, "weights": WEIGHTS}
    made = client.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    assert made.json()["not_repeated"] == 0
    exact = Game(Run.objects.get(pk=made.json()["run"]["id"]), weighed.user)
    exact.play()
    assert (exact.run.state, exact.run.error) == ("finished", "")
    name = exact.run.configuration_version.configuration.name
    assert name == "What if: NodeResourcesFit off, NodeResourcesBalancedAllocation × 5"
    assert exact.run.pod_records.get(name=first["pod"]["name"]).node == first["to"]
    before = Attempt.objects.filter(run=weighed.run, number__lt=first["number"]).values_list("pod_uid", "node")
    after = Attempt.objects.filter(run=exact.run, number__lt=first["number"]).values_list("pod_uid", "node")
    assert list(before) == list(after)
    again = client.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json")
    assert (again.status_code, again.json()["run"]["id"]) == (200, str(exact.id))
    compared = client.get(f"/api/v1/runs/{weighed.id}/comparison/{exact.id}/").json()
    assert compared["counts"]["elsewhere"] > 0


def offered(client: Client) -> list[str]:
    return [each["name"] for each in client.get("/api/v1/configurations/?limit=200").json()["results"]]


def test_an_exact_runs_configuration_is_not_among_those_that_people_made(
    client: Client, editor: Client, weighed: Game
) -> None:
    made = client.post(
        f"/api/v1/runs/{weighed.id}/exact/",
        {"profile": PROFILE, "weights": {"ImageLocality": 0}},
        content_type="application/json",
    ).json()["run"]
    exact = Game(Run.objects.get(pk=made["id"]), weighed.user)
    exact.play()
    used = client.get(f"/api/v1/runs/{exact.id}/").json()["configuration"]
    assert used["name"] == "What if: ImageLocality off"
    assert used["name"] not in offered(client)
    # The run still leads to it and to its YAML.
    at = f"/api/v1/configurations/{used['id']}/"
    assert client.get(at).json()["what_if"] is True
    assert "ImageLocality" in client.get(f"{at}versions/1/").json()["text"]
    # Somebody keeps it.
    assert editor.patch(at, {"keep": True}, content_type="application/json").json()["what_if"] is False
    assert used["name"] in offered(client)
    assert client.delete(f"/api/v1/runs/{exact.id}/").status_code == 204
    assert used["name"] in offered(client)


def test_it_goes_with_the_last_run_that_knows_it(client: Client, weighed: Game) -> None:
    body = {"profile": PROFILE, "weights": {"ImageLocality": 0}}
    made = client.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json").json()["run"]
    exact = Game(Run.objects.get(pk=made["id"]), weighed.user)
    exact.play()
    [configuration] = Configuration.objects.filter(what_if=True)
    # A fork of the exact run has it in its journal alone until it is played.
    fork = client.post(f"/api/v1/runs/{exact.id}/forks/", {}, content_type="application/json").json()
    assert client.delete(f"/api/v1/runs/{exact.id}/").status_code == 204
    assert Configuration.objects.filter(pk=configuration.pk).exists()
    assert client.delete(f"/api/v1/runs/{fork['id']}/").status_code == 204
    # They could be brought back so far.
    assert Configuration.objects.filter(pk=configuration.pk).exists()
    for run in Run.every.exclude(deleted_at=None):
        run.goes_at = run.deleted_at
        run_remove(run=run)
    assert not Configuration.objects.filter(pk=configuration.pk).exists()


def test_what_an_older_version_made_is_recognised(transactional_db: None) -> None:
    made = {
        "What if: ImageLocality off": ("Default v1, changed", 1, True),
        "Що, якби: ImageLocality × 3": ("Default v1, змінено", 1, True),
        "假设：ImageLocality × 3": ("Default v1，已更改", 1, True),
        "What if: edited since": ("Default v1, changed", 2, False),
        "What if: described by somebody": ("ours", 1, False),
        "What of it, changed": ("Default v1, changed", 1, False),
    }
    for name, (description, versions, _) in made.items():
        row = Configuration.objects.create(name=name, description=description)
        for number in range(1, versions + 1):
            ConfigurationVersion.objects.create(configuration=row, number=number, text="")
    migration = import_module("schedweb.configurations.migrations.0003_what_if")
    migration.mark(apps, None)
    marked = dict(Configuration.objects.filter(name__in=made).values_list("name", "what_if"))
    assert marked == {name: expected for name, (_, _, expected) in made.items()}


def test_a_filter_plugin_that_is_off_is_for_an_exact_run_only(client: Client, weighed: Game) -> None:
    body = {"profile": PROFILE, "filters_off": ["NodeResourcesFit"]}
    made = client.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    version = ConfigurationVersion.objects.get(configuration__name="What if: NodeResourcesFit does not filter")
    exact = Game(Run.objects.get(pk=made.json()["run"]["id"]), weighed.user)
    exact.play()
    assert exact.run.configuration_version == version
    filters = client.get(f"/api/v1/runs/{exact.id}/attempts/1/score-matrix/").json()["filters"]
    assert "NodeResourcesFit" not in filters
    assert "NodePorts" in filters


def test_what_people_did_is_not_repeated_and_that_is_said(client: Client, weighed: Game) -> None:
    weighed.command("node_cordon", name="a-even")
    weighed.play()
    body = {"profile": PROFILE, "weights": {"ImageLocality": 0}}
    made = client.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json").json()
    assert made["not_repeated"] == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"profile": PROFILE, "weights": {"NodeResourcesFit": 1}}, "Nothing is changed"),
        ({"profile": PROFILE, "weights": {"NodeName": 3}}, "NodeName does not score"),
        ({"profile": PROFILE, "filters_off": ["ImageLocality"]}, "ImageLocality does not filter"),
        ({"profile": "other", "weights": {"NodeResourcesFit": 2}}, "no profile 'other'"),
        ({"profile": PROFILE, "weights": {"NodeResourcesFit": -1}}, "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_run_is_refused(client: Client, weighed: Game, body: dict[str, Any], words: str) -> None:
    answer = client.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert words in answer.json()["error"]["message"]
    assert Run.objects.count() == 1


def test_a_viewer_may_estimate_but_not_run(viewer: User, weighed: Game) -> None:
    looking = Client()
    looking.force_login(viewer)
    assert estimated(looking, weighed, WEIGHTS)["result"]["attempts"] == 12
    body = {"profile": PROFILE, "weights": WEIGHTS}
    answer = looking.post(f"/api/v1/runs/{weighed.id}/exact/", body, content_type="application/json")
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"profile": PROFILE, "weights": {}}, "weights"),
        ({"profile": PROFILE, "weights": {"NodeName": 3}}, "NodeName does not score"),
        ({"profile": "other", "weights": {"NodeResourcesFit": 3}}, "no profile"),
    ],
)
def test_what_cannot_be_estimated_is_refused(
    client: Client, weighed: Game, arguments: dict[str, Any], words: str
) -> None:
    body = {"name": "other_weights", "arguments": arguments}
    answer = client.post(f"/api/v1/runs/{weighed.id}/analyses/", body, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert words in answer.json()["error"]["message"]
