"""A run's decisions as kube-scheduler-simulator's annotations, and back again as a cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from framework.interface import Code
from schedweb.runs.attempts.selectors import stored_attempt
from schedweb.runs.exporting.simulator_annotations import HISTORY, MOST_BYTES, PREFIX, annotations_of, go_duration
from schedweb.snapshots.reading import read_cluster
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.snapshots.files import decoded_pods
from tests.schedweb.snapshots.test_simulator_export import exported

AT = "/api/v1/runs/{run}/annotations/"
#: What the simulator writes for every attempt.
NAMES = {
    "prefilter-result", "prefilter-result-status", "filter-result", "postfilter-result", "prescore-result",
    "score-result", "finalscore-result", "reserve-result", "permit-result", "permit-result-timeout", "prebind-result",
    "bind-result", "selected-node",
}  # fmt: skip


def tainted(name: str) -> Manifest:
    made = node(name, "4")
    made["spec"] = {"taints": [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]}
    return made


def picky(name: str, on: str) -> Manifest:
    made = pod(name, "250m")
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    made["spec"]["affinity"] = {"nodeAffinity": affinity}
    return made


def important(name: str, cpu: str, priority: int, on: str = "") -> Manifest:
    made = pod(name, cpu, node_name=on)
    made["spec"]["priority"] = priority
    return made


CLUSTER: list[Manifest] = [
    node("a", "8"),
    node("b", "8"),
    tainted("batch"),
    important("stays", "3500m", 500, "a"),
    pod("leaves", "1", node_name="b"),
    pod("web", "500m"),
    picky("picky", "a"),
    pod("large", "16"),
    important("pushes", "8", 1000),
]


@pytest.fixture
def game(operator: User, transactional_db: None) -> Game:
    return played_out(operator, CLUSTER)


def body_of(answer: Any) -> bytes:
    assert answer.status_code == 200, answer.content

    async def whole() -> bytes:
        return b"".join([part async for part in answer.streaming_content])

    return async_to_sync(whole)()


def pods_of(client: Client, game: Game, query: str = "") -> dict[str, Any]:
    found = json.loads(body_of(client.get(AT.format(run=game.id) + f"?as=json{query}")))
    assert (found["kind"], found["apiVersion"]) == ("List", "v1")
    return {each["metadata"]["name"]: each for each in found["items"]}


def results(annotations: dict[str, str]) -> dict[str, Any]:
    return {
        key.removeprefix(PREFIX): value if key.endswith("selected-node") else json.loads(value)
        for key, value in annotations.items()
        if key.startswith(PREFIX)
    }


def last(game: Game, name: str) -> Any:
    return stored_attempt(game.id, game.run.attempt_rows.filter(name=name).latest("number").number).trace


def test_every_result_of_a_pod_that_was_placed(game: Game, client: Client) -> None:
    pods = pods_of(client, game)
    assert set(pods) == {"web", "picky", "large", "pushes"}
    said = results(pods["web"]["metadata"]["annotations"])
    assert set(said) == NAMES | {"result-history"}
    trace = last(game, "web")
    assert said["selected-node"] == trace.selected
    assert (said["bind-result"], said["postfilter-result"]) == ({"DefaultBinder": "success"}, {})
    called = list(said["filter-result"][trace.selected])
    skipped = [each.plugin for each in trace.pre_filter if each.status.code is Code.SKIP]
    assert skipped
    assert {"NodeUnschedulable", "NodeName", "TaintToleration", "NodeResourcesFit"} <= set(called)
    assert not set(skipped) & set(called)
    assert set(said["filter-result"][trace.selected].values()) == {"passed"}
    # The plugin that refused is the last that was called.
    refused = said["filter-result"]["batch"]
    assert refused["TaintToleration"] == "node(s) had untolerated taint(s)"
    assert set(refused) < set(called)
    assert "NodeResourcesFit" not in refused
    assert said["prefilter-result-status"]["NodeResourcesFit"] == "success"
    assert all(said["prefilter-result-status"][plugin] == "" for plugin in skipped)


def test_scores_are_texts_raw_and_weighted(game: Game, client: Client) -> None:
    for name in ("web", "pushes", "picky"):
        said = results(pods_of(client, game)[name]["metadata"]["annotations"])
        scores = last(game, name).scores
        if scores is None:
            assert (said["score-result"], said["finalscore-result"]) == ({}, {})
            continue
        nodes = [last(game, name).filter.nodes[place] for place in scores.positions]
        assert set(said["score-result"]) == set(nodes)
        for place, on in enumerate(nodes):
            assert sum(int(points) for points in said["finalscore-result"][on].values()) == scores.total[place]
            for each in scores.plugins:
                assert said["score-result"][on][each.plugin] == str(each.raw[place])


def test_node_lists_failures_and_history(game: Game, client: Client) -> None:
    pods = pods_of(client, game)
    assert results(pods["picky"]["metadata"]["annotations"])["prefilter-result"] == {"NodeAffinity": ["a"]}
    large = results(pods["large"]["metadata"]["annotations"])
    assert large["selected-node"] == ""
    assert large["filter-result"]["a"]["NodeResourcesFit"] == "Insufficient cpu"
    assert "nodeName" not in pods["large"]["spec"]
    pushes = game.run.attempt_rows.filter(name="pushes")
    history = results(pods["pushes"]["metadata"]["annotations"])["result-history"]
    assert len(history) == pushes.count() > 1
    victims = [
        (on, plugins)
        for each in history
        for on, plugins in json.loads(each[f"{PREFIX}postfilter-result"]).items()
        if plugins
    ]
    assert victims == [(pods["pushes"]["spec"]["nodeName"], {"DefaultPreemption": "preemption victim"})]
    newest = {key: value for key, value in pods["pushes"]["metadata"]["annotations"].items() if key != HISTORY}
    assert history[-1] == newest


def test_yaml_holds_the_same_pods_and_filters_choose(game: Game, client: Client) -> None:
    every = pods_of(client, game)
    documents = list(yaml.safe_load_all(body_of(client.get(AT.format(run=game.id) + "?as=yaml"))))
    assert {each["metadata"]["name"]: each for each in documents} == every
    assert pods_of(client, game, "&q=web").keys() == {"web"}
    assert pods_of(client, game, "&pod=shop/large").keys() == {"large"}
    assert pods_of(client, game, "&namespace=nobody") == {}
    assert client.get(AT.format(run=game.id) + "?as=xml").json()["error"]["path"] == "as"
    assert client.get(AT.format(run=game.id) + "?as=json&q=-l+=web").status_code == 400


def test_what_is_exported_can_be_imported(game: Game, client: Client) -> None:
    """The cluster of it: what was decided there is decided anew, so its annotations are not kept."""
    pods = pods_of(client, game)
    cluster = read_cluster(pods.values())
    assert not any(each.metadata.annotations for each in decoded_pods(cluster).values())
    assert cluster.removed == {"annotations": sum(len(each["metadata"]["annotations"]) for each in pods.values())}
    assert {each.name for each in decoded_pods(cluster).values()} == pods.keys()
    bound = {each.name: each.spec.node_name for each in decoded_pods(cluster).values() if each.spec.node_name}
    assert bound == dict(game.run.pod_records.filter(column="bound", attempts__gt=0).values_list("name", "node"))


def test_the_names_are_those_of_the_simulators_own_export() -> None:
    annotations = exported()["pods"][0]["metadata"]["annotations"]
    said = results(annotations)
    assert set(said) == NAMES | {"result-history"}
    [only] = said["result-history"]
    assert only == {key: value for key, value in annotations.items() if key != HISTORY}


def test_a_history_is_cut_from_its_oldest_side() -> None:
    each = {f"{PREFIX}filter-result": "x" * (MOST_BYTES // 3)}
    made = annotations_of([{**each, "number": str(number)} for number in range(5)])
    history = json.loads(made[HISTORY])
    assert [one["number"] for one in history] == ["3", "4"]
    assert len(made[HISTORY].encode()) <= MOST_BYTES
    assert HISTORY not in annotations_of([{f"{PREFIX}filter-result": "x" * MOST_BYTES}])
    assert annotations_of([]) == {}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (10, "10s"), (1.5, "1.5s"), (90, "1m30s"), (900, "15m0s"), (3600, "1h0m0s"), (0.25, "250ms")],
)
def test_durations_are_go_s(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text
