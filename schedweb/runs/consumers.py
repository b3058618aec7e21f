"""The one WebSocket of a browser: subscriptions inside it, nonsense answered with an error, the connection stays."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from uuid import UUID

import msgspec
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from schedweb.accounts.roles import role_of
from schedweb.accounts.visitor import SESSION_KEY, Visitor
from schedweb.runs import messages
from schedweb.runs.models import Run
from schedweb.runs.publisher import EVERYONE, PUBLISHER, run_group, share_group
from schedweb.runs.selectors.share_links import visitor_of

NOT_LOGGED_IN: Final = 4401
SHARE_ENDED: Final = 4403
LARGEST: Final = 4096
MOST_SUBSCRIPTIONS: Final = 20


class BrowserConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    async def connect(self) -> None:
        self.subscriptions: set[UUID] = set()
        self.links: set[UUID] = set()
        if settings.MODE == "embedded":
            PUBLISHER.use_loop(asyncio.get_running_loop())
        self.visitor: Visitor | None = None
        await self.accept()
        if await database_sync_to_async(role_of)(self.scope.get("user")) is None:
            self.visitor = await database_sync_to_async(self.find_visitor)()
            if self.visitor is None or not self.visitor.open:
                # Accepted first: a browser cannot read why a handshake was refused.
                await self.close(code=NOT_LOGGED_IN)
                return
        else:
            await self.channel_layer.group_add(EVERYONE, self.channel_name)
        await self.say(messages.Hello(version=settings.VERSION, protocol=messages.VERSION))

    def find_visitor(self) -> Visitor | None:
        return visitor_of(self.scope.get("session", {}).get(SESSION_KEY))

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(EVERYONE, self.channel_name)
        for link in self.links:
            await self.channel_layer.group_discard(share_group(link), self.channel_name)
        for run in self.subscriptions:
            await self.channel_layer.group_discard(run_group(run), self.channel_name)

    async def say(self, message: messages.Message) -> None:
        await self.send(text_data=messages.to_text(message))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if text_data is None or len(text_data) > LARGEST:
            await self.say(messages.Error("invalid", f"A message is a JSON text of at most {LARGEST} characters."))
            return
        try:
            message = messages.from_text(text_data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            await self.say(messages.Error("invalid", f"This message is not understood: {error}"))
            return
        match message:
            case messages.Subscribe(run):
                await self.subscribe(run)
            case messages.Unsubscribe(run):
                self.subscriptions.discard(run)
                await self.channel_layer.group_discard(run_group(run), self.channel_name)
            case messages.Ping(id_):
                await self.say(messages.Pong(id_))

    async def subscribe(self, run: UUID) -> None:
        if len(self.subscriptions) >= MOST_SUBSCRIPTIONS and run not in self.subscriptions:
            await self.say(messages.Error("too_many", f"A browser follows at most {MOST_SUBSCRIPTIONS} runs."))
            return
        if self.visitor is not None and not await self.may_follow(run):
            return
        # Into the group first: what happens while `seq` is read is then a delta, and nothing falls in between.
        await self.channel_layer.group_add(run_group(run), self.channel_name)
        seq = await Run.objects.filter(pk=run).values_list("seq", flat=True).afirst()
        if seq is None:
            await self.channel_layer.group_discard(run_group(run), self.channel_name)
            await self.say(messages.Error("not_found", "There is no such run; it may have been deleted."))
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
        why = "A share link shows one run only." if self.visitor is None else self.visitor.may_read([run])
        if why:
            await self.say(messages.Error("forbidden", why))
        return not why

    async def share_ended(self, event: dict[str, Any]) -> None:
        """A link was revoked: who has others connects again with those."""
        await self.close(code=SHARE_ENDED)

    async def live_text(self, event: dict[str, Any]) -> None:
        if self.visitor is not None and any(self.visitor.shared[run].is_over() for run in self.subscriptions):
            await self.close(code=SHARE_ENDED)
            return
        await self.send(text_data=event["text"])
