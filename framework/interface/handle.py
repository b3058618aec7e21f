"""Handle: what the framework lends to plugins (upstream ``framework.Handle``), and the protocols behind it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from framework.configuration.feature_gates import FeatureGates
from framework.interface.columns import Rows, View
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.pod_groups import PodGroupMembers
from framework.interface.status import Status
from framework.objects import KubeObject, Pod

if TYPE_CHECKING:
    from framework.interface.plugin import Candidate

O = TypeVar("O", bound=KubeObject)  # noqa: E741
V = TypeVar("V", covariant=True)
T = TypeVar("T")


class QueuedPod(Protocol):
    """A pod in the scheduling queue, as QueueSort sees it. Times are integer nanoseconds of the run's clock."""

    @property
    def pod(self) -> Pod: ...

    @property
    def timestamp(self) -> int: ...

    @property
    def initial_attempt_timestamp(self) -> int | None: ...


class WaitingPod(Protocol):
    """A pod waiting on Permit (docs/semantics/framework.md#waiting-on-permit)."""

    @property
    def pod(self) -> Pod: ...

    @property
    def node_name(self) -> str: ...

    def pending_plugins(self) -> Mapping[str, int]:
        """Plugin → deadline in nanoseconds."""
        ...

    def allow(self, plugin: str) -> None: ...

    def reject(self, plugin: str, message: str) -> bool:
        """False when the wait was already decided."""
        ...

    def preempt(self, plugin: str, message: str) -> bool: ...


class Nominator(Protocol):
    def nominated_pods_for_node(self, node_name: str) -> Sequence[PodInfo]: ...

    def nominated_nodes(self) -> Iterable[str]:
        """Nodes on which pods are nominated, also names that no node has."""
        ...


class ObjectStore(Protocol):
    """Read-only listers over the cluster's objects other than through the snapshot."""

    def get(self, kind: type[O], namespace: str, name: str) -> O | None:
        """Cluster-scoped kinds have namespace ""."""
        ...

    def list(self, kind: type[O], namespace: str | None = None) -> Sequence[O]:
        """In order of creation; None lists all namespaces."""
        ...

    def pods_with_label(self, namespace: str, key: str, value: str) -> Sequence[Pod]:
        """Pods of the namespace with this label, in order of creation, from an index."""
        ...


class Unanswered(BaseException):
    """A write has left whose answer is not known yet. Plugins let it through, and are called again when it is: what
    they write is then answered at once. No ``Exception``, so that nobody takes it for an error of a plugin."""


class ApiWriter(Protocol):
    """The writes plugins may make. In a run they change the simulated cluster at once and come back as events.

    Where a real cluster is scheduled, ``bind``, ``update`` and ``create_object`` raise Unanswered in PreBind and Bind
    until there is an answer; other writes are sent without being waited for.
    """

    def bind(self, pod: Pod, node_name: str) -> str | None:
        """None, or the API server's error text."""
        ...

    def update(self, obj: KubeObject) -> str | None:
        """Stores the object in place of the one it was made from: PUT, with the check of its resource version."""
        ...

    def create_object(self, obj: O) -> O | str:
        """POST of an object that has its name and uid: as it is there from now on, or the API server's error text.
        Where a real cluster is scheduled, its API server gives one with a ``generateName`` another name and uid."""
        ...

    def delete_object(self, obj: KubeObject) -> str | None: ...

    def delete_pod(self, pod: Pod) -> str | None: ...

    def patch_pod_condition(self, pod: Pod, type_: str, status: str, reason: str, message: str) -> str | None: ...

    def clear_nomination(self, pod: Pod) -> str | None: ...

    def evicts(self, preemptor: Pod, victims: Sequence[Pod]) -> None:
        """Said before the first of them is told why: these leave for this pod, in this order, the last one after the
        others. Where writes are answered at once there is nothing to do."""
        ...

    def is_evicting_for(self, preemptor: Pod) -> bool:
        """Whether an eviction for this pod is under way, so that it is not to be tried."""
        ...

    def event(self, type_: str, reason: str, pod: Pod, note: str) -> None: ...


class EvictionsAsked(Protocol):
    """What a plugin that evicts asks before it does, where its profile has a person asked first
    (docs/semantics/preemption.md#proposals)."""

    def approved_on(self, plugin: str, preemptor: Pod) -> str:
        """The node where a person has approved what this plugin proposed for this pod: it is tried out alone. ""
        without one."""
        ...

    def allows(self, preemptor: Pod, candidates: Sequence[Candidate]) -> bool:
        """Whether one of these is what was approved. If none is, that is proposed no longer."""
        ...

    def admissible(self, plugin: str, preemptor: Pod, candidates: Sequence[Candidate]) -> list[int] | Status:
        """Which of the candidates may be chosen; a status where a person rejected them all, or where a plugin that was
        asked before has proposed an eviction."""
        ...

    def standing(self, preemptor: Pod, equal: Sequence[Candidate]) -> str | None:
        """Of equally good candidates the node of the one that is proposed already."""
        ...

    def propose(self, plugin: str, preemptor: Pod, chosen: Candidate) -> Status | None:
        """PostFilter's status while a person is asked; None where the victims may be evicted now."""
        ...


