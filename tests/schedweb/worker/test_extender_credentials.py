"""Users, passwords and tokens in extenders' URLs: they are used, and nobody finds them outside of the configuration."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
import zstandard
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from schedweb.api.errors import ApiError
from schedweb.runs.models import AttemptChunk, Checkpoint, JournalEntry
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.runs.conftest import Game, prepared
from tests.schedweb.runs.exporting.test_simulator_annotations import body_of
from tests.schedweb.worker.webhook import Webhook, webhook

pytestmark = pytest.mark.django_db(transaction=True)
SECRETS = ("hunter2", "ghp-token", "s3same")
FRAME = bytes.fromhex("28b52ffd")
"""What zstandard's frames begin with."""


def with_credentials(url: str) -> str:
    return url.replace("http://", "http://ann%40lab:hunter2@")


def extended(*extenders: dict[str, Any]) -> str:
    return f"{DEFAULT}extenders: {json.dumps(list(extenders))}\n"


def calling(hook: Webhook, **more: Any) -> dict[str, Any]:
    """Its user and password before the host, and a token in what is called."""
    verbs = {"filterVerb": "filter?token=s3same", "prioritizeVerb": "prioritize", "weight": 1}
    url = with_credentials(hook.url)
    return {"urlPrefix": url, "nodeCacheCapable": True, "httpTimeout": "30s", **verbs, **more}


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as made:
        made.says("/filter?token=s3same", {"NodeNames": ["a", "b"], "FailedNodes": {"c": "no license"}})
        made.says("/prioritize", [{"Host": "b", "Score": 7}])
        made.says("/bind", {})
        yield made


def play(game: Game) -> None:
    game.command("step", what="cycle")
    game.play()


def unpacked(value: Any) -> str:
    """What a column of the database has, with the frames in it."""
    if not isinstance(value, bytes | memoryview):
        return str(value)
    content = bytes(value)
    while content.startswith(FRAME):
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
    return content.decode("latin-1")


def stored() -> Iterator[tuple[str, str]]:
    """Every row but the configurations, and the machines, which hold them."""
    for model in apps.get_models():
        if model.__name__ == "ConfigurationVersion" or model is Checkpoint:
            continue
        for row in model._base_manager.all():
            yield model.__name__, " ".join(unpacked(getattr(row, each.attname)) for each in model._meta.concrete_fields)


def pages(client: Client, game: Game) -> Iterator[tuple[str, str]]:
    run = f"/api/v1/runs/{game.id}"
    shared = client.post(f"{run}/share-links/", {"name": "all", "days": 1}, content_type="application/json").json()
    visitor = Client()
    assert visitor.get(shared["path"]).status_code == 302
    for path in (
        "", "attempts/", "attempts/1/", "attempts/1/extenders/", "attempts/1/filter/", "attempts/1/scores/",
        "attempts/1/log/", "pods/", "pods/shop/web/", "feed/", "journal/", "board/", "events/", "metrics/",
        "annotations/?as=json",
    ):  # fmt: skip
        for reader in (visitor, client):
            answer = reader.get(f"{run}/{path}")
            # Visitors do not see everything.
            assert answer.status_code == 200 or (answer.status_code == 403 and reader is visitor), path
            body = body_of(answer) if answer.streaming else answer.content
            yield f"{'visitor' if reader is visitor else 'operator'} {path}", body.decode()


