"""What reaches a process reaches its sockets: nobody waits for a slow one, and what was lost is made up for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.contrib.auth.models import User
from django.test import Client

from schedweb.accounts.sessions import admissions
from schedweb.runs.live import hub
from schedweb.runs.live.batched import Batched
from schedweb.runs.live.consumers import MOST_WAITING, TRY_AGAIN_LATER, BrowserConsumer
from schedweb.runs.live.process import process_here
from schedweb.runs.wire.messages import RunResync
from schedweb.runs.wire.publisher import PUBLISHER, run_group
from tests.schedweb.runs.browser import Browser
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)


class Held:
    """A consumer whose browser reads nothing until ``reads`` is set."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.consumer = BrowserConsumer.as_asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_when_read(message: Any) -> None:
            await self.reads.wait()
            await send(message)

        await self.consumer(scope, receive, send_when_read)


async def connected(user: User, application: Any = None) -> Browser:
    browser = Browser(application or BrowserConsumer.as_asgi())
    client = Client()
    await sync_to_async(client.force_login)(user)
    browser.scope["session"] = await sync_to_async(lambda: client.session)()
    assert await browser.connect()
    assert (await browser.told())["type"] == "hello"
    return browser


async def following(user: User, game: Game, application: Any = None) -> Browser:
    browser = await connected(user, application)
    await browser.say({"type": "subscribe", "run": str(game.id)})
    assert (await browser.told())["type"] == "subscribed"
    return browser


def resync(game: Game) -> None:
    PUBLISHER.publish(run_group(game.id), RunResync(str(game.id)))


async def test_who_reads_slowly_is_sent_away_and_nobody_waits_for_them(game: Game, operator: User) -> None:
    held = Held()
    held.reads.set()
    slow, quick = await following(operator, game, held), await following(operator, game)
    held.reads.clear()
    for _ in range(MOST_WAITING + 2):
        resync(game)
        assert (await quick.told())["type"] == "run.resync"
    held.reads.set()
    # The one that it was about to read.
    assert (await slow.told())["type"] == "run.resync"
    assert await slow.hung_up() == TRY_AGAIN_LATER
    assert await quick.hears_nothing()
    await quick.close()


async def test_what_could_not_be_sent_is_made_up_for_once_it_can(
    game: Game, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await following(operator, game)
    whole, failures = InMemoryChannelLayer.group_send, 2

    async def group_send(self: Any, group: str, message: Any) -> None:
        nonlocal failures
        if failures:
            failures -= 1
            raise ConnectionError("Redis is gone")
        await whole(self, group, message)

    monkeypatch.setattr(InMemoryChannelLayer, "group_send", group_send)
    resync(game)
    assert [(await browser.told())["type"] for _ in range(2)] == ["hello", "subscribed"]
    resync(game)
    assert (await browser.told())["type"] == "run.resync"
    await browser.close()


async def test_groups_that_the_layer_forgot_are_joined_again(
    game: Game, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ECHO_SECONDS", 0.2)
    browser = await following(operator, game)
    layer: Any = get_channel_layer()
    layer.groups.clear()
    resync(game)
    assert [(await browser.told())["type"] for _ in range(2)] == ["hello", "subscribed"]
    resync(game)
    assert (await browser.told())["type"] == "run.resync"
    await browser.close()


async def test_while_nothing_arrives_browsers_are_sent_away_and_not_let_in(
    game: Game, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "ECHO_SECONDS", 0.2)
    browser = await following(operator, game)

    async def group_add(self: Any, group: str, channel: str) -> None:
        raise ConnectionError("Redis is gone")

    monkeypatch.setattr(InMemoryChannelLayer, "group_add", group_add)
    layer: Any = get_channel_layer()
    layer.groups.clear()
    assert await browser.hung_up() == TRY_AGAIN_LATER
    again = Browser(BrowserConsumer.as_asgi())
    again.scope["session"] = browser.scope["session"]
    assert await again.connect()
    assert await again.hung_up() == TRY_AGAIN_LATER


async def test_the_last_who_leaves_a_group_takes_the_process_out_of_it(game: Game, operator: User) -> None:
    first, second = await following(operator, game), await following(operator, game)
    layer: Any = get_channel_layer()
    await first.close()
    assert len(layer.groups[run_group(game.id)]) == 1
    await second.close()
    assert run_group(game.id) not in layer.groups


async def test_who_comes_while_the_last_one_leaves_hears(game: Game, operator: User) -> None:
    """One after the other in any order of their awaits."""
    first = await following(operator, game)
    for _ in range(20):
        second, _closed = await asyncio.gather(following(operator, game), first.close())
        resync(game)
        assert (await second.told())["type"] == "run.resync"
        first = second
    await first.close()


async def test_what_is_asked_meanwhile_is_asked_together() -> None:
    calls: list[list[int]] = []

    def double(keys: list[int]) -> dict[int, int]:
        calls.append(keys)
        if 13 in keys:
            raise LookupError("unlucky")
        return {key: 2 * key for key in keys if key != 7}

    batched = Batched(double)
    first = asyncio.create_task(batched.ask(1))
    await asyncio.sleep(0)
    assert await asyncio.gather(*(batched.ask(key) for key in (2, 3, 3, 7))) == [4, 6, 6, None]
    assert (await first, sum(len(keys) for keys in calls)) == (2, 4)
    assert len(calls) <= 2
    with pytest.raises(LookupError):
        await batched.ask(13)
    assert await batched.ask(4) == 8


def test_sessions_are_looked_up_in_as_many_queries_however_many_they_are(
    operator: User, viewer: User, django_assert_num_queries: Any
) -> None:
    keys = []
    for user in (operator, viewer, operator):
        client = Client()
        client.force_login(user)
        keys.append(client.session.session_key)
    with django_assert_num_queries(4):  # once a minute it is written down that they were seen, all at once
        found = admissions([key for key in keys if key] + ["unknown"])
    with django_assert_num_queries(3):
        assert admissions([key for key in keys if key] + ["unknown"]) == found
    assert [found[key or ""].role for key in keys] == [2, 1, 2]
    assert "unknown" not in found


async def test_one_process_has_one_hub_per_loop() -> None:
    assert process_here() is process_here()
