"""What nodes use, as LoadAwareScheduling sees it (docs/koordinator.md#usage-of-a-node).

Load is measured now and then; pods that were placed too late to be in it are added with what they are taken to use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Final, NamedTuple

from framework.interface import NodeValues
from framework.objects import Node, Pod
from framework.objects.catalogue import USAGE_THRESHOLDS, LoadMetrics
from framework.objects.measured import CPU_LOAD, MEMORY_LOAD, usage_of
from framework.objects.resources import CPU, MEMORY, node_allocatable, resource_value
from framework.objects.timestamps import SECOND, TimestampError, parse_timestamp
from framework.plugins.loadaware.args import LoadAwareSchedulingArgs
from framework.plugins.loadaware.estimates import Estimate

REPORT_SECONDS: Final = 60
"""How long agents take to report a pod's load."""
NOT_MEASURED: Final = -1
KINDS: Final = ((CPU, CPU_LOAD), (MEMORY, MEMORY_LOAD))


class Seen(NamedTuple):
    """A row: of cpu (millicores), then of memory (bytes) what is allocatable, what is used (NOT_MEASURED: unknown), and
    the threshold in percent (0: none)."""

    cpu: int
    cpu_used: int
    cpu_most: int
    memory: int
    memory_used: int
    memory_most: int


MOST_PERCENT: Final = 100_000.0
"""What is measured counts up to this: columns are int64, and an import refuses what is above 200."""
NOTHING_SEEN: Final = Seen(0, NOT_MEASURED, 0, 0, NOT_MEASURED, 0)


class Placed(NamedTuple):
    at: int
    """Nanoseconds since 1970."""
    estimate: Estimate


class NodeFacts(NamedTuple):
    """All that is read of a node; of cpu, then of memory."""

    capacity: tuple[int, int]
    allocatable: tuple[int, int]
    thresholds: tuple[int | None, int | None]
    """The node's own."""


def facts_of(node: Node) -> NodeFacts:
    offered, whole = node_allocatable(node), node.status.capacity or {}
    own = own_thresholds(node)
    cpu, memory = (resource_value(name, whole[name]) if name in whole else offered.get(name, 0) for name, _ in KINDS)
    return NodeFacts((cpu, memory), (offered.get(CPU, 0), offered.get(MEMORY, 0)), (own.get(CPU), own.get(MEMORY)))


def own_thresholds(node: Node) -> dict[str, int]:
    """Of the node's annotation; one that cannot be read says nothing, as in koordinator."""
    try:
        given: Any = json.loads(node.metadata.annotations.get(USAGE_THRESHOLDS, "{}"))
    except ValueError:
        return {}
    listed = given.get("usageThresholds") if isinstance(given, dict) else None
    if not isinstance(listed, dict):
        return {}
    return {name: percent for name, percent in listed.items() if type(percent) is int}


def scheduled_at(pod: Pod) -> int | None:
    """When it got its node, in nanoseconds; None where nothing says it."""
    said = next((each for each in pod.status.conditions if each.type == "PodScheduled" and each.status == "True"), None)
    text = None if said is None else said.last_transition_time
    try:
        return parse_timestamp(text) if text else None
    except TimestampError:
        return None


def came_at(pod: Pod) -> int | None:
    """``scheduled_at``, else when it was created."""
    text = pod.metadata.creation_timestamp
    try:
        created = parse_timestamp(text) if text else None
    except TimestampError:
        created = None
    return created if (at := scheduled_at(pod)) is None else at


