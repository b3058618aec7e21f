"""The page of an attempt that extenders had a say in: what each left, its points, and the nodes it refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.models import JournalEntry
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


def test_an_extender_that_refuses_is_named(client: Client, operator: User) -> None:
    """Two of three nodes, then the last one without a word; the fourth has no room and is not asked about."""
    with webhook() as first, webhook() as second:
        first.says("/filter", {"NodeNames": ["c"], "FailedNodes": {"a": "no license", "b": "no license"}})
        second.says("/filter", {"NodeNames": []})
        extender = {"filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s"}
        listed = [{**extender, "urlPrefix": each.url} for each in (first, second)]
        text = f"{DEFAULT}extenders: {json.dumps(listed)}\n"
        game = prepared(operator, [*map(node, "abc"), node("small", "100m"), pod("web")], configuration=text)
        game.command("step", what="cycle")
        game.play()
    answer = client.get(f"/api/v1/runs/{game.id}/pods/shop/web/").json()["answer"]
    assert answer["headline"] == (
        f"None of the 4 nodes that it may use takes it: 2 are refused by the extender at {first.url} (no license), "
        f"1 has no room, 1 is left out by the extender at {second.url}."
    )


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
    assert client.get(base).json()["asked_extenders"]
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
    assert table["plugins"][-1]["about"] == ""

    groups = client.get(f"{base}filter/").json()
    assert (groups["feasible"], [(each["plugin"], each["reasons"]) for each in groups["groups"]]) == (
        2,
        [("Extender", ["no license"]), ("Extender", ["left out by an extender"])],
    )


def test_what_was_sent_and_replied_is_read_from_the_journal(client: Client, operator: User) -> None:
    down = {"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "ignorable": True}
    with webhook() as hook:
        long = {f"z{number}": "ніякої ліцензії" for number in range(200)}
        hook.says("/filter", {"NodeNames": ["a", "b"], "FailedNodes": {"c": "no license", **long}})
        hook.says("/prioritize", [{"Host": "b", "Score": 7}])
        hook.says("/bind", {})
        verbs = {"filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 2, "bindVerb": "bind"}
        extender = {"urlPrefix": hook.url, "httpTimeout": "30s", "nodeCacheCapable": True, **verbs}
        text = f"{DEFAULT}extenders: {json.dumps([down, extender])}\n"
        web = pod("web")
        web["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": "hunter2"}]
        game = prepared(operator, [*map(node, "abc"), web], configuration=text)
        game.command("play", speed="max")
        game.play()
        sent = dict(hook.calls)
    path = f"/api/v1/runs/{game.id}/attempts/1/extenders/"
    body = client.get(path).json()
    # One that may be passed over comes after all others.
    filtered, refused, scored, bound = body["calls"]
    said = 'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'
    assert (refused["extender"], refused["status"], refused["error"]) == ("http://127.0.0.1:1", None, said)
    assert (refused["ignored"], refused["reply"], refused["kept"]) == (True, None, None)
    assert refused["us"] > 0
    assert json.loads(refused["request"]["text"])["Pod"]["metadata"]["name"] == "web"

    assert (filtered["verb"], filtered["sent"], filtered["kept"], filtered["status"]) == ("filter", 3, 2, 200)
    assert json.loads(filtered["request"]["text"]) == sent["/filter"]
    assert filtered["request"]["bytes"] == len(filtered["request"]["text"].encode())
    reply = filtered["reply"]
    assert reply["text"].startswith('{"NodeNames": ["a", "b"], "FailedNodes": {"c": "no license", "z0": ')
    assert len(reply["text"].encode()) <= 4096 < reply["bytes"]
    assert "\ufffd" not in reply["text"], "a character that was cut is left out"

    assert (scored["verb"], scored["reply"]["text"]) == ("prioritize", '[{"Host": "b", "Score": 7}]')
    assert (bound["verb"], bound["status"], bound["kept"]) == ("bind", 200, None)
    assert json.loads(bound["request"]["text"])["Node"] == "b"
    assert body["waited_us"] == sum(call["us"] for call in body["calls"])
    assert "hunter2" not in json.dumps(body)
    assert Client().get(path).status_code in (401, 403)


def test_each_attempt_has_its_own_calls(client: Client, operator: User) -> None:
    """The first finds no node, the second one; and what an older version stored has no bodies of requests."""
    with webhook() as hook:
        extender = {"urlPrefix": hook.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s"}
        game = prepared(
            operator,
            [*map(node, "ab"), pod("web")],
            configuration=f"{DEFAULT}extenders: {json.dumps([extender])}\n",
        )
        for answer in ([], ["b"]):
            hook.says("/filter", {"NodeNames": answer})
            game.command("node_uncordon", name="a")
            game.command("pod_activate", namespace="shop", name="web")
            game.command("step", what="cycle")
            game.play()
    paths = [f"/api/v1/runs/{game.id}/attempts/{number}/extenders/" for number in (1, 2)]
    answers = [client.get(each).json()["calls"] for each in paths]
    assert [[call["reply"]["text"] for call in calls] for calls in answers] == [
        ['{"NodeNames": []}'],
        ['{"NodeNames": ["b"]}'],
    ]
    for entry in JournalEntry.objects.filter(run=game.run, type="extender_answers"):
        (answer,) = entry.command["answers"]
        entry.command["answers"] = [{key: answer[key] for key in answer if not key.startswith("request")}]
        entry.save()
    (old,) = client.get(paths[1]).json()["calls"]
    assert (old["request"], old["reply"]["text"]) == (None, '{"NodeNames": ["b"]}')


def test_an_extender_that_fails_to_bind_is_named(client: Client, operator: User) -> None:
    with webhook() as hook:
        hook.says("/bind", {"Error": "out of licenses"})
        extender = {"urlPrefix": hook.url, "bindVerb": "bind", "httpTimeout": "30s"}
        text = f"{DEFAULT}extenders: {json.dumps([extender])}\n"
        game = prepared(operator, [node("a"), pod("web")], configuration=text)
        game.command("play", speed="max")
        game.play()
    answer = client.get(f"/api/v1/runs/{game.id}/pods/shop/web/").json()["answer"]
    assert answer["headline"] == f"The extender at {hook.url} did not bind it to a: out of licenses"
    assert "tried again after its backoff" in answer["detail"]


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ({"NodeNameToMetaVictims": {}}, "The extender at {url} leaves no node where pods might be evicted for it."),
        ("nonsense", "The extender at {url} failed when it was asked whom to evict, so nobody is evicted: {error}"),
    ],
)
def test_an_extender_that_prevents_a_preemption_is_named(
    client: Client, operator: User, said: Any, detail: str
) -> None:
    low = pod("low", "4", node_name="a")
    low["spec"]["priority"] = 1
    vip = pod("vip", "2")
    vip["spec"]["priority"] = 100
    with webhook() as hook:
        hook.says("/preempt", said)
        extender = {"urlPrefix": hook.url, "preemptVerb": "preempt", "httpTimeout": "30s", "nodeCacheCapable": True}
        text = f"{DEFAULT}extenders: {json.dumps([extender])}\n"
        game = prepared(operator, [node("a", "4"), low, vip], configuration=text)
        game.command("step", what="cycle")
        game.play()
    answer = client.get(f"/api/v1/runs/{game.id}/pods/shop/vip/").json()["answer"]
    assert detail.partition("{error}")[0].format(url=hook.url) in answer["detail"], answer
