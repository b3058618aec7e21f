"""FilterRun: the Filter plugins of one profile for one pod in one cycle.

Rules: docs/semantics/framework.md#extension-points, docs/semantics/framework.md#nominated-pods.

Columnar plugins are answered for all nodes at once; per-node plugins are called node by node. One node with other pods
on it (nominated pods, preemption's dry runs) is a NodeCase: a change to the columns' inputs, and copies of node and
state only where a per-node plugin will look at them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.columns import Snapshot
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.plugin import PreFilterExtensions
from framework.interface.status import SUCCESS, Status
from framework.objects import Pod
from framework.profiles.filter_entry import FilterEntry, filter_status
from framework.profiles.outcomes import answer, error_text, raised
from framework.profiles.pod_class import PodClass
from framework.profiles.verdicts import Verdicts
from framework.reuse.work import Work

ExtensionCall = Callable[[CycleState, Pod, PodInfo, NodeInfo], Status | None]


def priority_of(pod: Pod) -> int:
    return pod.spec.priority or 0


class FilterRun:
    def __init__(
        self,
        entries: Sequence[FilterEntry],
        extensions: Sequence[tuple[str, PreFilterExtensions]],
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        nominated: Callable[[str], Sequence[PodInfo]],
        verdicts: Verdicts,
        work: Work,
        pod_class: PodClass | None = None,
    ) -> None:
        self.entries = tuple(entries)
        self.extensions = tuple(extensions)
        self.state = state
        self.pod = pod
        self.snapshot = snapshot
        self._nominated = nominated
        self.work = work
        self.pod_class = pod_class
        """None for a state that is not the cycle's."""
        self.verdicts = verdicts
        """What the columnar plugins say, followed up to this cycle."""
        self.per_node = [(i, entry) for i, entry in enumerate(self.entries) if entry.asked]
        self.columnar = not self.per_node
        """No plugin has to be asked node by node for this pod: all nodes can be decided at once."""
        self.stateful = bool(extensions) or not self.columnar

    def case(self, case: NodeCase) -> Status:
        for entry in self.entries:
            if entry.per_node is not None:
                status = self.call(entry, case.state, case.node)
                if not status.is_success:
                    return status
            elif entry.error is not None:
                return entry.error
            else:
                code = self._code(entry, case)
                if code:
                    return entry.status(code)
        return SUCCESS

    def call(self, entry: FilterEntry, state: CycleState, node: NodeInfo) -> Status:
        assert entry.per_node is not None
        try:
            status = answer(entry.per_node(state, self.pod.pod, node))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            status = raised(error)
        return filter_status(entry.plugin, status)

    @staticmethod
    def _code(entry: FilterEntry, case: NodeCase) -> int:
        assert entry.plan is not None
        plan = entry.plan
        if case.changed and entry.follows_pods:
            return int(plan.kernel(*[each.gather_changed(case) for each in plan.inputs])[0])
        return int(entry.all_codes()[case.row])

    def nominated_for(self, node_name: str) -> list[PodInfo]:
        """Other pods nominated to the node whose priority this pod must yield to."""
        mine = priority_of(self.pod.pod)
        return [pod for pod in self._nominated(node_name) if priority_of(pod.pod) >= mine and pod.uid != self.pod.uid]

    def with_nominated(self, row: int, node: NodeInfo) -> Status:
        """Both passes of docs/semantics/framework.md#nominated-pods: with them and, if that succeeds, without."""
        return NodeCase(self, row, node).run_filters()


class NodeCase:
    """One node with pods taken away or put on. A PodChange for the columns and a DryRun for PostFilter plugins."""

    def __init__(self, run: FilterRun, row: int, node: NodeInfo) -> None:
        self.run = run
        self.row = row
        self.removed: list[PodInfo] = []
        self.added: list[PodInfo] = []
        self.port_moves: list[tuple[PodInfo, bool]] = []
        self.state = run.state
        self._base = node
        self._own: NodeInfo | None = None
        self._pending: list[tuple[PodInfo, bool]] = []
        self._state_is_own = False

    @property
    def changed(self) -> bool:
        return bool(self.removed or self.added or self.port_moves)

    @property
    def node(self) -> NodeInfo:
        if self._pending:
            if self._own is None:
                self._own = self._base.copy()
            for pod, put_on in self._pending:
                if put_on:
                    self._own.add_pod(pod)
                else:
                    self._own.remove_pod(pod.uid)
            self._pending.clear()
        return self._base if self._own is None else self._own

    def remove_pod(self, pod: PodInfo) -> Status:
        if not _take(self.added, pod.uid):
            self.removed.append(pod)
        self._moved(pod, put_on=False)
        return self._extend("RemovePod", [(name, each.remove_pod) for name, each in self.run.extensions], pod)

    def add_pod(self, pod: PodInfo) -> Status:
        if not _take(self.removed, pod.uid):
            self.added.append(pod)
        self._moved(pod, put_on=True)
        return self._extend("AddPod", [(name, each.add_pod) for name, each in self.run.extensions], pod)

    def _moved(self, pod: PodInfo, *, put_on: bool) -> None:
        self._pending.append((pod, put_on))
        if pod.host_ports:
            self.port_moves.append((pod, put_on))

    def _extend(self, operation: str, calls: Sequence[tuple[str, ExtensionCall]], pod: PodInfo) -> Status:
        if not calls:
            return SUCCESS
        self.own_state()
        for plugin, call in calls:
            try:
                status = answer(call(self.state, self.run.pod.pod, pod, self.node))
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            if not status.is_success:
                return Status.as_error(f'running {operation} on PreFilter plugin "{plugin}": {error_text(status)}')
        return SUCCESS

    def own_state(self) -> None:
        if not self._state_is_own:
            self.state = self.state.clone()
            self._state_is_own = True

    def _fork(self) -> NodeCase:
        other = NodeCase(self.run, self.row, self.node)
        other.removed, other.added, other.port_moves = list(self.removed), list(self.added), list(self.port_moves)
        other.state = self.state
        if self.run.stateful:
            other.own_state()
        return other

    def run_filters(self) -> Status:
        nominated = self.run.nominated_for(self._base.name)
        if nominated:
            with_them = self._fork()
            for pod in nominated:
                status = with_them.add_pod(pod)
                if not status.is_success:
                    return status
            status = self.run.case(with_them)
            if not status.is_success:
                return status
        return self.run.case(self)


def _take(pods: list[PodInfo], uid: str) -> bool:
    for i, pod in enumerate(pods):
        if pod.uid == uid:
            del pods[i]
            return True
    return False
