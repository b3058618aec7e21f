"""A workload that is added to a run brings its pods, as its controllers make them, and takes them along."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from framework.objects import Pod
from schedweb.engine import commands
from schedweb.runs.live.consumers import BrowserConsumer
from schedweb.sentences import translated
from tests.schedweb.engine.worlds import Manifest, Table, node, play, player, pod
from tests.schedweb.runs.browser import Browser
from tests.schedweb.runs.conftest import Game, played_out

NODES = [node("a"), node("b")]
TEMPLATE: Manifest = {
    "metadata": {"labels": {"app": "new"}},
    "spec": {"containers": [{"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "500m"}}}]},
}


def workload(kind: str, version: str = "apps/v1", **spec: Any) -> Manifest:
    selected = {} if kind in ("Job", "CronJob") else {"selector": {"matchLabels": {"app": "new"}}}
    if kind == "CronJob":
        spec = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}
    else:
        spec = {**selected, "template": TEMPLATE, **spec}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "new", "namespace": "shop"}, "spec": spec}


WANTED = [
    (workload("Deployment", replicas=3), 3),
    (workload("Deployment", "extensions/v1beta1", replicas=2), 2),
    (workload("ReplicaSet", replicas=2), 2),
    (workload("StatefulSet", replicas=2), 2),
    (workload("DaemonSet"), 2),
    (workload("Job", "batch/v1", parallelism=2, completions=4), 2),
    (workload("CronJob", "batch/v1"), 1),
]


def pods_of(at: Table) -> dict[str, str]:
    return {each.metadata.name: each.spec.node_name for each in at.game.world.cluster.list(Pod)}


@pytest.mark.parametrize(
    ("manifest", "count"), WANTED, ids=lambda value: value["kind"] if isinstance(value, dict) else ""
)
def test_its_pods_come_and_go_with_it(manifest: Manifest, count: int) -> None:
    game = player([*NODES, pod("other")])
    play(game)
    at = Table(game)
    kind = manifest["kind"]
    for _ in range(2):
        added = at.order(commands.Change("add", manifest)).result.text
        assert str(added) == f"added {kind} shop/new with {count} pod{'s' if count > 1 else ''}"
        play(game)
        places = pods_of(at)
        assert len(places) == count + 1
        assert set(places.values()) <= {"a", "b"}
        named = {"apiVersion": manifest["apiVersion"], "kind": kind, "metadata": manifest["metadata"]}
        gone = at.order(commands.Change("delete", named)).result.text
        assert str(gone) == f"deleted {kind} shop/new with {count} pod{'s' if count > 1 else ''}"
        play(game)
        assert pods_of(at).keys() == {"other"}
        assert {each.kind for each in game.world.cluster.all()} <= {"Namespace", "Node", "Pod"}


def test_a_pod_of_it_that_is_deleted_is_made_again() -> None:
    game = player(NODES)
    at = Table(game)
    at.order(commands.Change("add", workload("Deployment", replicas=2)))
    play(game)
    first, _ = pods_of(at)
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": first, "namespace": "shop"}}
    at.order(commands.Change("delete", named))
    play(game)
    assert len(pods_of(at)) == 2
    assert first not in pods_of(at)


def test_pods_go_with_a_deployment_whose_replica_sets_the_export_lacks() -> None:
    made = pod("web-6d4cf56db6-bbbbb", owner="web-6d4cf56db6")
    made["metadata"]["labels"]["pod-template-hash"] = "6d4cf56db6"
    web = {**workload("Deployment"), "metadata": {"name": "web", "namespace": "shop"}}
    game = player([*NODES, web, made, pod("web-7", owner="web-7")])
    at = Table(game)
    at.order(commands.Change("delete", web))
    assert pods_of(at).keys() == {"web-7"}


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (workload("Deployment", replicas=-1), "spec.replicas: Invalid value: -1"),
        (workload("Deployment", template={"spec": TEMPLATE["spec"]}), "`selector` does not match template `labels`"),
        (
            workload("Job", "batch/v1", template={"spec": {**TEMPLATE["spec"], "priorityClassName": "gone"}}),
            "no PriorityClass with name gone was found",
        ),
    ],
    ids=["replicas", "selector", "priority"],
)
def test_one_that_no_api_server_takes_is_refused_and_leaves_nothing(manifest: Manifest, why: str) -> None:
    game = player(NODES)
    at = Table(game)
    before = [each.key for each in game.world.cluster.all()]
    refused = at.order(commands.Change("add", manifest))
    assert why in str(refused.text)
    assert [each.key for each in game.world.cluster.all()] == before


@pytest.mark.django_db(transaction=True)
async def test_by_command_over_the_api_it_is_seen_on_the_board_and_by_the_socket(operator: User) -> None:
    game: Game = await sync_to_async(played_out)(operator, NODES)
    client = Client()
    await sync_to_async(client.force_login)(operator)
    browser = Browser(BrowserConsumer.as_asgi())
    browser.scope["session"] = await sync_to_async(lambda: client.session)()
    assert await browser.connect()
    await browser.told()
    await browser.say({"type": "subscribe", "run": str(game.id)})
    assert (await browser.told())["seq"] == game.run.seq

    def told_to(**command: Any) -> None:
        body = {"type": "change", **command}
        answer = client.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json")
        assert answer.status_code == 202, answer.content
        game.command("play", speed="max")
        game.play()

    def bound() -> list[str]:
        board = client.get(f"/api/v1/runs/{game.id}/board/").json()
        return [card["workload"] for card in board["columns"]["bound"]["cards"]]

    await sync_to_async(told_to)(verb="add", manifest=workload("Deployment", replicas=3))
    assert await sync_to_async(bound)() == ["new", "new", "new"]
    last: dict[str, Any] = {}
    while last.get("seq") != game.run.seq:
        message = await browser.told()
        last = message if message["type"] == "run.delta" else last
    assert last["counts"]["bound"] == 3
    entry = await sync_to_async(lambda: game.run.journal.filter(type="change").get())()
    assert translated((entry.result or {})["text"]) == "added Deployment shop/new with 3 pods"
    await sync_to_async(told_to)(verb="delete", manifest=workload("Deployment"))
    assert await sync_to_async(bound)() == []
    await browser.close()
