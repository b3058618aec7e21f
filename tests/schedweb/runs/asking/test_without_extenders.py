"""Questions about a run whose configuration has extenders: nobody is asked, and the answers say so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.models import Analysis, Attempt, JournalEntry
from schedweb.runs.storing.answers import TYPE
from schedweb.worker.analyst import analyse
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.runs.conftest import Game, prepared
from tests.schedweb.runs.test_api import check_shape
from tests.schedweb.worker.webhook import webhook

pytestmark = pytest.mark.django_db(transaction=True)


def extended(url: str, **more: Any) -> str:
    """A configuration with one extender; JSON is YAML."""
    extender = {"urlPrefix": url, "nodeCacheCapable": True, "httpTimeout": "30s", **more}
    return f"{DEFAULT}extenders: {json.dumps([extender])}\n"


def answered(client: Client, game: Game, name: str, arguments: Any, position: int | None = None) -> dict[str, Any]:
    body = {"name": name, "arguments": arguments, "position": position}
    asked = client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json").json()
    assert analyse(Analysis.objects.get(pk=asked["id"]).pk)
    content = client.get(f"/api/v1/runs/{game.id}/analyses/{asked['id']}/").json()
    check_shape("/api/v1/runs/{run}/analyses/{analysis}/", content)
    assert content["status"] == "done", content["error"]
    found: dict[str, Any] = content["result"]
    assert found["without_extenders"] is True
    return found


def test_questions_about_a_run_with_extenders(client: Client, operator: User) -> None:
    """The extender leaves one node, and speaks of no other."""
    cluster = [*map(node, "abc"), pod("web"), pod("large", "16")]
    with webhook() as hook:
        hook.says("/filter", {"NodeNames": ["b"], "FailedNodes": {"a": "no license"}})
        game = prepared(operator, cluster, configuration=extended(hook.url, filterVerb="filter"))
        game.command("play", speed="max")
        game.play()
        assert game.run.state == "finished"
        calls = len(hook.calls)

        large, web = {"namespace": "shop", "name": "large"}, {"namespace": "shop", "name": "web"}
        found = answered(client, game, "what_would_help", large)
        assert found["complete"]
        assert "node" in {remedy["kind"] for remedy in found["remedies"]}

        waiting = JournalEntry.objects.filter(run=game.run, type=TYPE).earliest("position").position
        in_the_middle = answered(client, game, "what_would_help", web, waiting)
        assert (in_the_middle["complete"], in_the_middle["fits_on"] in ("a", "b", "c")) == (True, True)

        assert answered(client, game, "why_pending", large)["node"] == ""
        assert answered(client, game, "placed_again", web)["feasible"] == 3
        assert answered(client, game, "capacity_pods", web)["fits"] == 23
        assert answered(client, game, "capacity_nodes", {"node": "a", "limit": 2})["nodes"] == 0
        assert len(hook.calls) == calls


def test_who_would_have_won_without_the_points_of_an_extender(client: Client, operator: User) -> None:
    """Attempts look at 100 of 110 nodes, and the extender's points choose among them."""
    cluster = [*(node(f"n{number:03}", "2" if number < 100 else "64") for number in range(110)), pod("web")]
    with webhook() as hook:
        hook.says("/prioritize", [{"Host": "n005", "Score": 10}])
        text = extended(hook.url, prioritizeVerb="prioritize", weight=100) + "percentageOfNodesToScore: 1\n"
        game = prepared(operator, cluster, configuration=text)
        game.command("play", speed="max")
        game.play()
        assert Attempt.objects.get(run=game.run).node == "n005"
        calls = len(hook.calls)
        found = answered(client, game, "all_nodes", {"attempt": 1})
        assert (found["checked"], found["feasible"]) == (110, 110)
        assert found["node"] >= "n100"
        assert found["node_total"] < found["total"] < 1000
        assert len(hook.calls) == calls


def test_who_would_have_won_where_an_extender_left_nodes_out(client: Client, operator: User) -> None:
    """Plugins looked at 100 of 110 nodes and the extender left five of these: not every node was looked at."""
    cluster = [*(node(f"n{number:03}", "2" if number < 100 else "64") for number in range(110)), pod("web")]
    with webhook() as hook:
        hook.says("/filter", {"NodeNames": [f"n{number:03}" for number in range(5)]})
        text = extended(hook.url, filterVerb="filter") + "percentageOfNodesToScore: 1\n"
        game = prepared(operator, cluster, configuration=text)
        game.command("play", speed="max")
        game.play()
        row = Attempt.objects.get(run=game.run)
        assert row.node in [f"n{number:03}" for number in range(5)]
        attempt = client.get(f"/api/v1/runs/{game.id}/attempts/1/").json()
        sampling = attempt["sampling"]
        assert (sampling["checked"], sampling["feasible"], sampling["of"], sampling["sampled"]) == (100, 5, 110, True)
        [note] = [each["note"] for each in attempt["points"] if each["point"] == "Filter"]
        assert note.endswith("100 checked")
        found = answered(client, game, "all_nodes", {"attempt": 1})
        assert (found["checked"], found["feasible"]) == (110, 110)
        assert found["node"] >= "n100"


@pytest.mark.parametrize("left", [["n001"], []])
def test_one_that_an_extender_left_a_single_node_or_none(client: Client, operator: User, left: list[str]) -> None:
    cluster = [*(node(f"n{number:03}", "2") for number in range(110)), pod("web")]
    with webhook() as hook:
        hook.says("/filter", {"NodeNames": left})
        text = extended(hook.url, filterVerb="filter") + "percentageOfNodesToScore: 1\n"
        game = prepared(operator, cluster, configuration=text)
        game.command("play", speed="max")
        game.play()
    sampling = client.get(f"/api/v1/runs/{game.id}/attempts/1/").json()["sampling"]
    assert (sampling["checked"], sampling["feasible"], sampling["sampled"]) == (100, len(left), True)
    if left:
        assert answered(client, game, "all_nodes", {"attempt": 1})["checked"] == 110
    else:
        body = {"name": "all_nodes", "arguments": {"attempt": 1}}
        refused = client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json")
        assert refused.json()["error"]["message"] == "Attempt 1 found no node, so none won it."


def test_one_in_which_an_extender_left_nodes_out_and_every_node_was_looked_at(client: Client, operator: User) -> None:
    with webhook() as hook:
        hook.says("/filter", {"NodeNames": ["b"]})
        game = prepared(
            operator, [*map(node, "abc"), pod("web")], configuration=extended(hook.url, filterVerb="filter")
        )
        game.command("play", speed="max")
        game.play()
    body = {"name": "all_nodes", "arguments": {"attempt": 1}}
    refused = client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json")
    assert refused.json()["error"]["message"] == "Attempt 1 looked at every node."
