"""A run as it was: the same addresses with @position answer what the live run answered there."""

from __future__ import annotations

from typing import Any

import pytest
import zstandard
from django.test import Client
from django.utils import timezone

from schedweb.engine.moments import moment
from schedweb.engine.replay import Diverged
from schedweb.engine.times import iso
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import Analysis, Attempt, Checkpoint, Run, StepChunk
from schedweb.runs.storing.stored import begin_of
from schedweb.worker.analyst import analyse
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)


def read(client: Client, key: str, rest: str = "") -> tuple[int, Any]:
    answer = client.get(f"/api/v1/runs/{key}/{rest}")
    return answer.status_code, answer.json()


def made(client: Client, game: Game, position: int) -> str:
    """The key of a moment that is ready to be read."""
    key = f"{game.id}@{position}"
    status, answer = read(client, key, "board/")
    if status == 202:
        assert answer["error"]["code"] == "being_made"
        assert analyse(Analysis.objects.get(run=game.id, position=position, name="moment").pk)
    return key


def test_a_moment_answers_what_the_run_answered_there(game: Game, client: Client) -> None:
    """Stopped in the middle, everything is read; then the run goes on, and the moment still says the same."""
    game.command("node_cordon", name="b")
    for _ in range(4):
        game.command("step", what="cycle")
    game.play()
    position = game.run.position
    addresses = [
        "board/", "nodes/", "pods/", "pods/?column=bound", "pods/?q=-l%20app%3Dweb%20!web-1&sort=-name", "nodes/a/",
        "pods/shop/web-0/", "pods/shop/web-5/", "pods/shop/web-0/yaml/", "objects/", "preemptions/", "attempts/",
        "selection/?namespace=shop&name=web-0", "attempts/1/", "attempts/1/filter/?table=1",
    ]  # fmt: skip
    before = {address: read(client, str(game.id), address) for address in addresses}
    game.command("node_uncordon", name="b")
    game.command("play", speed="max")
    game.play()
    assert game.run.position > position
    key = made(client, game, position)
    for address in addresses:
        status, found = read(client, key, address)
        assert status == 200, found
        assert plain(found) == plain(before[address][1]), address
    assert read(client, str(game.id), "pods/?column=bound")[1] != read(client, key, "pods/?column=bound")[1]
    status, board = read(client, key, "board/")
    run = board["run"]
    assert run["id"] == key
    assert run["moment"] == {"run": str(game.id), "position": position, "last": game.run.position}


def plain(body: Any) -> Any:
    """Without what names the moment or the moment of asking."""
    if isinstance(body, dict) and "run" in body and "columns" in body:
        body = {**body, "run": {key: body["run"][key] for key in ("counts", "attempts", "position", "clock", "pods")}}
    return {key: value for key, value in body.items() if key not in ("seq", "results")} | {
        "results": body.get("results")
    }


def test_the_beginning_and_what_is_refused(played: Game, client: Client) -> None:
    key = made(client, played, 0)
    assert read(client, key)[1]["counts"]["active"] == 9
    status, answer = read(client, f"{played.id}@{10**9}", "board/")
    assert (status, answer["error"]["code"]) == (422, "beyond_the_run")
    status, answer = read(client, key, "pods/shop/nobody/")
    assert (status, answer["error"]["message"]) == (404, "At step 0 this run had no pod shop/nobody.")
    assert client.delete(f"/api/v1/runs/{key}/").status_code == 409
    assert client.post(f"/api/v1/runs/{key}/commands/", {"type": "play"}).status_code == 404
    assert Run.objects.filter(pk=played.id).exists()


def test_the_timeline_marks_decisions_and_failures(played: Game, client: Client) -> None:
    status, body = read(client, str(played.id), "timeline/")
    assert status == 200
    assert body["last"] == played.run.position
    marks = {mark["kind"]: mark for mark in body["marks"]}
    assert set(marks) == {"failure", "decision"}
    assert marks["failure"]["text"] == "shop/large"
    assert marks["decision"]["text"] == "mira"
    assert 0 < marks["failure"]["position"] <= marks["decision"]["position"] <= body["last"]


