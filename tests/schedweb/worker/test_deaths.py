"""Engines that die: of one command, each time, or only as copies of a process."""

from __future__ import annotations

import json
import os
import signal
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from framework.sentences import ENGLISH, in_words
from schedweb.runs.models import JournalEntry, Run
from schedweb.worker import deaths
from schedweb.worker.playing import RUNNING, play_run
from schedweb.worker.process import EngineProcess
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, Start, eventually, prepared
from tests.schedweb.worker.poison import CONFIGURATION
from tests.schedweb.worker.poison import poison as poison

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_fork_server")]
CLUSTER = [node("a"), node("b"), *(pod(f"web-{index}", "100m") for index in range(4))]


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deaths, "PAUSES", (0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr(deaths, "PROBATION_SECONDS", 0.3)


@pytest.fixture
def sick(poison: Path, operator: User) -> Game:
    return prepared(operator, CLUSTER, configuration=CONFIGURATION)


def added(name: str) -> str:
    return json.dumps(pod(name, "100m"))


def answered(entry: JournalEntry) -> tuple[str, str]:
    entry.refresh_from_db()
    return entry.status, str(entry.text)


def notices(game: Game) -> list[str]:
    items = game.run.feed.filter(kind="engine").order_by("number").values_list("item", flat=True)
    return [in_words(item["parts"], ENGLISH) for item in items]


def read(game: Game) -> dict[str, Any]:
    browser = Client()
    browser.force_login(game.user)
    answer = browser.get(f"/api/v1/runs/{game.id}/")
    assert answer.status_code == 200
    return answer.json()  # type: ignore[no-any-return]


def send(game: Game, body: dict[str, Any]) -> Any:
    browser = Client()
    browser.force_login(game.user)
    return browser.post(f"/api/v1/runs/{game.id}/commands/", body, content_type="application/json")


def engine_at_work(game: Game, start: Start) -> tuple[threading.Thread, EngineProcess]:
    """Of the run, which plays a cycle a second from now on."""
    game.command("play", speed="one")
    playing = start(lambda: play_run(game.id))
    eventually(lambda: Run.objects.filter(pk=game.id, position__gt=2).exists())
    child = RUNNING[game.id].child
    assert child is not None
    return playing, child


def test_an_engine_that_is_stopped_and_not_continued_is_replaced(game: Game, in_background: Start) -> None:
    playing, child = engine_at_work(game, in_background)
    os.kill(child.pid, signal.SIGSTOP)
    eventually(lambda: any("The engine died" in each for each in notices(game)))
    assert "stopped by a signal and not continued" in child.last_words()
    stood_at = Run.objects.get(pk=game.id).position
    eventually(lambda: Run.objects.filter(pk=game.id, position__gt=stood_at).exists())
    game.command("stop")
    playing.join(60)
    assert Run.objects.get(pk=game.id).state == "stopped"


def test_an_engine_that_is_continued_in_time_is_left_alone(game: Game, in_background: Start) -> None:
    playing, child = engine_at_work(game, in_background)
    os.kill(child.pid, signal.SIGSTOP)
    eventually(lambda: child.stopped > 1)
    os.kill(child.pid, signal.SIGCONT)
    eventually(lambda: child.stopped == 0)
    game.command("stop")
    playing.join(60)
    assert Run.objects.get(pk=game.id).state == "stopped"
    assert not any("died" in each for each in notices(game))


@pytest.mark.parametrize("name", ["kills-1", "breaks-1"])
def test_the_one_command_that_the_engine_dies_of_is_set_aside(sick: Game, name: str) -> None:
    before = [sick.command("pod_add", manifest=added(f"before-{index}")) for index in range(3)]
    deadly = sick.command("pod_add", manifest=added(name))
    after = [sick.command("pod_add", manifest=added(f"after-{index}")) for index in range(3)]
    play = sick.command("play", speed="max")
    sick.play()
    assert [answered(each)[0] for each in (*before, *after, play)] == ["applied"] * 7
    assert answered(deadly) == (
        "refused",
        "The engine stopped 3 times while it did this (pod_add), and goes on without it.",
    )
    assert deadly.position is None
    assert sick.run.state == "finished"
    named = {"before-0", "before-1", "before-2", "after-0", "after-1", "after-2", *(f"web-{n}" for n in range(4))}
    assert sick.places() == dict.fromkeys(named, "bound")
    assert "A command of mira (pod_add) was set aside: the engine stopped 3 times while it did it." in notices(sick)


def test_what_cannot_be_played_is_parked_keeps_its_commands_and_is_tried_again(sick: Game) -> None:
    """The pod that it dies of was added long before, so no command is under way when it dies."""
    sick.command("pod_add", manifest=added("late"))
    sick.command("play", speed="max")
    sick.play()
    assert (sick.run.state, sick.run.wanted, sick.run.lease_owner) == ("parked", False, "")
    seen = read(sick)
    assert seen["error"] == f"The engine died 5 times at cycle {sick.run.attempts}."
    assert seen["parked"]["ended"] == "It was ended by signal 9 (SIGKILL)."
    assert seen["parked"]["lines"] == "the last line of the poison"
    assert (seen["parked"]["kept"], seen["worker"]["state"]) == (0, "idle")

    kept = [sick.command("node_cordon", name="a"), sick.command("pod_delete", namespace="shop", name="late")]
    assert not play_run(sick.id), "nobody plays it until somebody tries again"
    assert [answered(each)[0] for each in kept] == ["pending"] * 2
    assert read(sick)["parked"]["kept"] == 2

    answer = send(sick, {"type": "try_again"})
    assert (answer.status_code, answer.json()["status"]) == (202, "applied")
    seen = read(sick)
    assert (seen["state"], seen["error"], seen["parked"]) == ("playing", None, None)
    sick.play()
    # They were done before anything else, so the pod that it dies of was gone in time.
    assert [answered(each)[0] for each in kept] == ["applied"] * 2
    assert sick.run.state == "finished"
    assert sick.places() == {**{f"web-{n}": "bound" for n in range(4)}, "late": "deleted"}
    again = send(sick, {"type": "try_again"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "not_parked")


def test_a_run_that_dies_without_the_command_too_is_parked_with_it(sick: Game, poison: Path) -> None:
    sick.command("play", speed="one")
    (poison / "sick").touch()
    cordon = sick.command("node_cordon", name="a")
    sick.play()
    assert sick.run.state == "parked"
    assert answered(cordon)[0] in ("pending", "applied"), "it is nobody's fault"
    (poison / "sick").unlink()
    send(sick, {"type": "try_again"})
    sick.command("set_speed", speed="max")
    sick.play()
    assert (answered(cordon)[0], sick.run.state) == ("applied", "finished")
    assert {each.node for each in sick.run.pod_records.all()} == {"b"}


def test_what_only_copies_of_a_process_die_of_is_played_by_one_with_a_python_of_its_own(sick: Game) -> None:
    added_pod = sick.command("pod_add", manifest=added("copied"))
    sick.command("play", speed="max")
    sick.play()
    assert answered(added_pod)[0] == "applied"
    assert sick.run.state == "finished"
    assert sick.places()["copied"] == "bound"
    assert sum("The engine died" in each for each in notices(sick)) == 2


def test_a_run_that_failed_with_an_older_version_is_read_as_parked_and_can_be_tried_again(game: Game) -> None:
    game.command("step")
    game.play()
    Run.objects.filter(pk=game.id).update(state="failed", error="The engine died 3 times at cycle 1.", parked=None)
    import_module("schedweb.runs.migrations.0018_parked").park_failed(apps, None)
    seen = read(game)
    assert (seen["state"], seen["error"]) == ("parked", "The engine died 3 times at cycle 1.")
    assert seen["parked"] == {"at": None, "ended": "", "lines": "", "kept": 0}
    assert send(game, {"type": "try_again"}).status_code == 202
    game.command("play", speed="max")
    game.play()
    assert game.run.state == "waiting_for_person"
