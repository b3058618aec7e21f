"""Sending to the channel layer from threads that have no event loop.

Embedded: the layer lives in the loop of the web server, and only that loop may touch it (a message put in by another
loop wakes nobody). Distributed: one loop in a thread of its own, so that connections to Redis are kept.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any, Final
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings

from schedweb.runs.wire.messages import Message, RunDelta, to_text

log = logging.getLogger(__name__)
EVERYONE: Final = "everyone"


def run_group(run: UUID | str) -> str:
    return f"run.{run}"


def share_group(link: UUID) -> str:
    """Of the browsers that look at a run by a share link."""
    return f"share.{link}"


class Publisher:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def use_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """The web server's loop; known as soon as the first browser connects, and nobody listens before that."""
        self._loop = loop

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, name="publisher", daemon=True).start()
                self._loop = loop
            return self._loop

    def send(self, group: str, event: dict[str, str]) -> None:
        """``event``: its type names the consumer's method."""
        loop = self._loop if settings.MODE == "embedded" else self._own_loop()
        if loop is None or loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._send(group, event), loop)

    async def _send(self, group: str, event: dict[str, str]) -> None:
        layer: Any = get_channel_layer()
        try:
            await layer.group_send(group, event)
        except Exception as error:  # noqa: BLE001 - whatever Redis says: browsers see the gap in `seq` and fetch again
            log.warning("a live update was not sent: %s", error)

    def publish(self, group: str, message: Message) -> None:
        """A delta has sentences in it, so that consumers say it in their browser's language."""
        type_ = "live.delta" if isinstance(message, RunDelta) else "live.text"
        self.send(group, {"type": type_, "text": to_text(message)})


PUBLISHER: Final = Publisher()
