"""The WebSocket: who may connect, what it answers, what it is told, nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, Group, User
from django.test import Client

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create, account_disable, bearer_token_create
from schedweb.asgi import application
from schedweb.runs.live import consumers
from schedweb.runs.live.consumers import LARGEST, BrowserConsumer
from schedweb.runs.wire.messages import RunResync, WaitingCount
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, run_group
from schedweb.socket_origin import is_same_origin
from tests.schedweb.runs.browser import Browser
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)


async def connect(user: User | AnonymousUser) -> Browser:
    """Who is somebody has a session, as a real browser has."""
    browser = Browser(BrowserConsumer.as_asgi())
    if user.is_authenticated:
        client = Client()
        await sync_to_async(client.force_login)(user)
        browser.scope["session"] = await sync_to_async(lambda: client.session)()
    assert await browser.connect()
    return browser


async def test_a_browser_is_greeted_and_pings(operator: User) -> None:
    browser = await connect(operator)
    assert await browser.told() == {"type": "hello", "version": settings.VERSION, "protocol": 1}
    await browser.say({"type": "ping", "id": 7})
    assert await browser.told() == {"type": "pong", "id": 7}
    await browser.close()


async def test_nobody_stays_connected_without_logging_in() -> None:
    browser = await connect(AnonymousUser())
    closed = await browser.receive_output(5)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4401)


async def test_who_is_not_let_in_is_not_heard(game: Game) -> None:
    """A message may be on its way before the connection is closed."""
    browser = Browser(BrowserConsumer.as_asgi())
    await browser.send_input({"type": "websocket.connect"})
    await browser.say({"type": "subscribe", "run": str(game.id)})
    await browser.say({"type": "ping", "id": 1})
    told = [(await browser.receive_output(5))["type"] for _ in range(2)]
    assert told == ["websocket.accept", "websocket.close"]
    assert await browser.hears_nothing()
    PUBLISHER.publish(run_group(game.id), RunResync(str(game.id)))
    assert await browser.hears_nothing()


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "[]", "{}", '{"type":"explode"}', '{"type":"subscribe"}', '{"type":"subscribe","run":"x"}',
     "[" * 3000, '{"type":"ping","id":' + "9" * LARGEST + "}", '{"type":"ping","id":{}}'],
)  # fmt: skip
async def test_nonsense_is_answered_and_the_connection_stays(operator: User, text: str) -> None:
    browser = await connect(operator)
    await browser.told()
    await browser.say_text(text)
    answer = await browser.told()
    assert (answer["type"], answer["code"]) == ("error", "invalid")
    await browser.say_bytes(b"\x00\xff")
    assert (await browser.told())["type"] == "error"
    await browser.say({"type": "ping", "id": 1})
    assert (await browser.told())["type"] == "pong"
    await browser.close()


async def test_an_unknown_run_cannot_be_followed(operator: User) -> None:
    browser = await connect(operator)
    await browser.told()
    await browser.say({"type": "subscribe", "run": "00000000-0000-0000-0000-000000000000"})
    assert (await browser.told())["code"] == "not_found"
    await browser.close()


async def test_a_follower_is_told_what_was_stored_in_unbroken_order(game: Game, operator: User) -> None:
    browser = await connect(operator)
    await browser.told()
    await browser.say({"type": "subscribe", "run": str(game.id)})
    first = await browser.told()
    assert first == {"type": "subscribed", "run": str(game.id), "seq": 0}
    await sync_to_async(game.command)("play")
    await asyncio.get_running_loop().run_in_executor(None, game.play)
    seq, kinds, last = 0, set(), {}
    while seq < game.run.seq:
        message = await browser.told()
        kinds.add(message["type"])
        if message["type"] == "run.delta":
            assert message["previous"] == seq
            seq, last = message["seq"], message
    assert {"run.delta", "runs.changed"} <= kinds
    assert (last["state"], last["counts"]["waiting"]) == ("waiting_for_person", 2)
    await browser.close()


async def test_who_unsubscribed_is_told_no_more_and_everyone_hears_the_count(game: Game, operator: User) -> None:
    browser = await connect(operator)
    await browser.told()
    await browser.say({"type": "subscribe", "run": str(game.id)})
    await browser.told()
    await browser.say({"type": "unsubscribe", "run": str(game.id)})
    await browser.say({"type": "ping", "id": 1})
    await browser.told()
    PUBLISHER.publish(run_group(game.id), RunResync(str(game.id)))
    PUBLISHER.publish(EVERYONE, WaitingCount(3, 2))
    assert await browser.told() == {"type": "waiting.count", "count": 3, "person": 2}
    await browser.close()


@pytest.mark.parametrize(
    ("origin", "host", "want"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("https://playground.example.org", "playground.example.org", True),
        ("http://127.0.0.1:9000", "127.0.0.1:8000", False),
        ("http://evil.example.org", "127.0.0.1:8000", False),
        ("http://evil.example.org", "evil.example.org", False),
        ("null", "127.0.0.1:8000", False),
        ("", "127.0.0.1:8000", False),
        ("file://127.0.0.1:8000", "127.0.0.1:8000", False),
    ],
)
def test_only_our_own_pages_open_the_socket(origin: str, host: str, want: bool) -> None:
    assert is_same_origin(origin, host, ["127.0.0.1", "playground.example.org"]) is want


async def test_the_application_refuses_a_page_of_another_site(operator: User) -> None:
    client = Client()
    await sync_to_async(client.force_login)(operator)
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()).encode()
    for origin, want in ((b"http://127.0.0.1", True), (b"http://evil.example.org", False)):
        headers = [(b"origin", origin), (b"host", b"127.0.0.1"), (b"cookie", cookie)]
        browser = Browser(application, headers=headers)
        connected = await browser.connect()
        assert connected is want
        if connected:
            assert (await browser.told())["type"] == "hello"
            await browser.close()


def log_out(user: User, session: Any) -> None:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    assert client.post("/logout").status_code == 302


def lose_the_role(user: User, session: Any) -> None:
    user.groups.clear()


def be_disabled(user: User, session: Any) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def be_deleted(user: User, session: Any) -> None:
    User.objects.filter(pk=user.pk).delete()


def get_another_password(user: User, session: Any) -> None:
    user.set_password("correct-horse-battery")
    user.save()


@pytest.mark.parametrize("ends", [log_out, lose_the_role, be_disabled, be_deleted, get_another_password])
async def test_who_is_no_longer_let_in_hears_nothing_more(
    game: Game, viewer: User, monkeypatch: pytest.MonkeyPatch, ends: Callable[[User, Any], None]
) -> None:
    monkeypatch.setattr(consumers, "LOOKS_AGAIN", 0.0)
    follower, quiet = browsers = [await connect(viewer) for _ in range(2)]
    for browser in browsers:
        await browser.told()
    await follower.say({"type": "subscribe", "run": str(game.id)})
    assert (await follower.told())["type"] == "subscribed"
    # While all is well, looking again changes nothing.
    await sync_to_async(PUBLISHER.publish)(run_group(game.id), RunResync(str(game.id)))
    assert (await follower.told())["type"] == "run.resync"
    for browser in browsers:
        await sync_to_async(ends)(viewer, browser.scope["session"])
    await sync_to_async(PUBLISHER.publish)(run_group(game.id), RunResync(str(game.id)))
    assert await follower.hung_up() == 4401
    await sync_to_async(PUBLISHER.publish)(run_group(game.id), RunResync(str(game.id)))
    assert await follower.hears_nothing()
    await quiet.say({"type": "ping", "id": 1})
    assert await quiet.hung_up() == 4401
    again = await connect_as_now(follower)
    assert await again.hung_up() == 4401


async def test_the_application_ends_the_connection_of_who_logs_out(
    operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the session that the middleware finds by the cookie."""
    monkeypatch.setattr(consumers, "LOOKS_AGAIN", 0.0)
    before = await connect(operator)
    browser = await connect_as_now(before)
    assert (await browser.told())["type"] == "hello"
    await browser.say({"type": "ping", "id": 1})
    assert (await browser.told())["type"] == "pong"
    await sync_to_async(log_out)(operator, before.scope["session"])
    await browser.say({"type": "ping", "id": 2})
    assert await browser.hung_up() == 4401


