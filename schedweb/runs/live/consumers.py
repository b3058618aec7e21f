"""The one WebSocket of a browser: subscriptions inside it, nonsense answered with an error, the connection stays.

Whatever is said goes through one queue, so that nobody waits for a browser that reads slowly: one that is
too far behind is sent away, comes again and fetches what it missed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, Final
from uuid import UUID

import msgspec
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import get_supported_language_variant, override

from schedweb.accounts.sessions import NOBODY, Admission
from schedweb.accounts.visitor import Visitor
from schedweb.observing.metrics import SOCKETS, SOCKETS_CLOSED
from schedweb.runs.live.hub import Unreachable
from schedweb.runs.live.process import process_here
from schedweb.runs.live.translation import in_language
from schedweb.runs.sharing.selectors import visitor_of
from schedweb.runs.wire import messages
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, Event, run_group, share_group
from schedweb.sentences import noted, say

NOT_LOGGED_IN: Final = 4401
SHARE_ENDED: Final = 4403
TRY_AGAIN_LATER: Final = 1013
#: Seconds for which a session is trusted before it is looked at again. Browsers ping every ten.
LOOKS_AGAIN: Final = 5.0
SILENT_FOR: Final = 5.0
LARGEST: Final = 4096
MOST_SUBSCRIPTIONS: Final = 20
#: Events and answers that may wait for a browser: at full speed, those of about ten seconds.
MOST_WAITING: Final = 200


class BrowserConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    # What is published comes through the hub of the process.
    channel_layer_alias = ""

    async def connect(self) -> None:
        self.language = settings.LANGUAGE_CODE
        self.subscriptions: set[UUID] = set()
        self.groups_joined: set[str] = set()
        self.held: dict[str, list[Event]] = {}
        self.waiting: asyncio.Queue[Event | str] = asyncio.Queue(MOST_WAITING)
        self.tasks: set[asyncio.Task[None]] = set()
        if settings.MODE == "embedded":
            PUBLISHER.use_loop(asyncio.get_running_loop())
        self.visitor: Visitor | None = None
        self.is_let_in = False
        SOCKETS.inc()
        await self.accept()
        try:
            await self.let_in()
        except (Unreachable, DatabaseError):
            await self.end(TRY_AGAIN_LATER)

    async def let_in(self) -> None:
        admission = await self.admission()
        if admission.role is None:
            self.visitor = await database_sync_to_async(visitor_of)(admission.links)
            if self.visitor is None or not self.visitor.open:
                # Accepted first: a browser cannot read why a handshake was refused.
                await self.end(NOT_LOGGED_IN)
                return
        else:
            await self.join(EVERYONE)
        self.is_let_in = True
        self.say(messages.Hello(version=settings.VERSION, protocol=messages.VERSION))
        self.start(self.send_what_waits())

    async def admission(self) -> Admission:
        key = getattr(self.scope.get("session"), "session_key", None)
        found = None if key is None else await process_here().admissions.ask(key)
        self.looked_at = time.monotonic()
        return found or NOBODY

    async def find_visitor(self) -> Visitor | None:
        links = (await self.admission()).links
        found: Visitor | None = await database_sync_to_async(visitor_of)(links)
        return found

    async def end(self, code: int) -> None:
        """What was on its way, in either direction, goes nowhere."""
        self.is_let_in = False
        SOCKETS_CLOSED.labels(code).inc()
        await self.close(code=code)

    async def may_stay(self) -> bool:
        """Whether the session still is that of an account with a role; if not, the connection ends. Looked at before
        something is heard or said, so that it holds however the account lost it: a logout, a command on the server."""
        if self.visitor is not None or time.monotonic() - self.looked_at < LOOKS_AGAIN:
            return True
        try:
            if (await self.admission()).role is not None:
                return True
        except DatabaseError:
            await self.end(TRY_AGAIN_LATER)
        else:
            await self.end(NOT_LOGGED_IN)
        return False

    async def disconnect(self, code: int) -> None:
        SOCKETS.dec()
        self.is_let_in = False
        for task in self.tasks:
            task.cancel()
        for group in tuple(self.groups_joined):
            await self.leave(group)

    async def join(self, group: str) -> None:
        self.groups_joined.add(group)
        await process_here().hub.join(group, self)

    async def leave(self, group: str) -> None:
        self.groups_joined.discard(group)
        await process_here().hub.leave(group, self)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # --- what the browser says ------------------------------------------------------------------------------------

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self.is_let_in or not await self.may_stay():
            # Sent before it could know: the connection is closed already.
            return
        if text_data is None or len(text_data) > LARGEST:
            self.refuse("invalid", noted("A message is a JSON text of at most {largest} characters."), largest=LARGEST)
            return
        try:
            message = messages.from_text(text_data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self.refuse("invalid", noted("This message is not understood: {error}"), error=error)
            return
        match message:
            case messages.Subscribe(run, language):
                self.language = supported(language)
                try:
                    await self.subscribe(run)
                except (Unreachable, DatabaseError):
                    await self.end(TRY_AGAIN_LATER)
            case messages.Unsubscribe(run):
                self.subscriptions.discard(run)
                await self.leave(run_group(run))
            case messages.Ping(id_):
                self.say(messages.Pong(id_))

    async def subscribe(self, run: UUID) -> None:
        if len(self.subscriptions) >= MOST_SUBSCRIPTIONS and run not in self.subscriptions:
            self.refuse("too_many", noted("A browser follows at most {most} runs."), most=MOST_SUBSCRIPTIONS)
            return
        if self.visitor is not None and not await self.may_follow(run):
            return
        # Into the group first: what happens while `seq` is read is then a delta, and nothing falls in between.
        group = run_group(run)
        held = self.held.setdefault(group, [])
        try:
            await self.join(group)
            seq = await process_here().seqs.ask(run)
        finally:
            del self.held[group]
        if seq is None:
            await self.leave(group)
            self.refuse("not_found", noted("There is no such run; it may have been deleted."))
            return
        self.subscriptions.add(run)
        self.say(messages.Subscribed(run, seq))
        for event in held:
            self.put(event)

    async def may_follow(self, run: UUID) -> bool:
        """Of a visitor, whose links are looked at anew: one may have ended since the connection was made."""
        # Into the group first, so that a link that is revoked meanwhile is heard of.
        assert self.visitor is not None
        if (shared := self.visitor.shared.get(run)) is not None:
            await self.join(share_group(shared.link))
        self.visitor = await self.find_visitor()
        with override(self.language):
            why = say("A share link shows one run only.") if self.visitor is None else self.visitor.may_read([run])
        if why:
            self.say(messages.Error("forbidden", why))
        return not why

    # --- what the browser is told ---------------------------------------------------------------------------------

    def say(self, message: messages.Message) -> None:
        self.put(messages.to_text(message))

    def refuse(self, code: str, text: str, /, **values: object) -> None:
        with override(self.language):
            message = messages.Error(code, say(text, **values))
        self.say(message)

    def hear(self, event: Event) -> None:
        """From the hub."""
        if event["type"] == "share.ended":
            # A link was revoked: who has others connects again with those.
            self.start(self.end(SHARE_ENDED))
        elif event["type"] == "start.over":
            self.start_over()
        elif (held := self.held.get(event["group"])) is not None and len(held) < MOST_WAITING:
            held.append(event)
        else:
            self.put(event)

    def start_over(self) -> None:
        """From the hub: as after a new connection, the browser asks for what it may have missed."""
        self.start(self.greet_again())

    async def greet_again(self) -> None:
        self.say(messages.Hello(version=settings.VERSION, protocol=messages.VERSION))
        for run in tuple(self.subscriptions):
            if (seq := await process_here().seqs.ask(run)) is not None:
                self.say(messages.Subscribed(run, seq))

    def give_up(self) -> None:
        """From the hub."""
        self.start(self.end(TRY_AGAIN_LATER))

    def put(self, item: Event | str) -> None:
        if not self.is_let_in:
            return
        try:
            self.waiting.put_nowait(item)
        except asyncio.QueueFull:
            self.start(self.end(TRY_AGAIN_LATER))

    async def send_what_waits(self) -> None:
        while True:
            item = await self.next_item()
            if not self.is_let_in or not await self.may_stay():
                return
            if self.visitor is not None and any(self.visitor.has_lost(run) for run in self.subscriptions):
                await self.end(SHARE_ENDED)
                return
            if item is not None:
                await self.send(text_data=self.text_of(item))

    async def next_item(self) -> Event | str | None:
        """None when there was none for a while: who neither hears nor says anything may have lost the session, too."""
        try:
            return await asyncio.wait_for(self.waiting.get(), SILENT_FOR)
        except TimeoutError:
            return None

    def text_of(self, item: Event | str) -> str:
        if isinstance(item, str):
            return item
        return in_language(self.language, item["text"]) if item["type"] == "live.delta" else item["text"]


def supported(language: str) -> str:
    try:
        return get_supported_language_variant(language)
    except LookupError:
        return settings.LANGUAGE_CODE
