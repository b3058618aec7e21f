"""The page of an attempt that extenders had a say in: what each left, its points, and the nodes it refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.runs.conftest import prepared
from tests.schedweb.worker.webhook import webhook

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_extender_that_is_down_is_what_the_page_begins_with(client: Client, operator: User) -> None:
    extender = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}
    text = f"{DEFAULT}extenders: {json.dumps([extender])}\n"
    game = prepared(operator, [*map(node, "ab"), pod("web")], configuration=text)
    game.command("step", what="cycle")
    game.play()
    body = client.get(f"/api/v1/runs/{game.id}/pods/shop/web/").json()
    said = 'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'
    assert body["answer"]["headline"] == f"The extender at http://127.0.0.1:1 failed: {said}"
    assert "tried again after its backoff" in body["answer"]["detail"]


def test_what_extenders_did_is_on_the_page(client: Client, operator: User) -> None:
    with webhook() as hook:
        hook.says("/filter", {"NodeNames": ["a", "b"], "FailedNodes": {"c": "no license"}})
        hook.says("/prioritize", [{"Host": "b", "Score": 7}])
        verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 2, "nodeCacheCapable": True}
        extender = {"urlPrefix": hook.url, "httpTimeout": "30s", **verbs}
        text = f"{DEFAULT}extenders: {json.dumps([extender])}\n"
        game = prepared(operator, [*map(node, "abcd"), pod("web")], configuration=text)
        game.command("step", what="cycle")
        game.play()
    base = f"/api/v1/runs/{game.id}/attempts/1/"
    points: dict[str, Any] = {each["point"]: each for each in client.get(base).json()["points"]}
    filtered = points["Filter"]["plugins"][-1]
    assert (points["Filter"]["note"], filtered["plugin"], filtered["reasons"]) == (
        "2 of 4 nodes",
        hook.url,
        ["no license"],
    )
    assert filtered["note"].startswith("left 2 of 4 nodes, ")
    assert filtered["note"].endswith(" ms")
    scored = points["Score"]["plugins"][-1]
    assert (scored["plugin"], scored["note"].partition(", ")[0]) == (hook.url, "points for 1 node")

    table = client.get(f"{base}scores/").json()
    assert (table["plugins"][-1]["name"], table["plugins"][-1]["weight"]) == (hook.url, 20)
    assert [(row["node"], row["cells"][-1]["points"]) for row in table["rows"]] == [("b", 140), ("a", 0)]
    assert table["decided_by"] == hook.url

    groups = client.get(f"{base}filter/").json()
    assert (groups["feasible"], [(each["plugin"], each["reasons"]) for each in groups["groups"]]) == (
        2,
        [("Extender", ["no license"]), ("Extender", ["left out by an extender"])],
    )
