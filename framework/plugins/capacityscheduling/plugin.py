"""CapacityScheduling's extension points (docs/semantics/catalogue.md#capacityscheduling)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from framework.interface import (
    ActionType,
    AskExtenders,
    Candidate,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    CycleState,
    DryRun,
    EnqueueExtensions,
    EventResource,
    Handle,
    NodeInfo,
    NodeStatuses,
    ObjectListener,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    ReservePlugin,
    Status,
    View,
)
from framework.objects import KubernetesObject, Pod, PodDisruptionBudget
from framework.objects.catalogue import ElasticQuota
from framework.plugins.capacityscheduling.quotas import Quota, Quotas, request_of, total
from framework.plugins.capacityscheduling.victims import select_victims
from framework.preemption.evaluator import NEVER, TERMINATING, preempt
from framework.preemption.victims import priority_of
from framework.sentences import noted

STATE_KEY: Final = "ElasticQuotaSnapshot"
ELASTIC_QUOTAS: Final = "elasticquotas.v1alpha1.scheduling.x-k8s.io"


class CapacityScheduling(
    PreFilterPlugin, PreFilterExtensions, PostFilterPlugin, ReservePlugin, EnqueueExtensions, ObjectListener
):
    name: ClassVar[str] = "CapacityScheduling"
    origin = "scheduler-plugins"
    description: ClassVar[str] = noted(
        "Keeps namespaces within their ElasticQuotas, which may lend each other what is not used."
    )
    listens_to = (ElasticQuota, Pod)

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._quotas: dict[str, Quota] = {}

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.DELETE)),
            ClusterEventWithHint(ClusterEvent(ELASTIC_QUOTAS, ActionType.ALL)),
        )

    # --- what is used -----------------------------------------------------------------------------------------------

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        if isinstance(old, ElasticQuota) or isinstance(new, ElasticQuota):
            self._quota_changed(old, new)
            return
        before = old if isinstance(old, Pod) and old.spec.node_name else None
        after = new if isinstance(new, Pod) and new.spec.node_name else None
        if before is None and after is not None:
            self._pod_placed(after)
        elif before is not None and (after is None or after.status.phase not in ("", "Pending", "Running")):
            quota = self._quotas.get(before.metadata.namespace)
            if quota is not None:
                quota.remove(before)

    def _quota_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        """One that comes later begins with nothing used; a second one of a namespace is passed over."""
        if isinstance(new, ElasticQuota):
            quota = Quota.of(new)
            known = self._quotas.get(quota.namespace)
            if old is None:
                self._quotas.setdefault(quota.namespace, quota)
                return
            if known is not None:
                quota.used, quota.counted = known.used, known.counted
            self._quotas[quota.namespace] = quota
        elif old is not None:
            self._quotas.pop(old.metadata.namespace, None)

    def _pod_placed(self, pod: Pod) -> None:
        namespace = pod.metadata.namespace
        quota = self._quotas.get(namespace)
        if quota is None:
            listed = self.handle.objects.list(ElasticQuota, namespace)
            if not listed:
                return
            quota = self._quotas[namespace] = Quota.of(listed[0])
        quota.add(pod)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        quota = self._quotas.get(pod.metadata.namespace)
        if quota is not None:
            quota.add(pod)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        quota = self._quotas.get(pod.metadata.namespace)
        if quota is not None:
            quota.remove(pod)

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        namespace, name = pod.pod.metadata.namespace, pod.pod.metadata.name
        quotas = Quotas({key: quota.what_if() for key, quota in self._quotas.items()}, request_of(pod.pod))
        state.write(STATE_KEY, quotas)
        quota = quotas.by_namespace.get(namespace)
        if quota is None:
            return None, None
        self._add_nominated(quotas, pod.pod)
        rejected = f"Pod {namespace}/{name} is rejected in PreFilter because"
        if quota.over_most_with(quotas.request_in_quota):
            return None, Status.unschedulable(f"{rejected} ElasticQuota {namespace} is more than Max")
        if quotas.all_over_least_with(quotas.request_in_all):
            return None, Status.unschedulable(f"{rejected} total ElasticQuota used is more than min")
        return None, None

    def _add_nominated(self, quotas: Quotas, pod: Pod) -> None:
        in_quota, in_all = [quotas.request], [quotas.request]
        nominator = self.handle.nominator
        for node in nominator.nominated_nodes():
            if self.handle.snapshot.get(node) is None:
                continue
            for info in nominator.nominated_pods_for_node(node):
                other = info.pod
                quota = self._quotas.get(other.metadata.namespace)
                if other.metadata.uid == pod.metadata.uid or quota is None:
                    continue
                if other.metadata.namespace == pod.metadata.namespace:
                    if priority_of(other) >= priority_of(pod):
                        in_quota.append(request_of(other))
                        in_all.append(request_of(other))
                elif not quota.over_least():
                    in_all.append(request_of(other))
        quotas.request_in_quota, quotas.request_in_all = total(*in_quota), total(*in_all)

    def pre_filter_extensions(self) -> PreFilterExtensions:
        return self

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        quota = state.read(STATE_KEY, Quotas).by_namespace.get(added.pod.metadata.namespace)
        if quota is not None:
            quota.add(added.pod)
        return None

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        quota = state.read(STATE_KEY, Quotas).by_namespace.get(removed.pod.metadata.namespace)
        if quota is not None:
            quota.remove(removed.pod)
        return None

    # --- PostFilter -------------------------------------------------------------------------------------------------

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None] | AskExtenders:
        return preempt(self.name, self.handle, self, state, pod, statuses)

    def not_eligible(self, state: CycleState, pod: Pod, nominated: Status | None) -> str:
        if pod.spec.preemption_policy == "Never":
            return NEVER
        if not state.has(STATE_KEY):
            return "not eligible due to failed to read from cycleState"
        if nominated is None or nominated.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        node = self.handle.snapshot.get(pod.status.nominated_node_name)
        quotas = state.read(STATE_KEY, Quotas)
        terminating = [p.pod for p in node.pods if p.pod.metadata.deletion_timestamp is not None] if node else []
        return TERMINATING if any(self._makes_room(quotas, victim, pod) for victim in terminating) else ""

    @staticmethod
    def _makes_room(quotas: Quotas, victim: Pod, preemptor: Pod) -> bool:
        """Whether the preemptor can use what this terminating pod leaves."""
        own = quotas.by_namespace.get(preemptor.metadata.namespace)
        theirs = quotas.by_namespace.get(victim.metadata.namespace)
        if own is None:
            return theirs is None and priority_of(victim) < priority_of(preemptor)
        if theirs is None:
            return False
        if victim.metadata.namespace == preemptor.metadata.namespace:
            return priority_of(victim) < priority_of(preemptor)
        return not own.over_least_with(quotas.request_in_quota) and theirs.over_least()

    def offset_and_number(self, nodes: int) -> tuple[int, int]:
        return 0, nodes

    def select_victims(
        self, dry_run: DryRun, state: CycleState, pod: PodInfo, budgets: Sequence[PodDisruptionBudget]
    ) -> Candidate | Status:
        return select_victims(dry_run, state.read(STATE_KEY, Quotas), pod, budgets, self.handle.now())
