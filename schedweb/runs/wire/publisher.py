"""Sending to the channel layer from threads that have no event loop.

Embedded: the layer lives in the loop of the web server, and only that loop may touch it (a message put in by another
loop wakes nobody). Distributed: one loop in a thread of its own, so that connections to Redis are kept.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from typing import Any, Final
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings

from schedweb.runs.wire.messages import Message, Untranslated, to_text

log = logging.getLogger(__name__)
Event = dict[str, str]
"""What goes through the channel layer: ``type``, ``group`` and, most often, ``text``."""
MOST_WAITING: Final = 1000
RETRY_SECONDS: Final = 0.5
EVERYONE: Final = "everyone"


def run_group(run: UUID | str) -> str:
    return f"run.{run}"


def share_group(link: UUID) -> str:
    """Of the browsers that look at a run by a share link."""
    return f"share.{link}"


class Publisher:
    """Messages go out in the order in which they were published. Those that cannot be sent are not kept: as soon as
    their groups can be reached again, browsers are told to fetch what they follow."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[tuple[str, Event]] = deque()
        self._missed: set[str] = set()
        self._sending: asyncio.Task[None] | None = None

    def use_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """The web server's loop; known as soon as the first browser connects, and nobody listens before that."""
        if loop is not self._loop:
            self._loop, self._sending = loop, None

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, name="publisher", daemon=True).start()
                self._loop = loop
            return self._loop

    def send(self, group: str, event: Event) -> None:
        """``event``: its type says what consumers do with it. Returns at once, whatever Redis does."""
        loop = self._loop if settings.MODE == "embedded" else self._own_loop()
        if loop is None or loop.is_closed():
            return
        loop.call_soon_threadsafe(self._put, group, {**event, "group": group})

    def _put(self, group: str, event: Event) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._missed.add(group)
            return
        self._waiting.append((group, event))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_all())

    async def _send_all(self) -> None:
        layer: Any = get_channel_layer()
        while self._waiting or self._missed:
            group, event = self._waiting.popleft() if self._waiting else (next(iter(self._missed)), None)
            try:
                await layer.group_send(group, event or start_over(group))
            except Exception as error:  # noqa: BLE001 - whatever Redis says
                log.warning("a live update was not sent: %s", error)
                self._missed.update((group, *(other for other, _ in self._waiting)))
                self._waiting.clear()
                await asyncio.sleep(RETRY_SECONDS)
            else:
                if event is None:
                    self._missed.discard(group)
        self._sending = None

    def publish(self, group: str, message: Message) -> None:
        """What has sentences in it is translated by the consumers, into their browser's language."""
        type_ = "live.delta" if isinstance(message, Untranslated) else "live.text"
        self.send(group, {"type": type_, "text": to_text(message)})


def start_over(group: str) -> Event:
    return {"type": "start.over", "group": group}


PUBLISHER: Final = Publisher()
