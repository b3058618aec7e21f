"""The projection: hears everything the scheduler does and keeps what people see of it. Pure and picklable, part of a
checkpoint; schedweb/engine/batch.py takes out what changed since the last batch."""

from __future__ import annotations

from typing import Final, cast

from framework.interface import Code, Status
from framework.objects import KubeObject, Node, Pod, PodDisruptionBudget, PodGroup
from framework.objects.catalogue import CATALOGUE_KINDS
from framework.objects.kinds import api_group
from framework.objects.timestamps import SECOND
from framework.profiles import Clock, ProfileMap, WaitingPods
from framework.queue import IgnoredEvent, QueueMove, QueuePlace
from framework.scheduler import Cluster
from framework.sentences import Content, Words, joined_with_and, sentence
from framework.trace.attempt import AttemptTrace
from schedweb.engine import feed as lines
from schedweb.engine.awaited import NOBODY, awaited, remember
from schedweb.engine.board import Board
from schedweb.engine.decision_view import DecisionView
from schedweb.engine.evictions_shown import EvictionsShown
from schedweb.engine.feed import Feed
from schedweb.engine.node_view import BOUND, IN_FLIGHT, WAITING, NodeTable
from schedweb.engine.outcomes import bound_words, message_tail, rejectors_of, score_of
from schedweb.engine.pod_view import PodView, Step, Wait, amounts_of, asks_alike, view_of
from schedweb.engine.preemptions import Preemptions
from schedweb.engine.shapes import Gang, GangMissing, MemberColumn, PodColumn, QueueName
from schedweb.engine.usage_log import UsageLog
from schedweb.engine.words import decision_words, event_words, left_words, seconds_text

PLACES: Final[dict[QueuePlace, QueueName]] = {
    QueuePlace.ACTIVE: "active",
    QueuePlace.BACKOFF: "backoff",
    QueuePlace.UNSCHEDULABLE: "unschedulable",
    QueuePlace.GATED: "gated",
    QueuePlace.IN_FLIGHT: "in_flight",
}
COMPLETED: Final = "completed"
TIMED_OUT: Final = "rejected due to timeout"
#: Boundaries that are no extension point of their own.
SHOWN_AS: Final = {"PreBindPreFlight": "PreBind", "WaitOnPermit": "Permit"}
PERMITTED, REJECTED_ON_PERMIT = sentence("Permitted"), sentence("Rejected on Permit")
#: Of a gang's members in one column; more are counted.
GANG_NAMED: Final = 3
#: Above this the manifests of placed pods are written when they change only: the snapshot holds them as they were.
MANIFESTS_AT_START: Final = 20_000
PLACED_BEFORE: Final = sentence("Pod added, on its node")
#: What the scheduler reads besides pods and nodes, and people ask for.
SHOWN_KINDS: Final = frozenset({
    "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity",
    "VolumeAttachment", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass",
    "PodDisruptionBudget", "PriorityClass", "PodGroup", "Workload", *(kind.kind for kind in CATALOGUE_KINDS),
})  # fmt: skip


def object_key(obj: KubeObject) -> tuple[str, str, str, str]:
    """(kind, group, namespace, name): two API groups may have a kind of the same name."""
    return obj.kind, api_group(obj.api_version), obj.metadata.namespace, obj.metadata.name


