"""ElasticQuotaTree's extension points (docs/koordinator.md#elasticquotatree)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    ObjectListener,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    ReservePlugin,
    Status,
    View,
)
from framework.objects import KubeObject, KubernetesObject, Node, Pod
from framework.objects.catalogue import ElasticQuota
from framework.plugins.quotatree.args import ElasticQuotaTreeArgs
from framework.plugins.quotatree.tree import QuotaTree, Short, counted_if_it_asks, counted_of
from framework.sentences import noted

ELASTIC_QUOTAS: Final = "elasticquotas.v1alpha1.scheduling.x-k8s.io"


def tree_by(args: ElasticQuotaTreeArgs) -> QuotaTree:
    """An empty one."""
    return QuotaTree(args.default_quota, args.check_parents, args.count_pending_pods)


class ElasticQuotaTree(PreFilterPlugin, ReservePlugin, EnqueueExtensions, ObjectListener):
    name: ClassVar[str] = "ElasticQuotaTree"
    args_type: ClassVar[type[ElasticQuotaTreeArgs]] = ElasticQuotaTreeArgs
    description: ClassVar[str] = noted(
        "Shares the cluster out by a tree of ElasticQuotas: what is guaranteed first, the rest by weight to those who "
        "ask for it. After an idea of koordinator."
    )
    listens_to = (ElasticQuota, Node, Pod)

    args: ElasticQuotaTreeArgs

    def __init__(self, args: ElasticQuotaTreeArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._tree = self.empty_tree()

    def empty_tree(self) -> QuotaTree:
        """By this plugin's arguments."""
        return tree_by(self.args)

    # --- what wakes refused pods ------------------------------------------------------------------------------------

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        pod = ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN | ActionType.UPDATE_POD_LABEL
        node = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, pod), self._has_room),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node), self._has_room),
            ClusterEventWithHint(ClusterEvent(ELASTIC_QUOTAS, ActionType.ALL), self._has_room),
        )

    def _has_room(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """The tree has heard of the event already."""
        if isinstance(new, Pod) and new.metadata.uid == pod.metadata.uid:
            pod = new
        return QueueingHint.QUEUE if self.short(pod) is None else QueueingHint.SKIP

    # --- what is used and asked for ---------------------------------------------------------------------------------

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        about = old if new is None else new
        if isinstance(about, ElasticQuota):
            known = new if isinstance(new, ElasticQuota) else None
            self._tree.set_quota(about.metadata.namespace, about.metadata.name, known)
        elif isinstance(about, Node):
            self._tree.set_node(about.metadata.name, new if isinstance(new, Node) else None)
        elif isinstance(about, Pod):
            if isinstance(old, Pod) and isinstance(new, Pod) and old.metadata.uid != new.metadata.uid:
                self._tree.set_pod(old.metadata.uid, None)
            self._tree.set_pod(about.metadata.uid, None if not isinstance(new, Pod) else counted_if_it_asks(new))

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._tree.set_pod(pod.metadata.uid, counted_of(pod, placed=True))

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if self._tree.counts(pod.metadata.uid):
            self._tree.set_pod(pod.metadata.uid, counted_if_it_asks(pod))

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def short(self, pod: Pod) -> Short | None:
        """Why there is no room for it; None where there is."""
        return self._tree.short(pod.metadata.uid, counted_of(pod, placed=False))

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        short = self.short(pod.pod)
        if short is None:
            return None, None
        bound = "max" if short.over_max else "share"
        # Nobody who could be evicted from a node changes that.
        return None, Status.unresolvable(
            f"ElasticQuota {short.quota.name} would use more {short.resource} than its {bound}"
        )
