"""What a run answers before an engine has told what it begins with, and afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.runs.models import PodRecord, Run
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
SINGLE = [
    *("pods/shop/web-0/", "pods/shop/web-0/yaml/", "selection/?namespace=shop&name=web-0", "nodes/a/", "nodes/a/yaml/"),
]
LISTS = ["pods/", "pods/?column=active", "nodes/", "objects/", "objects/quotas/"]
NOBODY = ["pods/shop/nobody/", "nodes/nowhere/", "objects/yaml/?kind=PriorityClass&name=high"]


def read(client: Client, game: Game, rest: str) -> tuple[int, Any]:
    answer = client.get(f"/api/v1/runs/{game.id}/{rest}")
    return answer.status_code, answer.json()


@pytest.mark.parametrize("address", [*SINGLE, *LISTS, *NOBODY])
def test_before_the_first_rows_it_says_that_it_is_being_made(game: Game, client: Client, address: str) -> None:
    """As of a moment: not what is not there for good, and no empty list."""
    status, body = read(client, game, address)
    assert (status, body["error"]["code"]) == (202, "being_made")
    assert body["error"]["message"] == f"{game.run} is being prepared."
    game.play()
    assert game.run.state == Run.State.CREATED, "nobody has played it"
    status, body = read(client, game, address)
    if address in NOBODY:
        assert (status, body["error"]["code"]) == (404, "not_found")
    else:
        assert status == 200, body


def test_who_waits_for_a_run_waits_until_it_has_begun(game: Game, client: Client) -> None:
    assert read(client, game, "wait/?seconds=1")[1]["rests"] is False
    game.play()
    assert read(client, game, "wait/?seconds=1")[1]["rests"] is True


def test_a_run_that_could_not_begin_says_what_is_not_there(game: Game, client: Client) -> None:
    Run.objects.filter(pk=game.id).update(error={"text": "No engine could be made."})
    assert read(client, game, "pods/shop/web-0/")[0] == 404
    assert read(client, game, "pods/") == (200, {"count": 0, "offset": 0, "limit": 50, "results": []})
    assert read(client, game, "wait/?seconds=1")[1]["rests"] is True


def test_a_pod_whose_row_is_still_to_be_written_is_being_made(played: Game, client: Client) -> None:
    """Of very large clusters the rows of placed pods come with later batches."""
    PodRecord.objects.filter(run=played.id, name="web-0").delete()
    Run.objects.filter(pk=played.id).update(unwritten=1)
    assert read(client, played, "pods/shop/web-0/")[0] == 202
    assert read(client, played, "pods/shop/web-1/")[0] == 200
    assert read(client, played, "pods/")[0] == 200
    Run.objects.filter(pk=played.id).update(unwritten=0)
    assert read(client, played, "pods/shop/web-0/")[0] == 404