class Projection(EvictionsShown):
    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        super().__init__()
        self.cluster = cluster
        self.clock = clock
        self.views: dict[str, PodView] = {}
        self.usage = UsageLog()
        self.nodes = NodeTable(self.usage)
        self.board = Board()
        self.feed = Feed()
        self.gangs: dict[str, dict[str, PodView]] = {}
        self.schedulers: frozenset[str] = frozenset()
        self.asking: dict[str, frozenset[str]] = {}
        """Profile → its plugins that ask a person."""
        self.awaited: dict[str, dict[str, Content]] = {}
        """Profile → plugin → the events it registered, in words."""
        self.unsaid: dict[str, PodView] = {}
        """Pods that ignored an event which is not written yet."""
        self.entered = 0
        self.entered_now: list[tuple[PodView, str]] = []
        """Who entered which column in the operation that was done last."""
        self.attempts = 0
        self.follow = False
        """Tell of the beginning of every attempt too: somebody steps."""
        self.dirty: dict[str, PodView] = {}
        self.unwritten: dict[str, None] = {}
        """Uids of pods that had their node from the start and have no row yet: there may be very many."""
        self.objects_changed: set[str] = set()
        """Uids of pods whose object is not the one that was last written, or that the snapshot holds."""
        self.changed_columns: set[str] = set()
        self.decisions: dict[int, DecisionView] = {}
        self.decision_count = 0
        self.open_decisions: dict[str, DecisionView] = {}
        self.several: set[str] = set()  # uids of those that wait on Permit for more than one plugin
        self.decided: dict[str, tuple[Content, int]] = {}
        """Uid → (who, when) of the last decision about its wait."""
        self.preemptions = Preemptions()
        self.others_changed: dict[tuple[str, str, str, str], KubeObject | None] = {}
        """(kind, group, namespace, name) → what is neither pod nor node as it is now; None once it was deleted."""
        self.ended: list[AttemptTrace] = []
        """Attempts that were bound or failed, with their own cycle or later."""

    @property
    def now(self) -> int:
        return self.clock.now

    # --- places -----------------------------------------------------------------------------------------------------

    def enter(self, view: PodView, column: PodColumn, event: Words = "", *, strong: bool = False) -> None:
        if view.column == column:
            self.touch(view)
            return
        self.changed_columns.update((view.column, column))
        view.since = self.now
        self.entered += 1
        view.entered = self.entered
        self.entered_now.append((view, column))
        self.board.enter(view, column)
        view.step(self.now, event, strong=strong)
        self.dirty[view.uid] = view
        if view.gang:
            self._gang_changed(view)

    def touch(self, view: PodView) -> None:
        self.dirty[view.uid] = view
        self.changed_columns.add(view.column)
        self.board.regroup(view)

    def _gang_changed(self, view: PodView) -> None:
        """What members that wait show of their gang is no longer true."""
        for member in self.gangs.get(view.gang, {}).values():
            if member.column == "waiting":
                self.dirty[member.uid] = member
                self.changed_columns.add("waiting")

    def gang_of(self, view: PodView) -> Gang | None:
        if not view.gang or view.column != "waiting":
            return None
        namespace, _, name = view.gang.partition("/")
        group = self.cluster.get(PodGroup, namespace, name)
        if group is None:
            return None
        members = self.gangs.get(view.gang, {}).values()
        have = sum(member.column in ("waiting", "bound") for member in members)
        others: dict[MemberColumn, list[str]] = {}
        for member in members:
            if member.column not in ("waiting", "bound"):
                others.setdefault(cast(MemberColumn, member.column), []).append(member.tail or member.name)
        missing = [
            GangMissing(column, len(names), names if len(names) <= GANG_NAMED else [])
            for column, names in others.items()
        ]
        return Gang(name=name, have=have, need=group.spec.min_member, missing=missing)

    # --- the cluster ------------------------------------------------------------------------------------------------

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(new, Pod):
            self._pod_changed(old if isinstance(old, Pod) else None, new)
        elif isinstance(old, Pod):
            self._pod_deleted(old)
        elif isinstance(new, Node):
            self.nodes.set_node(new)
        elif isinstance(old, Node):
            self.nodes.remove_node(old.metadata.name)
        else:
            self._other_changed(old, new)

    def _other_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        obj = new or old
        if isinstance(obj, PodDisruptionBudget):
            self.evictions.budgets_changed()
        if obj is not None and obj.kind in SHOWN_KINDS:
            self.others_changed[object_key(obj)] = new

    def load(self) -> None:
        """Takes over what the cluster holds before the scheduler begins."""
        pods = self.cluster.list(Pod)
        nodes = self.cluster.list(Node)
        views = [view_of(pod) for pod in pods]
        names = {name for amounts in {id(view.amounts): view.amounts for view in views}.values() for name in amounts}
        for node in nodes:
            names.update(node.status.allocatable or {})
        self.nodes.declare({name for name in names if not name.startswith("hugepages-")})
        for node in nodes:
            self.nodes.set_node(node)
        placed: list[PodView] = []
        # One for all of them: steps are never changed.
        step: Step = [self.now, "bound", PLACED_BEFORE, False]
        for pod, view in zip(pods, views, strict=True):
            spec = pod.spec
            if spec.node_name and pod.status.phase not in ("Succeeded", "Failed"):
                # As ``_pod_added`` does it, without what nobody needs to hear at the beginning.
                self.views[view.uid] = view
                if view.gang:
                    self.gangs.setdefault(view.gang, {})[view.uid] = view
                view.node = spec.node_name
                view.since = step[0]
                self.entered += 1
                view.entered = self.entered
                view.journey.append(step)
                placed.append(view)
            else:
                self._pod_added(pod, view)
            if len(pods) <= MANIFESTS_AT_START or not spec.node_name:
                self.objects_changed.add(view.uid)
        self.board.put_bound(placed)
        self.unwritten.update((view.uid, None) for view in placed)
        self.nodes.put_all(placed)
        if placed:
            self.changed_columns.add("bound")
        for obj in self.cluster.all():
            if not isinstance(obj, Pod | Node):
                self._other_changed(None, obj)
        self.usage.start(1)

    def _pod_added(self, pod: Pod, view: PodView) -> None:
        if view.uid in self.views:
            return
        self.views[view.uid] = view
        if view.gang:
            self.gangs.setdefault(view.gang, {})[view.uid] = view
        if pod.status.phase in ("Succeeded", "Failed"):
            self.enter(view, COMPLETED)
        elif pod.spec.node_name:
            view.node = pod.spec.node_name
            self.nodes.put(view.uid, view.node, BOUND, view.amounts)
            self.enter(view, "bound", PLACED_BEFORE)
        elif pod.spec.scheduler_name not in self.schedulers:
            self._unknown_profile(pod, view)

    def _pod_changed(self, old: Pod | None, new: Pod) -> None:
        self.objects_changed.add(new.metadata.uid)
        view = self.views.get(new.metadata.uid)
        if view is None:
            self._pod_added(new, view_of(new))
            return
        finished = new.status.phase in ("Succeeded", "Failed")
        self._resized(old, new, view)
        if finished:
            self._gone(view, COMPLETED, sentence("Completed"))
        elif new.spec.node_name and view.column != "bound":
            view.node = new.spec.node_name
            self.nodes.put(view.uid, view.node, BOUND, view.amounts)
            view.point = ""
            self.enter(view, "bound", sentence("Bound to {node}", node=view.node), strong=True)
        elif old is not None and old.spec.node_name and not new.spec.node_name:
            # etcd was restored from a backup. Where the pod stands from here on is told with the queue.
            self.nodes.take(view.uid)
            view.node, view.score = "", None
            self.touch(view)
            if new.spec.scheduler_name not in self.schedulers:
                self._unknown_profile(new, view)
        elif old is not None and old.metadata.labels != new.metadata.labels:
            self.touch(view)

    def _resized(self, old: Pod | None, new: Pod, view: PodView) -> None:
        """What it asks for may have changed; what is reserved for it stays until it is bound."""
        binds = bool(new.spec.node_name) and view.column != "bound"
        if not binds and (view.column in ("waiting", "in_flight") or (old is not None and asks_alike(old, new))):
            return
        amounts = amounts_of(new)
        if amounts != view.amounts:
            view.amounts = amounts
            self.nodes.resize(view.uid, amounts)
            self.touch(view)

    def _pod_deleted(self, pod: Pod) -> None:
        view = self.views.get(pod.metadata.uid)
        if view is not None:
            self.preemptions.deleted(pod, view)
            self._gone(view, "deleted", sentence("Pod deleted"))
            members = self.gangs.get(view.gang, {})
            members.pop(view.uid, None)
            if not members:
                self.gangs.pop(view.gang, None)
            # Its record stays in the database; a run of a long trace must not hold all pods that ever were.
            del self.views[view.uid]

    def _gone(self, view: PodView, column: PodColumn, event: Words) -> None:
        self.nodes.take(view.uid)
        view.waits = []
        self.enter(view, column, event)

    def configured(self, profiles: ProfileMap) -> None:
        """The profiles that play from now on."""
        self.schedulers = frozenset(profiles)
        self.asking = {name: profile.enabled.asking for name, profile in profiles.items()}
        self.awaited = {
            name: {plugin: awaited(plugin, profile.hints.events_of(plugin)) for plugin in profile.plugins}
            for name, profile in profiles.items()
        }
        for pod in self.cluster.list(Pod):
            if pod.spec.node_name or pod.spec.scheduler_name in self.schedulers:
                continue
            view = self.views.get(pod.metadata.uid)
            if view is not None and view.column not in ("waiting", "in_flight", COMPLETED):
                self._unknown_profile(pod, view)

    def _unknown_profile(self, pod: Pod, view: PodView) -> None:
        profile = pod.spec.scheduler_name
        view.headline = sentence("No profile is called {profile}, so nobody tries it.", profile=profile)
        view.rejectors = ()
        self.enter(view, "unschedulable", sentence("No profile is called {profile}", profile=profile))

    # --- the queue --------------------------------------------------------------------------------------------------

    def queue_moved(self, move: QueueMove) -> None:
        queued = move.pod
        view = self.views.get(queued.pod.metadata.uid)
        if move.to is QueuePlace.IN_FLIGHT:
            self.attempts += 1
            self.nodes.next_attempt = self.attempts + 1
        if view is None or move.to is QueuePlace.NOWHERE:
            return
        column = PLACES[move.to]
        view.attempts = queued.attempts
        view.headline = ""
        if view.ignored:
            view.ignored = []
        if column == "gated":
            view.gate = self._gate(queued.gating_plugin, queued.pod)
        elif column == "backoff":
            view.until = queued.backoff_expiration or 0
        if column in ("unschedulable", "backoff", "gated"):
            self.nodes.take(view.uid)
            view.node, view.waits, view.score = "", [], None
            events = self.awaited.get(queued.pod.spec.scheduler_name, {})
            view.waits_for = [{"plugin": name, "text": events.get(name, NOBODY)} for name in queued.rejectors()]
        self._tell_move(view, move, column)
        words = event_words(move.event)
        if move.plugin:
            words = sentence("{event}, {plugin} answered Queue", event=words, plugin=move.plugin)
        self.enter(view, column, words, strong=move.origin in (QueuePlace.UNSCHEDULABLE, QueuePlace.GATED))

    def event_ignored(self, ignored: IgnoredEvent) -> None:
        for view in remember(ignored, self.views, self.now):
            self.unsaid[view.uid] = view

    def _gate(self, plugin: str, pod: Pod) -> str:
        if plugin == "SchedulingGates" and pod.spec.scheduling_gates:
            return ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        return plugin

    def _tell_move(self, view: PodView, move: QueueMove, column: QueueName) -> None:
        if column == "in_flight":
            if self.follow:
                text = sentence("{pod} attempt {attempt} began.", attempt=view.attempts)
                self.feed.pod_line(self.now, "attempt", view, text, state="in_flight", alone=True, highlight=True)
        elif column == "backoff":
            words = sentence("{pod} to Backoff, {wait}.", wait=seconds_text(max(0, view.until - self.now)))
            self.feed.pod_line(self.now, "backoff", view, words, state="backoff")
        elif move.origin in (QueuePlace.UNSCHEDULABLE, QueuePlace.GATED):
            words = left_words(move.origin is QueuePlace.GATED, event_words(move.event), move.plugin)
            self.feed.pod_line(self.now, "queue", view, words, state=column)
        elif column == "gated":
            words = sentence("{pod} is held by {gate}.", gate=view.gate)
            self.feed.pod_line(self.now, "queue", view, words, state=column)

    # --- attempts ---------------------------------------------------------------------------------------------------

    def point_reached(self, point: str, trace: AttemptTrace) -> None:
        """A cycle stands behind this point."""
        view = self.views.get(trace.uid)
        if view is None:
            return
        view.point = SHOWN_AS.get(point, point)
        if trace.selected and view.column == "in_flight":
            view.node = trace.selected
            self.nodes.put(view.uid, view.node, IN_FLIGHT, view.amounts)
        self.touch(view)

    def attempt(self, trace: AttemptTrace) -> None:
        view = self.views.get(trace.uid)
        if trace.result == "failed":
            self.ended.append(trace)
            if view is not None:
                self._failed(view, trace)
            return
        if trace.result == "bound":
            self.ended.append(trace)
        if view is None:
            return
        scored = score_of(trace)
        view.score, view.margin, view.ties = scored if scored is not None else (None, None, None)
        if trace.result == "waiting":
            self._waits(view, trace)
        elif trace.result == "bound":
            self._bound(view, trace)

    def _failed(self, view: PodView, trace: AttemptTrace) -> None:
        view.rejectors = rejectors_of(trace)
        view.message = trace.message
        view.nodes_total = trace.nodes_total
        view.point = ""
        error = trace.status is not None and trace.status.code is Code.ERROR
        if error or not trace.fit_error:
            words = sentence("{pod} failed: {message}", message=trace.message)
        else:
            total = lines.number(trace.nodes_total)
            words = sentence("{pod} 0 of {total} nodes. {message}", total=total, message=message_tail(trace))
        self.feed.pod_line(self.now, "unschedulable", view, words, state="unschedulable")
        for victim in self.preemptions.ended(view, trace, self.now, self._view_named, self.feed):
            self.dirty[victim.uid] = victim
        self._close_decision(view, is_bound=False)

    def _view_named(self, key: str) -> PodView | None:
        namespace, _, name = key.partition("/")
        pod = self.cluster.get(Pod, namespace, name)
        return None if pod is None else self.views.get(pod.metadata.uid)

    def _waits(self, view: PodView, trace: AttemptTrace) -> None:
        asking = self.asking.get(trace.profile, frozenset())
        notes = {outcome.plugin: outcome.status.reasons for outcome in trace.permit}
        view.node = trace.selected
        view.waits = [
            Wait(
                plugin,
                self.now + round(seconds * SECOND),
                round(seconds * SECOND),
                plugin in asking,
                # ManualApproval says its message first and then its grounds ("nvidia.com/gpu ≥ 1").
                ", ".join(notes.get(plugin, ())[1:]) or ", ".join(notes.get(plugin, ())),
            )
            for plugin, seconds in trace.waiting_for.items()
        ]
        if len(view.waits) > 1:
            self.several.add(view.uid)
        self.decided.pop(view.uid, None)
        self.nodes.put(view.uid, view.node, WAITING, view.amounts)
        plugins = joined_with_and([wait.plugin for wait in view.waits])
        self.enter(view, "waiting", sentence("Waits on {plugins}", plugins=plugins), strong=True)
        gang = self.gang_of(view)
        words = sentence("{pod} waits on {plugins}.", plugins=plugins)
        if gang:
            have, need = gang.have, gang.need
            words = sentence("{pod} waits on {plugins}, gang {have} of {need}.", plugins=plugins, have=have, need=need)
        self.feed.pod_line(self.now, "waiting", view, words, state="waiting")

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        view = self.views.get(trace.uid)
        if view is None:
            return
        if view.uid not in self.open_decisions:
            if signal.is_rejected and signal.message.startswith(TIMED_OUT):
                self.decide(view, "timed_out", signal.plugin, signal.plugin, signal.message)
            elif signal.is_rejected:
                self.decide(view, "rejected", signal.plugin or "scheduler", signal.plugin, signal.message)
            elif not signal.is_success:
                self.decide(view, "preempted", signal.plugin, signal.plugin, signal.message)
            else:
                self.decided[view.uid] = (joined_with_and([wait.plugin for wait in view.waits]), self.now)
        view.waits = []
        self.nodes.put(view.uid, view.node, IN_FLIGHT, view.amounts)
        self.enter(view, "in_flight", PERMITTED if signal.is_success else REJECTED_ON_PERMIT)

    def plugins_let_go(self, waiting: WaitingPods) -> None:
        """A person or a plugin, such as a gang's that is complete, allowed one plugin; the wait for others goes on."""
        for uid in list(self.several):
            entry, view = waiting.get(uid), self.views.get(uid)
            left = {} if entry is None else entry.pending_plugins()
            if view is None or view.column != "waiting" or len(left) < 2:
                self.several.discard(uid)
            if view is not None and left and len(left) < len(view.waits):
                view.waits = [wait for wait in view.waits if wait.plugin in left]
                self.touch(view)

    def _bound(self, view: PodView, trace: AttemptTrace) -> None:
        view.rejectors = ()
        view.message = ""
        view.waits = []
        words, several = bound_words(trace)
        self.feed.pod_line(self.now, "bound", view, words, together=several, state="bound", nodes=(trace.selected,))
        self._close_decision(view, is_bound=True)
        self.touch(view)

    # --- decisions --------------------------------------------------------------------------------------------------

    def decide(self, view: PodView, decision: str, by: Words, plugin: str, reason: str, entry: str = "") -> None:
        self.decision_count += 1
        made = DecisionView(self.decision_count, view, decision, by, plugin, reason, self.now, view.node, entry)
        self.decisions[made.number] = made
        self.open_decisions[view.uid] = made
        self.decided[view.uid] = (by, self.now)
        text = decision_words(decision, by, plugin, reason)
        nodes = (view.node,) if view.node else ()
        self.feed.pod_line(self.now, "decision", view, text, state="waiting", nodes=nodes)

    def _close_decision(self, view: PodView, *, is_bound: bool) -> None:
        made = self.open_decisions.pop(view.uid, None)
        if made is None:
            return
        if not is_bound:
            made.outcome = sentence("back in the queue")
        elif self.now > made.at:
            made.outcome = sentence("bound {wait} later", wait=seconds_text(self.now - made.at))
        else:
            made.outcome = sentence("bound at once")
        self.decisions[made.number] = made
