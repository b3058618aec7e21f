"""Two runs side by side: pods that went different ways, and the plugin that made the difference."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.attempts.selectors import stored_attempt
from schedweb.runs.comparing.difference import answer_about
from schedweb.runs.comparing.selectors import PodPlace, kind_of
from schedweb.runs.models import Run
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from tests.schedweb.engine.worlds import DEFAULT, START, Manifest, node, pod
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import check_shape, get

AT = "/api/v1/runs/{a}/comparison/{b}/"
PACKING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 3}]}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
GPU = "nvidia.com/gpu"


def gpu_node(name: str, cpu: str, zone: str) -> Manifest:
    made = node(name, cpu, **{"topology.kubernetes.io/zone": zone})
    made["status"]["allocatable"] = made["status"]["capacity"] = {**made["status"]["allocatable"], GPU: "8"}
    return made


CLUSTER: list[Manifest] = [
    gpu_node("a", "4", "west"),
    node("b", "4", **{"topology.kubernetes.io/zone": "east"}),
    pod("old", "1", node_name="a"),
    *(pod(f"web-{index}", "750m", app="web") for index in range(4)),
    pod("whole", "3"),
    {**(held := pod("held")), "spec": {**held["spec"], "schedulingGates": [{"name": "example.com/quota"}]}},
]


@pytest.fixture
def pair(operator: User, transactional_db: None) -> tuple[Game, Game]:
    """The same cluster spread and packed. Packed, one node stays empty enough for the pod that needs most of one."""
    snapshot = snapshot_from_manifests(
        name="two", description="", source=Snapshot.Source.IMPORT, objects=CLUSTER, timeline=[], taken_at=START
    )
    games = []
    for name, text in (("default", DEFAULT), ("packing", PACKING)):
        configuration = Configuration.objects.create(name=name, slug=name)
        version = ConfigurationVersion.objects.create(configuration=configuration, number=1, text=text)
        run = run_create(user=operator, snapshot=snapshot.pk, configuration_version=version.pk, seed=7, speed="max")
        game = Game(run, operator)
        game.command("play", speed="max")
        game.play()
        games.append(game)
    return games[0], games[1]


def ask(client: Client, pair: tuple[Game, Game], rest: str = "") -> Any:
    return get(client, AT.format(a=pair[0].id, b=pair[1].id) + rest)


def nodes_of(run: Run) -> dict[str, str]:
    return dict(run.pod_records.values_list("name", "node"))


def test_what_the_two_came_to(pair: tuple[Game, Game], client: Client) -> None:
    body = ask(client, pair)
    check_shape("/api/v1/runs/{run}/comparison/{other}/", body)
    assert body["same_cluster"]
    figures = ("pods", "placed", "unscheduled", "gated")
    assert [[body[side][name] for name in figures] for side in "ab"] == [[7, 5, 1, 1], [7, 6, 0, 1]]
    cpu = [next(each for each in body[side]["resources"] if each["name"] == "cpu") for side in "ab"]
    # 1 and 4 × 0.75 cores of 8, and 3 more where they fit: on b, while a is full.
    assert [(each["used"], each["allocatable"], each["share"]) for each in cpu] == [
        (4000, 8000, 0.5),
        (7000, 8000, 0.875),
    ]
    assert (cpu[1]["highest"], cpu[1]["largest"], cpu[1]["largest_node"]) == (1.0, 1000, "b")
    assert (cpu[1]["mean"], cpu[1]["deviation"], cpu[1]["zones_apart"]) == (0.875, 0.125, 0.25)
    [gpus] = body["b"]["gpus"]
    assert gpus["nodes"] == [{"free": 8, "nodes": 1}]
    assert [each["pods"] for each in gpus["fits"]] == [8, 4, 2, 1]
    assert body["a"]["waiting"]["count"] == 4
    assert {each["result"]: each["count"] for each in body["b"]["attempts"]["results"]} == {"bound": 5}
    one, two = (nodes_of(game.run) for game in pair)
    counts = body["counts"]
    assert counts["elsewhere"] == sum(1 for name in one if one[name] and two[name] and one[name] != two[name])
    assert [counts[kind] for kind in ("only_a", "only_b", "neither", "gated")] == [0, 1, 0, 1]
    assert sum(counts.values()) == len(one)
    alone = get(client, AT.format(a=pair[0].id, b=pair[0].id))
    assert [alone["counts"][kind] for kind in ("same", "neither", "gated")] == [5, 1, 1]
    [held] = ask(client, pair, "pods/?kind=gated")["results"]
    assert held["pod"]["name"] == "held"
    assert [(each["why"], each["side"]) for each in held["causes"]] == [("gated", "a"), ("gated", "b")]
    gone = "00000000-0000-0000-0000-000000000000"
    assert client.get(AT.format(a=pair[0].id, b=gone)).status_code == 404


def test_a_run_that_begins_while_it_is_read(pair: tuple[Game, Game], client: Client) -> None:
    """Its first batch is stored after its row was read, which knew of no resource, and before its nodes are."""
    stored = pair[0].run
    known = stored.resources
    Run.objects.filter(pk=stored.pk).update(resources=[])

    def store(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if 'FROM "runs_noderecord"' in sql:
            Run.objects.filter(pk=stored.pk).update(resources=known)
        return execute(sql, *rest)

    with connection.execute_wrapper(store):
        body = ask(client, pair)
    assert [body[side]["nodes"] for side in "ab"] == [2, 2]
    assert {each["name"] for each in body["a"]["resources"]} == {each["name"] for each in body["b"]["resources"]}


def test_the_swings_explain_the_choice(pair: tuple[Game, Game], client: Client) -> None:
    """They are the plugins' points in the stored attempts, and add up to the margins of both choices."""
    rows = ask(client, pair, "pods/?kind=elsewhere")["results"]
    assert rows
    scored = [row for row in rows if row["points"]]
    assert scored
    for row in scored:
        margins = 0
        for game, own, other in ((pair[0], "a", "b"), (pair[1], "b", "a")):
            trace = stored_attempt(game.id, row[own]["attempt"]).trace
            here, there = answer_about(trace, row[own]["node"]), answer_about(trace, row[other]["node"])
            assert here.total is not None
            assert there.total is not None
            margins += here.total - there.total
            for each in row["points"]:
                assert each[f"{own}_own"] == (here.points or {}).get(each["plugin"], 0)
        assert sum(each["swing"] for each in row["points"]) == margins
        best = max(each["swing"] for each in row["points"])
        [cause] = row["causes"]
        if best > 0:
            assert cause["why"] == "score"
            assert next(each["swing"] for each in row["points"] if each["plugin"] == cause["plugin"]) == best
        else:
            assert cause["why"] == "tie"
    [row] = ask(client, pair, "pods/?kind=only_b")["results"]
    assert row["pod"]["name"] == "whole"
    assert row["causes"] == [
        {"why": "filter", "side": "a", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]}
    ]


