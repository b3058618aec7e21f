"""The extension points. A plugin is a class that derives from ``Plugin`` and from each point it extends.

Rules: docs/semantics/framework.md#extension-points (order, codes, what happens on each outcome). Returning None means
Success everywhere a Status is returned. A plugin may implement Filter and Score per node (FilterPlugin, ScorePlugin:
simple, evaluated only for nodes still in question) or over columns (ColumnFilterPlugin, ColumnScorePlugin: fast). It is
the same extension point.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.configuration.catalogue import Origin
from framework.interface.columns import Plan, View
from framework.interface.cycle_state import CycleState
from framework.interface.decisions import ClaimDecision, DryRuns
from framework.interface.events import ClusterEventWithHint
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.node_values import NodeValues
from framework.interface.pod_groups import Placement, PlacementAssignments, PodGroupCycle
from framework.interface.signing import Fragments
from framework.interface.status import Status
from framework.objects import KubernetesObject, Pod

if TYPE_CHECKING:
    from framework.interface.handle import Handle, QueuedPod


class Plugin(abc.ABC):
    """``name`` is how configurations write it. ``args_type`` is its msgspec Struct, None when it takes no arguments.

    The constructor raises ValueError with the text that follows ``initializing plugin "X": ``.
    """

    name: ClassVar[str]
    args_type: ClassVar[type[msgspec.Struct] | None] = None
    description: ClassVar[str] = ""
    """One plain sentence for people, shown beside the plugin in the UI."""
    annotations: ClassVar[tuple[str, ...]] = ()
    """Keys of the annotations that it reads. Imports keep no others than those that somebody reads."""
    origin: ClassVar[Origin] = ""
    """Set by plugins that follow one of scheduler-plugins."""
    repeatable: ClassVar[bool] = False
    """A promise about PreFilter, Filter and PostFilter: with the same snapshot, the same pod and the same objects (the
    status of other pending pods left aside) the answers are the same, and nothing is remembered from one attempt to
    the next but what follows from these. An attempt that failed is then not worked out anew while all of this stands.
    What is asked of the handle beyond that (time, chance, waiting pods, nominations, writes) is noticed by itself."""

    skip_is_final: ClassVar[bool] = False
    """A promise of a plugin with PreFilter: when that says Skip it has nothing to do for the pod later either. Reserve
    and PreBind would succeed without doing anything, nothing is decided, PreBindPreFlight would say Skip. It is then
    not asked, and taken to have answered so."""

    node_local: ClassVar[bool] = False
    """A promise about ``filter`` and ``score`` (docs/plugins.md): an answer rests on nothing but the node with the pods
    on it, the arguments, and what equal pods have in common. It is then kept until the node changes."""
    node_values: tuple[NodeValues[Any], ...] = ()
    """Where that is promised: what answers rest on as well, values per node that the plugin keeps itself. It is asked
    anew about a node whose value was set."""

    def __init__(self, args: Any, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    @property
    def is_node_local(self) -> bool:
        """The promise ``node_local``; a plugin overrides it where it depends on its arguments."""
        return self.node_local

    def fragment(self, pod: PodInfo) -> Hashable | None:
        """The part of the pod that PreFilter, filter_plan, PreScore, score_plan and the normaliser read.

        Giving one is a promise: for pods with equal fragments these give the same answers, write the same state and
        make equal plans, while no object changes but pods and nodes, and everything that was named to
        ``CycleState.rests_on`` is as it was. They are then not called again; what plans say is kept up to date through
        their inputs. None, the default: they are called for every pod.
        """
        return None


class SignPlugin(Plugin):
    """A plugin with PreFilter, Filter, PreScore or Score that says what it tells pods apart by. Pods of a profile are
    batched (docs/semantics/framework.md#opportunistic-batching) when all such plugins do."""

    @property
    def signs_pods(self) -> bool:
        """False: with its arguments it would sign none."""
        return True

    @abc.abstractmethod
    def sign_pod(self, pod: PodInfo) -> Fragments | None:
        """Pods with equal fragments get the same verdicts and scores while nothing changes. None: this pod's depend on
        more than itself and the node."""


class PreEnqueuePlugin(Plugin):
    @abc.abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None: ...


class EnqueueExtensions(Plugin):
    @abc.abstractmethod
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Events that may make a pod rejected by this plugin schedulable. An exception refuses the profile."""


class ObjectListener(Plugin):
    """A plugin that follows objects of the cluster by itself, as upstream's do with event handlers of informers.

    It hears of all objects that are there when the profile is built (nodes first, pods last), then of every change
    before the next cycle. What it remembers is part of checkpoints.
    """

    listens_to: ClassVar[tuple[type[KubernetesObject], ...]]
    """The kinds it hears of."""
    follows_kubelets: bool = False
    """It reads the phase of placed pods, or their host's address; both are then written right after a binding."""

    @abc.abstractmethod
    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        """``old`` None: it is new; ``new`` None: it is gone. A pod that finishes arrives as gone."""


class PeriodicPlugin(Plugin):
    """A plugin with work to do every so often, as upstream's do with a ticker."""

    @property
    @abc.abstractmethod
    def period(self) -> int:
        """Nanoseconds of the run's clock between two ticks; 0: never."""

    @abc.abstractmethod
    def tick(self) -> None:
        """Between cycles. It wakes no pod, and keeps no run alive that is over without it."""


class QueueSortPlugin(Plugin):
    @abc.abstractmethod
    def less(self, a: QueuedPod, b: QueuedPod) -> bool: ...

    def sort_key(self, pod: QueuedPod) -> Any:
        """What ``less`` compares, as a value that sorts the same way; it is asked once per entry into a queue.

        Optional: a plugin that leaves it out has ``less`` called for pair after pair.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """``node_names`` None means all nodes."""

    node_names: frozenset[str] | None = None


class PreFilterExtensions(abc.ABC):
    """Incremental updates of what PreFilter computed, for per-node plugins; columnar plugins do not need them."""

    @abc.abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None: ...

    @abc.abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None: ...


class PreFilterPlugin(Plugin):
    @abc.abstractmethod
    def pre_filter(
        self, state: CycleState, pod: PodInfo, view: View
    ) -> tuple[PreFilterResult | None, Status | None]: ...

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        return None


class FilterPlugin(Plugin):
    """Filter, one node at a time.

    A plugin that has Filter or Score in both forms is asked over columns where ``is_node_local``, else node by node."""

    @abc.abstractmethod
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None: ...


class ColumnFilterPlugin(Plugin):
    """Filter over columns."""

    @abc.abstractmethod
    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        """The plan for this pod; None when every node passes."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A node where preemption would help."""

    node: str
    victims: tuple[Pod, ...]
    """Pods to evict, most important first."""
    pdb_violations: int = 0
    """Victims whose eviction violates a PodDisruptionBudget."""


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """``nominated_node`` None is upstream's nil result / ModeNoop; "" clears the nomination (ModeOverride)."""

    nominated_node: str | None = None
    victims: tuple[Pod, ...] = ()
    candidates: Sequence[Candidate] = ()
    """For the explanation, as is what follows. The same object while nothing about a node changes saves work."""
    lost_by: Sequence[str] = ()
    """Of each candidate the criterion by which it lost; "" for the chosen one and its equals. Empty: nobody lost."""
    nominated_any: Sequence[str] = ()
    """All nodes that were equally legal nominations."""
    refused: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Reason → nodes where the pod would not fit even without the pods below it."""
    not_tried: Sequence[str] = ()
    """Nodes that were left out because enough candidates had been found."""
    dry_runs: DryRuns | None = None


PostFilterAnswer = tuple[PostFilterResult | None, Status | None]


@dataclass(frozen=True, slots=True)
class AskExtenders:
    """PostFilter's answer while extenders have yet to say which candidates are left (``Handle.asks_extenders``)."""

    pod: Pod
    candidates: Sequence[Candidate]
    go_on: Callable[[Sequence[Candidate] | Status], PostFilterAnswer]
    """Called once, in the same cycle, with what is left or the error that ends it."""


class PostFilterPlugin(Plugin):
    @abc.abstractmethod
    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> PostFilterAnswer | AskExtenders: ...


class EvictionAskingPlugin(PostFilterPlugin):
    """Has a person asked before pods are evicted for others of its profile (``Handle.evictions``).

    Plugins that evict ask it; it is not run itself, wherever it stands among the PostFilter plugins.
    """

    def post_filter(self, state: CycleState, pod: PodInfo, statuses: NodeStatuses) -> PostFilterAnswer | AskExtenders:
        return None, Status.unschedulable()

    @abc.abstractmethod
    def asks_about(self, preemptor: Pod, candidate: Candidate) -> str | None:
        """What the person should know, "" for nothing; None where nobody is asked about these victims."""


class NodeStatuses(abc.ABC):
    """Filter's answer per node, read by PostFilter (upstream ``NodeToStatusReader``)."""

    @abc.abstractmethod
    def get(self, node_name: str) -> Status: ...

    @abc.abstractmethod
    def rows_with_unschedulable(self) -> NDArray[np.intp]:
        """Rows of the nodes whose code is exactly Unschedulable, in snapshot order."""

    @property
    @abc.abstractmethod
    def absent_status(self) -> Status:
        """The status of every node that has no explicit one."""


class PreScorePlugin(Plugin):
    @abc.abstractmethod
    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        """``feasible``: the rows of the feasible nodes."""


class ScorePlugin(Plugin):
    """Score, one node at a time. Scores end between 0 and 100 after NormalizeScore."""

    @abc.abstractmethod
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]: ...


