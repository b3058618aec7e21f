"""What the engine's child process and its supervisor say to each other, as types; msgpack with a length in front.

supervisor → child: Begin, then Offer (a command), Commit (it has its place in the journal), Ack (a batch is stored), Go
(no command waits), End; of a run beside a real cluster Look, Answers and Deciding. child → supervisor: Ready, Batch
(with the place of an offered command, if there is one), Looked, Kept (a checkpoint), Refusal, Failure, Ended. At most
one batch is not acknowledged; until then the child goes on and gathers the next one.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Final, Literal, Protocol

import msgspec

from framework.sentences import Content
from schedweb.engine.asked import AnswersBeside, Asked, AsksBeside
from schedweb.engine.commands import BreakpointSet, WriteOutcome
from schedweb.engine.evictions import EvictionRow
from schedweb.engine.live import Scheduling, WriteRow
from schedweb.engine.message import Message
from schedweb.engine.real_rows import HeardRow, JudgementRow, OtherSchedulerRow, RealPodRow
from schedweb.engine.shapes import FeedLine, QueueName, UntranslatedHit, UntranslatedOutcome
from schedweb.engine.version import ENGINE_VERSION

State = Literal["created", "playing", "paused", "waiting_for_person", "finished", "stopped"]
HEAD: Final = struct.Struct("<I")
LARGEST: Final = 2**32 - 1


# --- supervisor → child -------------------------------------------------------------------------------------------


class Entry(msgspec.Struct, frozen=True):
    """A journal entry with its place: `position` operations were done before it, at `clock`."""

    id: str
    position: int
    clock: int
    author: str
    command: dict[str, Any]


class Begin(Message, frozen=True, tag="begin"):
    """`position` and `digest`: what is stored already and must come out of replay."""

    payload: bytes
    configuration: str
    seed: int
    ties: str
    approvals: str
    clock: str
    start: int
    speed: str
    journal: list[Entry]
    position: int
    digest: str
    is_stored: bool
    """A batch of this run was stored before, so what leads to `position` is not told again."""
    checkpoint: bytes | None
    checkpoint_seconds: float
    inherited: int = 0
    """A fork: up to this position it does what its parent did, and stores that as its own past."""
    inherited_digest: str = ""
    waits: bool = False
    """It does no operation before Go: commands that came while nobody played are done first."""
    played_by: str = ENGINE_VERSION
    """Which version of the engine began the run."""
    dictionary: PackedWith | None = None
    """That rows are packed with; without one the engine makes one when it has enough of them."""
    dictionaries_taken: list[int] = []
    """Numbers that another one may not have."""
    shadow: bool = False
    """What the followed cluster's scheduler decides is judged (judged.py)."""
    observing: bool = False
    """It begins as a picture of a real cluster (observed.py); a fork of such a run as well."""
    scheduling: Scheduling | None = None
    """It begins as a scheduler of a real cluster (live.py); a fork of such a run as well."""
    own_world: bool = False
    """It begins as a world of its own beside a real cluster (own_world.py); a fork of such a run as well."""
    decided: list[Decided] | None = None
    """Of a moment of a run that another version played: what is stored of its attempts up to there."""


class PackedWith(msgspec.Struct, frozen=True, array_like=True):
    """A dictionary (packing.py)."""

    number: int
    data: bytes


class Decided(msgspec.Struct, frozen=True, array_like=True):
    """What replay has to come to, where no digest says so."""

    number: int
    pod_uid: str
    node: str
    position: int


class Offer(Message, frozen=True, tag="offer"):
    id: str
    author: str
    command: dict[str, Any]


class Commit(Message, frozen=True, tag="commit"):
    id: str


class Ack(Message, frozen=True, tag="ack"):
    number: int


class Go(Message, frozen=True, tag="go"):
    """Every command that waited at the beginning was offered."""


class End(Message, frozen=True, tag="end"):
    """Finish with a checkpoint; the run goes on elsewhere, or later."""


class Seen(msgspec.Struct, frozen=True, array_like=True):
    """What the reader of a cluster saw. ``what``: ``added``, ``modified``, ``deleted``; ``list`` begins a list of a
    kind, whose objects are ``listed`` one by one, and ``whole`` ends it. ``manifest``, as JSON, of ``list`` and
    ``whole`` names only the kind, of ``deleted`` only the object."""

    what: Literal["added", "modified", "deleted", "list", "listed", "whole"]
    manifest: bytes
    asked_at: int = 0
    """Of ``list``: when it was asked for, nanoseconds since 1970 by the worker's clock; 0: not known."""


