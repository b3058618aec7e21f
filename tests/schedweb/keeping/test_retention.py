"""What goes by itself to make room, what stays, and what is said of it."""

from __future__ import annotations

import datetime
import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from schedweb.accounts.models import AuditEntry
from schedweb.keeping.deleted import remove_overdue
from schedweb.keeping.retention import made_again, pruned
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import AttemptChunk, Checkpoint, Run
from schedweb.runs.sharing.services import share_link_create, share_link_revoke
from schedweb.runs.storing.sizes import measure
from tests.schedweb.keeping.test_deleted import address, listed, overdue
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db(transaction=True)
STORAGE = "/api/v1/storage/"


@pytest.fixture
def ended(game: Game) -> Game:
    """Played to its end."""
    game.command("play", speed="max")
    game.play()
    game.decide("approve", "asks-1")
    game.decide("approve", "asks-2")
    game.play()
    assert game.run.state == "finished"
    return game


def aged(run: Any, days: int) -> None:
    Run.every.filter(pk=run.pk).update(used_at=timezone.now() - datetime.timedelta(days=days))


def steps() -> list[tuple[str, str, str]]:
    return [(str(step.run), step.what, step.why) for step in pruned().steps]


def test_old_runs_lose_what_plugins_said_and_say_so(ended: Game, client: Client) -> None:
    assert steps() == []
    aged(ended.run, 91)
    first = f"{address(ended.id)}attempts/1/"
    assert client.get(first).status_code == 200
    size = ended.run.stored_bytes
    assert steps() == [("r-0001", "breakdowns", "age")]
    assert not AttemptChunk.objects.filter(run=ended.id).exists()
    assert not Checkpoint.objects.filter(run=ended.id).exists()
    run = client.get(address(ended.id)).json()
    check_shape("/api/v1/runs/{run}/", run)
    assert run["size_bytes"] < size
    text = run["breakdowns_gone"]["text"]
    assert text.startswith("What the plugins said in the attempts of r-0001 went on ")
    assert "It had not been played for 90 days. Its journal is kept: a fork at its last step" in text
    gone = client.get(first)
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "breakdowns_gone")
    assert gone.json()["error"]["message"] == text
    # What needs none of it is there, also what looks at both.
    pod = ended.run.pod_records.filter(column="bound").first()
    assert pod is not None
    named = {"namespace": pod.namespace, "name": pod.name}
    for path in ("", "board/", "feed/", "timeline/", "journal/", "attempts/", f"pods/{pod.namespace}/{pod.name}/"):
        assert client.get(address(ended.id) + path).status_code == 200, path
    assert client.get(f"{address(ended.id)}selection/", named).status_code == 200
    # Once is enough.
    assert steps() == []
    assert AuditEntry.objects.filter(action="run.prune").count() == 1


def test_a_fork_at_the_last_step_says_again_what_went(ended: Game, client: Client) -> None:
    before = [client.get(f"{address(ended.id)}attempts/{n}/").json() for n in range(1, ended.run.attempts + 1)]
    aged(ended.run, 91)
    pruned()
    ended.run.refresh_from_db()
    body = client.get(address(ended.id)).json()["breakdowns_gone"]
    fork = Game(run_fork(parent=ended.run, user=ended.user, position=body["position"]), ended.user)
    fork.play()
    after = [client.get(f"{address(fork.id)}attempts/{n}/").json() for n in range(1, ended.run.attempts + 1)]
    assert [each["points"] for each in after] == [each["points"] for each in before]
    assert fork.run.digest == ended.run.digest


def test_it_is_played_on_from_its_journal(played: Game) -> None:
    Run.objects.filter(pk=played.id).update(state="paused", wanted=False)
    aged(played.run, 91)
    assert steps() == [("r-0001", "breakdowns", "age")]
    played.decide("approve", "asks-2")
    played.command("play", speed="max")
    played.play()
    assert (played.run.state, played.places()["asks-2"]) == ("finished", "bound")


