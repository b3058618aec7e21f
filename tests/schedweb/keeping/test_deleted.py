"""What is deleted: found nowhere, brought back as it was, gone for good when its time is up."""

from __future__ import annotations

import datetime
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.keeping.deleted import remove_overdue
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.models import Analysis, AttemptChunk, JournalEntry, PodRecord, Run
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.playing.dispatch import refuse_late
from schedweb.runs.sharing.services import share_link_create
from schedweb.runs.storing.lease import claim
from schedweb.snapshots.models import Snapshot
from schedweb.worker.playing import play_run
from tests.schedweb.runs.conftest import Game, Start, eventually
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db(transaction=True)
DELETED = "/api/v1/deleted/"


def address(run: UUID) -> str:
    return f"/api/v1/runs/{run}/"


def act(client: Client, what: str, kind: str, identity: object) -> Any:
    answer = client.post(
        f"{DELETED}{what}/", {"items": [{"kind": kind, "id": str(identity)}]}, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    check_shape(f"/api/v1/deleted/{what}/", answer.json(), method="post")
    return answer.json()


def listed(client: Client, **asked: str) -> list[tuple[str, str]]:
    body = client.get(DELETED, asked).json()
    check_shape("/api/v1/deleted/", body)
    assert body["count"] == len(body["results"])
    return [(each["kind"], each["name"]) for each in body["results"]]


def overdue(row: Any) -> None:
    type(row).every.filter(pk=row.pk).update(goes_at=timezone.now() - datetime.timedelta(minutes=1))


# Runs -----------------------------------------------------------------------------------------------------------------


def test_a_deleted_run_comes_back_as_it_was(played: Game, client: Client) -> None:
    before = client.get(address(played.id)).json()
    assert client.delete(address(played.id)).status_code == 204
    # A second time is no mistake.
    assert client.delete(address(played.id)).status_code == 204
    gone = client.get(address(played.id))
    assert gone.status_code == 404
    assert "r-0001 was deleted by mira on" in gone.json()["error"]["message"]
    assert "can be brought back until" in gone.json()["error"]["message"]
    assert listed(client) == [("run", "r-0001")]
    assert act(client, "restore", "run", played.id) == {
        "done": [{"kind": "run", "id": str(played.id), "name": "r-0001"}],
        "refused": [],
    }
    assert act(client, "restore", "run", played.id)["refused"] == []
    assert listed(client) == []
    played.play()
    after = client.get(address(played.id)).json()
    ignored = ("seq", "worker", "state", "position", "size_bytes")
    assert {k: v for k, v in after.items() if k not in ignored} == {k: v for k, v in before.items() if k not in ignored}
    # It had waited for a person, so its clock was not to go on by itself.
    assert (before["state"], after["state"]) == ("waiting_for_person", "paused")
    played.decide("approve", "asks-2")
    played.command("play", speed="max")
    played.play()
    assert (played.run.state, played.places()["asks-2"]) == ("finished", "bound")


def addresses(patterns: list[Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for each in patterns:
        route = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            found += addresses(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            found.append(route)
    return found


def test_every_address_of_a_deleted_run_is_closed(played: Game, client: Client) -> None:
    other = run_fork(parent=played.run, user=played.user)
    analysis = Analysis.objects.create(
        run=played.run, position=0, name="capacity", key="k", asked_by="mira", expires=timezone.now(), status="done",
        result="{}",
    )  # fmt: skip
    entry = JournalEntry.objects.filter(run=played.run).first()
    assert entry is not None
    routes = [each for each in addresses(get_resolver().url_patterns) if ":run>" in each]
    assert len(routes) > 30
    values = {
        "uuid:run": played.id, "run:run": played.id, "uuid:other": other.pk, "int:number": 1, "int:other": 2,
        "str:namespace": "shop", "str:name": "web-1", "int:position": 1, "uuid:analysis": analysis.pk,
        "uuid:entry": entry.pk, "uuid:link": uuid4(),
    }  # fmt: skip
    assert client.delete(address(played.id)).status_code == 204
    for route in routes:
        path = "/" + route
        for name, value in values.items():
            path = path.replace(f"<{name}>", str(value))
        for answer in (client.get(path), client.post(path, {}, content_type="application/json")):
            assert answer.status_code in (404, 405, 400), (path, answer.status_code, answer.content[:200])
    # Beside one that is there, too.
    assert client.get(f"{address(other.pk)}comparison/{played.id}/").status_code == 404


def test_it_is_in_no_list_and_takes_no_commands(played: Game, client: Client) -> None:
    assert client.get("/api/v1/waiting/").json()["count"] == 1
    assert client.get("/api/v1/decisions/").json()["count"] == 1
    fork = run_fork(parent=played.run, user=played.user)
    assert client.delete(address(played.id)).status_code == 204
    assert [each["number"] for each in client.get("/api/v1/runs/").json()["results"]] == ["r-0002"]
    assert client.get("/api/v1/runs/", {"q": "r-0001"}).json()["count"] == 0
    for path in ("/api/v1/waiting/", "/api/v1/waiting/count/", "/api/v1/decisions/"):
        assert client.get(path).json()["count"] == 0, path
    answer = client.post(f"{address(played.id)}commands/", {"type": "play"}, content_type="application/json")
    assert (answer.status_code, "was deleted" in answer.json()["error"]["message"]) == (404, True)
    # Its fork does not lead to it, and plays on.
    assert client.get(address(fork.pk)).json()["parent"]["id"] is None
    game = Game(fork, played.user)
    game.command("play", speed="max")
    game.play()
    assert game.run.digest
    act(client, "restore", "run", played.id)
    assert client.get(address(fork.pk)).json()["parent"]["id"] == str(played.id)


def test_share_links_of_a_deleted_run_are_closed_until_it_is_back(played: Game, client: Client) -> None:
    _, token = share_link_create(run=played.run, user=played.user, name="review")
    visitor = Client()
    assert visitor.get(f"/share/{token}").status_code == 302
    assert visitor.get(address(played.id)).status_code == 200
    client.delete(address(played.id))
    assert visitor.get(address(played.id)).status_code in (401, 403)
    closed = Client().get(f"/share/{token}")
    assert closed.status_code == 410
    assert "The run of this share link was deleted" in closed.content.decode()
    act(client, "restore", "run", played.id)
    assert visitor.get(address(played.id)).status_code == 200


def test_a_run_that_plays_stops_and_comes_back_paused(game: Game, client: Client, in_background: Start) -> None:
    game.command("play", speed="one")
    playing = in_background(lambda: play_run(game.id))
    eventually(lambda: Run.objects.filter(pk=game.id, state="playing", position__gt=2).exists())
    assert client.delete(address(game.id)).status_code == 204
    playing.join(60)
    assert not playing.is_alive()
    stopped = Run.every.get(pk=game.id)
    assert claim(game.id) is None
    assert (stopped.wanted, stopped.lease_owner) == (False, "")
    act(client, "restore", "run", game.id)
    game.play()
    assert game.run.state == "paused"
    assert game.run.position >= stopped.position
    game.command("play", speed="max")
    game.play()
    assert game.run.state == "waiting_for_person"


def test_commands_that_waited_are_refused_and_say_so(game: Game, client: Client) -> None:
    entry = game.command("node_cordon", name="a")
    client.delete(address(game.id))
    entry.refresh_from_db()
    assert (entry.status, str(entry.text)) == ("refused", "r-0001 was deleted before this was done.")
    assert client.get(f"{address(game.id)}wait/?seconds=50").status_code == 404


def test_a_command_that_was_stored_beside_the_deletion_is_refused_by_the_sweep(game: Game, client: Client) -> None:
    client.delete(address(game.id))
    late = command_insert(run=game.run, user=game.user, content={"type": "play"})
    [(run, [outcome])] = refuse_late()
    assert (run.pk, outcome.id, str(outcome.text)) == (
        game.id,
        str(late.pk),
        "r-0001 was deleted before this was done.",
    )
    assert refuse_late() == []


def test_operators_delete_their_own_runs_and_editors_any(
    game: Game, client: Client, colleague: Client, editor: Client
) -> None:
    refused = colleague.delete(address(game.id))
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        403,
        "r-0001 was started by mira. Its starter and editors may delete it and bring it back.",
    )
    assert editor.delete(address(game.id)).status_code == 204
    assert listed(colleague) == []
    assert act(colleague, "restore", "run", game.id)["refused"][0]["why"].startswith("r-0001 is brought back by")
    assert act(colleague, "remove", "run", game.id)["done"] == []
    assert listed(client) == [("run", "r-0001")]
    assert act(client, "restore", "run", game.id)["refused"] == []


def test_what_is_overdue_goes_for_good_with_all_that_it_stored(played: Game, client: Client) -> None:
    kept = run_fork(parent=played.run, user=played.user)
    client.delete(address(played.id))
    assert remove_overdue() == {}
    overdue(played.run)
    # From then on nobody brings it back, whether it was removed by now or not.
    assert "cannot be brought back any more" in act(client, "restore", "run", played.id)["refused"][0]["why"]
    assert listed(client) == []
    assert remove_overdue() == {"run": 1}
    assert list(Run.every.values_list("pk", flat=True)) == [kept.pk]
    assert set(PodRecord.objects.values_list("run", flat=True)) <= {kept.pk}
    assert not AttemptChunk.objects.exclude(run=kept).exists()
    assert act(client, "restore", "run", played.id)["refused"][0]["why"].startswith("There is no such run")
    assert client.get(address(kept.pk)).json()["parent"] == {
        "id": None, "number": "r-0001", "position": played.run.position,
    }  # fmt: skip
    # Its number is nobody else's.
    assert str(run_fork(parent=kept, user=played.user)) == "r-0003"


def test_a_removal_that_was_interrupted_is_gone_on_with(
    played: Game, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.delete(address(played.id))
    overdue(played.run)

    def killed(self: Run) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Run, "delete", killed)
        with pytest.raises(KeyboardInterrupt):
            remove_overdue()
    assert not PodRecord.objects.exists()
    assert remove_overdue() == {"run": 1}


# Snapshots and configurations -----------------------------------------------------------------------------------------


def test_a_snapshot_waits_for_its_deleted_runs(game: Game, editor: Client) -> None:
    snapshot = game.run.snapshot
    where = f"/api/v1/snapshots/{snapshot.pk}/"
    assert "1 run plays on small" in editor.delete(where).json()["error"]["message"]
    editor.delete(address(game.id))
    assert editor.delete(where).status_code == 204
    assert editor.delete(where).status_code == 204
    assert "small was deleted by edda" in editor.get(where).json()["error"]["message"]
    assert editor.get(f"{where}objects/").status_code == 404
    assert editor.get("/api/v1/snapshots/").json()["count"] == 0
    answer = editor.post(
        "/api/v1/runs/",
        {"snapshot": str(snapshot.pk), "configuration_version": str(game.run.configuration_version_id)},
        content_type="application/json",
    )
    assert (answer.status_code, "was deleted" in answer.json()["error"]["message"]) == (404, True)
    assert listed(editor) == [("snapshot", "small"), ("run", "r-0001")]
    assert listed(editor, kind="run") == [("run", "r-0001")]
    overdue(snapshot)
    assert remove_overdue() == {}
    assert act(editor, "restore", "run", game.id)["refused"] == []
    # The run brought its cluster along.
    assert editor.get(where).status_code == 200


def test_a_configuration_s_name_is_free_and_it_comes_back_under_another(
    game: Game, editor: Client, version: ConfigurationVersion
) -> None:
    configuration = version.configuration
    where = f"/api/v1/configurations/{configuration.pk}/"
    assert "A run uses asks a person" in editor.delete(where).json()["error"]["message"]
    editor.delete(address(game.id))
    assert editor.delete(where).status_code == 204
    assert "asks a person was deleted by edda" in editor.get(where).json()["error"]["message"]
    assert editor.get("/api/v1/configurations/").json()["count"] == 0
    answer = editor.post(
        "/api/v1/runs/",
        {"snapshot": str(game.run.snapshot_id), "configuration_version": str(version.pk)},
        content_type="application/json",
    )
    assert (answer.status_code, "was deleted" in answer.json()["error"]["message"]) == (404, True)
    made = {"name": "Asks a Person", "preset": "default"}
    assert editor.post("/api/v1/configurations/", made, content_type="application/json").status_code == 201
    assert act(editor, "restore", "configuration", configuration.pk)["done"][0]["name"] == "asks a person (2)"
    assert {each["name"] for each in editor.get("/api/v1/configurations/").json()["results"]} == {
        "Asks a Person", "asks a person (2)",
    }  # fmt: skip


def test_removing_now_takes_two_steps(game: Game, editor: Client, snapshot: Snapshot) -> None:
    assert "is not deleted" in act(editor, "remove", "run", game.id)["refused"][0]["why"]
    editor.delete(address(game.id))
    editor.delete(f"/api/v1/snapshots/{snapshot.pk}/")
    assert (
        "with the last deleted run that needs it" in act(editor, "remove", "snapshot", snapshot.pk)["refused"][0]["why"]
    )
    assert act(editor, "remove", "run", game.id)["refused"] == []
    assert remove_overdue() == {"snapshot": 1}
    assert not Run.every.exists()
    assert not Snapshot.every.exists()


def test_a_what_if_configuration_goes_with_the_last_run_that_knows_it(game: Game, client: Client) -> None:
    Configuration.objects.filter(versions=game.run.configuration_version_id).update(what_if=True)
    client.delete(address(game.id))
    assert Configuration.objects.count() == 1
    overdue(game.run)
    remove_overdue()
    assert not Configuration.every.exists()


def test_viewers_and_nonsense(viewer: Any, client: Client) -> None:
    other = Client()
    other.force_login(viewer)
    assert listed(other) == []
    items = {"items": [{"kind": "run", "id": str(uuid4())}]}
    assert other.post(f"{DELETED}restore/", items, content_type="application/json").status_code == 403
    bodies: list[dict[str, Any]] = [
        {},
        {"items": []},
        {"items": [{"kind": "pod", "id": str(uuid4())}]},
        {"items": [{"kind": "run"}]},
    ]
    for body in bodies:
        assert client.post(f"{DELETED}restore/", body, content_type="application/json").status_code == 400, body
    assert client.get(DELETED, {"kind": "pod"}).status_code == 400


# The command line -----------------------------------------------------------------------------------------------------


def command(*words: str) -> str:
    out = StringIO()
    call_command("deleted", *words, stdout=out)
    return out.getvalue()


def test_the_command_lists_restores_and_removes(game: Game, client: Client) -> None:
    client.delete(address(game.id))
    assert f"run {game.id}  r-0001 of small, deleted by mira, goes " in command("list")
    assert command("restore", "run", "r-0001") == "r-0001 is back.\n"
    assert command("list") == ""
    with pytest.raises(CommandError, match="is not deleted"):
        command("remove", "run", "1")
    client.delete(address(game.id))
    assert command("remove", "run", str(game.id)) == "r-0001 is gone for good.\n"
    with pytest.raises(CommandError, match="There is no run r-0001"):
        command("restore", "run", "r-0001")
