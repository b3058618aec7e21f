"""Questions about a moment of a run: asked over the API, answered by a process, limited, cached, cancelled."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from schedweb.runs.models import Analysis
from schedweb.worker.analyst import AnalysisProcess, analyse
from tests.advice.test_pod_group_remedies import ONE_MAY_BE_LATE, RING, group, member
from tests.schedweb.engine.worlds import GANGS, node, pod
from tests.schedweb.runs.conftest import Game, eventually, played_out
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db(transaction=True)
HELP: dict[str, Any] = {"name": "what_would_help", "arguments": {"namespace": "shop", "name": "large"}}


def ask(client: Client, game: Game, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    answer = client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json")
    return answer.status_code, answer.json()


def answered(client: Client, game: Game, body: dict[str, Any]) -> dict[str, Any]:
    status, asked = ask(client, game, body)
    assert status == 202, asked
    assert analyse(Analysis.objects.get(pk=asked["id"]).pk)
    content: dict[str, Any] = client.get(f"/api/v1/runs/{game.id}/analyses/{asked['id']}/").json()
    return content


def test_what_would_help_is_answered_and_kept(client: Client, played: Game) -> None:
    before = (played.run.digest, played.run.position, played.run.seq)
    first = answered(client, played, HELP)
    assert first["status"] == "done", first["error"]
    assert first["position"] == played.run.position
    kinds = {remedy["kind"] for remedy in first["result"]["remedies"]}
    assert "node" in kinds
    again_status, again = ask(client, played, HELP)
    assert (again_status, again["id"], again["result"]) == (200, first["id"], first["result"])
    played.run.refresh_from_db()
    assert (played.run.digest, played.run.position, played.run.seq) == before


def test_where_pods_that_were_placed_before_the_run_would_go_now(operator: User, client: Client) -> None:
    """The export does not say why they are there; the engine says where they would go, run by run."""
    game = played_out(
        operator,
        [node("crowded", "4"), node("empty", "8"), pod("old", "3", node_name="crowded"), pod("new", "500m"),
         pod("huge", "32"), {**pod("ended", node_name="crowded"), "status": {"phase": "Succeeded"}}],
    )  # fmt: skip

    def asked(name: str) -> dict[str, Any]:
        body = {"name": "placed_again", "arguments": {"namespace": "shop", "name": name}}
        return answered(client, game, body)

    before = game.run.digest
    old = asked("old")
    check_shape("/api/v1/runs/{run}/analyses/{analysis}/", old)
    found = old["result"]
    assert (found["node"], found["to"], found["rank"], found["feasible"], found["nodes"]) == (
        "crowded",
        "empty",
        2,
        2,
        2,
    )
    assert [(row["node"], row["rank"]) for row in found["ranked"]] == [("empty", 1), ("crowded", 2)]
    for row in found["ranked"]:
        assert row["total"] == sum(row["scores"])
        assert len(row["scores"]) == len(found["plugins"]) == len(found["weights"])
    # One that was placed in the run, too.
    new = asked("new")["result"]
    assert new["node"] == new["to"]
    assert "has no node" in asked("huge")["error"]
    assert asked("ended")["error"] == "Pod shop/ended has ended: it is on no node any more."
    game.run.refresh_from_db()
    assert game.run.digest == before


def test_an_earlier_moment_has_its_own_answer(client: Client, played: Game) -> None:
    at_start = answered(client, played, {**HELP, "position": 0, "arguments": {"namespace": "shop", "name": "web-1"}})
    assert at_start["status"] == "done", at_start["error"]
    now = answered(client, played, {**HELP, "arguments": {"namespace": "shop", "name": "web-1"}})
    assert now["status"] == "failed"
    assert "already" in now["error"]
    assert "shop/web-1 is on " in now["error"]


def test_capacity_of_a_pod_of_the_run_and_of_a_manifest(client: Client, played: Game) -> None:
    like = answered(client, played, {"name": "capacity_pods", "arguments": {"namespace": "shop", "name": "web-1"}})
    assert like["status"] == "done", like["error"]
    # Two nodes of 4 cpu, each with 3 × 500m and 250m on it: 2250m are left, 4 × 500m.
    assert like["result"]["fits"] == 8
    assert [each["fits"] for each in like["result"]["nodes"]] == [4, 4]
    manifest = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\n"
        "spec: {containers: [{name: main, image: app, resources: {requests: {cpu: 9}}}]}\n"
    )
    big = answered(client, played, {"name": "capacity_pods", "arguments": {"manifest": manifest}})
    assert big["result"]["fits"] == 0
    assert "Insufficient cpu" in big["result"]["message"]


def test_how_many_nodes_until_everybody_has_one(client: Client, played: Game) -> None:
    nodes = answered(client, played, {"name": "capacity_nodes", "arguments": {"node": "a", "limit": 3}})
    assert nodes["status"] == "done", nodes["error"]
    assert [stuck["pod"] for stuck in nodes["result"]["never"]] == ["shop/large"]


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        ({"name": "guess"}, "name", "guess"),
        ({"name": "what_would_help", "arguments": {}}, "arguments", "namespace"),
        ({**HELP, "position": 10**9}, "position", "beyond"),
        ({**HELP, "position": -1}, "position", "0"),
        ({"name": "capacity_pods", "arguments": {}}, "arguments", "manifest"),
        ({"name": "capacity_nodes", "arguments": {"node": "a", "limit": 0}}, "arguments.limit", "1"),
        ({"name": "capacity_nodes", "arguments": {"manifest": "kind: Pod"}}, "manifest", "apiVersion"),
    ],
    ids=["name", "missing", "beyond", "negative", "neither", "limit", "manifest"],
)
def test_nonsense_is_refused_with_a_sentence(
    client: Client, played: Game, body: dict[str, Any], path: str, words: str
) -> None:
    status, answer = ask(client, played, body)
    assert status in (400, 422), answer
    assert answer["error"]["path"] == path
    assert words in answer["error"]["message"]
    assert not Analysis.objects.exists()


def test_a_pod_that_is_not_there_is_said(client: Client, played: Game) -> None:
    nobody = answered(client, played, {**HELP, "arguments": {"namespace": "shop", "name": "nobody"}})
    assert (nobody["status"], nobody["error"]) == ("failed", 'pods "nobody" not found in namespace "shop"')


def test_too_much_time_and_too_much_memory_are_said(client: Client, played: Game, settings: Settings) -> None:
    settings.ANALYSIS_SECONDS = 0.0
    slow = answered(client, played, HELP)
    assert (slow["status"], slow["error"]) == ("failed", "It took longer than 0 s and was ended.")
    settings.ANALYSIS_SECONDS = 60.0
    settings.ANALYSIS_MEMORY_BYTES = 1 << 20
    large = answered(client, played, {"name": "capacity_nodes", "arguments": {"node": "a", "limit": 1000}})
    assert (large["status"], large["error"]) == ("failed", "It needs more memory than an analysis may use.")


def test_a_cancelled_analysis_ends_and_may_be_asked_again(
    client: Client,
    played: Game,
    in_background: Callable[[Callable[[], object]], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Its answer does not come before somebody cancels it.
    patience = threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(AnalysisProcess, "wait", lambda process, seconds: patience.wait(min(seconds, 0.02)))
        _, asked = ask(client, played, HELP)
        address = f"/api/v1/runs/{played.id}/analyses/{asked['id']}/"
        analysis = Analysis.objects.get(pk=asked["id"])
        thread = in_background(lambda: analyse(analysis.pk))
        eventually(lambda: client.get(address).json()["status"] == "running")
        assert client.delete(address).json()["status"] == "cancelled"
        thread.join(30)
        assert not thread.is_alive()
        assert client.get(address).json()["status"] == "cancelled"
    assert answered(client, played, HELP)["status"] == "done"


def test_an_answer_that_an_older_version_stored_is_still_read(client: Client, played: Game) -> None:
    told = {"say": "Free {pods} from {node}", "with": {"pods": "shop/web-1", "node": "a"}}
    remedy = {"kind": "free", "text": told, "node": "a", "cost": "", "left_pending": 1, "operations": []}
    result = json.dumps({"pod": "shop/large", "fits_on": "", "remedies": [remedy]})
    identity = answered(client, played, HELP)["id"]
    Analysis.objects.filter(pk=identity).update(result=result)
    read = client.get(f"/api/v1/runs/{played.id}/analyses/{identity}/").json()["result"]
    assert (read["why"], read["complete"], read["alike"]) == ("", True, 1)
    (old,) = read["remedies"]
    assert (old["text"], old["left_pending"], old["others"], old["commands"], old["diff"]) == (
        "Free shop/web-1 from a",
        1,
        [],
        [],
        "",
    )


def test_why_members_of_a_group_are_pending_is_what_their_pages_say(operator: User, client: Client) -> None:
    """All three are there, and two have room: tried alone each would have been told that its group lacks pods."""
    game = played_out(operator, [node("a", "4"), group(3), *(member(name, "2") for name in "xyz")], configuration=GANGS)
    told = []
    for name in "xyz":
        asked = {"name": "why_pending", "arguments": {"namespace": "shop", "name": name}}
        found = answered(client, game, asked)
        assert found["status"] == "done", found["error"]
        page = client.get(f"/api/v1/runs/{game.id}/pods/shop/{name}/").json()
        told.append((found["result"]["headline"], page["answer"]["headline"]))
    lost = "It lost a, as another pod of its pod group shop/ring fits nowhere."
    assert [why for why, _ in told].count(lost) == 2
    assert [why for why, _ in told if why != lost] == ["No node has room for it."]
    assert [page for _, page in told].count(lost) == 2


def test_a_run_that_paused_in_vain_is_told_what_would_help(operator: User, client: Client) -> None:
    game = played_out(operator, RING, configuration=ONE_MAY_BE_LATE)
    assert game.run.state == "paused"
    asked = {"namespace": "shop", "name": "p0"}
    why = answered(client, game, {"name": "why_pending", "arguments": asked})["result"]
    assert why["headline"] == "It would hold n1 and wait there on Permit (Coscheduling), in vain."
    assert why["detail"] == "5 pods of its PodGroup would have a node, and its minMember is 6."
    help_ = answered(client, game, {"name": "what_would_help", "arguments": asked})["result"]
    assert {remedy["kind"] for remedy in help_["remedies"]} == {"node", "resize", "relax"}
