"""What a test lets go wrong: for which requests, how often, and how."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from tests.apiserver import statuses
from tests.apiserver.kinds import Json
from tests.apiserver.log import Matches, Request, matching


@dataclass(eq=False)
class Fault:
    """One thing that goes wrong, until it has happened ``times`` times or is taken away (``with`` does).

    ``error``: the answer instead of the real one; ``forbids``: 403 with the message for that request; ``seconds``:
    the real answer comes so much later; ``held``: it waits for ``release()``; ``drops``: the request is carried out
    and its answer never sent; ``cuts``: half of the answer is sent, then the connection breaks.
    """

    owner: Faults
    matches: Matches
    times: int | None = None
    error: statuses.ApiError | None = None
    forbids: bool = False
    seconds: float = 0.0
    held: bool = False
    drops: bool = False
    cuts: bool = False
    broken_off: bool = False
    hits: int = 0
    _arrived: threading.Event = field(default_factory=threading.Event)
    _let_go: threading.Event = field(default_factory=threading.Event)

    def take(self) -> None:
        self.hits += 1
        self._arrived.set()
        if self.times is not None and self.hits >= self.times:
            self.owner.remove(self)

    async def wait(self) -> None:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        while self.held and not self._let_go.is_set():
            await asyncio.sleep(0.01)

    def wait_hit(self, timeout: float = 30.0) -> None:
        """Until a request met it."""
        if not self._arrived.wait(timeout):
            raise AssertionError(f"no request met the fault within {timeout} s")

    def release(self) -> None:
        """Let go of what is held, and hold nothing more."""
        self.owner.remove(self)
        self._let_go.set()

    def break_off(self) -> None:
        """The connections of what is held break and nothing of it is carried out; nothing more is held."""
        self.broken_off = True
        self.release()

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Faults:
    """Those that are in force; every method takes the selection of ``log.matching`` and ``times``."""

    def __init__(self) -> None:
        self._active: list[Fault] = []

    def _add(self, times: int | None, selection: Mapping[str, Any], **what: Any) -> Fault:
        fault = Fault(self, matching(**selection), times, **what)
        self._active.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        if fault in self._active:
            self._active.remove(fault)

    def clear(self) -> None:
        for fault in list(self._active):
            fault.release()

    def met_by(self, request: Request) -> list[Fault]:
        met = [fault for fault in list(self._active) if fault.matches(request)]
        for fault in met:
            fault.take()
        return met

    def answer(
        self,
        code: int,
        *,
        body: Json | str | None = None,
        retry_after: int | None = None,
        times: int | None = None,
        **selection: Any,
    ) -> Fault:
        """This status instead: 401, 429 (plain text), 500, 503, 504 in upstream's words, any other with a body."""
        if body is None:
            error = statuses.of_code(code, retry_after)
        else:
            headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
            error = statuses.ApiError(code, body, headers)
        return self._add(times, selection, error=error)

    def forbid(self, *, times: int | None = None, **selection: Any) -> Fault:
        """403 in RBAC's words."""
        return self._add(times, selection, forbids=True)

    def delay(self, seconds: float, *, times: int | None = None, **selection: Any) -> Fault:
        return self._add(times, selection, seconds=seconds)

    def hold(self, *, times: int | None = None, **selection: Any) -> Fault:
        """The request waits before it is carried out, until ``release()``: for races, and answers that never come."""
        return self._add(times, selection, held=True)

    def drop_answer(self, *, times: int | None = None, **selection: Any) -> Fault:
        """The request is carried out; the connection closes without an answer."""
        return self._add(times, selection, drops=True)

    def cut_answer(self, *, times: int | None = None, **selection: Any) -> Fault:
        """The connection breaks in the middle of the answer's body."""
        return self._add(times, selection, cuts=True)