def test_old_runs_go_to_recently_deleted_and_come_back(ended: Game, client: Client, editor: Client) -> None:
    fork = Game(run_fork(parent=ended.run, user=ended.user), ended.user)
    aged(ended.run, 400)
    assert steps() == [("r-0001", "run", "age")]
    assert "r-0001 was deleted by retention on" in client.get(address(ended.id)).json()["error"]["message"]
    gone = Run.every.get(pk=ended.id)
    assert gone.goes_at is not None
    assert gone.deleted_at is not None
    assert (gone.goes_at - gone.deleted_at).days == 7
    assert listed(editor) == listed(client) == [("run", "r-0001")]
    restored = client.post(
        "/api/v1/deleted/restore/", {"items": [{"kind": "run", "id": str(ended.id)}]}, content_type="application/json"
    )
    assert restored.json()["refused"] == []
    # It counts as used: it does not go again at once.
    assert steps() == []
    aged(ended.run, 400)
    pruned()
    overdue(ended.run)
    assert remove_overdue() == {"run": 1}
    # A fork needs nothing of its parent.
    fork.play()
    assert fork.run.digest


def test_what_is_needed_stays(ended: Game, client: Client) -> None:
    held = {"lease_owner": "somebody", "lease_expires": timezone.now() + datetime.timedelta(minutes=1)}
    for kept in ({"starred_at": timezone.now()}, held, {"state": "waiting_for_person"}, {"wanted": True}):
        facts = {name: getattr(ended.run, name) for name in kept}
        Run.objects.filter(pk=ended.id).update(**kept)
        aged(ended.run, 400)
        assert steps() == [], kept
        Run.objects.filter(pk=ended.id).update(**facts)
    link, _ = share_link_create(run=ended.run, user=ended.user, name="review")
    assert steps() == []
    share_link_revoke(run=ended.run, link=link.pk)
    ended.command("play", speed="max")
    assert steps() == []
    # An unfinished run keeps its journal.
    ended.run.journal.filter(status="pending").delete()
    Run.objects.filter(pk=ended.id).update(state="paused")
    assert steps() == [("r-0001", "breakdowns", "age")]


def test_over_the_limit_the_oldest_go_first_breakdowns_before_runs(ended: Game, settings: Settings) -> None:
    games = [ended]
    for days in (1, 2):
        fork = Game(run_fork(parent=ended.run, user=ended.user), ended.user)
        fork.play()
        Run.objects.filter(pk=fork.id).update(state="finished")
        aged(fork.run, days)
        games.append(fork)
    for game in games:
        measure(game.id)
    sizes = dict(Run.objects.values_list("number", "stored_bytes"))
    settings.KEEP_TOTAL_BYTES = sum(sizes.values()) - 1
    assert steps() == [("r-0003", "breakdowns", "size")]
    # A byte less than what is left when all have lost what can be made again.
    settings.KEEP_TOTAL_BYTES = sum(row.stored_bytes - made_again(row) for row in Run.objects.all()) - 1
    assert steps() == [("r-0002", "breakdowns", "size"), ("r-0001", "breakdowns", "size"), ("r-0003", "run", "size")]
    # What is needed stays, and it is said that the limit is passed.
    Run.objects.update(starred_at=timezone.now())
    settings.KEEP_TOTAL_BYTES = 1
    plan = pruned()
    assert plan.steps == []
    assert plan.over_bytes == plan.kept_bytes - 1


def test_who_has_too_much_starts_no_more(ended: Game, client: Client, settings: Settings, operator: User) -> None:
    settings.KEEP_PER_PERSON_BYTES = 1_000
    like = {"snapshot": str(ended.run.snapshot_id), "configuration_version": str(ended.run.configuration_version_id)}
    for path, body in (("/api/v1/runs/", like), (f"{address(ended.id)}forks/", {})):
        answer = client.post(path, body, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "too_much_stored")
        assert "and 1.0 KB is the most that is kept of one person. Delete some" in answer.json()["error"]["message"]
    assert Run.every.count() == 1
    settings.KEEP_PER_PERSON_BYTES = 0
    assert client.post("/api/v1/runs/", like, content_type="application/json").status_code == 201


def test_stars_are_given_once_and_written_down(ended: Game, client: Client, editor: Client) -> None:
    for browser in (client, editor):
        body = browser.post(f"{address(ended.id)}star/").json()
        check_shape("/api/v1/runs/{run}/star/", body, method="post")
        assert body["starred"]["by"] == "mira"
    assert client.get("/api/v1/runs/", {"starred": "true"}).json()["count"] == 1
    assert client.get("/api/v1/runs/", {"starred": "false"}).json()["count"] == 0
    assert editor.delete(f"{address(ended.id)}star/").status_code == 204
    assert editor.delete(f"{address(ended.id)}star/").status_code == 204
    assert client.get(address(ended.id)).json()["starred"] is None
    named = AuditEntry.objects.filter(action__startswith="run.").order_by("pk").values_list("action", "username")
    assert list(named) == [("run.star", "mira"), ("run.unstar", "edda")]