@dataclass(slots=True)
class Usage:
    """Of all nodes. ``rows`` is kept up to date: a change reaches the nodes whose row it changes, and no other."""

    thresholds: tuple[int, int]
    seconds_added: int
    rows: NodeValues[Seen] = field(default_factory=NodeValues)
    _facts: dict[str, NodeFacts] = field(default_factory=dict)
    _placed: dict[str, dict[str, Placed]] = field(default_factory=dict)
    """Node → uid → pod."""
    _load: LoadMetrics | None = None
    _alone: dict[str, Seen | None] = field(default_factory=dict)
    """Rows without the pods that are added, as far as they were asked for."""

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "_alone"}

    def __setstate__(self, state: dict[str, Any] | tuple[None, dict[str, Any]]) -> None:
        """Checkpoints of before have a tuple."""
        for name, value in (state if isinstance(state, dict) else state[1]).items():
            setattr(self, name, value)
        self._alone = {}

    @classmethod
    def of_args(cls, args: LoadAwareSchedulingArgs) -> Usage:
        most = args.usage_thresholds or {}
        return cls((most.get(CPU, 0), most.get(MEMORY, 0)), args.estimated_seconds_after_pod_scheduled or 0)

    @property
    def measured_until(self) -> int:
        """Seconds since 1970; 0 where nothing says it."""
        return 0 if self._load is None else self._load.window.end or self._load.timestamp

    def is_added(self, at: int) -> bool:
        """Whether a pod that was placed then is missing in the load."""
        return at + max(REPORT_SECONDS, self.seconds_added) * SECOND > self.measured_until * SECOND

    def load_changed(self, load: LoadMetrics | None) -> None:
        self._load = load
        self._alone.clear()
        for name in self._facts:
            self._see(name)

    def node_changed(self, name: str, node: Node | None) -> None:
        if node is None:
            self._facts.pop(name, None)
        else:
            self._facts[name] = facts_of(node)
        self._alone.pop(name, None)
        self._see(name)

    def place(self, node: str, uid: str, at: int, estimate: Estimate) -> None:
        """A pod that is there already keeps its time."""
        pods = self._placed.setdefault(node, {})
        known = pods.get(uid)
        placed = Placed(at if known is None else known.at, estimate)
        if placed != known:
            pods[uid] = placed
            self._see(node)

    def take_off(self, node: str, uid: str) -> None:
        pods = self._placed.get(node)
        if pods is not None and pods.pop(uid, None) is not None:
            if not pods:
                del self._placed[node]
            self._see(node)

    def _see(self, name: str) -> None:
        seen = self._seen(name)
        if seen is None:
            self.rows.discard(name)
        elif seen != self.rows.get(name):
            self.rows.set(name, seen)

    def _seen(self, name: str) -> Seen | None:
        if name not in self._alone:
            self._alone[name] = self._seen_alone(name)
        alone = self._alone[name]
        if alone is None:
            return None
        cpu, memory = alone.cpu_used, alone.memory_used
        for each in self._placed.get(name, {}).values():
            if self.is_added(each.at):
                cpu += each.estimate.cpu
                memory += each.estimate.memory
        return alone._replace(
            cpu_used=NOT_MEASURED if alone.cpu_used == NOT_MEASURED else cpu,
            memory_used=NOT_MEASURED if alone.memory_used == NOT_MEASURED else memory,
        )

    def _seen_alone(self, name: str) -> Seen | None:
        facts = self._facts.get(name)
        node = None if self._load is None else self._load.data.node_metrics_map.get(name)
        if facts is None or node is None or not node.metrics:
            return None
        numbers: list[int] = []
        for i, (_, kind) in enumerate(KINDS):
            usage = usage_of(node.metrics, kind)
            used = NOT_MEASURED
            if usage is not None:
                used = max(0, round(Fraction(min(usage.average, MOST_PERCENT)) * facts.capacity[i] / 100))
            own = facts.thresholds[i]
            numbers += (facts.allocatable[i], used, self.thresholds[i] if own is None else own)
        return Seen(*numbers)


def percent_of(used: int, offered: int) -> int:
    """Rounded half away from zero, exactly."""
    return (200 * used + offered) // (2 * offered)


def thresholds_needed(seen: Seen, more: Estimate) -> dict[str, tuple[int, int]]:
    """Resource → (threshold, what would be used) in percent, of those of which too much would be used."""
    found: dict[str, tuple[int, int]] = {}
    for i, (name, _) in enumerate(KINDS):
        offered, used, most = seen[3 * i : 3 * i + 3]
        if used >= 0 and offered > 0 and most > 0 and (percent := percent_of(used + more[i], offered)) > most:
            found[name] = (most, percent)
    return found
