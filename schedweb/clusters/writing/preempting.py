"""Victims are told why, then deleted, then an Event says by whom: each in this order, all but the last at the same
time, and the last when the others are done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from framework.objects import Pod
from schedweb.clusters.writing.events import Events
from schedweb.clusters.writing.sending import Writer
from schedweb.writes import pods
from schedweb.writes.writes import Outcome

_AT_ONCE: Final = 16
NOT_THERE: Final = frozenset(("gone", "replaced"))
"""Nothing more is said of such a victim, and its room is free."""


class Evicted(msgspec.Struct, frozen=True):
    victim: str
    """uid."""
    outcome: Outcome
    """Of the write that decided: the condition's where it failed, else the deletion's."""

    @property
    def makes_room(self) -> bool:
        return self.outcome.is_done or self.outcome.result in NOT_THERE


def preempt(
    writer: Writer, events: Events, preemptor: Pod, victims: Sequence[Pod], node_name: str, clock: Callable[[], int]
) -> list[Evicted]:
    """``victims``: in the order in which the plugin named them; those that terminate already are left alone. ``clock``:
    nanoseconds. Where one could not be evicted, the preemptor is to be tried again."""
    alive = [each for each in victims if each.metadata.deletion_timestamp is None]
    if not alive:
        return []

    def evict(victim: Pod) -> Evicted:
        return Evicted(victim.metadata.uid, _evict(writer, events, preemptor, victim, node_name, clock))

    *others, last = alive
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="victims") as pool:
        done = list(pool.map(evict, others))
    if all(each.makes_room for each in done):
        done.append(evict(last))
    return done


def _evict(
    writer: Writer, events: Events, preemptor: Pod, victim: Pod, node_name: str, clock: Callable[[], int]
) -> Outcome:
    told = pods.disrupt(victim, preemptor, clock())
    if told is not None:
        outcome = writer.send(told)
        if not outcome.is_done:
            return outcome
    outcome = writer.send(pods.evict(victim))
    if outcome.is_done:
        note = f"Preempted by pod {preemptor.metadata.uid} on node {node_name}"
        events.write("Normal", "Preempted", victim, note, clock())
    return outcome
