"""A fork of a moment of the run's clock: the last step before it, which is said."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.test import Client

from schedweb.engine.times import iso
from schedweb.runs.models import Run, StepChunk
from schedweb.runs.playing.timeline import step_at, step_body
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(game: Game, client: Client) -> Client:
    """Of whoever began a run that was played in several batches."""
    for _ in range(3):
        game.command("step")
        game.play()
    game.command("play", speed="max")
    game.play()
    assert StepChunk.objects.filter(run=game.run).count() > 1, "so there is something to look for"
    client.force_login(game.user)
    return client


def fork(desk: Client, run: Run, **wanted: Any) -> tuple[int, Any]:
    answer = desk.post(f"/api/v1/runs/{run.pk}/forks/", wanted, content_type="application/json")
    return answer.status_code, answer.json()


def moments(run: Run) -> list[tuple[int, str]]:
    """(position, clock) of all steps that are noted."""
    found = {}
    for position in range(run.position + 1):
        if (step := step_body(run, position)) is not None:
            found[step["position"]] = step["clock"]
    return list(found.items())


def test_the_last_step_before_it_is_taken(game: Game, desk: Client) -> None:
    run = Run.objects.get(pk=game.run.pk)
    noted = moments(run)
    for at in sorted({clock for _, clock in noted}):
        last = max(position for position, clock in noted if clock <= at)
        assert step_at(run, datetime.datetime.fromisoformat(at)) == last, at
    last_of_all = noted[-1]
    middle = next(clock for _, clock in noted if noted[0][1] < clock < last_of_all[1])
    status, made = fork(desk, run, at=middle)
    assert status == 201, made
    wanted = max(position for position, clock in noted if clock <= middle)
    assert made["parent"]["position"] == wanted
    told = desk.get(f"/api/v1/runs/{run.pk}/timeline/", {"at": middle}).json()["at"]
    assert (told["position"], told["clock"]) == (wanted, middle)
    assert desk.get(f"/api/v1/runs/{run.pk}/timeline/").json()["at"] is None
    assert fork(desk, run, at=last_of_all[1])[1]["parent"]["position"] == last_of_all[0]


def test_a_time_without_a_step_is_said(game: Game, desk: Client) -> None:
    run = Run.objects.get(pk=game.run.pk)
    before = Run.objects.count()

    def refused(**wanted: Any) -> tuple[int, str, str]:
        status, said = fork(desk, run, **wanted)
        return status, said["error"]["code"], said["error"]["message"]

    status, code, words = refused(at="2001-01-01T09:00:00Z")
    assert (status, code) == (422, "before_it_began")
    assert words.endswith("it has no step at 2001-01-01 09:00:00 UTC.")
    assert refused(at="2201-01-01T09:00:00Z")[:2] == (422, "still_to_come")
    assert refused(at="nine")[0] == 400
    assert refused(at=iso(run.clock), position=1)[0] == 400
    asked = desk.get(f"/api/v1/runs/{run.pk}/timeline/", {"at": "2001-01-01T09:00:00Z"})
    assert (asked.status_code, asked.json()["error"]["path"]) == (422, "at")

    # What went to make room is no step any more.
    noted = moments(run)
    middle = noted[len(noted) // 2]
    clock = step_body(run, middle[0])
    assert clock is not None
    Run.objects.filter(pk=run.pk).update(base_position=middle[0], base_clock=run.clock)
    status, code, words = refused(at=noted[0][1])
    assert (status, code) == (422, "thinned")
    assert "went to make room" in words
    assert Run.objects.count() == before
