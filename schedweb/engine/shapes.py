"""What browsers are shown of a run, as types: the engine makes them, the socket passes them on, and the OpenAPI file
and the TypeScript types are made from them (schedweb/api/structs.py, scripts/generated.py).

``UNSET`` is left out of the JSON. What has a sentence in it exists twice: ``Untranslated…`` is what the engine makes
and the database keeps (framework/sentences.py); the other has the sentence in a reader's language.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from framework.sentences import Sentence

QueueName = Literal["gated", "active", "backoff", "unschedulable", "in_flight", "waiting", "bound"]
QUEUES: Final[tuple[QueueName, ...]] = get_args(QueueName)
"""The columns of the board, in its order."""
#: A pod whose containers have ended holds nothing; it is there still, but in no queue.
PodColumn = Literal[
    "gated", "active", "backoff", "unschedulable", "in_flight", "waiting", "bound", "completed", "deleted"
]
#: Of a pod of a gang: a deleted one is no member.
MemberColumn = Literal["gated", "active", "backoff", "unschedulable", "in_flight", "waiting", "bound", "completed"]
ClockMode = Literal["virtual", "real"]
Speed = Literal["one", "max", 10, 100]
FeedKind = Literal[
    "bound", "attempt", "waiting", "unschedulable", "queue", "backoff", "decision", "command", "node", "engine",
    "preemption",
]  # fmt: skip
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""ISO 8601 in UTC, of the run's clock where nothing else is said."""


def described(text: str) -> Meta:
    return Meta(description=text)


class Shape(msgspec.Struct):
    pass


# --- pods ---------------------------------------------------------------------------------------------------------


class PodRef(Shape):
    namespace: str
    name: str
    workload: Annotated[str, described("the owner's name without the template hash")]
    tail: Annotated[str, described("what tells this pod from its siblings")]


class Rejector(Shape):
    plugin: str
    count: Annotated[int, described("nodes of which this plugin was the first to refuse")]
    short: str


class PermitWait(Shape, kw_only=True):
    plugin: str
    deadline: Time
    total_seconds: float
    asks_person: bool
    note: str | UnsetType = UNSET


class GangMissing(Shape):
    column: MemberColumn
    count: int
    names: Annotated[list[str], described("empty when they are many")]


class Gang(Shape, kw_only=True):
    name: str
    have: int
    need: int
    missing: Annotated[list[GangMissing] | UnsetType, described("members without a node, by their column")] = UNSET


class Card(PodRef, kw_only=True):
    """A pod, or several that are alike; what does not apply to its column is left out."""

    kind: Literal["pod", "group"]
    key: str
    count: int
    column: PodColumn | UnsetType = UNSET
    uid: str | UnsetType = UNSET
    priority: int
    priority_class: str | UnsetType | None = UNSET
    attempts: int
    since: Annotated[Time | None, described("run time")]
    position: Annotated[int | UnsetType | None, described("place in Active")] = UNSET
    until: Annotated[Time | UnsetType | None, described("end of the backoff")] = UNSET
    gate: str | UnsetType | None = UNSET
    rejectors: list[Rejector] | UnsetType = UNSET
    point: str | UnsetType | None = UNSET
    plugin: str | UnsetType | None = UNSET
    node: str | UnsetType | None = UNSET
    score: int | UnsetType | None = UNSET
    margin: int | UnsetType | None = UNSET
    ties: int | UnsetType | None = UNSET
    waiting: list[PermitWait] | UnsetType = UNSET
    gang: Gang | UnsetType | None = UNSET
    requests: dict[str, str] | UnsetType = UNSET
    group_key: str | UnsetType | None = UNSET
    pods: Annotated[list[str] | UnsetType, described("tails of a group's pods")] = UNSET


# --- the board ----------------------------------------------------------------------------------------------------


class Column(Shape, kw_only=True):
    count: int
    cards: list[Card]
    more: Annotated[int, described("pods not shown")]
    latest: Annotated[Time | UnsetType, described("when the last of a long Backoff is free")] = UNSET
    next_flush_at: Time | UnsetType | None = UNSET


class Columns(Shape):
    gated: Column
    active: Column
    backoff: Column
    unschedulable: Column
    in_flight: Column
    waiting: Column
    bound: Column


class ChangedColumns(Shape):
    gated: Column | UnsetType = UNSET
    active: Column | UnsetType = UNSET
    backoff: Column | UnsetType = UNSET
    unschedulable: Column | UnsetType = UNSET
    in_flight: Column | UnsetType = UNSET
    waiting: Column | UnsetType = UNSET
    bound: Column | UnsetType = UNSET


class QueueCounts(Shape):
    gated: int
    active: int
    backoff: int
    unschedulable: int
    in_flight: int
    waiting: int
    bound: int


NodeChange = tuple[int, list[int], list[int], list[int]]
"""The engine's row number; requested and reserved per resource; pods bound, waiting, in flight."""


# --- the cycle under way ------------------------------------------------------------------------------------------


class CyclePoint(Shape):
    point: str
    state: Literal["done", "skipped", "current", "next"]


