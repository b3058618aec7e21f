"""The one WebSocket of a browser: subscriptions inside it, nonsense answered with an error, the connection stays."""

from __future__ import annotations

import asyncio
import time
from importlib import import_module
from typing import Any, Final
from uuid import UUID

import msgspec
from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.utils.translation import get_supported_language_variant, override

from schedweb.accounts.roles import role_of
from schedweb.accounts.visitor import SESSION_KEY, Visitor
from schedweb.runs.live.deltas import delta_in
from schedweb.runs.models import Run
from schedweb.runs.sharing.selectors import visitor_of
from schedweb.runs.wire import messages
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, run_group, share_group
from schedweb.sentences import noted, say

NOT_LOGGED_IN: Final = 4401
SHARE_ENDED: Final = 4403
#: Seconds for which a session is trusted before it is looked at again. Browsers ping every ten.
LOOKS_AGAIN: Final = 5.0
LARGEST: Final = 4096
MOST_SUBSCRIPTIONS: Final = 20


class BrowserConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    async def connect(self) -> None:
        self.language = settings.LANGUAGE_CODE
        self.subscriptions: set[UUID] = set()
        self.links: set[UUID] = set()
        if settings.MODE == "embedded":
            PUBLISHER.use_loop(asyncio.get_running_loop())
        self.visitor: Visitor | None = None
        self.is_let_in = False
        self.looked_at = time.monotonic()
        await self.accept()
        if await database_sync_to_async(role_of)(self.scope.get("user")) is None:
            self.visitor = await database_sync_to_async(self.find_visitor)()
            if self.visitor is None or not self.visitor.open:
                # Accepted first: a browser cannot read why a handshake was refused.
                await self.end(NOT_LOGGED_IN)
                return
        else:
            await self.channel_layer.group_add(EVERYONE, self.channel_name)
        self.is_let_in = True
        await self.say(messages.Hello(version=settings.VERSION, protocol=messages.VERSION))

    def find_visitor(self) -> Visitor | None:
        return visitor_of(self.scope.get("session", {}).get(SESSION_KEY))

    async def end(self, code: int) -> None:
        """What was on its way, in either direction, goes nowhere."""
        self.is_let_in = False
        await self.close(code=code)

    async def may_stay(self) -> bool:
        """Whether the session still is that of an account with a role; if not, the connection ends. Looked at before
        something is heard or said, so that it holds however the account lost it: a logout, a command on the server."""
        if self.visitor is not None or time.monotonic() - self.looked_at < LOOKS_AGAIN:
            return True
        self.looked_at = time.monotonic()
        sessions = import_module(settings.SESSION_ENGINE)
        now = {"session": sessions.SessionStore(self.scope["session"].session_key)}
        if await database_sync_to_async(role_of)(await get_user(now)) is not None:
            return True
        await self.end(NOT_LOGGED_IN)
        return False

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(EVERYONE, self.channel_name)
        for link in self.links:
            await self.channel_layer.group_discard(share_group(link), self.channel_name)
        for run in self.subscriptions:
            await self.channel_layer.group_discard(run_group(run), self.channel_name)

    async def say(self, message: messages.Message) -> None:
        await self.send(text_data=messages.to_text(message))

    async def refuse(self, code: str, text: str, /, **values: object) -> None:
        with override(self.language):
            message = messages.Error(code, say(text, **values))
        await self.say(message)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self.is_let_in or not await self.may_stay():
            # Sent before it could know: the connection is closed already.
            return
        if text_data is None or len(text_data) > LARGEST:
            await self.refuse(
                "invalid", noted("A message is a JSON text of at most {largest} characters."), largest=LARGEST
            )
            return
        try:
            message = messages.from_text(text_data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await self.refuse("invalid", noted("This message is not understood: {error}"), error=error)
            return
        match message:
            case messages.Subscribe(run, language):
                self.language = supported(language)
                await self.subscribe(run)
            case messages.Unsubscribe(run):
                self.subscriptions.discard(run)
                await self.channel_layer.group_discard(run_group(run), self.channel_name)
            case messages.Ping(id_):
                await self.say(messages.Pong(id_))

    async def subscribe(self, run: UUID) -> None:
        if len(self.subscriptions) >= MOST_SUBSCRIPTIONS and run not in self.subscriptions:
            await self.refuse("too_many", noted("A browser follows at most {most} runs."), most=MOST_SUBSCRIPTIONS)
            return
        if self.visitor is not None and not await self.may_follow(run):
            return
        # Into the group first: what happens while `seq` is read is then a delta, and nothing falls in between.
        await self.channel_layer.group_add(run_group(run), self.channel_name)
        seq = await Run.objects.filter(pk=run).values_list("seq", flat=True).afirst()
        if seq is None:
            await self.channel_layer.group_discard(run_group(run), self.channel_name)
            await self.refuse("not_found", noted("There is no such run; it may have been deleted."))
            return
        self.subscriptions.add(run)
        await self.say(messages.Subscribed(run, seq))

    async def may_follow(self, run: UUID) -> bool:
        """Of a visitor, whose links are looked at anew: one may have ended since the connection was made."""
        # Into the group first, so that a link that is revoked meanwhile is heard of.
        assert self.visitor is not None
        if (shared := self.visitor.shared.get(run)) is not None:
            self.links.add(shared.link)
            await self.channel_layer.group_add(share_group(shared.link), self.channel_name)
        self.visitor = await database_sync_to_async(self.find_visitor)()
        with override(self.language):
            why = say("A share link shows one run only.") if self.visitor is None else self.visitor.may_read([run])
        if why:
            await self.say(messages.Error("forbidden", why))
        return not why

    async def share_ended(self, event: dict[str, Any]) -> None:
        """A link was revoked: who has others connects again with those."""
        await self.end(SHARE_ENDED)

    async def live_text(self, event: dict[str, Any]) -> None:
        await self.pass_on(event["text"])

    async def live_delta(self, event: dict[str, Any]) -> None:
        await self.pass_on(delta_in(self.language, event["text"]))

    async def pass_on(self, text: str) -> None:
        if not self.is_let_in or not await self.may_stay():
            return
        if self.visitor is not None and any(self.visitor.has_lost(run) for run in self.subscriptions):
            await self.end(SHARE_ENDED)
            return
        await self.send(text_data=text)


def supported(language: str) -> str:
    try:
        return get_supported_language_variant(language)
    except LookupError:
        return settings.LANGUAGE_CODE
