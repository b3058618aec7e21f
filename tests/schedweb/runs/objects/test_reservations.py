"""A Reservation in a run, by commands through the API: made, held, used, edited, deleted."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from framework.configuration.presets import preset
from schedweb.runs.models import JournalEntry, PodRecord
from schedweb.snapshots.samples.held import held_places
from tests.advice.test_koordinator_remedies import reservation
from tests.schedweb.engine.worlds import node, pod
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.test_api import get, with_secrets


def ordered(game: Game, client: Client, **command: Any) -> JournalEntry:
    answer = client.post(f"/api/v1/runs/{game.id}/commands/", command, content_type="application/json")
    assert answer.status_code == 202, answer.content
    game.command("play", speed="max")
    game.play()
    return JournalEntry.objects.get(pk=answer.json()["id"])


def state(game: Game, client: Client) -> str:
    found: list[dict[str, Any]] = get(client, f"/api/v1/runs/{game.id}/objects/?kind=Reservation")["results"]
    return found[0]["state"] if found else ""


def node_of(game: Game, name: str) -> str:
    return PodRecord.objects.get(run=game.run, name=name).node


def test_a_place_is_held_for_an_owner_and_kept_from_a_stranger(operator: User, client: Client) -> None:
    chosen = preset("reservations")
    assert chosen is not None
    game = played_out(operator, [node("a", cpu="8")], configuration=chosen.text)
    made = reservation("r", cpu="6", allocateOnce=False)
    made["spec"]["template"] = with_secrets({"metadata": {}, **made["spec"]["template"]})
    entry = ordered(game, client, type="change", verb="add", manifest=made)
    assert "hunter2" not in str(entry.command)
    assert state(game, client) == "Available on a, 0 of 6 cpu used"

    ordered(game, client, type="pod_add", manifest=json.dumps(pod("stranger", cpu="3")))
    assert node_of(game, "stranger") == ""
    ordered(game, client, type="pod_add", manifest=json.dumps(pod("owner", cpu="3", app="web")))
    assert node_of(game, "owner") == "a"
    assert state(game, client) == "Available on a, 3 of 6 cpu used, by shop/owner"
    (held,) = get(client, f"/api/v1/runs/{game.id}/nodes/a/")["held"]
    assert (
        held["name"],
        [(one["name"], one["held"]["text"], one["allocatable"]["text"]) for one in held["resources"]],
    ) == (
        "r",
        [("cpu", "3", "6")],
    )

    yaml = client.get(f"/api/v1/runs/{game.id}/objects/yaml/?kind=Reservation&namespace=&name=r").content.decode()
    assert "nodeName: a" in yaml
    assert "hunter2" not in yaml

    ordered(game, client, type="change", verb="delete", manifest=made)
    assert state(game, client) == ""
    assert get(client, f"/api/v1/runs/{game.id}/nodes/a/")["held"] == []
    assert node_of(game, "stranger") == "a"


def test_the_sample_shows_room_that_is_held(operator: User, client: Client) -> None:
    cluster = held_places()
    chosen = preset(cluster.configuration)
    assert chosen is not None
    game = played_out(operator, cluster.objects, configuration=chosen.text)
    listed = get(client, f"/api/v1/runs/{game.id}/objects/?kind=Reservation")["results"]
    places = {row["name"]: row["state"].split()[2].rstrip(",") for row in listed}
    assert places.keys() == {"nightly-training", "standby-web"}
    assert len(set(places.values())) == 2
    (waits,) = PodRecord.objects.filter(run=game.run, labels__app="report", node="")
    answer = get(client, f"/api/v1/runs/{game.id}/pods/batch/{waits.name}/")["answer"]
    assert "2 are kept by reservations" in answer["headline"]


def test_what_is_wrong_with_one_is_told_and_nothing_changes(operator: User, client: Client) -> None:
    chosen = preset("reservations")
    assert chosen is not None
    game = played_out(operator, [node("a", cpu="8")], configuration=chosen.text)
    wrong = {**reservation("r"), "spec": {"template": reservation("r")["spec"]["template"]}}
    answer = client.post(
        f"/api/v1/runs/{game.id}/commands/",
        {"type": "change", "verb": "add", "manifest": wrong},
        content_type="application/json",
    )
    assert answer.status_code == 202
    game.play()
    entry = JournalEntry.objects.get(pk=answer.json()["id"])
    assert (entry.status, "spec.owners: Required value" in str(entry.text)) == ("refused", True)
    assert state(game, client) == ""
