"""The history of a run: its attempts as rows, two of them beside each other, where the time went."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.attempts.difference import changed_scores, changed_verdicts, verdicts
from schedweb.runs.attempts.selectors import stored_attempt
from schedweb.runs.models import Attempt
from tests.schedweb.engine.worlds import arrival, departure, node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.test_api import check_shape, get

pytestmark = pytest.mark.django_db(transaction=True)

TAINTED = {**node("tainted", "4"), "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}


@pytest.fixture
def retried(operator: User) -> Game:
    """`large` finds no node, until `filler` leaves `a` and a node comes."""
    filler = pod("filler", "3", node_name="a")
    objects = [node("a", "4"), node("b", "2"), TAINTED, filler, pod("large", "3500m"), pod("small", "100m")]
    return played_out(operator, objects, [departure(30, filler), arrival(30, node("c", "16"))])


def numbers(game: Game, name: str) -> list[int]:
    return list(Attempt.objects.filter(run=game.id, name=name).order_by("number").values_list("number", flat=True))


def groups(body: dict[str, Any]) -> set[tuple[str, str, str, str, tuple[str, ...]]]:
    return {
        (
            each["before"]["kind"],
            each["before"]["plugin"],
            each["after"]["kind"],
            each["after"]["plugin"],
            tuple(each["nodes"]),
        )
        for each in body["groups"]
    }


def test_two_attempts_of_a_pod(retried: Game, client: Client) -> None:
    first, second = numbers(retried, "large")
    path = "/api/v1/runs/{run}/attempts/{number}/difference/{other}/"
    body = get(client, f"/api/v1/runs/{retried.id}/attempts/{first}/difference/{second}/")
    check_shape(path, body)
    assert (body["before"]["result"], body["after"]["result"]) == ("unschedulable", "bound")
    assert body["feasible"] == [0, 2]
    assert groups(body) == {
        ("rejected", "NodeResourcesFit", "fits", "", ("a",)),
        ("not there", "", "fits", "", ("c",)),
    }
    assert body["nodes_changed"] == 2
    assert not body["scored_in_both"]
    window = get(client, f"/api/v1/runs/{retried.id}/attempts/{first}/difference/{second}/?group=1&limit=1")
    assert window["count"] == 1
    assert window["nodes"] in (["a"], ["c"])


def test_the_other_way_round_is_the_mirror_image(retried: Game, client: Client) -> None:
    first, second = numbers(retried, "large")
    there = get(client, f"/api/v1/runs/{retried.id}/attempts/{first}/difference/{second}/")
    back = get(client, f"/api/v1/runs/{retried.id}/attempts/{second}/difference/{first}/")
    assert groups(back) == {(c, d, a, b, nodes) for a, b, c, d, nodes in groups(there)}


def test_scores_are_compared_node_by_node(retried: Game, client: Client) -> None:
    (small,), (_, large) = numbers(retried, "small"), numbers(retried, "large")
    body = get(client, f"/api/v1/runs/{retried.id}/attempts/{small}/difference/{large}/")
    assert body["scored_in_both"]
    # `a` is the one node that both scored: `b` is too small for large, `c` was not there.
    (row,) = body["rows"]
    assert row["node"] == "a"
    one, other = (stored_attempt(retried.id, number).trace for number in (small, large))
    assert one.scores is not None
    assert other.scores is not None
    for trace, key in ((one, "before"), (other, "after")):
        assert trace.scores is not None
        assert trace.filter is not None
        place = [trace.filter.nodes[position] for position in trace.scores.positions].index("a")
        assert row[key] == trace.scores.total[place]
        assert [cell[key] for cell in row["cells"]] == [
            next(
                (int(each.normalized[place]) * each.weight for each in trace.scores.plugins if each.plugin == name),
                None,
            )
            for name in (each["name"] for each in body["plugins"])
        ]
    changed = {each["name"]: each["changed"] for each in body["plugins"]}
    assert changed == {
        each["name"]: int(cell["before"] != cell["after"])
        for each, cell in zip(body["plugins"], row["cells"], strict=True)
    }


def test_an_attempt_beside_itself_differs_in_nothing(retried: Game) -> None:
    for number in numbers(retried, "large") + numbers(retried, "small"):
        trace = stored_attempt(retried.id, number).trace
        assert set(verdicts(trace)) >= {"a", "b", "tainted"}
        assert changed_verdicts(trace, trace) == []
        assert changed_scores(trace, trace)[1] == []


def test_an_attempt_that_is_not_stored_is_said(retried: Game, client: Client) -> None:
    body = get(client, f"/api/v1/runs/{retried.id}/attempts/1/difference/99/", 404)
    assert body["error"]["message"] == "Attempt 99 is not stored."


@pytest.mark.parametrize(
    ("query", "want"),
    [
        ("result=unschedulable", [("large", "unschedulable")]),
        ("result=bound&q=sma", [("small", "bound")]),
        ("pod=shop/large", [("large", "bound"), ("large", "unschedulable")]),
        ("q=shop/lar&result=bound", [("large", "bound")]),
        ("q=nobody", []),
    ],
)
def test_attempts_are_found_by_pod_and_result(
    retried: Game, client: Client, query: str, want: list[tuple[str, str]]
) -> None:
    body = get(client, f"/api/v1/runs/{retried.id}/attempts/?{query}")
    check_shape("/api/v1/runs/{run}/attempts/", body)
    assert [(each["pod"]["name"], each["result"]) for each in body["results"]] == want
    assert body["count"] == len(want)


def test_attempts_are_found_by_node(retried: Game, client: Client) -> None:
    placed = get(client, f"/api/v1/runs/{retried.id}/attempts/?pod=shop/large")["results"][0]["node"]
    body = get(client, f"/api/v1/runs/{retried.id}/attempts/?node={placed}")
    assert "large" in [each["pod"]["name"] for each in body["results"]]
    assert all(each["node"] == placed for each in body["results"])


def test_an_unknown_result_is_refused(retried: Game, client: Client) -> None:
    body = get(client, f"/api/v1/runs/{retried.id}/attempts/?result=lost", 400)
    assert body["error"]["path"] == "result"
    assert "bound, waiting, unschedulable, error" in body["error"]["message"]


def test_time_per_point_and_plugin(retried: Game, client: Client) -> None:
    body = get(client, f"/api/v1/runs/{retried.id}/timing/")
    check_shape("/api/v1/runs/{run}/timing/", body)
    timed = Attempt.objects.filter(run=retried.id).exclude(timing=None)
    assert body["timed"] == timed.count() >= 1
    assert body["attempts"] == Attempt.objects.filter(run=retried.id).count()
    named = [each["point"] for each in body["points"]]
    assert named.index("PreFilter") < named.index("Filter")
    (pre_filter,) = (each for each in body["points"] if each["point"] == "PreFilter")
    assert "NodeResourcesFit" in [each["plugin"] for each in pre_filter["plugins"]]
    first = timed.order_by("number").first()
    assert first is not None
    assert first.timing is not None
    attempt = get(client, f"/api/v1/runs/{retried.id}/attempts/{first.number}/")
    check_shape("/api/v1/runs/{run}/attempts/{number}/", attempt)
    assert attempt["timing"]["total_us"] == first.duration_us
    assert [each["point"] for each in attempt["timing"]["points"]][: len(first.timing["points"])] == list(
        first.timing["points"]
    )


def test_a_cycle_that_was_not_timed_says_so(retried: Game, client: Client) -> None:
    Attempt.objects.filter(run=retried.id).update(timing=None)
    assert get(client, f"/api/v1/runs/{retried.id}/attempts/1/")["timing"] is None
    body = get(client, f"/api/v1/runs/{retried.id}/timing/")
    check_shape("/api/v1/runs/{run}/timing/", body)
    assert (body["timed"], body["cycle"], body["points"]) == (0, None, [])


def test_the_log_of_an_attempt_is_kube_scheduler_s(retried: Game, client: Client) -> None:
    first, second = numbers(retried, "large")
    path = "/api/v1/runs/{run}/attempts/{number}/log/"
    failed = get(client, f"/api/v1/runs/{retried.id}/attempts/{first}/log/")
    check_shape(path, failed)
    texts = [line.split("] ", 1)[1] for line in failed["lines"]]
    assert texts[:2] == [
        '"About to try and schedule pod" pod="shop/large"',
        '"Attempting to schedule pod" pod="shop/large"',
    ]
    assert texts[-2].startswith(
        '"Unable to schedule pod; no fit; waiting" pod="shop/large" err="0/3 nodes are available: '
    )
    assert texts[-1].startswith('"Updating pod condition and nominated node name" pod="shop/large" conditionType=')

    whole = get(client, f"/api/v1/runs/{retried.id}/attempts/{second}/log/?v=10&limit=3")
    check_shape(path, whole)
    assert len(whole["lines"]) == 3
    assert whole["count"] > 10
    few = get(client, f"/api/v1/runs/{retried.id}/attempts/{second}/log/?v=2")
    assert [line.split("] ", 1)[1] for line in few["lines"]] == [
        '"Successfully bound pod to node" pod="shop/large" node="c" evaluatedNodes=4 feasibleNodes=2'
    ]
    for asked, where in (("v=-1", "v"), ("v=x", "v"), ("limit=many", "limit")):
        answer = client.get(f"/api/v1/runs/{retried.id}/attempts/{second}/log/?{asked}")
        assert (answer.status_code, answer.json()["error"]["path"]) == (400, where)
