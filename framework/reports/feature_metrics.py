"""What attempts add to the metrics of pod groups, volumes and devices. Rules: docs/semantics/log.md#metrics."""

from __future__ import annotations

from framework.interface.decisions import DeviceDecision
from framework.interface.status import Code
from framework.objects import KubeObject, ResourceClaim
from framework.objects.devices import EXTENDED_RESOURCE_CLAIM_ANNOTATION
from framework.objects.timestamps import SECOND
from framework.reports.metric_families import Registry
from framework.scheduler import Scheduler
from framework.trace.attempt import AttemptTrace, PodGroupOutcome

_VOLUMES = "VolumeBinding"
_DEVICES = "DynamicResources"


class FeatureMetrics:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """A claim for extended resources is made by the scheduler, and by nobody else."""
        if old is not None or not isinstance(new, ResourceClaim):
            return
        if new.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM_ANNOTATION) == "true":
            self._registry.add("resourceclaim_creates_total", ("success",))

    def attempt(self, trace: AttemptTrace, scheduler: Scheduler) -> None:
        # Each pod of a group tells of its cycle; the first of them stands for all, when it is told first.
        if trace.pod_group is not None and trace.pod == trace.pod_group.pods[0] and trace.wait_on_permit is None:
            self._group(trace, trace.pod_group)
        if trace.result == "waiting":
            return
        self._volumes(trace)
        if trace.decisions:
            self._devices(trace, scheduler)

    def _group(self, trace: AttemptTrace, found: PodGroupOutcome) -> None:
        result = "error"
        if found.status.is_success:
            result = "scheduled"
        elif found.status.is_rejected:
            result = "waiting_on_preemption" if found.waiting_on_preemption else "unschedulable"
        registry = self._registry
        registry.observe("podgroup_scheduling_algorithm_duration_seconds")
        registry.add("podgroup_schedule_attempts_total", (trace.profile, result))
        registry.observe("podgroup_scheduling_attempt_duration_seconds", (trace.profile, result))

    def _volumes(self, trace: AttemptTrace) -> None:
        """Errors, not refusals: FindPodVolumes, AssumePodVolumes and BindPodVolumes of upstream's binder."""
        searched = trace.filter
        failed = {"predicate": 0, "assume": 0, "bind": 0}
        for count, status in () if searched is None else zip(searched.counts(), searched.verdicts, strict=True):
            if status.plugin == _VOLUMES and status.code is Code.ERROR:
                failed["predicate"] += count
        for stage, outcomes in (("assume", trace.reserve), ("bind", trace.pre_bind)):
            failed[stage] += sum(1 for each in outcomes if each.plugin == _VOLUMES and not each.status.is_success)
        for stage, times in failed.items():
            if times:
                self._registry.add("volume_scheduling_stage_error_total", (stage,), times)

    def _devices(self, trace: AttemptTrace, scheduler: Scheduler) -> None:
        """Of claims with binding conditions, when PreBind has ended one way or the other."""
        ended = next((each.status for each in trace.pre_bind if each.plugin == _DEVICES), None)
        if ended is None:
            return
        named = {each.claim for each in trace.decisions if isinstance(each, DeviceDecision)}
        claims = [scheduler.cluster.get(ResourceClaim, *name.split("/", 1)) for name in sorted(named)]
        allocations = [each.status.allocation for each in claims if each is not None and each.status.allocation]
        results = [result for each in allocations for result in each.devices.results]
        if not any(result.binding_conditions for result in results):
            return
        status = "success"
        if not ended.is_success:
            status = "timeout" if "device binding timeout" in ended.message else "error"
            if "device binding failed" in ended.message:
                status = "failure"
        waited = (trace.finished_at - trace.at) / SECOND
        for result in results:
            labels = (result.driver, trace.profile, status)
            self._registry.observe("dra_bindingconditions_wait_duration_seconds", labels, waited)
            if result.binding_conditions:
                self._registry.add("dra_bindingconditions_allocations_total", labels)