# The page -------------------------------------------------------------------------------------------------------------


def test_what_uses_the_space(ended: Game, client: Client) -> None:
    body = client.get(STORAGE).json()
    check_shape(STORAGE, body)
    sizes = {each["kind"]: each["bytes"] for each in body["kinds"]}
    assert sum(sizes.values()) == body["database_bytes"] - (body["free_bytes"] or 0)
    assert sizes["pods"] == ended.run.stored["pods"] > 0
    assert body["runs"] == {
        "count": 1, "bytes": ended.run.stored_bytes, "deleted_count": 0, "deleted_bytes": 0
    }  # fmt: skip
    [person], [snapshot] = body["people"], body["snapshots"]
    assert (person["name"], person["bytes"], person["limit_bytes"]) == ("mira", ended.run.stored_bytes, 5 * 10**9)
    assert (snapshot["name"], snapshot["runs"], snapshot["runs_bytes"]) == ("small", 1, ended.run.stored_bytes)
    assert body["limits"]["breakdowns_days"] == 90
    assert body["next"]["runs"] == 0

    runs = client.get(f"{STORAGE}runs/").json()
    check_shape(f"{STORAGE}runs/", runs)
    [run] = runs["results"]
    assert run["bytes"] == sum(part["bytes"] for part in run["parts"]) == ended.run.stored_bytes
    assert run["needed"] == ""
    assert run["goes"]["run_at"] > run["goes"]["breakdowns_at"] > run["used_at"]
    aged(ended.run, 400)
    pruned()
    assert client.get(f"{STORAGE}runs/", {"deleted": "false"}).json()["count"] == 0
    [run] = client.get(f"{STORAGE}runs/", {"deleted": "true", "person": "mira", "sort": "-breakdowns"}).json()[
        "results"
    ]
    assert run["goes"]["run_at"] > run["deleted_at"]
    assert client.get(STORAGE).json()["runs"]["deleted_count"] == 1
    for wrong in ({"sort": "colour"}, {"deleted": "perhaps"}, {"snapshot": "seven"}):
        assert client.get(f"{STORAGE}runs/", wrong).status_code == 400, wrong


# The command line -----------------------------------------------------------------------------------------------------


def command(*words: str) -> str:
    out = StringIO()
    call_command("prune", *words, stdout=out)
    return out.getvalue()


def test_the_command_says_what_would_go_and_does_it(ended: Game) -> None:
    assert "Nothing would go: all " in command("--dry-run")
    aged(ended.run, 91)
    said = command("--dry-run")
    assert "r-0001  " in said
    assert " would go, of " in said
    told = json.loads(command("--dry-run", "--json"))
    assert [(each["run"], each["what"], each["why"]) for each in told["steps"]] == [("r-0001", "breakdowns", "age")]
    assert AttemptChunk.objects.exists()
    if connection.vendor == "sqlite":
        assert " went, of " in command("--compact")
    else:
        with pytest.raises(CommandError, match="--compact is for the embedded mode"):
            command("--compact")
        assert " went, of " in command()
    assert not AttemptChunk.objects.exists()
    assert "Nothing would go" in command("--dry-run")
    with pytest.raises(CommandError, match="--compact is for the embedded mode, and does something"):
        command("--compact", "--dry-run")


def test_a_run_that_a_person_stopped_goes_too(game: Game) -> None:
    game.command("play", speed="max")
    game.play()
    game.command("stop")
    game.play()
    assert (game.run.state, game.run.wanted, game.run.lease_owner) == ("stopped", False, "")
    aged(game.run, 91)
    assert steps() == [("r-0001", "breakdowns", "age")]


@pytest.mark.parametrize("wanted", [True, False], ids=["stored by 0.2.0", "stored by this version"])
def test_a_stopped_run_whose_worker_died_before_it_gave_it_back_goes_too(game: Game, wanted: bool) -> None:
    game.command("play", speed="max")
    game.play()
    game.command("stop")
    game.play()
    over = timezone.now() - datetime.timedelta(minutes=1)
    Run.every.filter(pk=game.id).update(lease_owner="host:1:dead", lease_expires=over, wanted=wanted)
    aged(game.run, 91)
    assert steps() == [("r-0001", "breakdowns", "age")]