class Look(Message, frozen=True, tag="look"):
    """Of a run that follows a cluster: what of this its world does not have yet is done. Answered with Looked."""

    seen: list[Seen]


class Answers(Message, frozen=True, tag="answers"):
    """Of a run that schedules a real cluster: what became of writes that it waits for. They are known to be heard when
    a batch has them (HeardRow)."""

    outcomes: list[WriteOutcome]


class Deciding(Message, frozen=True, tag="deciding"):
    """Of a run that schedules a real cluster: whether pods may be tried now. It may not while the cluster is not known
    as it is, or the Lease is somebody else's."""

    may: bool


ToChild = Begin | Offer | Commit | Ack | Go | End | Look | Answers | Deciding | AnswersBeside


# --- child → supervisor -------------------------------------------------------------------------------------------


class Chunk(msgspec.Struct, frozen=True):
    first: int
    count: int
    traces: bytes
    usage: bytes
    usage_base: bytes | None


class AttemptRow(msgspec.Struct, frozen=True, array_like=True):
    number: int
    pod_uid: str
    namespace: str
    name: str
    attempt: int
    profile: str
    at: int
    ended: int | None
    result: str
    node: str
    message: str
    score: int | None
    duration_us: int | None
    timing: str | None
    """Per extension point and plugin, where they were timed."""
    ending: bytes | None
    """Packed JSON."""
    position: int | None


class PodRow(msgspec.Struct, frozen=True, array_like=True):
    uid: str
    namespace: str
    name: str
    column: str
    place: int
    group_key: str
    node: str
    priority: int
    attempts: int
    since: int
    asks_person: bool
    gang: str
    labels: str
    card: bytes
    """Packed JSON (packing.py), as `detail` and manifests."""
    detail: bytes
    manifest: bytes | None


class NodeRow(msgspec.Struct, frozen=True, array_like=True):
    row: int
    name: str
    present: bool
    zone: str
    pool: str
    type: str
    cordoned: bool
    tainted: bool
    allocatable: str
    requested: str
    reserved: str
    pods: str
    manifest: bytes | None


class DecisionRow(msgspec.Struct, frozen=True, array_like=True):
    number: int
    entry: str
    decision: str
    pod_uid: str
    namespace: str
    name: str
    workload: str
    tail: str
    node: str
    plugin: str
    reason: str
    by: Content
    at: int
    outcome: Content


class PreemptionRow(msgspec.Struct, frozen=True, array_like=True):
    """One victim. `number` and `place`: the attempt that evicted it, and its place among that attempt's victims."""

    number: int
    place: int
    attempt: int
    at: int
    node: str
    uid: str
    namespace: str
    name: str
    priority: int
    victim_uid: str
    victim_namespace: str
    victim_name: str
    victim_priority: int


class ObjectRow(msgspec.Struct, frozen=True, array_like=True):
    """An object that is neither a pod nor a node, as it is now; without a manifest once it was deleted."""

    kind: str
    group: str
    namespace: str
    name: str
    present: bool
    manifest: bytes | None


class JournalPlace(msgspec.Struct, frozen=True):
    """An offered command applies here. Nothing is done until it is committed."""

    id: str
    position: int
    clock: int


