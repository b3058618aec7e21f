"""The cycle half done, point by point, beside what its attempt says in the end."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from framework.extenders import Answer
from framework.trace.attempt import AttemptTrace
from schedweb.engine import commands
from schedweb.engine.batch import Gatherer
from schedweb.engine.cycle_view import NAMED, POINTS, ROWS, cycle_of
from schedweb.engine.player import Happened, Player
from tests.schedweb.engine.crowded import ATTACHED
from tests.schedweb.engine.worlds import ASKING, DEFAULT, Table, node, play, player, pod

CLUSTER = [*(node(f"n{index:02}", "8") for index in range(12)), node("s1", "1"), node("s2", "1"), pod("big", "2")]


def stepped(game: Player) -> tuple[dict[str, dict[str, Any]], AttemptTrace]:
    """(what was shown at each point, the attempt as it ended)."""
    shown: dict[str, dict[str, Any]] = {}
    while not game.traces:
        game.operate()
        cycle = cycle_of(game)
        if cycle is not None:
            body = msgspec.to_builtins(cycle)
            point = next(each["point"] for each in body["points"] if each["state"] == "current")
            shown[point] = body
    return shown, game.traces[0]


def test_before_filter_nothing_is_filtered_and_before_score_nothing_scored() -> None:
    shown, _ = stepped(player(CLUSTER))
    assert shown["PreFilter"]["filtered"] is None
    assert shown["Filter"]["scored"] is None
    assert shown["PreScore"]["scored"] is None


def test_who_is_filtered_so_far() -> None:
    shown, _ = stepped(player(CLUSTER))
    found = shown["Filter"]["filtered"]
    assert (found["of"], found["left"], found["unseen"]) == (14, 12, 0)
    assert found["groups"] == [
        {
            "plugin": "NodeResourcesFit",
            "code": "UnschedulableAndUnresolvable",
            "reasons": ["Insufficient cpu"],
            "nodes": 2,
            "named": ["s1", "s2"],
        }
    ]
    assert len(found["named"]) == NAMED
    assert shown["Score"]["filtered"] == found


def test_scores_so_far_are_those_of_the_attempt() -> None:
    shown, trace = stepped(player(CLUSTER))
    found = shown["Score"]["scored"]
    assert trace.scores is not None
    assert trace.filter is not None
    assert found["nodes"] == 12
    assert len(found["rows"]) == ROWS
    names = [trace.filter.nodes[position] for position in trace.scores.positions.tolist()]
    for row in found["rows"]:
        place = names.index(row["node"])
        assert row["raw"] == [int(each.raw[place]) for each in trace.scores.plugins]
        assert row["normalized"] == [int(each.normalized[place]) for each in trace.scores.plugins]
        weighed = zip(row["normalized"], found["plugins"], strict=True)
        assert row["total"] == sum(points * plugin["weight"] for points, plugin in weighed)
    assert found["rows"][0]["total"] == trace.scores.best
    assert [row["total"] for row in found["rows"]] == sorted((row["total"] for row in found["rows"]), reverse=True)


def test_a_pod_that_fits_nowhere_shows_who_refused() -> None:
    shown, _ = stepped(player([node("a", "1"), node("b", "1"), pod("big", "2")]))
    assert shown["PostFilter"]["filtered"]["left"] == 0
    assert shown["PostFilter"]["filtered"]["groups"][0]["nodes"] == 2
    assert shown["PostFilter"]["scored"] is None


@pytest.mark.parametrize(
    "configuration",
    [DEFAULT, "# kube-scheduler --feature-gates=NominatedNodeNameForExpectation=false\n" + DEFAULT, ASKING],
    ids=["announced", "not-announced", "permitted-before"],
)
def test_a_pod_that_waits_in_pre_bind_says_so(configuration: str) -> None:
    *cluster, trainer = ATTACHED
    labelled = {**trainer, "metadata": {**trainer["metadata"], "labels": {"ask": "person"}}}
    at = Table(player([*cluster, labelled], configuration=configuration))
    play(at.game)
    if configuration is ASKING:
        named = commands.DecidedPod("shop", "trainer-0")
        at.order(commands.Decide(decision="approve", pods=(named,)))
        play(at.game)
    view = at.game.projection.views["uid-trainer-0"]
    assert (view.column, view.card().point) == ("in_flight", "PreBind")


def test_between_the_points_of_pre_bind_it_says_pre_bind() -> None:
    game = player(ATTACHED)
    seen = set()
    for _ in range(40):
        game.operate()
        view = game.projection.views["uid-trainer-0"]
        if view.column == "in_flight":
            seen.add(view.card().point)
    assert "PreBind" in seen
    assert seen <= {None, *POINTS}


def test_whom_an_attempt_waits_for() -> None:
    """Since when is kept: a batch more does not begin it anew. Who looks back at the moment asks nobody."""
    extenders = [
        {"urlPrefix": "http://user:secret@first", "filterVerb": "f", "nodeCacheCapable": True, "httpTimeout": "2500ms"},
        {"urlPrefix": "http://second", "prioritizeVerb": "p", "weight": 1, "nodeCacheCapable": True},
        {"urlPrefix": "http://third", "prioritizeVerb": "p", "weight": 1, "httpTimeout": "9s", "bindVerb": "b"},
    ]
    game = player(CLUSTER, configuration=f"{DEFAULT}extenders: {json.dumps(extenders)}\n")
    gatherer = Gatherer(game)
    seen: list[tuple[str, dict[str, Any]]] = []
    while len(seen) < 3:
        if game.operate() is not Happened.ASKED:
            continue
        shown = [json.loads(gatherer.cycle(asks=True)) for _ in range(2)]
        assert shown[0] == shown[1]
        assert "asking" not in (json.loads(gatherer.cycle()) or {})
        current = next(each["point"] for each in shown[0]["points"] if each["state"] == "current")
        asking = shown[0]["asking"]
        assert (shown[0]["pod"]["name"], asking.pop("since")[-1]) == ("big", "Z")
        seen.append((current, asking))
        names = [f"n{index:02}" for index in range(12)]
        said = {"filter": {"NodeNames": names}, "prioritize": [], "bind": {}}[asking["verb"]]
        game.answer([Answer(200, json.dumps(said).encode())] * len(game.scheduler.asks))
        assert "asking" not in (json.loads(gatherer.cycle(asks=True)) or {})
    assert seen == [
        ("Filter", {"extenders": ["http://***:***@first"], "verb": "filter", "timeout": 2.5}),
        ("PreScore", {"extenders": ["http://second", "http://third"], "verb": "prioritize", "timeout": 9.0}),
        ("Bind", {"extenders": ["http://third"], "verb": "bind", "timeout": 9.0}),
    ]
