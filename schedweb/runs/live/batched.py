"""Questions to the database that many sockets ask at the same time, as one query."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from channels.db import database_sync_to_async

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Batched(Generic[K, V]):
    """One question at a time is under way; what is asked meanwhile goes into the next one, together.

    An answer is therefore never older than its question. Belongs to one event loop.
    """

    def __init__(self, answer: Callable[[list[K]], dict[K, V]]) -> None:
        """``answer`` is called in the thread of the database; keys that it leaves out are answered with None."""
        self.answer = answer
        self.asked: dict[K, asyncio.Future[V | None]] = {}
        self.asking: asyncio.Task[None] | None = None

    async def ask(self, key: K) -> V | None:
        """Raises what ``answer`` raises."""
        if key not in self.asked:
            self.asked[key] = asyncio.get_running_loop().create_future()
        if self.asking is None:
            self.asking = asyncio.create_task(self._ask())
        # Shielded: a socket that goes away must not take the answer from the others.
        return await asyncio.shield(self.asked[key])

    async def _ask(self) -> None:
        while self.asked:
            asked, self.asked = self.asked, {}
            try:
                found = await database_sync_to_async(self.answer)(list(asked))
            except Exception as error:  # noqa: BLE001 - it belongs to those who asked
                for future in asked.values():
                    future.set_exception(error)
                    future.exception()  # Whoever asked may be gone: that is no error of its own.
            else:
                for key, future in asked.items():
                    future.set_result(found.get(key))
        self.asking = None
