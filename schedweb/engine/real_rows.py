"""Rows of a batch of a run beside a real cluster."""

from __future__ import annotations

import msgspec

from schedweb.engine.commands import WriteOutcome


class JudgementRow(msgspec.Struct, frozen=True, array_like=True):
    """One decision of the real scheduler beside ours. `number`: position and place of the change that told it."""

    number: int
    at: int
    uid: str
    namespace: str
    name: str
    workload: str
    profile: str
    """The pod's schedulerName."""
    kind: str
    """framework.advice.shadow.Kind, or not_judged."""
    bound: bool
    """It is a binding; else the real scheduler found no node."""
    real_node: str
    """Of no binding the one on which it preempts."""
    own_node: str
    plugin: str
    margin: int
    detail: str
    """JSON (judged.py)."""


class RealPodRow(msgspec.Struct, frozen=True, array_like=True):
    """A pod of a real cluster beside a world of our own: ``RealPod`` (own_world.py)."""

    uid: str
    namespace: str
    name: str
    workload: str
    profile: str
    amounts: str
    """JSON, in the order of the batch's resources."""
    decided: bool
    came: int
    since: int
    node: str
    gated: bool
    message: str
    preempted: bool
    present: bool


class OtherSchedulerRow(msgspec.Struct, frozen=True, array_like=True):
    """How many pods another scheduler bound onto the nodes that a run schedules to, since that began."""

    scheduler: str
    count: int
    last_at: int
    """When the run heard of the last one; nanoseconds since 1970."""


class HeardRow(msgspec.Struct, frozen=True, array_like=True):
    """What was heard of a real cluster, as an entry of the journal that is done."""

    id: str
    position: int
    clock: int
    type: str
    command: str
    """JSON."""
    changes: int
    """How many it told."""
    outcomes: tuple[WriteOutcome, ...]
    """Of the run's writes."""
