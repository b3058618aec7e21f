"""Commands: every way in which a person changes a run, as types. The web validates against them, the engine obeys them.

A command is a journal row first. What it needs from outside (the text of a configuration, a manifest as JSON) is put
into it before it is stored, so that replay needs nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from framework.advice import WAIT
from schedweb.writes.writes import Outcome

Speed = Literal["one", "10", "100", "max"]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
Namespace = Annotated[str, msgspec.Meta(min_length=1, max_length=63)]


class Command(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"):
    """`author` and `reason` are put in by the server."""


class Play(Command, frozen=True, tag="play"):
    speed: Speed | None = None


class Pause(Command, frozen=True, tag="pause"):
    pass


class Step(Command, frozen=True, tag="step"):
    what: Literal["cycle", "point"] = "cycle"


class SetSpeed(Command, frozen=True, tag="set_speed"):
    speed: Speed


class SetSeed(Command, frozen=True, tag="set_seed"):
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


class Stop(Command, frozen=True, tag="stop"):
    pass


class TryAgain(Command, frozen=True, tag="try_again"):
    """Of a run that is parked: somebody is to play it once more. It is done when it is stored, and no engine hears of
    it."""


class PodAdd(Command, frozen=True, tag="pod_add"):
    manifest: dict[str, Any]


class PodDelete(Command, frozen=True, tag="pod_delete"):
    namespace: Namespace
    name: Name


class NodeAdd(Command, frozen=True, tag="node_add"):
    manifest: dict[str, Any]


class NodeDelete(Command, frozen=True, tag="node_delete"):
    name: Name


class NodeCordon(Command, frozen=True, tag="node_cordon"):
    name: Name


class NodeUncordon(Command, frozen=True, tag="node_uncordon"):
    name: Name


class NodeDrain(Command, frozen=True, tag="node_drain"):
    name: Name


class PodActivate(Command, frozen=True, tag="pod_activate"):
    namespace: Namespace
    name: Name


class Wait(Command, frozen=True, tag="wait"):
    """Lets time pass before the run may be finished: pods are tried again that wait longer than five minutes
    (docs/semantics/runs.md#the-end-of-a-run)."""

    seconds: Annotated[int, msgspec.Meta(ge=1, le=86_400)]


class DeviceCondition(Command, frozen=True, tag="device_condition"):
    """What the device's driver would write into the status of a ResourceClaim (`name`) that the device is allocated
    to."""

    namespace: Namespace
    name: Name
    driver: Name
    pool: Name
    device: Name
    condition: Annotated[str, msgspec.Meta(min_length=1, max_length=316)]
    status: Literal["True", "False", "Unknown"] = "True"
    reason: Annotated[str, msgspec.Meta(max_length=1024)] = ""
    message: Annotated[str, msgspec.Meta(max_length=32768)] = ""


class SetConfiguration(Command, frozen=True, tag="set_configuration"):
    version: str
    text: str = ""


class BreakpointSet(Command, frozen=True, tag="breakpoint_set"):
    """The run pauses when a pod that the filter matches reaches an extension point (`value`), enters a queue or ends
    there (`value`: a column of the board), or is rejected by a plugin (`value`) on a node (any, or `node`)."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    on: Literal["point", "status", "rejection"]
    value: Name
    filter: Annotated[str, msgspec.Meta(max_length=500)] = ""
    node: Annotated[str, msgspec.Meta(max_length=253)] = ""


class BreakpointRemove(Command, frozen=True, tag="breakpoint_remove"):
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class Change(Command, frozen=True, tag="change"):
    """An operation of framework/advice: what a remedy consists of. A deletion names its object."""

    verb: Literal["add", "replace", "delete", "remove"]
    manifest: dict[str, Any]
    resource_version: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    """Which state of the object it was made of, empty for one that never changed; refused where the object has another
    one by now. None: any."""


class DecidedPod(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    namespace: Namespace
    name: Name
    uid: str = ""


class Decide(Command, frozen=True, tag="decide"):
    """approve: allow the plugins that ask a person; override: any waiting plugin; reject: end the wait."""

    decision: Literal["approve", "reject", "override"]
    pods: Annotated[tuple[DecidedPod, ...], msgspec.Meta(min_length=1, max_length=500)]
    plugin: str = ""
    reason: Annotated[str, msgspec.Meta(max_length=1000)] = ""


class DecidedEviction(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A proposal, and the pod that it would make room for."""

    number: int
    namespace: Namespace
    name: Name


class DecideEviction(Command, frozen=True, tag="decide_eviction"):
    """approve: the pod is tried again, and evicts these if it still needs to; reject: they stay."""

    decision: Literal["approve", "reject"]
    evictions: Annotated[tuple[DecidedEviction, ...], msgspec.Meta(min_length=1, max_length=500)]
    reason: Annotated[str, msgspec.Meta(max_length=1000)] = ""


class ExtenderAnswer(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one extender answered, or the error there was instead; `body` is base64 of zstd."""

    extender: str
    verb: str
    status: int = 200
    body: str = ""
    error: str = ""
    microseconds: int = 0
    """Of wall time: a side channel, nothing is decided by it."""
    request: str = ""
    """The beginning of what was sent, packed as `body`: for people, and empty in what was stored before it was kept."""
    request_bytes: int = 0
    """Of the whole of it."""


class ExtenderAnswers(Command, frozen=True, tag="extender_answers"):
    """The answers to what a cycle asked. Only a worker says this; replay, takeovers and forks read it here."""

    asked: int
    """The position at which they were asked."""
    pod: str
    answers: tuple[ExtenderAnswer, ...]


class ObservedChange(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An object of a real cluster as an import keeps it; of one that is gone only who it was."""

    verb: Literal["added", "modified", "deleted"]
    manifest: dict[str, Any]
    listed: bool = False
    """A list told it: what happened in between is not known."""
    undone: bool = False
    """The list is newer than what the run knows better, so that is no more: etcd was restored from a backup."""


class ClusterChanges(Command, frozen=True, tag="cluster_changes"):
    """What a real cluster told a run that follows it. Only a worker says this; replay, takeovers and forks read it
    here."""

    at: int
    """When it came; nanoseconds since 1970 by the worker's clock."""
    changes: tuple[ObservedChange, ...]


class WriteOutcome(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    number: int
    """Of the write (live.py)."""
    outcome: Outcome
    at: int = 0
    """When the answer came; nanoseconds since 1970 by the worker's clock. 0: not known."""
    found: dict[str, Any] | None = None
    """The claim as it was read once more after a conflict, without what an import would not keep."""


class WriteOutcomes(Command, frozen=True, tag="write_outcomes"):
    """What became of writes to a real cluster that the run waits for. Only a worker says this."""

    outcomes: tuple[WriteOutcome, ...]


class Unfollow(Command, frozen=True, tag="unfollow"):
    """From here on the engine decides by itself: where a fork leaves the run that follows a real cluster."""

    arrivals: bool = False
    """What came to the cluster afterwards comes here as well: ``Arrivals`` say what."""
    expects: int = 0
    """How many changes these are, before they have said so."""


class Told(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    at: int
    """When it came; nanoseconds since 1970 by the clock of the worker that read it."""
    changes: tuple[ObservedChange, ...]


class Arrivals(Command, frozen=True, tag="arrivals"):
    """What a real cluster told after a fork left it, in order of time; it happens in the fork when its clock is there.
    Only who makes a fork says this, from the journal of the run that was forked."""

    told: tuple[Told, ...]


AnyCommand = (
    Play
    | Pause
    | Step
    | SetSpeed
    | SetSeed
    | Stop
    | TryAgain
    | PodAdd
    | PodDelete
    | NodeAdd
    | NodeDelete
    | NodeCordon
    | NodeUncordon
    | NodeDrain
    | PodActivate
    | Wait
    | DeviceCondition
    | SetConfiguration
    | Change
    | BreakpointSet
    | BreakpointRemove
    | Decide
    | DecideEviction
    | ExtenderAnswers
    | ClusterChanges
    | WriteOutcomes
    | Unfollow
    | Arrivals
)

#: These change how a run is paced, never what it decides.
PACING: Final = (Play, Pause, Step, SetSpeed, Stop, TryAgain, BreakpointSet, BreakpointRemove)

#: What the run's page says of the run itself now.
SETTINGS: Final = ("set_configuration", "set_seed")


def of_operation(verb: object, manifest: object) -> dict[str, Any]:
    """The command, unchecked, that an operation of a remedy is (framework/advice/operations.py)."""
    if verb == WAIT and isinstance(manifest, dict):
        return {"type": "wait", **manifest}
    return {"type": "change", "verb": verb, "manifest": manifest}


def command_from(content: object) -> AnyCommand:
    """Raises msgspec.ValidationError with a sentence that names the field."""
    command: AnyCommand = msgspec.convert(content, AnyCommand)
    return command


def plain(command: AnyCommand) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(command)
    return content
