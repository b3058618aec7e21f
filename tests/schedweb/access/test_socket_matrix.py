"""Who may say and hear what at the socket: matrix.md against the application, with sessions and tokens as they come."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, Final, get_args

import pytest
from asgiref.sync import sync_to_async

from schedweb.asgi import application
from schedweb.engine.shapes import UntranslatedOutcome
from schedweb.runs.wire import messages
from schedweb.runs.wire.messages import FromBrowser, RunResync, ToBrowser, UntranslatedSettled
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, run_group
from tests.schedweb.access.table import parts
from tests.schedweb.access.test_matrix import must_be_all
from tests.schedweb.access.world import Caller, World, build, everybody
from tests.schedweb.runs.browser import Browser

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE: Final = 30.0
SAID, HEARD = "What is said at the socket", "What is heard at the socket"
#: To everyone who has an account; all else goes to those who follow the run.
TO_EVERYONE = (messages.RunsChanged, messages.WaitingCount)


def tag_of(message: Any) -> str:
    return str(message.__struct_config__.tag)


def tags(union: Any) -> set[str]:
    return {tag_of(each) for each in get_args(union)}


def test_every_message_is_in_the_matrix() -> None:
    must_be_all(parts()[SAID], tags(FromBrowser))
    must_be_all(parts()[HEARD], tags(ToBrowser))


async def connected(caller: Caller) -> Browser:
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in caller.browser.cookies.items())
    headers = {"Origin": "http://127.0.0.1", "Host": "127.0.0.1", "Cookie": cookie, **caller.headers}
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items() if value]
    browser = Browser(application, headers=pairs)
    assert await browser.connect()
    return browser


async def told(browser: Browser) -> tuple[list[dict[str, Any]], str]:
    """Everything up to the answer to a ping, and the code with which the connection was closed, if it was."""
    await browser.say({"type": "ping", "id": "last"})
    found: list[dict[str, Any]] = []
    while True:
        answer = await browser.receive_output(PATIENCE)
        if answer["type"] == "websocket.close":
            return found, str(answer["code"])
        found.append(json.loads(answer["text"]))
        if found[-1] == {"type": "pong", "id": "last"}:
            return found, ""


def refusal(found: list[dict[str, Any]]) -> str:
    return next((str(each["code"]) for each in found if each["type"] == "error"), "yes")


def publish_everything(world: World) -> None:
    run = str(world.run.pk)
    settled = UntranslatedSettled(run, UntranslatedOutcome(run, "refused", "no"))
    made = (RunResync(run), settled, messages.ShadowJudged(run, 1))
    by_tag = {tag_of(each): each for each in (*world.published, *made)}
    for message in by_tag.values():
        PUBLISHER.publish(EVERYONE if isinstance(message, TO_EVERYONE) else run_group(run), message)


async def heard_of(browser: Browser, awaited: set[str]) -> set[str]:
    """What comes until all that is awaited was heard, or has not come for long."""
    found: set[str] = set()
    deadline = time.monotonic() + PATIENCE
    while True:
        then, closed = await told(browser)
        assert not closed
        found |= {each["type"] for each in then}
        if awaited <= found or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.01)


async def visit(world: World, caller: Caller, awaited: set[str]) -> tuple[dict[str, str], set[str]]:
    """(What came of each message that was said, which messages were heard)."""
    browser = await connected(caller)
    run = str(world.run.pk)
    await browser.say({"type": "subscribe", "run": run})
    at_first, closed = await told(browser)
    if closed:
        return dict.fromkeys(tags(FromBrowser), closed), {each["type"] for each in at_first}
    said = {"subscribe": refusal(at_first), "ping": "yes"}
    await browser.say({"type": "explode"})
    publish_everything(world)
    # What is published comes through another thread, so after the answer to a ping perhaps.
    then = await heard_of(browser, awaited - {each["type"] for each in at_first})
    await browser.say({"type": "unsubscribe", "run": run})
    await told(browser)
    publish_everything(world)
    at_last, closed = await told(browser)
    assert not closed
    still = {each["type"] for each in at_last} - {"pong"} - {tag_of(each) for each in TO_EVERYONE}
    said["unsubscribe"] = f"hears {still}" if still else "yes"
    await browser.close()
    return said, {each["type"] for each in at_first} | then


async def test_everybody_may_say_and_hears_what_the_matrix_says() -> None:
    world = await sync_to_async(build)()
    callers = await sync_to_async(everybody)(world)
    faults = []
    for name, ways in callers.items():
        awaited = {message for message, cells in parts()[HEARD].rows.items() if cells[name] == "yes"}
        for caller in ways:
            said, heard = await visit(world, caller, awaited)
            for message, cells in parts()[SAID].rows.items():
                if said[message] != cells[name]:
                    faults.append(f"{name} ({caller.way}) says {message}: {said[message]}, not {cells[name]}")
            for message, cells in parts()[HEARD].rows.items():
                if (found := "yes" if message in heard else "no") != cells[name]:
                    faults.append(f"{name} ({caller.way}) hears {message}: {found}, not {cells[name]}")
    assert not faults, "\n".join(faults)
