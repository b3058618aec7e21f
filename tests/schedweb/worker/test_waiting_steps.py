"""Steps that wait while nobody plays their run: every one of them is done."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.runs.models import Attempt, JournalEntry
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, prepared
from tests.schedweb.runs.conftest import client as client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def many(operator: User) -> Game:
    return prepared(operator, [node("a", "16"), *(pod(f"web-{index}", "100m", app="web") for index in range(12))])


def send(client: Client, game: Game, *bodies: dict[str, str]) -> None:
    for body in bodies:
        answer = client.post(
            f"/api/v1/runs/{game.id}/commands/", {**body, "client_id": str(uuid4())}, content_type="application/json"
        )
        assert answer.status_code == 202, answer.content


CYCLE, POINT = {"type": "step", "what": "cycle"}, {"type": "step", "what": "point"}


def test_as_many_cycles_are_played_as_steps_waited_for_a_worker(client: Client, many: Game) -> None:
    send(client, many, *[CYCLE] * 5)
    many.play()
    seen = client.get(f"/api/v1/runs/{many.id}/").json()
    assert (seen["attempts"], seen["state"], seen["counts"]["active"]) == (5, "paused", 7)


def test_steps_of_points_that_waited_are_all_done_too(client: Client, many: Game) -> None:
    send(client, many, CYCLE, POINT)
    many.play()
    one = many.run.points
    send(client, many, POINT, POINT, POINT)
    many.play()
    assert (many.run.points, many.run.attempts) == (one + 3, 1)


def test_what_was_commanded_after_a_step_does_not_take_it_back(client: Client, many: Game) -> None:
    send(client, many, CYCLE, {"type": "node_cordon", "name": "a"}, CYCLE, {"type": "pause"})
    many.play()
    assert list(Attempt.objects.filter(run=many.run).order_by("number").values_list("result", flat=True)) == [
        "bound",
        "unschedulable",
    ]
    entries = JournalEntry.objects.filter(run=many.run).order_by("number")
    positions = [entry.position for entry in entries if entry.position is not None]
    assert len(positions) == len(entries)
    assert positions == sorted(set(positions)), "each has a place of its own"


def test_a_stop_does_not_wait_for_a_step(client: Client, many: Game) -> None:
    send(client, many, CYCLE, {"type": "stop"})
    many.play()
    assert (many.run.state, many.run.attempts) == ("stopped", 0)