class CycleGroup(Shape):
    plugin: str
    code: str
    reasons: list[str]
    nodes: int
    named: Annotated[list[str], described("some of them")]


class CycleFiltered(Shape, kw_only=True):
    of: int
    left: int
    named: Annotated[list[str], described("some of those left")]
    unseen: Annotated[int, described("not looked at: enough were found")]
    nominated: Annotated[
        str | UnsetType | None, described("the node to which the pod was nominated: no other was looked at")
    ] = UNSET
    batched_with: Annotated[
        str | UnsetType, described("the equal pod in whose attempt the node was the next best: no other was looked at")
    ] = UNSET
    groups: list[CycleGroup]


class CycleScorer(Shape):
    name: str
    weight: int


class CycleScoreRow(Shape):
    """`raw` and `normalized`: in the order of the plugins."""

    node: str
    raw: list[int]
    normalized: list[int]
    total: int


class CycleScored(Shape):
    nodes: int
    tied: int
    plugins: list[CycleScorer]
    rows: Annotated[list[CycleScoreRow], described("the best")]


class CycleAsking(Shape):
    """Extenders that were asked at once and have not all answered."""

    extenders: Annotated[list[str], described("their urlPrefix, without credentials")]
    verb: Literal["filter", "prioritize", "preempt", "bind"]
    since: Annotated[Time, described("of the server's wall clock")]
    timeout: Annotated[float, described("seconds that the answers may take: the longest of their time-outs")]


class CycleFacts(Shape, kw_only=True):
    pod: PodRef
    attempt: int
    points: list[CyclePoint]
    filtered: Annotated[CycleFiltered | UnsetType | None, described("from Filter on")] = UNSET
    scored: Annotated[CycleScored | UnsetType | None, described("from Score on")] = UNSET
    asking: Annotated[CycleAsking | UnsetType, described("whom the attempt waits for now")] = UNSET


class UntranslatedCycle(CycleFacts, kw_only=True):
    note: Sentence | str


class Cycle(CycleFacts, kw_only=True):
    note: str


# --- what happened ------------------------------------------------------------------------------------------------


class FeedPart(Shape):
    t: Literal["pod", "node", "workload", "text", "num"]
    v: str


class FeedFacts(Shape, kw_only=True):
    at: Time
    kind: FeedKind
    state: QueueName | UnsetType | None = UNSET
    pods: list[PodRef]
    count: int
    highlight: bool | UnsetType = UNSET


class UntranslatedFeedItem(FeedFacts, kw_only=True):
    """As the engine makes it; whoever stores it numbers it."""

    parts: Sentence | str


class NumberedFeedItem(UntranslatedFeedItem, kw_only=True):
    """As it is stored."""

    id: int


class FeedLine(Shape):
    """An item as it is handed over to be stored, and what it is found by."""

    item: UntranslatedFeedItem
    subjects: list[str]
    """namespace/name of pods, names of nodes."""
    at: int
    """Nanoseconds of run time."""


class FeedItem(FeedFacts, kw_only=True):
    id: int
    parts: list[FeedPart]


class UntranslatedHit(Shape):
    """The breakpoint that a run stands at."""

    id: str
    text: Sentence | str
    pod: str


class Hit(Shape):
    id: str
    text: Annotated[str, described("shop/web-1 reached Filter")]
    pod: str


# --- what became of commands --------------------------------------------------------------------------------------


class DecisionFacts(Shape, kw_only=True):
    namespace: str
    name: str
    decided: Annotated[bool | UnsetType, described("false: somebody was faster, or it does not wait")] = UNSET


class UntranslatedDecision(DecisionFacts, kw_only=True):
    outcome: Sentence | str


class DecisionResult(DecisionFacts, kw_only=True):
    outcome: Annotated[str, described("approved, rejected, already decided by …, not waiting")]


class UntranslatedResult(Shape):
    """What a command did: pod by pod, or in words. As the journal keeps it."""

    pods: list[UntranslatedDecision] | UnsetType = UNSET
    text: Sentence | str | UnsetType = UNSET


class CommandResult(Shape):
    pods: list[DecisionResult] | UnsetType = UNSET
    text: str | UnsetType = UNSET


class OutcomeFacts(Shape):
    id: Annotated[str, described("of the journal's entry")]
    status: Literal["applied", "refused"]


class UntranslatedOutcome(OutcomeFacts):
    """What became of a command that had its place in the journal, or was refused one."""

    text: Sentence | str = ""
    """Why it was refused."""
    result: UntranslatedResult | None = None
    """None of a command that only paces the run."""


class CommandOutcome(OutcomeFacts):
    text: Annotated[str, described("why it was refused")]
    result: CommandResult | None


# --- the run ------------------------------------------------------------------------------------------------------


class Clock(Shape):
    mode: ClockMode
    now: Time
    start: Time
    speed: Annotated[Speed, described("cycles per second of wall time")]


class Worker(Shape):
    state: Literal["live", "lost", "taking_over", "idle"]
    since: Time | None


class Arrivals(Shape):
    left: int
    total: int
    next_at: Time | None
