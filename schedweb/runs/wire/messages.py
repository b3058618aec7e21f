"""Every message of the WebSocket, as types. frontend/src/live/messages.ts is their twin.

The browser says subscribe, unsubscribe, ping. A `run.delta` names the `seq` it leads to and the one it stands on
(`previous`); a browser that has another one fetches the board. Deltas are texts made by the one who stored the batch;
what is said in them (feed, note of the cycle, breakpoint) is put into words once per language (live/deltas.py), so
that nothing is encoded once per browser.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

VERSION: Final = 1


class Message(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    pass


# --- from the browser ---------------------------------------------------------------------------------------------


class Subscribe(Message, frozen=True, tag="subscribe"):
    """`language`: as in Accept-Language, one tag; the connection speaks it from now on."""

    run: UUID
    language: Annotated[str, msgspec.Meta(max_length=35)] = "en"


class Unsubscribe(Message, frozen=True, tag="unsubscribe"):
    run: UUID


class Ping(Message, frozen=True, tag="ping"):
    id: int | str


FromBrowser = Subscribe | Unsubscribe | Ping


# --- to the browser -----------------------------------------------------------------------------------------------


class Hello(Message, frozen=True, tag="hello"):
    version: str
    protocol: int


class Subscribed(Message, frozen=True, tag="subscribed"):
    run: UUID
    seq: int


class RunDelta(Message, frozen=True, tag="run.delta"):
    """`columns` holds changed columns only; `nodes` is [[row, requested, reserved, pods], …]."""

    run: str
    seq: int
    previous: int
    at: str
    state: str
    clock: dict[str, Any]
    counts: dict[str, int]
    attempts: int
    points: int
    position: int
    worker: dict[str, Any]
    cycle: msgspec.Raw
    columns: dict[str, msgspec.Raw]
    nodes: msgspec.Raw
    feed: list[dict[str, Any]]
    arrivals: dict[str, Any] | None
    error: str | None = None
    topology: bool = False
    rate: int | None = None
    breakpoints: list[dict[str, Any]] = []
    hit: dict[str, Any] | None = None
    unwritten: int = 0


class RunResync(Message, frozen=True, tag="run.resync"):
    """Fetch the board: something could not be told as a difference."""

    run: str


class RunsChanged(Message, frozen=True, tag="runs.changed"):
    run: str
    change: Literal["created", "changed", "deleted"] = "changed"


class AnalysisChanged(Message, frozen=True, tag="analysis.changed"):
    """To those who follow the run; the answer itself is fetched."""

    run: str
    id: str
    name: str
    status: str


class WaitingCount(Message, frozen=True, tag="waiting.count"):
    count: int
    person: int


class Pong(Message, frozen=True, tag="pong"):
    id: int | str


class Error(Message, frozen=True, tag="error"):
    code: str
    message: str


_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(FromBrowser)


def to_text(message: Message) -> str:
    return _ENCODER.encode(message).decode()


def from_text(text: str) -> FromBrowser:
    """Raises msgspec.DecodeError or msgspec.ValidationError."""
    message: FromBrowser = _DECODER.decode(text)
    return message