async def test_a_silent_connection_ends_with_its_session(
    operator: User, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said and nothing is heard; another person's connection stays."""
    monkeypatch.setattr(consumers, "LOOKS_AGAIN", 0.0)
    monkeypatch.setattr(consumers, "SILENT_FOR", 0.05)
    ended, other = await connect(operator), await connect(viewer)
    for browser in (ended, other):
        assert (await browser.told())["type"] == "hello"
    await sync_to_async(account_disable)(user=operator)
    assert await ended.hung_up() == 4401
    assert await other.hears_nothing()
    await other.say({"type": "ping", "id": 1})
    assert (await other.told())["type"] == "pong"
    await other.close()


async def test_a_token_opens_no_socket(operator: User) -> None:
    """Scripts wait with the API; so no connection outlives a token that was revoked."""
    _, token = await sync_to_async(lambda: bearer_token_create(user=operator, name="ci"))()
    headers = [
        (b"origin", b"http://127.0.0.1"),
        (b"host", b"127.0.0.1"),
        (b"authorization", f"Bearer {token}".encode()),
    ]
    browser = Browser(application, headers=headers)
    assert await browser.connect()
    assert await browser.hung_up() == 4401


async def connect_as_now(browser: Browser) -> Browser:
    """With the same cookie."""
    cookie = f"{settings.SESSION_COOKIE_NAME}={browser.scope['session'].session_key}".encode()
    headers = [(b"origin", b"http://127.0.0.1"), (b"host", b"127.0.0.1"), (b"cookie", cookie)]
    again = Browser(application, headers=headers)
    assert await again.connect()
    return again


async def test_a_role_that_still_reads_stays_connected(
    game: Game, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "LOOKS_AGAIN", 0.0)
    browser = await connect(operator)
    await browser.told()
    await sync_to_async(lambda: operator.groups.set([Group.objects.get_or_create(name=Role.VIEWER.group)[0]]))()
    await browser.say({"type": "ping", "id": 1})
    assert (await browser.told())["type"] == "pong"
    await browser.close()


async def test_a_viewer_may_follow() -> None:
    viewer = await sync_to_async(account_create)(username="vera", role=Role.VIEWER, password=None)
    browser = await connect(viewer)
    assert (await browser.told())["type"] == "hello"
    await browser.close()
