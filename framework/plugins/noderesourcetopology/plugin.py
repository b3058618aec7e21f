"""NodeResourceTopologyMatch's extension points (docs/semantics/catalogue.md#noderesourcetopologymatch)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Self

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    FilterPlugin,
    Handle,
    NodeInfo,
    ObjectListener,
    PeriodicPlugin,
    Plan,
    PodInfo,
    PostBindPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
    ScorePlugin,
    Status,
    View,
)
from framework.interface.last_pod import LastPod
from framework.interface.scores import MAX_NODE_SCORE
from framework.objects import KubernetesObject, Pod
from framework.objects.catalogue import NodeResourceTopology
from framework.objects.qos import GUARANTEED
from framework.objects.resources import Nanos
from framework.objects.timestamps import SECOND
from framework.plugins.noderesourcetopology import scoring
from framework.plugins.noderesourcetopology.args import ENABLED, LEAST_ALLOCATED, NodeResourceTopologyMatchArgs
from framework.plugins.noderesourcetopology.caches import Passthrough, cache_of, pod_key
from framework.plugins.noderesourcetopology.eviction import NotPossible, after_eviction
from framework.plugins.noderesourcetopology.fits import Asking, not_aligned
from framework.plugins.noderesourcetopology.plans import filter_plan, score_plan
from framework.plugins.noderesourcetopology.zones import TopologyManager, Zone, zones_of
from framework.sentences import noted

STATE_KEY: Final = "stateVictimPods"
TOPOLOGIES: Final = "noderesourcetopologies.v1alpha2.topology.node.k8s.io"


class Victims(dict[str, Pod]):
    """Pods that are taken off in a dry run, by key."""

    def clone(self) -> Self:
        return type(self)(self)


class Read(NamedTuple):
    """A node's zones as they were read from its topology."""

    topology: NodeResourceTopology
    assumed: tuple[Nanos, ...]
    manager: TopologyManager
    zones: list[Zone]


class NodeResourceTopologyMatch(
    PreFilterPlugin,
    PreFilterExtensions,
    FilterPlugin,
    ScorePlugin,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    ReservePlugin,
    PostBindPlugin,
    EnqueueExtensions,
    ObjectListener,
    PeriodicPlugin,
):
    name: ClassVar[str] = "NodeResourceTopologyMatch"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[NodeResourceTopologyMatchArgs]] = NodeResourceTopologyMatchArgs
    description: ClassVar[str] = noted(
        "Chooses nodes where one NUMA zone has room for the pod, as kubelets will demand."
    )
    listens_to = (NodeResourceTopology, Pod)

    args: NodeResourceTopologyMatchArgs

    def __init__(self, args: NodeResourceTopologyMatchArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.follows_kubelets = (args.cache_resync_period_seconds or 0) > 0
        self._cache = cache_of(args, handle)
        self._follows_victims = args.preemption_mode == ENABLED
        self._asking = LastPod(Asking.of)
        self._read: dict[str, Read] = {}
        """By node."""
        strategy = args.scoring_strategy
        self._strategy = strategy.type if strategy else LEAST_ALLOCATED
        self._weights = {each.name: each.weight for each in strategy.resources} if strategy else {}

    @property
    def is_node_local(self) -> bool:
        """What OverReserve believes also follows from the nodes that it was asked about."""
        return isinstance(self._cache, Passthrough) and not self._follows_victims

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """PreFilter reads nothing of it, and plans are made only where ``is_node_local``."""
        if self._follows_victims:
            return None
        return self._asking(pod.pod).key if self.is_node_local else ()

    @property
    def period(self) -> int:
        # As upstream, no period below 0 is one (caches.py).
        return 0 if self.args.discard_reserved_nodes else max(self.args.cache_resync_period_seconds or 0, 0) * SECOND

    def tick(self) -> None:
        self._cache.resync()

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        self._cache.changed(old, new)
        if isinstance(old, NodeResourceTopology) and new is None:
            self._read.pop(old.metadata.name, None)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE)),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node)),
            ClusterEventWithHint(ClusterEvent(TOPOLOGIES, ActionType.ADD | ActionType.UPDATE)),
        )

    # --- PreFilter: who is taken off in a dry run -------------------------------------------------------------------

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        if self._follows_victims:
            state.write(STATE_KEY, Victims())
        return None, None

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        return self if self._follows_victims else None

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        state.read(STATE_KEY, Victims).pop(pod_key(added.pod), None)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        state.read(STATE_KEY, Victims)[pod_key(removed.pod)] = removed.pod
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Without what is read again."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_asking", "_read")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Checkpoints of before hold other things that are read again."""
        self.__dict__.update(state)
        self._asking, self._read = LastPod(Asking.of), {}

    # --- Filter and Score of many nodes -----------------------------------------------------------------------------

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        asking = self._asking(pod.pod)
        if not asking.needs_zones:
            return None
        assert isinstance(self._cache, Passthrough)
        return filter_plan(asking, self._cache, view)

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        assert isinstance(self._cache, Passthrough)
        return score_plan(self._asking(pod.pod), self._strategy, self._weights, self._cache, view)

    # --- Filter and Score of a node --------------------------------------------------------------------------------

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        asking = self._asking(pod)
        if not asking.needs_zones:
            return None
        believed = self._cache.believed(node.name)
        if not believed.fresh:
            return Status.unschedulable("invalid node topology data")
        topology = believed.topology
        if topology is None:
            return None
        victims = list(state.read(STATE_KEY, Victims).values()) if state.has(STATE_KEY) else []
        manager, zones = self._zones(node.name, topology, believed.assumed)
        if victims and believed.placement:
            zones = [zone.copy() for zone in zones]
            try:
                after_eviction(topology, zones, victims, believed.placement)
            except NotPossible as error:
                return Status.unschedulable(f"eviction simulation in NRT is not possible:{error}")
        status = not_aligned(asking, node.allocatable, manager, zones)
        if status is not None and not victims:
            self._cache.rejected(node.name)
        return status

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        asking = self._asking(pod)
        if asking.qos != GUARANTEED:
            return MAX_NODE_SCORE, None
        believed = self._cache.believed(node.name)
        topology = believed.topology
        if not believed.fresh or topology is None:
            return 0, None
        manager, zones = self._zones(node.name, topology, believed.assumed)
        return scoring.score(asking, self._strategy, self._weights, manager, zones), None

    def _zones(
        self, node: str, topology: NodeResourceTopology, assumed: tuple[Nanos, ...]
    ) -> tuple[TopologyManager, list[Zone]]:
        """The zones are everybody's."""
        known = self._read.get(node)
        if known is None or known.topology is not topology or known.assumed != assumed:
            manager, zones = TopologyManager.of(topology), zones_of(topology, assumed)
            known = self._read[node] = Read(topology, assumed, manager, zones)
        return known.manager, known.zones

    # --- Reserve and PostBind ---------------------------------------------------------------------------------------

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        self._cache.reserve(node_name, pod)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._cache.unreserve(node_name, pod)

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._cache.bound(node_name, pod)