class Batch(Message, frozen=True, tag="batch"):
    """Everything between two positions. Texts named `*_json` are JSON as the browser gets it."""

    number: int
    position: int
    clock: int
    shown_clock: int
    points: int
    attempts: int
    digest: str
    state: State
    wants_operations: bool
    """It plays, or a step is not yet done."""
    speed: str
    counts: dict[str, int]
    columns_json: dict[QueueName, str]
    """Changed columns only: shapes.Column each."""
    cycle_json: str
    """shapes.UntranslatedCycle, or null."""
    nodes_json: str
    """A list of shapes.NodeChange."""
    topology: bool
    resources: list[str]
    node_count: int
    pod_count: int
    arrivals_left: int
    arrivals_total: int
    next_arrival: int | None
    pods: list[PodRow]
    nodes: list[NodeRow]
    chunk: Chunk | None
    attempt_rows: list[AttemptRow]
    decisions: list[DecisionRow]
    preemptions: list[PreemptionRow]
    evictions: list[EvictionRow]
    objects: list[ObjectRow]
    judgements: list[JudgementRow]
    writes: list[WriteRow]
    """To a real cluster; they are sent when they are stored."""
    feed: list[FeedLine]
    clock_moves: list[tuple[int, int]]
    outcomes: list[UntranslatedOutcome]
    waiting_changed: bool
    rate: int | None
    breakpoints: list[BreakpointSet]
    hit: UntranslatedHit | None
    heard: list[HeardRow] = []
    real_pods: list[RealPodRow] = []
    others: list[OtherSchedulerRow] | None = None
    """All that were seen so far; None where nothing is new."""
    unwritten: int = 0
    """How many pods of the beginning are left for batches to come."""
    place: JournalPlace | None = None
    checkpoint: bytes | None = None
    asked: Asked | None = None
    """What extenders are to be asked, once this batch is stored. Said once by every engine."""
    dictionary: PackedWith | None = None
    """One that the rows from here on are packed with, where it is new."""
    metrics: bytes | None = None
    """What /metrics of the run says at this position, packed; not with every batch."""
    steps: tuple[int, bytes] | None = None
    """The steps since the last batch (steps.py): where they begin, and what they were."""


class Kept(Message, frozen=True, tag="kept"):
    """A checkpoint of an earlier position, whose batch came before this."""

    position: int
    digest: str
    clock: int
    """Run time there, in nanoseconds."""
    data: bytes


class Ready(Message, frozen=True, tag="ready"):
    """Replay is done and its digest is the stored one."""

    replayed: int


class Refusal(Message, frozen=True, tag="refusal"):
    """An offered command would be refused now; it gets no place."""

    id: str
    text: Content


class Failure(Message, frozen=True, tag="failure"):
    """The run cannot go on: a sentence, and the traceback for whoever has to mend it."""

    text: Content
    trace: str


class Ended(Message, frozen=True, tag="ended"):
    pass


class Looked(Message, frozen=True, tag="looked"):
    """What was new is done; a batch that follows has it."""

    changes: int
    """How much that was."""


FromChild = Batch | Kept | Ready | Refusal | Failure | Ended | Looked | AsksBeside

_ENCODER: Final = msgspec.msgpack.Encoder()
_TO_CHILD: Final = msgspec.msgpack.Decoder(ToChild)
_FROM_CHILD: Final = msgspec.msgpack.Decoder(FromChild)


class Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Writer(Protocol):
    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> object: ...


class Exactly:
    """Reads exactly what is asked for and buffers nothing, so that poll() on the pipe tells the truth."""

    def __init__(self, pipe: BinaryIO) -> None:
        self.pipe = pipe

    def fileno(self) -> int:
        return self.pipe.fileno()

    @property
    def has_kept(self) -> bool:
        """Whether something is read without the pipe, which poll() does not tell."""
        return False

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        left = size
        while left:
            part = self.pipe.read(min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


class Gone(Exception):
    """The other end of the pipe was closed."""


def write(pipe: Writer, message: Message) -> None:
    body = _ENCODER.encode(message)
    if len(body) > LARGEST:
        raise ValueError(f"a message of {len(body)} bytes is too large for the pipe")
    try:
        pipe.write(HEAD.pack(len(body)))
        pipe.write(body)
        pipe.flush()
    except (BrokenPipeError, ValueError, OSError) as error:
        raise Gone(str(error)) from error


def read(pipe: Reader) -> bytes:
    """One message as it came. Raises Gone."""
    try:
        head = pipe.read(HEAD.size)
        if len(head) < HEAD.size:
            raise Gone("the pipe was closed")
        (size,) = HEAD.unpack(head)
        body = pipe.read(size)
    except (OSError, ValueError) as error:
        raise Gone(str(error)) from error
    if len(body) < size:
        raise Gone("the pipe was closed within a message")
    return body


def read_to_child(pipe: Reader) -> ToChild:
    return to_child_of(read(pipe))


def to_child_of(raw: bytes) -> ToChild:
    message: ToChild = _TO_CHILD.decode(raw)
    return message


def read_from_child(pipe: Reader) -> FromChild:
    message: FromChild = _FROM_CHILD.decode(read(pipe))
    return message