class ColumnScorePlugin(Plugin):
    """Score over columns."""

    @abc.abstractmethod
    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan: ...


def filters_columns(plugin: Plugin) -> bool:
    return isinstance(plugin, ColumnFilterPlugin) and (plugin.is_node_local or not isinstance(plugin, FilterPlugin))


def scores_columns(plugin: Plugin) -> bool:
    return isinstance(plugin, ColumnScorePlugin) and (plugin.is_node_local or not isinstance(plugin, ScorePlugin))


class NormalizeScore(Plugin):
    """ScoreExtensions. ``scores`` is int64 in feasible order; the returned array replaces it."""

    @abc.abstractmethod
    def normalize_score(
        self, state: CycleState, pod: Pod, scores: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], Status | None]: ...


class BoundsNormalizer(NormalizeScore):
    """A NormalizeScore whose answer for a node depends on its score and on the lowest and highest of all.

    While these two and the scores stay, it is not asked again.
    """

    @abc.abstractmethod
    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        """Element by element, from these and the arguments alone; ``scores`` of nodes that are not feasible may lie
        outside."""

    def is_bounded(self, state: CycleState) -> bool:
        """False for an attempt that needs ``normalize_score`` with all scores at once."""
        return True

    def normalize_score(
        self, state: CycleState, pod: Pod, scores: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], Status | None]:
        if not len(scores):
            return scores, None
        return self.normalize_between(scores, int(scores.min()), int(scores.max())), None


