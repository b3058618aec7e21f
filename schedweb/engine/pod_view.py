"""PodView: what the board, the inbox and a pod's page show of one pod, kept up to date by the projection."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from framework.objects import Pod
from framework.objects.resources import placed_figures, pod_requests
from framework.objects.timestamps import SECOND
from framework.sentences import Content, Words
from schedweb.engine.amounts import amount_text
from schedweb.engine.names import split_name
from schedweb.engine.shapes import Card, Gang, PermitWait, PodColumn, PodRef, Rejector
from schedweb.engine.times import iso, iso_or_none
from schedweb.engine.words import short_plugin

HASH_LABEL: Final = "pod-template-hash"
GANG_LABEL: Final = "scheduling.x-k8s.io/pod-group"
#: The journey keeps its beginning and its newest steps.
JOURNEY_HEAD: Final = 20
JOURNEY_LIMIT: Final = 120
GROUPED: Final = frozenset({"gated", "active", "unschedulable", "waiting"})
Step = list[Any]
"""[at, column, event, strong]: entered a column, or stayed and something happened."""


@lru_cache(maxsize=1 << 14)
def key_of(about: tuple[object, ...]) -> str:
    """Asked three times per attempt, and mostly about the same few groups."""
    return hashlib.blake2b(repr(about).encode(), digest_size=12).hexdigest()


@dataclass(slots=True)
class Wait:
    plugin: str
    deadline: int
    total: int
    asks_person: bool
    note: str = ""


class PodView(msgspec.Struct):
    """A Struct because it is made four times as fast, and a large cluster begins with very many."""

    uid: str
    namespace: str
    name: str
    workload: str
    tail: str
    priority: int
    priority_class: str
    amounts: Mapping[str, int]
    gang: str
    """namespace/name of its PodGroup, or ""."""
    column: PodColumn | Literal[""] = ""
    since: int = 0
    attempts: int = 0
    node: str = ""
    gate: str = ""
    rejectors: tuple[tuple[str, int], ...] = ()
    """(plugin, nodes it was the first to refuse), most nodes first."""
    until: int = 0
    score: int | None = None
    margin: int | None = None
    ties: int | None = None
    waits: Sequence[Wait] = ()
    point: str = ""
    message: str = ""
    waits_for: Sequence[dict[str, Content]] = ()
    ignored: Sequence[tuple[dict[str, Words], list[str]]] = ()
    """(event, plugins that were asked about it) since the last move, oldest first (schedweb/engine/awaited.py)."""
    headline: Words = ""
    nodes_total: int = 0
    asked_again: Words = ""
    journey: list[Step] = []
    group_key: str = ""
    entered: int = 0
    """Counts entries into columns over all pods: ties of `since` keep the order of entry."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def asks_person(self) -> bool:
        return any(wait.asks_person for wait in self.waits)

    @property
    def deadline(self) -> int:
        return min((wait.deadline for wait in self.waits), default=0)

    @property
    def place(self) -> int:
        """Smaller is nearer to the top of its column."""
        if self.column == "backoff":
            return self.until
        if self.column == "waiting":
            return self.deadline
        return -self.since if self.column == "bound" else self.since

    def step(self, at: int, event: Words, *, strong: bool = False) -> None:
        self.journey.append([at, self.column, event, strong])
        if len(self.journey) > JOURNEY_LIMIT:
            del self.journey[JOURNEY_HEAD : JOURNEY_HEAD + JOURNEY_LIMIT // 4]

    def group(self) -> str:
        """Pods with one key are one card: of one owner, with one verdict, about as often tried."""
        if self.column not in GROUPED:
            return ""
        about: tuple[object, ...] = (self.gate,)
        if self.column == "waiting":
            about = (self.gang, tuple(wait.plugin for wait in self.waits))
        elif self.column in ("unschedulable", "active"):
            about = (self.rejectors, min(self.attempts, 3))
        return key_of((self.column, self.namespace, self.workload, self.priority, *about))

    def ref(self) -> PodRef:
        return PodRef(self.namespace, self.name, self.workload, self.tail)

    def requests(self) -> dict[str, str]:
        return {name: amount_text(name, amount) for name, amount in self.amounts.items() if amount}

    def card(self, gang: Gang | None = None) -> Card:
        card = Card(
            namespace=self.namespace,
            name=self.name,
            workload=self.workload,
            tail=self.tail,
            kind="pod",
            key=self.uid,
            count=1,
            uid=self.uid,
            priority=self.priority,
            priority_class=self.priority_class or None,
            attempts=self.attempts,
            since=iso_or_none(self.since or None),
            requests=self.requests(),
            group_key=self.group_key or None,
        )
        column = self.column
        if self.node:
            card.node = self.node
        if column == "backoff":
            card.until = iso(self.until)
        if column == "gated":
            card.gate = self.gate
        if self.rejectors and column in ("unschedulable", "backoff", "active"):
            card.rejectors = [Rejector(plugin, count, short_plugin(plugin)) for plugin, count in self.rejectors]
        if column == "in_flight":
            card.point = self.point or None
        if self.score is not None and column in ("waiting", "bound", "in_flight"):
            card.score, card.margin, card.ties = self.score, self.margin, self.ties
        if column == "waiting":
            card.waiting = [permit_wait(wait) for wait in self.waits]
            card.gang = gang
        return card


def permit_wait(wait: Wait) -> PermitWait:
    return PermitWait(
        plugin=wait.plugin,
        deadline=iso(wait.deadline),
        total_seconds=wait.total / SECOND,
        asks_person=wait.asks_person,
        note=wait.note or UNSET,
    )


def owner_of(pod: Pod) -> tuple[str, str]:
    """(kind, name) of the controller, or of the first owner; empty without one."""
    owners = pod.metadata.owner_references
    if not owners:
        return "", ""
    chosen = owners[0]
    if not chosen.controller:
        chosen = next((owner for owner in owners if owner.controller), chosen)
    return chosen.kind, chosen.name


def amounts_of(pod: Pod) -> Mapping[str, int]:
    """What it asks for; once it has a node, what counts there."""
    return placed_figures(pod)[0] if pod.spec.node_name else pod_requests(pod)


def asks_alike(old: Pod, new: Pod) -> bool:
    """Whether nothing that ``amounts_of`` looks at was written anew."""
    return (
        old.spec.containers is new.spec.containers
        and old.spec.init_containers is new.spec.init_containers
        and old.spec.resources is new.spec.resources
        and old.status.container_statuses is new.status.container_statuses
        and old.status.resources is new.status.resources
    )


def view_of(pod: Pod) -> PodView:
    metadata, spec = pod.metadata, pod.spec
    labels = metadata.labels
    kind, owner = owner_of(pod)
    workload, tail = split_name(metadata.name, owner, kind, labels.get(HASH_LABEL, ""))
    group = labels.get(GANG_LABEL, "")
    return PodView(
        metadata.uid,
        metadata.namespace,
        metadata.name,
        workload,
        tail,
        spec.priority or 0,
        spec.priority_class_name,
        amounts_of(pod),
        f"{metadata.namespace}/{group}" if group else "",
    )


def pod_facts(pod: Pod) -> dict[str, Any]:
    """What only the pod's own page shows and never changes."""
    kind, owner = owner_of(pod)
    return {
        "profile": pod.spec.scheduler_name,
        "images": list(dict.fromkeys(container.image for container in pod.spec.containers)),
        "owner": {"kind": kind, "name": owner} if owner else None,
    }
