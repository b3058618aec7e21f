"""Every message of the WebSocket, as types; frontend/src/live/wire.d.ts is made of them (scripts/generated.py).

The browser says subscribe, unsubscribe, ping. A `run.delta` names the `seq` it leads to and the one it stands on
(`previous`); a browser that has another one fetches the board. What has sentences in it is published once, with these
as templates, and translated once per language (schedweb/runs/live/translation.py), so that nothing is encoded once per
browser.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal
from uuid import UUID

import msgspec

from schedweb.engine.commands import BreakpointSet
from schedweb.engine.frames import State
from schedweb.engine.shapes import (
    Arrivals,
    ChangedColumns,
    Clock,
    CommandOutcome,
    Cycle,
    FeedItem,
    Hit,
    NodeChange,
    NumberedFeedItem,
    QueueCounts,
    QueueName,
    Time,
    UntranslatedHit,
    UntranslatedOutcome,
    Worker,
)

VERSION: Final = 1
REFERENCES: Final = "#/components/schemas/{name}"


def text_of(type_: Any) -> msgspec.Meta:
    """Of a field that is JSON already: its type, for the generated types. The engine encoded it from just that."""
    [schema], _ = msgspec.json.schema_components([type_], ref_template=REFERENCES)
    return msgspec.Meta(extra_json_schema=schema)


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


class DeltaFacts(Message, frozen=True, kw_only=True):
    """What of a delta is the same in every language."""

    run: str
    seq: int
    previous: int
    at: Time
    """Wall clock."""
    state: State
    clock: Clock
    counts: QueueCounts
    attempts: int
    points: int
    position: int
    worker: Worker
    columns: Annotated[dict[QueueName, msgspec.Raw], text_of(ChangedColumns)]
    nodes: Annotated[msgspec.Raw, text_of(list[NodeChange])]
    arrivals: Arrivals | None
    topology: bool = False
    """The table of nodes has to be read again."""
    rate: int | None = None
    """Cycles per second of wall time."""
    breakpoints: list[BreakpointSet] = []
    unwritten: int = 0


class RunDelta(DeltaFacts, frozen=True, tag="run.delta", kw_only=True):
    """`columns` holds changed columns only."""

    cycle: Cycle | None
    feed: list[FeedItem]
    hit: Hit | None = None
    outcomes: list[CommandOutcome] = []
    """What became of commands since the delta before."""


class UntranslatedDelta(DeltaFacts, frozen=True, tag="run.delta", kw_only=True):
    cycle: msgspec.Raw
    """shapes.UntranslatedCycle, or null."""
    feed: list[NumberedFeedItem]
    hit: UntranslatedHit | None = None
    outcomes: list[UntranslatedOutcome] = []


class CommandSettled(Message, frozen=True, tag="command.settled"):
    """What became of a command outside of any delta: it was refused its place, or set aside."""

    run: str
    outcome: CommandOutcome


class UntranslatedSettled(Message, frozen=True, tag="command.settled"):
    run: str
    outcome: UntranslatedOutcome


Untranslated = UntranslatedDelta | UntranslatedSettled
"""What is published with its sentences as templates."""


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


class ShadowJudged(Message, frozen=True, tag="shadow.judged"):
    """To those who follow the run: so many more decisions of its shadow are stored; they are fetched."""

    run: str
    count: int


class WaitingCount(Message, frozen=True, tag="waiting.count"):
    count: int
    person: int
    evictions: int = 0
    """Proposals that a person is asked about."""


class Pong(Message, frozen=True, tag="pong"):
    id: int | str


class Error(Message, frozen=True, tag="error"):
    code: str
    message: str


WITHIN_TEXTS: Final = (ChangedColumns,)
"""Types that a message refers to and holds as texts."""
ToBrowser = (
    Hello
    | Subscribed
    | RunDelta
    | CommandSettled
    | RunResync
    | RunsChanged
    | AnalysisChanged
    | ShadowJudged
    | WaitingCount
    | Pong
    | Error
)

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(FromBrowser)


def to_text(message: Message) -> str:
    return _ENCODER.encode(message).decode()


def from_text(text: str) -> FromBrowser:
    """Raises msgspec.DecodeError or msgspec.ValidationError."""
    message: FromBrowser = _DECODER.decode(text)
    return message
