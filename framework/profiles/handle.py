"""ProfileHandle: the framework as a plugin sees it (upstream ``framework.Handle``), one per profile."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar, cast

from framework.columns import Snapshot
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.interface.cycle_state import CycleState
from framework.interface.handle import ApiWriter, ObjectStore, WaitingPod
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.plugin import EvictionAskingPlugin
from framework.interface.pod_groups import PodGroupMembers
from framework.objects import Pod
from framework.preemption.proposals import AskingFirst
from framework.profiles.across import AcrossNodes
from framework.profiles.filter_run import FilterRun, NodeCase
from framework.profiles.post_filter import FollowedRows, Following, RowStates
from framework.profiles.services import QueueForPlugins, Services

T = TypeVar("T")
MakeFilterRun = Callable[[CycleState, PodInfo], FilterRun]


class ProfileHandle:
    def __init__(self, scheduler_name: str, services: Services, feature_gates: FeatureGates = DEFAULT_GATES) -> None:
        self._scheduler_name = scheduler_name
        self._feature_gates = feature_gates
        self._services = services
        self.make_filter_run: MakeFilterRun | None = None
        self.asks_before_evicting: tuple[EvictionAskingPlugin, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_scheduler_name", "_feature_gates", "_services")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.make_filter_run = None
        self.asks_before_evicting = ()

    @property
    def snapshot(self) -> Snapshot:
        return self._services.snapshot

    @property
    def view(self) -> Snapshot:
        return self._services.snapshot

    @property
    def objects(self) -> ObjectStore:
        return self._services.objects

    @property
    def nominator(self) -> QueueForPlugins:
        self._services.asked += 1
        return self._services.ready_queue

    @property
    def api(self) -> ApiWriter:
        self._services.asked += 1
        return self._services.api

    @property
    def scheduler_name(self) -> str:
        return self._scheduler_name

    @property
    def feature_gates(self) -> FeatureGates:
        return self._feature_gates

    def shared(self, name: str, make: Callable[[], T]) -> T:
        known = self._services.shared
        if name not in known:
            known[name] = make()
        return cast("T", known[name])

    def pod_group(self, namespace: str, name: str) -> PodGroupMembers | None:
        self._services.asked += 1
        groups = self._services.pod_groups
        return None if groups is None else groups.get(namespace, name)

    def now(self) -> int:
        self._services.asked += 1
        return self._services.clock.now

    def random_below(self, n: int) -> int:
        """With the reproducible tie rules it is always 0: the first of what upstream draws."""
        self._services.asked += 1
        return self._services.generator.below(n) if self._services.ties.rule == "seeded" else 0

    def choose_among(self, names: Sequence[str]) -> str:
        self._services.asked += 1
        return self._services.ties.pick(names)

    def iterate_waiting_pods(self, visit: Callable[[WaitingPod], None]) -> None:
        self._services.asked += 1
        self._services.waiting_pods.iterate(visit)

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        self._services.asked += 1
        return self._services.waiting_pods.get(uid)

    def reject_waiting_pod(self, uid: str) -> bool:
        self._services.asked += 1
        return self._services.waiting_pods.reject(uid)

    def activate(self, pods: Iterable[Pod]) -> None:
        self._services.asked += 1
        self._services.ready_queue.activate(pods, self.now())

    def activate_once_back(self, pod: Pod) -> None:
        self._services.asked += 1
        self._services.ready_queue.activate_once_back(pod, self.now())

    def follow(self, state: CycleState, pod: PodInfo, key: Hashable, make: Callable[[], T]) -> FollowedRows[T] | None:
        self._services.asked += 1
        run, snapshot = cast("FilterRun | None", state.filter_run), self._services.snapshot
        if run is None or run.pod.uid != pod.uid or run.stateful or run.pod_class is None:
            return None
        names = self._services.ready_queue.nominated_nodes()
        promised = [snapshot.row(name) for name in names if snapshot.get(name) is not None]
        following = run.pod_class.followed.get(key)
        if following is None or not following.is_of(run.entries):
            following = Following(snapshot, run.entries, make())
            if run.pod_class.kept and run.pod_class.reuses_filter:
                run.pod_class.followed[key] = following
        changed = following.changed(snapshot, promised)
        return FollowedRows(following.value, changed, RowStates(snapshot, run.entries, promised))

    @property
    def evictions(self) -> AskingFirst | None:
        if not self.asks_before_evicting:
            return None
        self._services.asked += 1
        proposals = self._services.proposals
        assert proposals is not None, "a plugin used it in its constructor"
        return AskingFirst(proposals, self.asks_before_evicting, self.now)

    def asks_extenders(self, pod: Pod) -> bool:
        return any(each.preempts and each.is_interested(pod) for each in self._services.extenders)

    def dry_run_across(self, state: CycleState, pod: PodInfo) -> AcrossNodes:
        return AcrossNodes(self._filter_run(state, pod))

    def _filter_run(self, state: CycleState, pod: PodInfo) -> FilterRun:
        run = cast("FilterRun | None", state.filter_run)
        if run is None or run.pod.uid != pod.uid:
            # PreFilter rejected the pod, so Filter never ran; or a plugin tries out a state of its own.
            assert self.make_filter_run is not None
            run = self.make_filter_run(state, pod)
        return run

    def dry_run(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> NodeCase:
        run = self._filter_run(state, pod)
        run.work.dry_runs += 1
        case = NodeCase(run, self._services.snapshot.row(node.name), node)
        if run.stateful:
            case.own_state()
        return case