class PlacementGeneratePlugin(Plugin):
    """Gate TopologyAwareWorkloadScheduling. A profile has at most one."""

    @abc.abstractmethod
    def generate_placements(
        self, group: PodGroupCycle, parent: Placement
    ) -> tuple[Sequence[Placement], Status | None]: ...


class PlacementScorePlugin(Plugin):
    """Scores end between 0 and 100 after ``normalize_placement_scores``."""

    @abc.abstractmethod
    def score_placement(self, group: PodGroupCycle, placed: PlacementAssignments) -> tuple[int, Status | None]: ...

    def normalize_placement_scores(
        self, group: PodGroupCycle, scores: Sequence[int]
    ) -> tuple[Sequence[int], Status | None]:
        return scores, None


class ReservePlugin(Plugin):
    @abc.abstractmethod
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None: ...

    @abc.abstractmethod
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Must be idempotent; also called for plugins whose reserve never ran."""

    def decisions(self, state: CycleState, pod: Pod, node_name: str) -> tuple[ClaimDecision, ...]:
        """What reserve decided for the pod's claims; asked once all Reserve plugins succeeded, for the explanation."""
        return ()


class PermitPlugin(Plugin):
    asks_a_person: ClassVar[bool] = False
    """Whether a person decides: the virtual clock then never jumps past the deadline by itself."""

    @abc.abstractmethod
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        """(status, time-out in seconds); the time-out counts only with Code.WAIT and is capped at 15 minutes."""


class PersonPermitPlugin(PermitPlugin):
    """A Permit plugin whose wait is for a person; it is told what people did."""

    asks_a_person: ClassVar[bool] = True

    @abc.abstractmethod
    def person_rejected(self, pod: Pod, message: str) -> None:
        """A person rejected this pod's wait on this plugin."""

    @abc.abstractmethod
    def person_activated(self, pod: Pod) -> None:
        """A person moves this pod to activeQ; called before PreEnqueue runs."""


@dataclass(frozen=True, slots=True)
class StillBinding:
    """PreBind wrote what it had to and waits for others to do their part."""

    timeout: int
    """Nanoseconds from now."""
    asks_a_person: bool = False
    """Nobody is there who would do that part but people, by command: a run may hold its clock for them."""


class PreBindPlugin(Plugin):
    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, bool]:
        """(status, allow parallel). Skip leaves pre_bind out."""
        return None, False

    @abc.abstractmethod
    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | StillBinding | None: ...

    def pre_bind_again(
        self, state: CycleState, pod: Pod, node_name: str, *, timed_out: bool
    ) -> Status | StillBinding | None:
        """Asked after changes of the cluster (upstream polls), and when the time is up. None: not yet; StillBinding:
        not yet, and the time is another.

        What is read from ``state`` has to be picklable here and without ``transient``.
        """
        raise NotImplementedError(f"{self.name} does not wait in PreBind")


class BindPlugin(Plugin):
    @abc.abstractmethod
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Skip hands over to the next Bind plugin."""


class PostBindPlugin(Plugin):
    @abc.abstractmethod
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None: ...
