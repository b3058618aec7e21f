"""The browser's ranking (frontend/src/pages/pod/whatIf/ranking.ts) beside the engine's, over what the API gives it."""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any

import pytest
from django.test import Client

from framework.advice import OFF
from framework.configuration import load
from framework.plugins.registry import built_in_registry
from framework.trace.attempt import AttemptTrace
from schedweb.runs.attempts.score_matrix import nodes_body, plugins_body
from scripts.node import command, find_node
from scripts.processes import ROOT
from tests.advice.weighed import RULES, attempt_with, random_cluster, random_weights, totals_of
from tests.schedweb.engine.worlds import DEFAULT
from tests.schedweb.runs.conftest import Game

CASES = 120
TRIES = 3


def matrix_of(trace: AttemptTrace, rule: str, seed: int) -> dict[str, Any]:
    effective = load(DEFAULT, built_in_registry()).effective
    assert effective is not None
    plugins = plugins_body(trace, effective.profiles[0])
    return {
        "profile": trace.profile,
        "ties": rule,
        "seed": seed,
        "filters": [],
        "plugins": plugins,
        **nodes_body(trace),
    }


def ranked_by_the_browser(cases: list[dict[str, Any]]) -> list[Any]:
    told = "".join(f"{json.dumps(case)}\n" for case in cases)
    node = find_node()
    assert node is not None
    done = subprocess.run(
        command(node, ["node", "frontend/scripts/rerank.mjs"]),
        input=told,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_browser_ranks_as_the_engine_does() -> None:
    """Other weights at random, some plugins off, now and then all of them; under each tie rule."""
    cases: list[dict[str, Any]] = []
    wanted: list[list[AttemptTrace]] = []
    for number in range(CASES):
        rng = random.Random(f"browser {number}")
        rule = RULES[number % len(RULES)]
        cluster = random_cluster(rng)
        trace = attempt_with(cluster, {}, rule=rule, seed=number)
        matrix = matrix_of(trace, rule, number)
        tries = [random_weights(rng) for _ in range(TRIES)]
        if number % 10 == 0:
            tries.append(dict.fromkeys((plugin["name"] for plugin in matrix["plugins"]), OFF))
        cases.append({"matrix": matrix, "tries": tries})
        wanted.append([attempt_with(cluster, weights, rule=rule, seed=number) for weights in tries])
    settled: dict[str, int] = {}
    for case, wants, answers in zip(cases, wanted, ranked_by_the_browser(cases), strict=True):
        for want, got in zip(wants, answers, strict=True):
            compare(case["matrix"], want, got)
            settled[got["settled"]] = settled.get(got["settled"], 0) + 1
    assert settled.keys() == {"alone", "rule", "same draw", "first found", "open"}


def compare(matrix: dict[str, Any], want: AttemptTrace, got: dict[str, Any]) -> None:
    nodes = matrix["nodes"]
    if got["settled"] == "first found":
        assert want.scores is None
    else:
        assert want.scores is not None
        assert want.filter is not None
        totals = totals_of(want)
        assert dict(zip(nodes, got["total"], strict=True)) == totals
        tied = [want.filter.nodes[position] for position in want.scores.candidates.tolist()]
        assert [nodes[place] for place in got["tied"]] == tied
        assert got["rank"] == [1 + sum(other > totals[node] for other in totals.values()) for node in nodes]
    if got["settled"] == "open":
        assert matrix["ties"] == "seeded"
        assert want.selected in {nodes[place] for place in got["tied"]}
    else:
        assert nodes[got["winner"]] == want.selected


@pytest.mark.django_db(transaction=True)
def test_the_matrix_of_a_stored_attempt(client: Client, played: Game) -> None:
    body = client.get(f"/api/v1/runs/{played.id}/attempts/1/score-matrix/").json()
    scores = client.get(f"/api/v1/runs/{played.id}/attempts/1/scores/").json()
    assert sorted(body["nodes"]) == ["a", "b"]
    assert body["nodes"][body["chosen"]] == scores["chosen"]["node"]
    weights = {plugin["name"]: plugin["weight"] for plugin in body["plugins"] if plugin["normalized"] is not None}
    assert weights == {plugin["name"]: plugin["weight"] for plugin in scores["plugins"]}
    assert "NodeResourcesFit" in body["filters"]
    (ranked,) = ranked_by_the_browser([{"matrix": body, "tries": [{}]}])
    assert dict(zip(body["nodes"], ranked[0]["total"], strict=True)) == {
        row["node"]: row["total"] for row in scores["rows"]
    }


@pytest.mark.django_db(transaction=True)
def test_an_attempt_that_scored_nothing_has_no_nodes(client: Client, played: Game) -> None:
    large = next(
        row["number"] for row in client.get(f"/api/v1/runs/{played.id}/attempts/?pod=shop/large").json()["results"]
    )
    body = client.get(f"/api/v1/runs/{played.id}/attempts/{large}/score-matrix/").json()
    assert (body["nodes"], body["chosen"], body["tied"]) == ([], None, [])
    assert {plugin["normalized"] for plugin in body["plugins"]} == {None}