class Handle(Protocol):
    """Lent to every plugin's constructor; usable from the first call of an extension point on."""

    @property
    def snapshot(self) -> SnapshotReader: ...

    @property
    def view(self) -> View: ...

    @property
    def objects(self) -> ObjectStore: ...

    @property
    def nominator(self) -> Nominator: ...

    @property
    def api(self) -> ApiWriter: ...

    @property
    def scheduler_name(self) -> str: ...

    @property
    def feature_gates(self) -> FeatureGates:
        """Of the run; read them in the constructor."""
        ...

    def shared(self, name: str, make: Callable[[], T]) -> T:
        """What plugins of all profiles have in common: the first to ask makes it. Checkpoints hold it."""
        ...

    def pod_group(self, namespace: str, name: str) -> PodGroupMembers | None:
        """The members as the cache has them; None without any, and without the gate GenericWorkload."""
        ...

    def now(self) -> int:
        """The run's clock in nanoseconds."""
        ...

    def random_below(self, n: int) -> int:
        """The run's seeded generator, 0 ≤ result < n."""
        ...

    def choose_among(self, names: Sequence[str]) -> str:
        """One of equally good nodes, by the run's tie rule (smallest name, or seeded where upstream's is random)."""
        ...

    def iterate_waiting_pods(self, visit: Callable[[WaitingPod], None]) -> None: ...

    def waiting_pod(self, uid: str) -> WaitingPod | None: ...

    def reject_waiting_pod(self, uid: str) -> bool: ...

    def activate(self, pods: Iterable[Pod]) -> None:
        """Moves these pods to activeQ (upstream ``Activate``)."""
        ...

    def activate_once_back(self, pod: Pod) -> None:
        """As ``activate``, of the pod that is being tried: when its attempt is over, as what a goroutine of upstream's
        says that outlives the attempt."""
        ...

    def follow(self, state: CycleState, pod: PodInfo, key: Hashable, make: Callable[[], V]) -> Followed[V] | None:
        """A value that a PostFilter plugin keeps under ``key`` for all pods that filters treat alike, with the rows
        where it may be out of date. It must rest on filters' answers in dry runs, on the pods of nodes and on what
        ``key`` says, and may be lost at any time. None when filters have a state of their own, so that nothing holds.
        """
        ...

    @property
    def evictions(self) -> EvictionsAsked | None:
        """Where a person is asked before pods are evicted; None where they are evicted at once."""
        ...

    def asks_extenders(self, pod: Pod) -> bool:
        """Whether an extender wants to be asked about this pod's preemption: PostFilter then answers AskExtenders."""
        ...

    def dry_run(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> DryRun:
        """A what-if on one node: remove and re-add pods, then ask the filters (with nominated pods)."""
        ...

    def dry_run_across(self, state: CycleState, pod: PodInfo) -> DryRunAcross:
        """What-ifs in which pods of several nodes leave together."""
        ...


class Followed(Protocol[V]):
    """What ``Handle.follow`` gives."""

    @property
    def value(self) -> V: ...

    @property
    def changed(self) -> Rows:
        """Rows for which what the value says may no longer hold; None for all."""
        ...

    def state_of(self, row: int) -> Hashable | None:
        """Rows with equal states are alike to filters when equal pods leave them and come to them; None: unknown."""
        ...


class SnapshotReader(Protocol):
    """The snapshot of the cycle under way (docs/semantics/cache.md#snapshot): ghosts are not in it."""

    def list(self) -> Sequence[NodeInfo]:
        """All nodes in zone order."""
        ...

    def get(self, name: str) -> NodeInfo | None: ...

    def row(self, name: str) -> int: ...

    def name_of_row(self, row: int) -> str: ...

    def names_of_rows(self, rows: NDArray[np.intp]) -> Sequence[str]:
        """Put together only when it is read; it stays what it was."""
        ...

    def rows_with_pods_below(self, priority: int) -> NDArray[np.bool_]:
        """Row → whether a pod of lower priority is there: where preemption can find a victim."""
        ...


class DryRun(Protocol):
    """State of one node and the cycle with some of its pods taken away; the originals stay untouched."""

    @property
    def node(self) -> NodeInfo: ...

    @property
    def state(self) -> CycleState:
        """The cycle's, or a copy that AddPod and RemovePod of plugins have changed."""
        ...

    def remove_pod(self, pod: PodInfo) -> Status: ...

    def add_pod(self, pod: PodInfo) -> Status: ...

    @property
    def passes(self) -> Mapping[tuple[str, str], int]:
        """How often all Filter plugins were run: by the plugin that refused ("" where none did) and its code's name."""
        ...

    def run_filters(self) -> Status:
        """Filters with nominated pods (the double pass of docs/semantics/framework.md#nominated-pods)."""
        ...


class DryRunAcross(Protocol):
    """Pods of several nodes taken away together; the originals stay untouched.

    A node is looked at without one of its pods. What PreFilter plugins count over several nodes is without all that
    leave, wherever they are (upstream ``RunPreFilterExtensionRemovePod`` on one state, ``NodeInfo.Clone`` per victim).
    """

    def is_counted(self, pod: PodInfo) -> bool:
        """Whether some node but its own may be judged otherwise without this pod."""
        ...

    def passes_alone(self, node: NodeInfo, leaving: PodInfo) -> bool:
        """Whether the plugins that look at a node alone would take the pod there. If not, nobody's leaving helps."""
        ...

    def passes(self, leaving: Sequence[tuple[NodeInfo, PodInfo]], place: int) -> bool:
        """Whether all plugins would, with nominated pods, on the node of ``leaving[place]``. ``leaving``: (a pod's
        node, the pod)."""
        ...
