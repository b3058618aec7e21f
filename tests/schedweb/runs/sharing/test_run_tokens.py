"""Tokens for one run: they read it, tell it what their role allows, and open nothing else."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.accounts.models import BearerToken
from schedweb.api.listing import endpoints
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db
OPEN = {("GET", "/api/v1/me/"), ("GET", "/api/v1/storage/trouble/")}
"""What has no run in its address and lets everybody in who is known."""
VALUES = {"namespace": "team-a", "name": "web-0", "number": "1", "other": "2", "position": "3", "token": "1"}


@pytest.fixture
def browser(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


def script_for(browser: Client, run: object, **body: Any) -> Client:
    made = browser.post(f"/api/v1/runs/{run}/tokens/", {"name": "ci", **body}, content_type="application/json")
    assert made.status_code == 201, made.content
    told = browser.get("/api/v1/tokens/").json()[0]
    assert told["run"] == made.json()["run"] == {"run": str(run), "number": told["run"]["number"]}
    return Client(headers={"Authorization": f"Bearer {made.json()['token']}"})


def filled(path: str, run: object) -> str:
    """With ids of nothing for what is no run."""
    nothing = str(uuid.uuid4())
    names = ("analysis", "configuration_id", "entry", "import_id", "link", "snapshot_id")
    values = {**dict.fromkeys(names, nothing), "account": "1", "session": "1", **VALUES, "run": str(run)}
    if "comparison" in path:
        values["other"] = nothing
    return path.format_map(values)


def ask(script: Client, method: str, path: str) -> int:
    answer = getattr(script, method.lower())(path, {}, content_type="application/json")
    status: int = answer.status_code
    return status


def test_its_run_and_nothing_else(game: Game, browser: Client) -> None:
    script = script_for(browser, game.id)
    opened = set()
    for each in endpoints():
        for method in (operation["method"] for operation in each["methods"]):
            other = ask(script, method, filled(each["path"], uuid.uuid4()))
            assert (other == 403) != ((method, each["path"]) in OPEN), (method, each["path"], other)
            if "{run}" in each["path"] and ask(script, method, filled(each["path"], game.id)) != 403:
                opened.add((method, each["path"].removeprefix("/api/v1/runs/{run}/")))
    assert ("GET", "") in opened
    assert {found for found in opened if found[0] != "GET"} == {
        ("POST", "commands/"),
        ("POST", "analyses/"),
        ("DELETE", "analyses/{analysis}/"),
        ("POST", "star/"),
        ("DELETE", "star/"),
        ("PUT", "shadow/"),
        ("PUT", "follow/"),
    }
    assert {"board/", "journal/", "wait/", "timeline/", "pods/", "attempts/"} <= {path for _, path in opened}
    assert not {path for _, path in opened} & {"share-links/", "forks/", "tokens/", "exact/"}
    assert ask(script, "GET", f"/api/v1/runs/{game.id}@1/board/") != 403


def test_it_may_tell_its_run_what_its_role_allows(game: Game, browser: Client) -> None:
    commands = f"/api/v1/runs/{game.id}/commands/"
    pause = {"type": "pause"}
    operates = script_for(browser, game.id)
    assert operates.post(commands, pause, content_type="application/json").status_code == 202
    reads = script_for(browser, game.id, name="reader", role="viewer")
    assert reads.post(commands, pause, content_type="application/json").status_code == 403
    assert reads.get(f"/api/v1/runs/{game.id}/").status_code == 200


def test_once_its_run_is_gone_it_opens_nothing(game: Game, browser: Client) -> None:
    script = script_for(browser, game.id)
    BearerToken.objects.update(run=uuid.uuid4())
    assert ask(script, "GET", f"/api/v1/runs/{game.id}/") == 403


def test_of_a_run_that_is_not_there(browser: Client) -> None:
    answer = browser.post(f"/api/v1/runs/{uuid.uuid4()}/tokens/", {"name": "ci"}, content_type="application/json")
    assert answer.status_code == 404


def test_it_makes_no_others(game: Game, browser: Client) -> None:
    script = script_for(browser, game.id)
    assert ask(script, "POST", f"/api/v1/runs/{game.id}/tokens/") == 403


@pytest.mark.parametrize("role", ["editor", "admin"])
def test_it_may_do_no_more_than_who_makes_it(game: Game, browser: Client, role: str) -> None:
    body = {"name": "ci", "role": role}
    answer = browser.post(f"/api/v1/runs/{game.id}/tokens/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "role")
    assert f"You are no {role}" in answer.json()["error"]["message"]
    assert not BearerToken.objects.exists()
