"""Taking a batch out of the player: everything that changed since the last one, as it is stored and shown."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
import zstandard

from framework.objects import KubeObject, Node, Pod
from framework.objects.decode import to_manifest
from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import AttemptWriter
from schedweb.engine.awaited import ignored_body
from schedweb.engine.cycle_view import cycle_of
from schedweb.engine.evictions import EvictionRow, body_of, row_of
from schedweb.engine.frames import (
    AttemptRow,
    Chunk,
    DecisionRow,
    NodeRow,
    ObjectRow,
    PodRow,
    PreemptionRow,
)
from schedweb.engine.live import WriteRow
from schedweb.engine.node_view import NodeView
from schedweb.engine.outcomes import ending_of, score_of
from schedweb.engine.packing import LEAST_TEXTS, Dictionary, Packer, Unpacked, trained
from schedweb.engine.player import Player
from schedweb.engine.pod_view import PodView, pod_facts
from schedweb.engine.real_rows import JudgementRow, RealPodRow
from schedweb.engine.shapes import QUEUES, NodeChange, QueueName
from schedweb.engine.steps import StepLog
from schedweb.engine.stopwatch import Timing

#: More changed nodes than this are not sent one by one: the browser reads the table again.
NODES_IN_DELTA: Final = 1500
#: How old what /metrics says may be while a run plays.
METRICS_SECONDS: Final = 5.0
#: An event that thousands of pods ignore is written in several batches: it is news for their pages only.
IGNORED_PER_BATCH: Final = 200
#: Pods that had their node before the run began are written in several batches: the board counts them at once.
PLACED_PER_BATCH: Final = 3000
#: A dictionary is made of so many of them.
SAMPLED_PODS: Final = 500
SAMPLED_NODES: Final = 50
ENDING: Final = {
    "points": [
        {"point": "PreBind", "state": "skipped", "note": {"say": "no plugin"}, "plugins": []},
        {
            "point": "Bind",
            "state": "ok",
            "note": "DefaultBinder",
            "plugins": [{"plugin": "DefaultBinder", "code": "Success", "reasons": []}],
        },
        {"point": "PostBind", "state": "skipped", "note": {"say": "no plugin"}, "plugins": []},
    ]
}
"""How most attempts end (outcomes.py): there is none yet when a dictionary is made."""
_JSON: Final = msgspec.json.Encoder()
T = TypeVar("T")


def evenly(rows: Sequence[T], count: int) -> Sequence[T]:
    """About so many of them, from all over."""
    return rows[:: max(1, len(rows) // count)]


def as_json(content: object) -> str:
    return _JSON.encode(content).decode()


class Gatherer:
    """`whole`: also columns that did not change, for the first batch of a process."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.projection = player.projection
        self.packer = Unpacked()
        self.steps = StepLog()
        self.writer = AttemptWriter()
        """Of the player's attempts since the last batch, from the first on."""
        self._counted_at = 0.0
        self._asked_since: tuple[int, int] | None = None
        """(the position at which extenders were asked last, nanoseconds of wall time)."""
        self.timings: dict[int, Timing] = {}
        """Attempt → microseconds of wall time; a side channel, no part of the trace."""

    @property
    def is_empty(self) -> bool:
        projection = self.projection
        return not (
            projection.dirty
            or projection.unwritten
            or projection.unsaid
            or projection.nodes.dirty
            or projection.decisions
            or projection.preemptions.made
            or projection.others_changed
            or projection.evictions.changed
            or projection.feed.lines
            or self.player.traces
            or self.player.ended
            or self.player.judgements
            or (self.player.own is not None and self.player.own.beside.told)
        )

    @property
    def size(self) -> int:
        return len(self.projection.dirty) + 4 * len(self.player.traces)

    def packed(self, content: object) -> bytes:
        return self.packer.pack(_JSON.encode(content))

    def manifest(self, obj: KubeObject) -> bytes:
        return self.packed(to_manifest(obj))

    def dictionary(self, taken: Collection[int]) -> Dictionary | None:
        """Of what its rows have in common, and packs with it from now on; None where there are too few."""
        projection = self.projection
        views, nodes = list(projection.views.values()), list(projection.nodes.views.values())
        if 3 * len(views) < LEAST_TEXTS:
            return None
        packer, self.packer = self.packer, Unpacked()
        rows = [self.pod_row(view, whole=True) for view in evenly(views, SAMPLED_PODS)]
        texts = [text for row in rows for text in (row.card, row.detail, row.manifest) if text]
        texts += [row.manifest for view in evenly(nodes, SAMPLED_NODES) if (row := self.node_row(view, True)).manifest]
        made = trained(texts, taken, whole=_JSON.encode(ENDING))
        self.packer = packer if made is None else Packer(made)
        return made

    # --- rows -------------------------------------------------------------------------------------------------------

    def placed(self, room: int) -> int:
        """How many pods that had their node before the run began a batch with so much room takes along."""
        return min(PLACED_PER_BATCH, room, len(self.projection.unwritten))

    def pods(self, *, room: int = PLACED_PER_BATCH, last: bool = False) -> list[PodRow]:
        """`last`: nothing is left for later."""
        projection = self.projection
        first = list(projection.unwritten) if last else list(islice(projection.unwritten, self.placed(room)))
        for uid in first:
            del projection.unwritten[uid]
            if uid in projection.views:
                projection.dirty.setdefault(uid, projection.views[uid])
        for uid in list(islice(projection.unsaid, IGNORED_PER_BATCH)):
            view = projection.unsaid.pop(uid)
            if uid in projection.views:
                projection.dirty.setdefault(uid, view)
        rows = [self.pod_row(view) for view in projection.dirty.values()]
        if projection.unwritten:
            for uid in projection.dirty:
                projection.unwritten.pop(uid, None)
        projection.dirty = {}
        projection.objects_changed &= projection.unwritten.keys()
        return rows

    def pod_row(self, view: PodView, *, whole: bool = False) -> PodRow:
        """`whole`: with its manifest, changed or not."""
        pod = self.projection.cluster.get(Pod, view.namespace, view.name)
        if pod is not None and pod.uid != view.uid:
            pod = None
        manifest = None
        if pod is not None and (whole or view.uid in self.projection.objects_changed):
            manifest = self.manifest(pod)
        resources = self.projection.nodes.resources
        detail: dict[str, Any] = {
            "amounts": [view.amounts.get(name, 0) if name != "pods" else 1 for name in resources],
            "message": view.message,
            "headline": view.headline,
            "nodes_total": view.nodes_total,
            "waits_for": view.waits_for,
            "ignored": ignored_body(view),
            "journey": view.journey,
            "asked_again": view.asked_again or None,
            "evicts": self.evicts(view),
            **(pod_facts(pod) if pod is not None else {}),
        }
        return PodRow(
            uid=view.uid,
            namespace=view.namespace,
            name=view.name,
            column=view.column,
            place=view.place,
            group_key=view.group_key,
            node=view.node,
            priority=view.priority,
            attempts=view.attempts,
            since=view.since,
            asks_person=view.asks_person,
            gang=view.gang if view.column == "waiting" else "",
            labels=as_json(pod.metadata.labels) if pod is not None else "{}",
            card=self.packed(view.card(self.projection.gang_of(view))),
            detail=self.packed(detail),
            manifest=manifest,
        )

    def evicts(self, view: PodView) -> dict[str, Any] | None:
        """The eviction that a person is asked about for this pod."""
        projection = self.projection
        proposal = projection.evictions.open.get(view.uid)
        return None if proposal is None else body_of(proposal, projection.cluster, projection.views)

    def nodes(self) -> tuple[list[NodeRow], str, bool]:
        """(rows, their change for the browser, whether it has to read the whole table again)."""
        table = self.projection.nodes
        changed, table.dirty = table.dirty, {}
        named, table.objects_changed = table.objects_changed, set()
        topology, table.topology_changed = table.topology_changed, False
        rows = [self.node_row(view, view.name in named) for view in changed.values()]
        topology = topology or len(changed) > NODES_IN_DELTA
        delta: list[NodeChange] = []
        if not topology:
            delta = [(v.row, v.requested, v.reserved, v.pods) for v in changed.values() if v.present]
        return rows, as_json(delta), topology

    def node_row(self, view: NodeView, with_manifest: bool) -> NodeRow:
        node = self.projection.cluster.get(Node, "", view.name) if with_manifest and view.present else None
        return NodeRow(
            row=view.row,
            name=view.name,
            present=view.present,
            zone=view.zone,
            pool=view.pool,
            type=view.type,
            cordoned=view.cordoned,
            tainted=view.tainted,
            allocatable=as_json(view.allocatable),
            requested=as_json(view.requested),
            reserved=as_json(view.reserved),
            pods=as_json(view.pods),
            manifest=None if node is None else self.manifest(node),
        )

    def metrics(self, *, playing: bool) -> bytes | None:
        """What /metrics says, packed: now and then while the run plays, and always where it rests."""
        counted, now = self.player.metrics, time.monotonic()
        if counted is None or (playing and now - self._counted_at < METRICS_SECONDS):
            return None
        self._counted_at = now
        return zstandard.compress("".join(f"{line}\n" for line in counted.lines()).encode())

    # --- attempts ---------------------------------------------------------------------------------------------------

    def cycle_ended(self, timing: Timing) -> None:
        """Its attempt is encoded now, not with the batch: a command waits for the batch that has all before it."""
        self.timings[self.player.recorded] = timing
        self.encode()

    def encode(self) -> None:
        for trace in self.player.traces[len(self.writer) :]:
            self.writer.add(trace)

    def attempts(self) -> tuple[Chunk | None, list[AttemptRow]]:
        """The chunk of the cycles that ended, and rows of these and of attempts that ended after their cycle."""
        player = self.player
        self.encode()
        writer, self.writer = self.writer, AttemptWriter()
        traces, player.traces = player.traces, []
        ended, player.ended = player.ended, []
        rows = {trace.cycle: trace for trace in traces}
        rows.update((trace.cycle, trace) for trace in ended if trace.cycle <= player.recorded)
        # One that ended within the cycle under way is written when that cycle is.
        player.ended = [trace for trace in ended if trace.cycle > player.recorded]
        chunk = None
        if traces:
            base, usage = self.projection.usage.take(player.recorded + 1)
            chunk = Chunk(traces[0].cycle, len(traces), writer.written(), usage, base)
        return chunk, [self.attempt_row(trace) for trace in rows.values()]

    def attempt_row(self, trace: AttemptTrace) -> AttemptRow:
        namespace, _, name = trace.pod.partition("/")
        scored = score_of(trace)
        ending = ending_of(trace)
        timing = self.timings.pop(trace.cycle, None)
        result = trace.result
        if result == "failed":
            result = "error" if trace.reason == "SchedulerError" else "unschedulable"
        return AttemptRow(
            number=trace.cycle,
            pod_uid=trace.uid,
            namespace=namespace,
            name=name,
            attempt=trace.attempt,
            profile=trace.profile,
            at=trace.at,
            ended=trace.finished_at or None,
            result=result,
            node=trace.selected,
            message=trace.message,
            score=None if scored is None else scored[0],
            duration_us=None if timing is None else timing.total,
            timing=None if timing is None or timing.parts is None else as_json(timing.parts),
            ending=None if ending is None else self.packed(ending),
            position=self.player.ends.pop(trace.cycle, None),
        )

    def decisions(self) -> list[DecisionRow]:
        made, self.projection.decisions = self.projection.decisions, {}
        return [
            DecisionRow(
                number=each.number,
                entry=each.entry,
                decision=each.decision,
                pod_uid=each.view.uid,
                namespace=each.view.namespace,
                name=each.view.name,
                workload=each.view.workload,
                tail=each.view.tail,
                node=each.node,
                plugin=each.plugin,
                reason=each.reason,
                by=each.by,
                at=each.at,
                outcome=each.outcome,
            )
            for each in made.values()
        ]

    def preemptions(self) -> list[PreemptionRow]:
        return [
            PreemptionRow(
                each.number,
                each.place,
                each.attempt,
                each.at,
                each.node,
                each.by.uid,
                each.by.namespace,
                each.by.name,
                each.by.priority,
                each.victim.uid,
                each.victim.namespace,
                each.victim.name,
                each.victim.priority,
            )
            for each in self.projection.preemptions.take()
        ]

    def evictions(self) -> list[EvictionRow]:
        projection = self.projection
        evictions = projection.evictions
        return [row_of(each, evictions, projection.cluster, projection.views) for each in evictions.take()]

    def judgements(self) -> list[JudgementRow]:
        made = self.player.judgements
        if not made:
            return []
        self.player.judgements = []
        return made

    def of_real_cluster(self) -> dict[str, Any]:
        """Fields of a batch that other runs leave empty."""
        others = None if self.player.live is None else self.player.live.others.take()
        beside = {"real_pods": self.real_pods(), "others": others}
        return {"judgements": self.judgements(), "writes": self.writes(), **beside}

    def real_pods(self) -> list[RealPodRow]:
        if self.player.own is None:
            return []
        vector = self.projection.nodes.vector
        return [
            RealPodRow(
                uid=each.uid,
                namespace=each.namespace,
                name=each.name,
                workload=each.workload,
                profile=each.profile,
                amounts=as_json(vector({**each.amounts, "pods": 1})),
                decided=each.decided,
                came=each.came,
                since=each.since,
                node=each.node,
                gated=each.gated,
                message=each.message,
                preempted=each.preempted,
                present=each.present,
            )
            for each in self.player.own.reveal()
        ]

    def writes(self) -> list[WriteRow]:
        if self.player.live is None:
            return []
        made, self.player.live.outbox = self.player.live.outbox, []
        return made

    def objects(self) -> list[ObjectRow]:
        changed, self.projection.others_changed = self.projection.others_changed, {}
        return [
            ObjectRow(*key, present=obj is not None, manifest=None if obj is None else self.manifest(obj))
            for key, obj in changed.items()
        ]

    # --- what is shown ----------------------------------------------------------------------------------------------

    def columns(self, *, whole: bool) -> dict[QueueName, str]:
        projection, player = self.projection, self.player
        wanted = [name for name in QUEUES if whole or name in projection.changed_columns]
        projection.changed_columns = set()
        queue = player.scheduler.core.queue
        order = None
        if "active" in wanted and queue_sort(player) != "PrioritySort":
            order = [queued.pod.metadata.uid for queued in queue.active()]
        flush = queue.next_leftover_flush(player.now) if "unschedulable" in wanted else None
        return {
            name: as_json(
                projection.board.column(name, gang_of=projection.gang_of, next_flush=flush, active_order=order)
            )
            for name in wanted
        }

    def cycle(self, *, asks: bool = False) -> str:
        """``asks``: extenders whose answers are awaited are asked now, since this was first called with them."""
        asked_at = self.player.asked_at
        if asked_at is None or not asks:
            return as_json(cycle_of(self.player))
        if self._asked_since is None or self._asked_since[0] != asked_at:
            self._asked_since = (asked_at, time.time_ns())
        return as_json(cycle_of(self.player, self._asked_since[1]))

    def discard(self) -> None:
        """After replay: what would be written is stored already."""
        projection, player = self.projection, self.player
        projection.dirty, projection.objects_changed = {}, set()
        projection.nodes.dirty, projection.nodes.objects_changed = {}, set()
        projection.nodes.topology_changed = False
        projection.decisions, projection.others_changed = {}, {}
        projection.evictions.take()
        projection.preemptions.take()
        projection.feed.clear()
        player.traces, player.ended, player.ends = [], [], {}
        self.writer = AttemptWriter()
        self.writes()
        if player.own is not None:
            player.own.reveal()
        projection.usage.start(player.recorded + 1)


def queue_sort(player: Player) -> str:
    return next(iter(player.scheduler.profiles.values())).enabled.queue_sort.name
