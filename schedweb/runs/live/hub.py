"""What reaches this process through the channel layer, passed on to its sockets.

All sockets of a process share one channel of the layer, and a group is joined once for all that follow it: how many
connections to Redis there are, and how often a message crosses them, does not grow with the number of browsers.

    publisher ──▶ group of the layer ──▶ Hub ──▶ Follower.hear (must not wait) ──▶ the socket's own queue

What was lost on the way is not known, so it is assumed: whenever a message of the hub to itself does not come back
(Redis was gone, or came back empty), groups are joined again and every follower is told to start over; where they
cannot be joined, followers are told that this connection is not live.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from typing import Any, Final, Protocol

from channels.layers import get_channel_layer

from schedweb.runs.wire.publisher import Event

log = logging.getLogger(__name__)
ECHO: Final = "echo"
ECHO_SECONDS: Final = 5.0
"""Between two messages of the hub to itself, and how long one may take."""
JOIN_AGAIN_SECONDS: Final = 3600.0
"""A layer forgets who joined a group a day ago."""


TRIES: Final = 3


class Unreachable(Exception):
    """The channel layer does not answer."""


class Follower(Protocol):
    def hear(self, event: Event) -> None: ...

    def start_over(self) -> None:
        """Events may have been lost; from now on they arrive."""

    def give_up(self) -> None:
        """Events do not arrive, and nobody knows for how long."""


class Hub:
    """Belongs to one event loop (`process_here`)."""

    def __init__(self) -> None:
        self._layer: Any = get_channel_layer()
        self._own_group = f"hub.{uuid.uuid4().hex}"
        self._followers: dict[str, set[Follower]] = {}
        self._joined: set[str] = set()
        self._changing = asyncio.Lock()
        self._channel: str | None = None
        self._echoed = asyncio.Event()
        self._receiving: asyncio.Task[None] | None = None
        self._listening: asyncio.Task[None] | None = None

    async def join(self, group: str, follower: Follower) -> None:
        """Once this is back, all that is published is heard. Raises Unreachable."""
        self._followers.setdefault(group, set()).add(follower)
        if group in self._joined:
            return
        try:
            async with self._changing:
                await self._start()
                if group not in self._joined:
                    await self._add(group)
                    self._joined.add(group)
        except Exception as error:
            self._forget(group, follower)
            raise Unreachable(str(error)) from error

    async def leave(self, group: str, follower: Follower) -> None:
        self._forget(group, follower)
        if group in self._followers:
            return
        async with self._changing:
            if group in self._followers or group not in self._joined:
                return
            self._joined.discard(group)
            try:
                await self._layer.group_discard(group, self._channel)
            except Exception as error:  # noqa: BLE001 - whatever Redis says; it forgets the group after a day
                log.warning("a group could not be left: %s", error)

    def _forget(self, group: str, follower: Follower) -> None:
        followers = self._followers.get(group, set())
        followers.discard(follower)
        if not followers:
            self._followers.pop(group, None)

    async def _start(self) -> None:
        if self._channel is not None:
            return
        channel = await self._layer.new_channel()
        await self._layer.group_add(self._own_group, channel)
        self._channel = channel
        self._receiving = asyncio.create_task(self._receive())
        self._listening = asyncio.create_task(self._listen_to_itself())

    async def _receive(self) -> None:
        while True:
            try:
                event: Event = await self._layer.receive(self._channel)
            except Exception as error:  # noqa: BLE001 - whatever Redis says, it is asked again
                log.warning("live updates cannot be received: %s", error)
                await asyncio.sleep(0.5)
                continue
            if event["type"] == ECHO:
                self._echoed.set()
            for follower in tuple(self._followers.get(event["group"], ())):
                follower.hear(event)

    async def _listen_to_itself(self) -> None:
        echo = {"type": ECHO, "group": self._own_group}
        joined_at = time.monotonic()
        while True:
            await asyncio.sleep(ECHO_SECONDS)
            self._echoed.clear()
            try:
                async with asyncio.timeout(ECHO_SECONDS):
                    await self._layer.group_send(self._own_group, echo)
                    await self._echoed.wait()
                    if time.monotonic() - joined_at < JOIN_AGAIN_SECONDS:
                        continue
                    await self._join_again()
            except Exception as error:  # noqa: BLE001 - whatever Redis says
                log.warning("a live update did not come back: %s", str(error) or "no answer")
                await self._start_over()
            joined_at = time.monotonic()

    async def _join_again(self) -> None:
        async with self._changing:
            for group in (self._own_group, *self._joined):
                await self._add(group)

    async def _start_over(self) -> None:
        if self._receiving is not None:
            # It may be reading from a connection whose other end is gone.
            self._receiving.cancel()
        self._receiving = asyncio.create_task(self._receive())
        if not await self._could_join_again():
            log.warning("live updates do not arrive, browsers are sent away")
            # Who comes again is let in only where a group can be joined.
            self._joined.clear()
            for follower in self._everybody():
                follower.give_up()
        else:
            for follower in self._everybody():
                follower.start_over()

    async def _could_join_again(self) -> bool:
        """Tried for as long as an echo may take. If not, the next echo tries it again."""
        until = time.monotonic() + ECHO_SECONDS
        while time.monotonic() < until:
            try:
                async with asyncio.timeout(ECHO_SECONDS):
                    await self._join_again()
            except Exception as error:  # noqa: BLE001 - whatever Redis says
                log.warning("groups could not be joined again: %s", str(error) or "no answer")
                await asyncio.sleep(ECHO_SECONDS / 20)
            else:
                return True
        return False

    async def _add(self, group: str) -> None:
        for left in reversed(range(TRIES)):
            try:
                await self._layer.group_add(group, self._channel)
                return
            except Exception:
                # The pool may have handed out a connection that died with Redis.
                if not left:
                    raise

    def _everybody(self) -> set[Follower]:
        return set[Follower]().union(*self._followers.values())