def test_what_goes_well_uses_them_and_shows_none(client: Client, operator: User, hook: Webhook) -> None:
    down = {"urlPrefix": "http://ghp-token@127.0.0.1:1", "filterVerb": "filter", "ignorable": True}
    text = extended(down, calling(hook, bindVerb="bind"))
    game = prepared(operator, [*map(node, "abc"), pod("web")], configuration=text)
    game.command("play", speed="max")
    game.play()
    assert game.places() == {"web": "bound"}
    assert [path for path, _ in hook.calls] == ["/filter?token=s3same", "/prioritize", "/bind"]
    for headers in hook.headers:
        assert headers["Host"] == hook.url.removeprefix("http://")
        assert headers["Authorization"] == f"Basic {base64.b64encode(b'ann@lab:hunter2').decode()}"

    seen = dict(pages(client, game))
    name = hook.url.replace("http://", "http://***:***@")
    asked, passed_over, *_ = json.loads(seen["operator attempts/1/extenders/"])["calls"]
    assert (asked["extender"], asked["status"]) == (name, 200)
    refused = 'Post "http://***@127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused'
    assert (passed_over["extender"], passed_over["error"]) == ("http://***@127.0.0.1:1", refused)
    found = [*seen.items(), *stored()]
    assert {"AttemptChunk", "JournalEntry", "Attempt", "visitor attempts/1/"} <= {where for where, _ in found}
    assert [where for where, said in found if any(secret in said for secret in SECRETS)] == []


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda body: (500, b""), "failed filter?token=*** with extender at URL {name}/filter?token=***, code 500"),
        (
            lambda body: (200, b'{"NodeNames": ["z"]}'),
            'extender "{name}" claims a filtered node "z" which is not found in the input node list',
        ),
        (None, 'Post "{name}/filter?token=***": EOF'),
    ],
)
def test_what_goes_wrong_is_told_without_them(
    client: Client, operator: User, hook: Webhook, reply: Any, said: str
) -> None:
    hook.replies["/filter?token=s3same"] = reply
    game = prepared(operator, [*map(node, "abc"), pod("web")], configuration=extended(calling(hook)))
    play(game)
    message = said.format(name=hook.url.replace("http://", "http://***:***@"))
    seen = dict(pages(client, game))
    assert message in json.loads(seen["operator pods/shop/web/"])["answer"]["headline"]
    found = [*seen.items(), *stored()]
    assert [where for where, text in found if any(secret in text for secret in SECRETS)] == []


def test_what_an_older_version_stored_of_an_answer_shows_none_when_it_is_played_again(
    operator: User, hook: Webhook
) -> None:
    """0.2.0 had the URL as it is configured in what went wrong."""
    del hook.replies["/filter?token=s3same"]
    game = prepared(operator, [*map(node, "abc"), pod("web")], configuration=extended(calling(hook)))
    play(game)
    Checkpoint.objects.all().delete()
    entry = JournalEntry.objects.get(run=game.run, type="extender_answers")
    (answer,) = entry.command["answers"]
    answer["error"] = f'Post "{with_credentials(hook.url)}/filter?token=s3same": EOF'
    entry.save()
    game.command("node_cordon", name="c")
    game.play()
    assert game.run.state != "parked", "its digest is the stored one"
    chunks = [unpacked(each.traces) for each in AttemptChunk.objects.filter(run=game.run)]
    assert chunks
    assert not any(secret in chunk for chunk in chunks for secret in SECRETS)


@pytest.mark.parametrize("url", ["http://ann:hunt/er2@10.0.0.1", "http://ann:hunter2@10.0.0.1/?token=s3same"])
def test_a_url_that_is_not_called_is_named_without_them(operator: User, url: str) -> None:
    with pytest.raises(ApiError, match=r"may not call|is no URL") as refused:
        prepared(operator, [node("a")], configuration=extended({"urlPrefix": url, "filterVerb": "filter"}))
    assert "http://***" in str(refused.value)
    assert not any(secret in str(refused.value) for secret in ("hunt", "er2@", "//ann", "s3same"))


def test_a_url_that_http_cannot_say(operator: User, hook: Webhook) -> None:
    told = {**calling(hook), "filterVerb": "fil ter?token=s3same"}
    game = prepared(operator, [*map(node, "abc"), pod("web")], configuration=extended(told))
    play(game)
    (entry,) = JournalEntry.objects.filter(run=game.run, type="extender_answers")
    (answer,) = entry.command["answers"]
    name = hook.url.replace("http://", "http://***:***@")
    assert answer["error"] == f'parse "{name}/fil ter?token=***": net/url: invalid control character in URL'
