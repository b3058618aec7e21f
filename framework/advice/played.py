"""What became of a cluster that was played to its end after a change, and what that means for its pods.

Whoever asks for advice gives it a ``Play``: the run itself goes on in a copy, with its queue, its controllers and all
pods that compete, exactly as a fork of it would. So what is said here is what a fork will show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from framework.advice.operations import Operation
from framework.objects import Pod
from framework.objects.reservations import AVAILABLE, Reservation
from framework.scheduler import Scheduler
from framework.scheduler.state import WaitingPodState
from framework.sentences import Sentence, Words, sentence

Owner = tuple[str, str, str]
"""(namespace, kind, name) of the controller; of a pod without one all but the namespace are empty."""


class PlayedPod(msgspec.Struct, frozen=True):
    """A pod at the end of a play."""

    uid: str
    node: str
    """Bound to it, being bound, or waiting on Permit with it for a person; "" while it is pending, also while it waits
    there for something else, such as the rest of its pod group."""
    owner: Owner


class Played(msgspec.Struct, frozen=True):
    """How the end of a play differs from its beginning."""

    pods: dict[str, PlayedPod]
    """``namespace/name`` → state, of pods that came, or got or lost a node."""
    gone: tuple[str, ...]
    """``namespace/name`` of pods that left, and that no other pod is called by."""
    finished: bool
    """Whether nothing was left to do when it ended; else the time for it was over."""
    tried: frozenset[str]
    """``namespace/name`` of pods that had no node at the beginning and were tried on nodes since."""
    refused: Words = ""
    """Why a change was refused; then nothing was played."""


Play = Callable[[Sequence[Operation]], Played | None]
"""Makes the changes in a copy and plays it to its end. None when there is no time left for another play."""
Fated = Literal["moves", "pending", "gone", "passed"]


class Fate(msgspec.Struct, frozen=True):
    """What a change does to another pod: it finds another node, is made again and stays pending, is gone because nobody
    makes it again, or stays pending though it would have got a node (``passed``)."""

    pod: str
    """``namespace/name``."""
    fate: Fated
    text: Sentence
    node: str = ""
    """Which it finds."""


def states(scheduler: Scheduler, *, binding: bool = True) -> dict[str, PlayedPod]:
    """``namespace/name`` → state of every pod, at this moment.

    ``binding``: whether pods that wait in PreBind for their volumes or devices count as having their node.
    """
    cache, stand = scheduler.core.cache, scheduler.core.pre_binding.cycles
    held = {each.uid for each in scheduler.waiting_pods() if not each.decided and not waits_for_people(each)}
    found: dict[str, PlayedPod] = {}
    for pod in scheduler.cluster.list(Pod):
        uid, node = pod.metadata.uid, pod.spec.node_name
        if not node and uid not in held and (binding or uid not in stand):
            assumed = cache.get_pod(uid)
            node = "" if assumed is None else assumed.pod.spec.node_name
        found[pod.key] = PlayedPod(uid, node, owner_of(pod))
    return found


def waits_for_people(waiting: WaitingPodState) -> bool:
    """Whether a person alone keeps it from its node."""
    return len(waiting.asks_a_person) == len(waiting.deadlines)


def difference(
    before: Mapping[str, PlayedPod],
    after: Mapping[str, PlayedPod],
    tried: Iterable[str],
    held: Mapping[str, str],
    *,
    finished: bool,
) -> Played:
    """``tried``: ``namespace/name`` of all pods that had an attempt in between. ``held``: Reservation → its node."""
    changed = {key: state for key, state in after.items() if before.get(key) != state}
    gone = []
    for key, was in before.items():
        if key in after:
            continue
        _, kind, name = was.owner
        if kind != Reservation.kind:
            gone.append(key)
        elif name in held:
            # The pod that looks for a reservation's node is gone when it has found one.
            changed[key] = PlayedPod(was.uid, held[name], was.owner)
    pending = frozenset(key for key in tried if key in before and not before[key].node)
    return Played(changed, tuple(gone), finished, pending)


def held_by_reservations(scheduler: Scheduler) -> dict[str, str]:
    """Reservation → the node on which it holds a place."""
    found = scheduler.cluster.list(Reservation)
    return {each.metadata.name: each.status.node_name for each in found if each.status.phase == AVAILABLE}


def owner_of(pod: Pod) -> Owner:
    owners = pod.metadata.owner_references
    owner = next((each for each in owners if each.controller), owners[0] if owners else None)
    return (pod.metadata.namespace, owner.kind if owner else "", owner.name if owner else "")


class End:
    """The end of a play: where every pod is, read through the differences."""

    def __init__(self, before: Mapping[str, PlayedPod], played: Played) -> None:
        self.before = before
        self.played = played
        self._gone = frozenset(played.gone)
        self._made: dict[Owner, list[str]] = {}
        """New names by owner: pods that controllers made in place of others."""
        for key, state in sorted(played.pods.items()):
            if key not in before:
                self._made.setdefault(state.owner, []).append(key)

    def get(self, key: str) -> PlayedPod | None:
        found = self.played.pods.get(key)
        return found if found is not None else None if key in self._gone else self.before.get(key)

    def successor(self, key: str) -> tuple[str, PlayedPod] | None:
        """The pod itself, or the one that was made in its place; each is given once."""
        here = self.get(key)
        if here is not None:
            return key, here
        was = self.before.get(key)
        made = self._made.get(was.owner) if was is not None and was.owner[1] else None
        if not made:
            return None
        name = made.pop(0)
        return name, self.played.pods[name]

    def touched(self) -> set[str]:
        return self.played.pods.keys() | self._gone


def fates(without: End, end: End, own: frozenset[str]) -> list[Fate]:
    """What a change costs pods other than ``own`` (``namespace/name``), against what happens ``without`` it.

    Pods that had a node, or would have got one, and end on another or on none; those that are worst off come first.
    """
    found: list[Fate] = []
    for key in sorted(without.touched() | end.touched()):
        would = without.get(key)
        if key in own or would is None or not would.node:
            continue
        now = end.get(key)
        if now is not None and now.uid == would.uid:
            if not now.node:
                found.append(
                    Fate(
                        key,
                        "passed",
                        sentence("{pod} stays pending; without this it goes to {node}.", pod=key, node=would.node),
                    )
                )
            continue
        found.append(_of_evicted(key, would.node, end.successor(key)))
    order: tuple[Fated, ...] = ("gone", "pending", "passed", "moves")
    return sorted(found, key=lambda each: (order.index(each.fate), each.pod))


def _of_evicted(key: str, left: str, successor: tuple[str, PlayedPod] | None) -> Fate:
    if successor is None:
        text = sentence("{pod} leaves {node} for good: nobody makes it again.", pod=key, node=left)
        return Fate(key, "gone", text)
    name, state = successor
    about = {"pod": key, "node": left, "name": name.partition("/")[2], "to": state.node}
    if not state.node:
        text = sentence("{pod} leaves {node}; its workload makes it again, and it stays pending.", **about)
        return Fate(key, "pending", text)
    if name == key:
        return Fate(key, "moves", sentence("{pod} leaves {node} and goes to {to}.", **about), state.node)
    text = sentence("{pod} leaves {node}; its workload makes {name} instead, which goes to {to}.", **about)
    return Fate(key, "moves", text, state.node)
