"""A pending pod whose cluster changed after its last attempt: what it found, and what is so at the moment shown."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.models import Analysis
from schedweb.worker.analyst import analyse
from tests.schedweb.engine.worlds import arrival
from tests.schedweb.runs.conftest import Game, played_out, prepared
from tests.schedweb.runs.pending.causes.manifests import (
    POOLS,
    WEB,
    Manifest,
    away,
    claims,
    node,
    pod,
    pvc,
    storage_class,
)

FOUND = re.compile(r"Attempt 1(?:, [\d.]+ s earlier,)? found: (.+)")
LATE = pod("late", "500m")
ALMOST = [node("a"), pod("old", "3200m", on="a"), pod(cpu="1")]
"""0.8 cpu are free, shop/it wants 1."""


def answer(client: Client, key: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/v1/runs/{key}/pods/shop/it/").json()["answer"]
    return found


def rewound(client: Client, game: Game, position: int) -> str:
    key = f"{game.id}@{position}"
    if client.get(f"/api/v1/runs/{key}/board/").status_code == 202:
        assert analyse(Analysis.objects.get(run=game.id, position=position, name="moment").pk)
    return key


def first_row(client: Client, key: str) -> dict[str, Any]:
    row: dict[str, Any] = client.get(f"/api/v1/runs/{key}/attempts/1/filter/").json()["groups"][0]["nodes"][0]
    return row


def tried_once(user: User, objects: list[Manifest]) -> Game:
    """Paused after the attempt of shop/it, which is the first."""
    game = prepared(user, objects)
    game.command("step", what="cycle")
    game.play()
    assert game.run.attempts == 1
    return game


def test_another_pod_took_the_room(operator: User, client: Client) -> None:
    game = played_out(operator, ALMOST, [arrival(5, LATE)])
    assert game.run.attempts == 2
    said = answer(client, str(game.id))
    found = FOUND.fullmatch(said["headline"])
    assert found is not None
    assert found[1] == "No node has 1 free cpu; the nearest, a, has 0.8."
    assert said["detail"] == "Now: No node has 1 free cpu; the nearest, a, has 0.3."
    [cpu] = [each for each in first_row(client, str(game.id))["resources"] if each["name"] == "cpu"]
    assert cpu["free"] == 800
    for language, now in (("uk", "Тепер: Жоден вузол"), ("zh-hans", "现在：没有节点")):
        address = f"/api/v1/runs/{game.id}/pods/shop/it/"
        told = client.get(address, headers={"accept-language": language}).json()["answer"]
        assert told["detail"].startswith(now)
        assert not re.search("attempt|found|earlier|free|node", told["headline"] + told["detail"], re.IGNORECASE)


def test_looked_back_at_it_is_as_it_was(operator: User, client: Client) -> None:
    """Between its attempt and the other pod's nothing had changed yet; behind that it had."""
    game = played_out(operator, ALMOST, [arrival(5, LATE)])
    seen = [answer(client, rewound(client, game, at))["headline"] for at in range(game.run.position + 1)]
    before = "No node has 1 free cpu; the nearest, a, has 0.8."
    assert before in seen
    assert FOUND.fullmatch(seen[-1])
    behind = seen[seen.index(before) :]
    changed = [FOUND.fullmatch(each) is not None for each in behind]
    assert changed == sorted(changed)
    assert set(behind[: changed.index(True)]) == {before}


def test_a_moment_does_not_know_what_came_after_it(operator: User, client: Client) -> None:
    game = tried_once(operator, ALMOST)
    position = game.run.position
    game.command("node_add", manifest=json.dumps(node("b", "2")))
    game.play()
    assert answer(client, rewound(client, game, position))["headline"] == (
        "No node has 1 free cpu; the nearest, a, has 0.8."
    )


@pytest.mark.parametrize(
    ("objects", "gone", "before"),
    [
        (ALMOST, "old", "No node has 1 free cpu; the nearest, a, has 0.8."),
        (
            [node("a"), pod("p1", on="a", ports=(80,)), pod(ports=(80,))],
            "p1",
            "Its host ports are taken on every node that it may use.",
        ),
        (
            [node("a"), pod("web-0", on="a", labels=WEB), pod(labels=WEB, affinity=away(app="web"))],
            "web-0",
            "Pod anti-affinity keeps it off every node that it may use.",
        ),
    ],
    ids=["room", "port", "anti-affinity"],
)
def test_what_was_in_its_way_went_and_it_was_not_tried_again(
    objects: list[Manifest], gone: str, before: str, operator: User, client: Client
) -> None:
    game = tried_once(operator, objects)
    game.command("pod_delete", namespace="shop", name=gone)
    game.play()
    assert game.run.attempts == 1
    for key in (str(game.id), rewound(client, game, game.run.position)):
        said = answer(client, key)
        assert said["kind"] == "backoff"
        found = FOUND.fullmatch(said["headline"])
        assert found is not None
        assert found[1] == before
        assert said["detail"] == "Now a has room for it and is open to it; it has not been tried again."


def test_a_node_came_that_it_fits_on(operator: User, client: Client) -> None:
    game = tried_once(operator, ALMOST)
    game.command("node_add", manifest=json.dumps(node("b", "2")))
    game.play()
    said = answer(client, str(game.id))
    assert said["detail"] == "Now b has room for it and is open to it; it has not been tried again."
    assert first_row(client, str(game.id))["name"] == "a"


def test_a_node_was_opened(operator: User, client: Client) -> None:
    game = tried_once(operator, [node("a", cordoned=True), pod()])
    game.command("node_uncordon", name="a")
    game.play()
    said = answer(client, str(game.id))
    assert said["headline"].endswith("found: The only node, a, is cordoned.")
    assert said["detail"] == "Now a has room for it and is open to it; it has not been tried again."


def test_the_claim_that_was_missing_is_there(operator: User, client: Client) -> None:
    game = tried_once(operator, [node("a"), storage_class("fast"), pod(volumes=claims("data"))])
    assert answer(client, str(game.id))["headline"] == "Claim shop/data does not exist."
    game.command("change", verb="add", manifest=pvc("data", "fast"))
    game.play()
    said = answer(client, str(game.id))
    assert said["headline"].endswith("found: Claim shop/data does not exist.")
    assert said["detail"] == "Now it exists; the pod has not been tried again."


def test_a_change_that_its_sentence_does_not_speak_of_is_not_mentioned(operator: User, client: Client) -> None:
    game = played_out(operator, [*POOLS, pod(nodeSelector={"pool": "arm"})], [arrival(5, LATE)])
    assert answer(client, str(game.id))["headline"] == "No node has pool=arm."
