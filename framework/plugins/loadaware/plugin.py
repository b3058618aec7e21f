"""LoadAwareScheduling's extension points (docs/koordinator.md#loadawarescheduling)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    ObjectListener,
    Plan,
    PodInfo,
    QueueingHint,
    Reason,
    ReservePlugin,
    SignPlugin,
    View,
    signing,
)
from framework.objects import KubeObject, KubernetesObject, Node, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.pod import PodSpec
from framework.objects.resources import CPU, MEMORY
from framework.objects.timestamps import SECOND
from framework.plugins.loadaware.args import LoadAwareSchedulingArgs
from framework.plugins.loadaware.estimates import Estimate, estimate_of
from framework.plugins.loadaware.usage import (
    NOTHING_SEEN,
    Seen,
    Usage,
    came_at,
    facts_of,
    scheduled_at,
    thresholds_needed,
)
from framework.sentences import noted

LOADS: Final = "loadmetrics.v1.load-watcher.paypal.com"
CPU_TOO_BUSY, MEMORY_TOO_BUSY, EXPIRED = 1, 2, 3
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE, ("node(s) cpu usage exceed threshold",)),
    Reason(Code.UNSCHEDULABLE, ("node(s) memory usage exceed threshold",)),
    Reason(Code.UNSCHEDULABLE, ("node(s) nodeMetric expired",)),
)
COLUMNS: Final = len(Seen._fields)


class LoadAwareScheduling(
    ColumnFilterPlugin, ColumnScorePlugin, ReservePlugin, EnqueueExtensions, ObjectListener, SignPlugin
):
    name: ClassVar[str] = "LoadAwareScheduling"
    args_type: ClassVar[type[LoadAwareSchedulingArgs]] = LoadAwareSchedulingArgs
    description: ClassVar[str] = noted(
        "Keeps pods off nodes that are busy already, and prefers those with most left, by measured load. "
        "After koordinator's plugin."
    )
    listens_to = (Pod, Node, LoadMetrics)

    args: LoadAwareSchedulingArgs
    _estimated: tuple[PodSpec, Estimate] | None = None
    """The last one: a pod is asked about, reserved for and seen on its node with the same containers."""

    def __init__(self, args: LoadAwareSchedulingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._factors = dict(args.estimated_scaling_factors or {})
        self._weights = dict(args.resource_weights or {})
        self._usage = Usage.of_args(args)

    # --- what wakes refused pods ------------------------------------------------------------------------------------

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        node = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE | ActionType.UPDATE_NODE_ANNOTATION
        pod = ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, pod), self._after_pod_change, of_equal_pods=True),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node), self._after_node_change, of_equal_pods=True),
            ClusterEventWithHint(ClusterEvent(LOADS, ActionType.ALL)),
        )

    def _after_pod_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Its own size, or one of whom an estimate was added; the load itself does not know that others left."""
        assert isinstance(old, Pod)
        own = isinstance(new, Pod) and new.metadata.uid == pod.metadata.uid
        at = scheduled_at(old)
        added = bool(old.spec.node_name) and (at is None or self._usage.is_added(at))
        return QueueingHint.QUEUE if own or added else QueueingHint.SKIP

    def _after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        same = isinstance(old, Node) and facts_of(old) == facts_of(new)
        return QueueingHint.SKIP if same else QueueingHint.QUEUE

    # --- what nodes use ---------------------------------------------------------------------------------------------

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        about = old if new is None else new
        if isinstance(about, LoadMetrics):
            if about.metadata.name == LoadMetrics.NAME:
                self._usage.load_changed(new if isinstance(new, LoadMetrics) else None)
        elif isinstance(about, Node):
            self._usage.node_changed(about.metadata.name, new if isinstance(new, Node) else None)
        elif isinstance(about, Pod):
            if isinstance(old, Pod) and old.spec.node_name and new is None:
                self._usage.take_off(old.spec.node_name, old.metadata.uid)
            elif isinstance(new, Pod) and new.spec.node_name:
                self._place(new, new.spec.node_name)

    def _place(self, pod: Pod, node: str) -> None:
        at = came_at(pod) if pod.spec.node_name else None
        self._usage.place(node, pod.metadata.uid, self.handle.now() if at is None else at, self._estimate(pod))

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._place(pod, node_name)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._usage.take_off(node_name, pod.metadata.uid)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_estimated"}

    def _estimate(self, pod: Pod) -> Estimate:
        spec, known = pod.spec, self._estimated
        if (
            known is None
            or known[0].containers is not spec.containers
            or known[0].init_containers is not spec.init_containers
            or known[0].resources is not spec.resources
            or known[0].overhead is not spec.overhead
        ):
            known = self._estimated = spec, estimate_of(pod, self._factors)
        return known[1]

    def thresholds_needed(self, pod: Pod, node: str) -> dict[str, tuple[int, int]]:
        """As the function of this name, of one node; empty of one of which there is no load."""
        seen = self._usage.rows.get(node)
        return {} if seen is None else thresholds_needed(seen, self._estimate(pod))

    # --- Filter and Score -------------------------------------------------------------------------------------------

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        if _of_daemon_set(pod.pod):
            return None
        more, expired = self._estimate(pod.pod), self.args.filter_expired_node_metrics and self._expired()
        if expired and self.args.enable_schedule_when_node_metrics_expired:
            return None

        def kernel(rows: Sequence[Seen | None]) -> NDArray[np.int8]:
            if expired:
                return np.array([0 if row is None else EXPIRED for row in rows], dtype=np.int8)
            codes = np.zeros(len(rows), dtype=np.int8)
            seen = _numbers(rows)
            for code, place in ((MEMORY_TOO_BUSY, 1), (CPU_TOO_BUSY, 0)):  # cpu is told where both are too busy
                offered, used, most = seen[3 * place : 3 * place + 3]
                known = (used >= 0) & (offered > 0) & (most > 0)
                # round(100 · estimated / allocatable) > threshold, exactly.
                percent = (200 * (used + more[place]) + offered) // (2 * np.maximum(offered, 1))
                codes[known & (percent > most)] = code
            return codes

        def few(rows: Sequence[Seen | None]) -> NDArray[np.int8]:
            if expired or not _are_small(rows, more):
                return kernel(rows)
            return np.array([0 if row is None else _too_busy(row, more) for row in rows], dtype=np.int8)

        return Plan(kernel, (view.node_values(self._usage.rows),), (more, expired), REASONS, few)

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        more, expired = self._estimate(pod.pod), self._expired()
        weights = (self._weights.get(CPU, 0), self._weights.get(MEMORY, 0))
        dominant = self.args.dominant_resource_weight
        whole = sum(weights) + dominant

        def kernel(rows: Sequence[Seen | None]) -> NDArray[np.int64]:
            if expired or not whole:
                return np.zeros(len(rows), dtype=np.int64)
            seen = _numbers(rows)
            left = [_left(seen[3 * place], seen[3 * place + 1], more[place]) for place in (0, 1)]
            total = weights[0] * left[0] + weights[1] * left[1] + dominant * np.minimum(left[0], left[1])
            scores: NDArray[np.int64] = total // whole
            return scores

        def few(rows: Sequence[Seen | None]) -> NDArray[np.int64]:
            if expired or not whole or not _are_small(rows, more):
                return kernel(rows)
            found = []
            for row in rows:
                seen = row or NOTHING_SEEN
                cpu = _left_of(seen.cpu, seen.cpu_used, more.cpu)
                memory = _left_of(seen.memory, seen.memory_used, more.memory)
                found.append((weights[0] * cpu + weights[1] * memory + dominant * min(cpu, memory)) // whole)
            return np.array(found, dtype=np.int64)

        return Plan(kernel, (view.node_values(self._usage.rows),), (more, expired), few=few)

    def fragment(self, pod: PodInfo) -> Hashable:
        """None where the load may become too old: then it is a matter of time."""
        if self.args.node_metric_expiration_seconds is not None:
            return None
        return self._estimate(pod.pod), _of_daemon_set(pod.pod)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return {self.name: (self._estimate(pod.pod), _of_daemon_set(pod.pod))}

    def _expired(self) -> bool:
        seconds = self.args.node_metric_expiration_seconds
        return seconds is not None and self.handle.now() - self._usage.measured_until * SECOND >= seconds * SECOND


def _numbers(rows: Sequence[Seen | None]) -> NDArray[np.int64]:
    """One line for each field of Seen."""
    return np.array([row or NOTHING_SEEN for row in rows], dtype=np.int64).reshape(-1, COLUMNS).T


def _left(offered: NDArray[np.int64], used: NDArray[np.int64], more: int) -> NDArray[np.int64]:
    """Percent that are left, 0 where that is unknown or more is used than there is."""
    after = used + more
    possible = (used >= 0) & (offered > 0) & (after <= offered)
    return np.where(possible, 100 * (offered - after) // np.maximum(offered, 1), 0)


def _left_of(offered: int, used: int, more: int) -> int:
    """``_left`` of one node."""
    after = used + more
    return 100 * (offered - after) // offered if used >= 0 and 0 < offered >= after else 0


def _too_busy(seen: Seen, more: Estimate) -> int:
    needed = thresholds_needed(seen, more)
    return 0 if not needed else CPU_TOO_BUSY if CPU in needed else MEMORY_TOO_BUSY


def _are_small(rows: Sequence[Seen | None], more: Estimate) -> bool:
    """Arrays of int64 do not wrap."""
    return max(more) < _LARGE and all([row is None or max(row) < _LARGE for row in rows])  # noqa: C419 (half of the time)


_LARGE: Final = 1 << 53


def _of_daemon_set(pod: Pod) -> bool:
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references)
