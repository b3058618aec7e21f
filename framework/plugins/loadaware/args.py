"""LoadAwareScheduling's arguments, named as koordinator's (docs/koordinator.md#loadawarescheduling)."""

from __future__ import annotations

from typing import Annotated, Final, Self

from msgspec import Meta
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs, check_bounds
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.types import Int64
from framework.objects.resources import CPU, MEMORY
from framework.sentences import noted

MEASURED: Final = (CPU, MEMORY)
"""Of which there is load; in this order their refusals are told."""
DEFAULT_WEIGHTS: Final = {CPU: 1, MEMORY: 1}
DEFAULT_THRESHOLDS: Final = {CPU: 65, MEMORY: 95}
DEFAULT_FACTORS: Final = {CPU: 85, MEMORY: 70}


class LoadAwareSchedulingArgs(PluginArgs, frozen=True):
    usage_thresholds: Annotated[
        dict[str, Int64] | None,
        Meta(
            description=noted(
                "Per resource (cpu, memory) how busy a node may be with the pod, in percent of what is allocatable; "
                "0: as busy as it likes."
            )
        ),
    ] = None
    resource_weights: Annotated[
        dict[str, Int64] | None,
        Meta(description=noted("Per resource (cpu, memory) how much what is left of it counts in the score.")),
    ] = None
    dominant_resource_weight: Annotated[
        Int64,
        Meta(ge=0, le=100, description=noted("How much what is left of the scarcest resource counts beside these.")),
    ] = 0
    estimated_scaling_factors: Annotated[
        dict[str, Int64] | None,
        Meta(description=noted("Per resource (cpu, memory) how much of its request a new pod is taken to use, in %.")),
    ] = None
    estimated_seconds_after_pod_scheduled: Annotated[
        Int64 | None,
        Meta(
            description=noted(
                "For how long after its placement a pod's estimate is added to the load. "
                "Not given: until a load is a minute younger than the placement."
            ),
        ),
    ] = None
    filter_expired_node_metrics: Annotated[
        bool, Meta(description=noted("Nodes are refused when the load is too old, if it may become too old."))
    ] = True
    node_metric_expiration_seconds: Annotated[
        Int64 | None,
        Meta(
            description=noted("After how long the load is too old. Not given: never, as a stored load does not change.")
        ),
    ] = None
    enable_schedule_when_node_metrics_expired: Annotated[
        bool, Meta(description=noted("Nodes are taken without a look at their load when it is too old."))
    ] = False

    def defaulted(self) -> Self:
        weights = self.resource_weights
        if not weights and not self.dominant_resource_weight:
            weights = DEFAULT_WEIGHTS
        return replace(
            self,
            usage_thresholds=self.usage_thresholds or DEFAULT_THRESHOLDS,
            resource_weights=weights or {},
            estimated_scaling_factors={**DEFAULT_FACTORS, **(self.estimated_scaling_factors or {})},
        )

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = check_bounds(self, path)
        errors += _outside(path.child("usageThresholds"), self.usage_thresholds, 0)
        errors += _outside(path.child("resourceWeights"), self.resource_weights, 1)
        errors += _outside(path.child("estimatedScalingFactors"), self.estimated_scaling_factors, 1)
        seconds = self.estimated_seconds_after_pod_scheduled
        if seconds is not None and seconds < 0:
            errors.append(invalid(path.child("estimatedSecondsAfterPodScheduled"), seconds, "must not be negative"))
        seconds = self.node_metric_expiration_seconds
        if seconds is not None and seconds <= 0:
            where = path.child("nodeMetricExpirationSeconds")
            errors.append(invalid(where, seconds, "must be a positive value"))
        return errors


def _outside(path: FieldPath, given: dict[str, int] | None, least: int) -> list[FieldError]:
    given = given or {}
    errors = [
        invalid(path.key(name), name, "must be cpu or memory: load is measured of no other resource")
        for name in given
        if name not in MEASURED
    ]
    wrong = {name: given[name] for name in MEASURED if name in given and not least <= given[name] <= 100}
    if len(wrong) == len(MEASURED):
        written = ", ".join(f"{name}: {percent}" for name, percent in wrong.items())
        errors.append(invalid(path, f"{{{written}}}", f"each must be between {least} and 100"))
    else:
        errors += [invalid(path.key(name), wrong[name], f"must be between {least} and 100") for name in wrong]
    return errors
