"""Messages of the socket are what the generated types say, in every language, and hold nothing besides."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from schedweb.engine.pod_view import PodView, Wait
from schedweb.engine.shapes import Gang
from schedweb.runs.live.translation import in_language
from schedweb.runs.models import JournalEntry
from schedweb.runs.storing.lease import claim
from schedweb.runs.storing.parking import Seen
from schedweb.runs.wire import messages
from schedweb.runs.wire.messages import Message, Untranslated, to_text
from schedweb.worker.supervisor import Supervisor
from scripts.generated import wire_document
from tests.schedweb.runs.conftest import Game


def strict(part: Any) -> Any:
    """Of a schema: what it does not name is refused."""
    if isinstance(part, list):
        return [strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    converted = {key: strict(value) for key, value in part.items()}
    return {**converted, "additionalProperties": False} if isinstance(part.get("properties"), dict) else converted


def validator(union: str) -> Draft202012Validator:
    components = strict(wire_document()["components"])
    return Draft202012Validator({"$ref": messages.REFERENCES.format(name=union), "components": components})


@pytest.mark.django_db(transaction=True)
def test_all_that_browsers_hear_of_a_run(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[Message] = []
    monkeypatch.setattr("schedweb.runs.live.telling.PUBLISHER.publish", lambda _, message: published.append(message))
    game.command("breakpoint_set", id="f", on="point", value="Score")
    game.command("step", what="point")
    game.command("play", speed="max")
    game.play()
    game.command("breakpoint_remove", id="f")
    cordoned = game.command("node_cordon", name="b")
    refused = game.command("node_cordon", name="nowhere")
    game.command("play", speed="max")
    game.play()
    decided = game.decide("approve", "asks-1")
    game.play()
    stopped, late = game.command("stop"), game.command("play")
    game.play()
    known, seen, outcomes = validator("ToBrowser"), Counter[str](), {}
    for message in published:
        for language in ("en", "uk"):
            text = to_text(message)
            heard = json.loads(in_language(language, text) if isinstance(message, Untranslated) else text)
            error = next(known.iter_errors(heard), None)
            assert error is None, f"{heard['type']}{error.json_path}: {error.message}"
            seen.update([heard["type"], *(field for field in ("cycle", "hit", "feed", "nodes") if heard.get(field))])
            told = heard.get("outcomes", [heard["outcome"]] if "outcome" in heard else [])
            outcomes.update({(each["id"], language): each for each in told})
            seen.update(column for column, shown in heard.get("columns", {}).items() if shown["cards"])
    columns = {"bound", "unschedulable", "waiting", "in_flight"}
    assert seen.keys() >= {
        "run.delta",
        "runs.changed",
        "command.settled",
        "waiting.count",
        "cycle",
        "hit",
        "feed",
        "nodes",
        *columns,
    }
    assert outcomes[str(cordoned.pk), "en"]["result"] == {"text": "cordoned node b"}
    assert outcomes[str(cordoned.pk), "uk"]["result"]["text"] != "cordoned node b"
    assert outcomes[str(decided.pk), "en"]["result"]["pods"] == [
        {"namespace": "shop", "name": "asks-1", "decided": True, "outcome": "approved"}
    ]
    assert outcomes[str(refused.pk), "en"]["text"] == 'nodes "nowhere" not found'
    assert outcomes[str(stopped.pk), "en"] == {"id": str(stopped.pk), "status": "applied", "text": "", "result": None}
    assert outcomes[str(late.pk), "en"]["text"] == f"{game.run} was stopped and takes no commands."
    # Nobody is left waiting: every command was told of, and as the journal has it.
    for entry in JournalEntry.objects.filter(run=game.run).exclude(type="clock"):
        assert outcomes[str(entry.pk), "en"]["status"] == entry.status


@pytest.mark.django_db(transaction=True)
def test_who_follows_a_run_hears_that_it_is_parked_and_that_it_is_tried_again(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    published: list[Message] = []
    monkeypatch.setattr("schedweb.runs.wire.publisher.Publisher.publish", lambda _, group, said: published.append(said))
    lease = claim(game.id, "here")
    assert lease is not None
    Supervisor(lease).park("It broke.", Seen())
    named = [messages.RunResync(run=str(game.id)), messages.RunsChanged(run=str(game.id))]
    assert published[-2:] == named
    published.clear()
    game.command("try_again")
    assert published == named


def test_what_browsers_say_is_read_by_what_the_types_say() -> None:
    known = validator("FromBrowser")
    for said in (
        {"type": "subscribe", "run": "00000000-0000-4000-8000-000000000000", "language": "uk"},
        {"type": "subscribe", "run": "00000000-0000-4000-8000-000000000000"},
        {"type": "unsubscribe", "run": "00000000-0000-4000-8000-000000000000"},
        {"type": "ping", "id": 7},
    ):
        assert known.is_valid(said)
        messages.from_text(json.dumps(said))
    assert not known.is_valid({"type": "explode"})


def test_a_card_is_written_as_it_was_before_it_was_a_struct() -> None:
    """Stored cards and pages of an older version know these keys."""
    view = PodView("uid-a", "shop", "web-1", "web", "1", 5, "", {"cpu": 500}, "shop/crew")
    view.column, view.since, view.node, view.score = "waiting", 1_000_000_000, "n1", 7
    view.margin, view.ties = 2, 1
    view.waits = [Wait("Coscheduling", 5_000_000_000, 60_000_000_000, asks_person=False)]
    assert msgspec.to_builtins(view.card(Gang(name="crew", have=1, need=2, missing=[]))) == {
        "kind": "pod",
        "key": "uid-a",
        "namespace": "shop",
        "name": "web-1",
        "workload": "web",
        "tail": "1",
        "count": 1,
        "uid": "uid-a",
        "priority": 5,
        "priority_class": None,
        "attempts": 0,
        "since": "1970-01-01T00:00:01.000Z",
        "requests": {"cpu": "500m"},
        "group_key": None,
        "node": "n1",
        "score": 7,
        "margin": 2,
        "ties": 1,
        "waiting": [
            {
                "plugin": "Coscheduling",
                "deadline": "1970-01-01T00:00:05.000Z",
                "total_seconds": 60.0,
                "asks_person": False,
            }
        ],
        "gang": {"name": "crew", "have": 1, "need": 2, "missing": []},
    }
    view.column = "completed"
    assert {"waiting", "gang", "score", "until", "point"}.isdisjoint(msgspec.to_builtins(view.card()))