def test_windows_and_exports_hold_the_same_rows(pair: tuple[Game, Game], client: Client) -> None:
    every = ask(client, pair, "pods/")
    check_shape("/api/v1/runs/{run}/comparison/{other}/pods/", every)
    counts = ask(client, pair)["counts"]
    assert every["count"] == counts["elsewhere"] + counts["only_a"] + counts["only_b"]
    second = ask(client, pair, "pods/?offset=1&limit=1")
    assert second["results"] == every["results"][1:2]
    assert ask(client, pair, "pods/?q=WHOLE")["count"] == 1
    refused = client.get(AT.format(a=pair[0].id, b=pair[1].id) + "pods/?kind=odd")
    assert refused.status_code == 400
    assert "kind must be one of elsewhere" in refused.json()["error"]["message"]
    rows = every["results"]
    at = AT.format(a=pair[0].id, b=pair[1].id) + "export/"
    written = client.get(f"{at}?as=csv")
    assert written["Content-Disposition"] == f'attachment; filename="{pair[0].run}-and-{pair[1].run}.csv"'
    table = list(csv.DictReader(StringIO(written.content.decode())))
    assert [(each["name"], each["node_a"], each["node_b"]) for each in table] == [
        (row["pod"]["name"], row["a"]["node"] or "", row["b"]["node"] or "") for row in rows
    ]
    whole = client.get(f"{at}?as=json").json()
    assert whole["pods"] == rows
    assert whole["counts"] == ask(client, pair)["counts"]
    assert client.get(f"{at}?as=xml").status_code == 400


def test_viewers_may_compare_and_strangers_may_not(game: Game, viewer: User) -> None:
    browser = Client()
    at = AT.format(a=game.id, b=game.id)
    assert browser.get(at).status_code in (401, 403)
    browser.force_login(viewer)
    assert browser.get(at).status_code == 200


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (("bound", "x"), ("bound", "x"), "same"),
        (("bound", "x"), ("waiting", "y"), "elsewhere"),
        (("bound", "x"), ("backoff", ""), "only_a"),
        (("gated", ""), ("bound", "x"), "only_b"),
        (("active", ""), ("unschedulable", ""), "neither"),
        (("gated", ""), ("gated", ""), "gated"),
        (("gated", ""), ("unschedulable", ""), "gated"),
        (("deleted", ""), ("bound", "x"), "missing_a"),
        (("bound", "x"), None, "missing_b"),
        (("deleted", ""), None, "same"),
    ],
    ids=["same", "elsewhere", "only-a", "only-b", "neither", "gated", "gated-once", "no-a", "no-b", "gone-from-both"],
)
def test_kinds(a: tuple[str, str], b: tuple[str, str] | None, kind: str) -> None:
    assert kind_of(PodPlace("1", *a, 1), None if b is None else PodPlace("2", *b, 1)) == kind