def test_a_step_tells_the_time_and_the_counts_of_its_moment(game: Game, client: Client) -> None:
    """Of every step: by point, by cycle, at full speed, behind commands, and after another engine took the run over."""
    for what in ("cycle", "point", "point"):
        game.command("step", what=what)
    game.play()
    stepped = game.run.position
    game.command("pod_delete", namespace="shop", name="web-5")
    game.command("play", speed="max")
    game.play()
    game.decide("approve", "asks-1")
    game.play()
    told = {}
    for position in range(game.run.position + 1):
        found = read(client, str(game.id), f"timeline/{position}/")[1]["step"]
        told[position] = found["position"]
        if found["position"] < position:
            continue
        there = moment(begin_of(game.run, found["position"]))
        if there.position == found["position"]:
            want = {"clock": iso(there.now), "counts": there.projection.board.counts()}
            assert {key: found[key] for key in want} == want, position
    noted = {position for position, step in told.items() if position == step}
    assert {0, stepped, game.run.position} <= noted
    assert all(told[position] == max(step for step in noted if step <= position) for position in told)
    assert len(noted) < len(told), "a cycle at full speed is one operation"
    assert set(range(stepped)) - noted == set(), "stepped through, or slow: every point"


def test_where_an_older_version_noted_nothing_nothing_is_said(played: Game, client: Client) -> None:
    StepChunk.objects.filter(run=played.id, first=0).delete()
    assert read(client, str(played.id), "timeline/0/") == (200, {"step": None})


def test_a_moment_of_a_run_that_another_version_played_is_held_against_what_it_stored(played: Game) -> None:
    """Its digests come from other things than today's, so what it decided is compared attempt by attempt."""
    Checkpoint.objects.filter(run=played.id).update(engine_version="older")
    Run.objects.filter(pk=played.id).update(engine_version="older", digest="")
    run = Run.objects.get(pk=played.id)
    third = Attempt.objects.get(run=run, number=3)
    assert third.position is not None
    assert moment(begin_of(run, third.position)).position == third.position

    Attempt.objects.filter(run=run, number=2).update(node="elsewhere")
    with pytest.raises(Diverged) as caught:
        moment(begin_of(run, third.position))
    own = f"Version older of the engine played this run, and version {ENGINE_VERSION} decides otherwise: "
    assert str(caught.value).startswith(f"{own}Attempt 2 is another one.")
    before = Attempt.objects.get(run=run, number=1).position
    assert moment(begin_of(run, before)).position == before, "up to there both decided the same"


def test_a_run_whose_version_counted_otherwise_is_not_looked_back_at(played: Game, client: Client) -> None:
    Attempt.objects.filter(run=played.id).update(position=None)
    Run.objects.filter(pk=played.id).update(engine_version="older")
    status, answer = read(client, f"{played.id}@3", "board/")
    assert (status, answer["error"]["code"]) == (422, "other_version")
    assert read(client, f"{played.id}@0", "board/")[0] == 202


def test_a_moment_that_failed_is_tried_again_after_a_while(played: Game, client: Client) -> None:
    status, _ = read(client, f"{played.id}@3", "board/")
    assert status == 202
    Analysis.objects.update(status="failed", error="No worker can be reached now.")
    status, answer = read(client, f"{played.id}@3", "board/")
    assert (status, answer["error"]["message"]) == (422, "No worker can be reached now.")
    Analysis.objects.update(expires=timezone.now())
    assert read(client, f"{played.id}@3", "board/")[0] == 202
    assert read(client, made(client, played, 3), "board/")[0] == 200


@pytest.mark.parametrize("blob", [b"nonsense", zstandard.compress(b"\x80")], ids=["no blob", "of another version"])
def test_a_moment_that_another_version_packed_is_made_anew(played: Game, client: Client, blob: bytes) -> None:
    made(client, played, 3)
    Analysis.objects.update(blob=blob)
    assert read(client, f"{played.id}@3", "board/")[0] == 202
    assert read(client, made(client, played, 3), "board/")[0] == 200
