"""Arguments of NodeResourcesFit and NodeResourcesBalancedAllocation.

Rules: docs/semantics/plugins.md#noderesourcesfit, docs/semantics/plugins.md#noderesourcesbalancedallocation.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal, Self

from msgspec import Meta
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, duplicate, forbidden, invalid, not_supported, required
from framework.configuration.names import validate_label_name
from framework.configuration.shapes import UtilizationShapePoint, shape_errors
from framework.configuration.types import ConfigurationStruct, Int64
from framework.sentences import noted

LEAST_ALLOCATED: Final = "LeastAllocated"
MOST_ALLOCATED: Final = "MostAllocated"
REQUESTED_TO_CAPACITY_RATIO: Final = "RequestedToCapacityRatio"
_STRATEGIES: Final = (LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO)


class ResourceSpec(ConfigurationStruct, frozen=True):
    name: Annotated[str, Meta(description=noted("A resource such as cpu, memory or nvidia.com/gpu."))] = ""
    weight: Annotated[
        Int64,
        Meta(
            description=noted("Its weight among the others, 1 to 100."),
            extra_json_schema={"minimum": 1, "maximum": 100},
        ),
    ] = 1


DEFAULT_RESOURCES: Final = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


class RequestedToCapacityRatioParam(ConfigurationStruct, frozen=True):
    shape: Annotated[
        tuple[UtilizationShapePoint, ...], Meta(description=noted("Points of the curve, by increasing utilization."))
    ] = ()


class ScoringStrategy(ConfigurationStruct, frozen=True):
    type: Annotated[
        str,
        Meta(
            description=noted(
                "LeastAllocated spreads pods, MostAllocated packs, RequestedToCapacityRatio follows a curve."
            ),
            extra_json_schema={"enum": list(_STRATEGIES)},
        ),
    ] = ""
    resources: Annotated[
        tuple[ResourceSpec, ...], Meta(description=noted("The resources that count; none means cpu and memory."))
    ] = ()
    requested_to_capacity_ratio: Annotated[
        RequestedToCapacityRatioParam | None, Meta(description=noted("The curve, for RequestedToCapacityRatio only."))
    ] = None


class NodeResourcesFitArgs(PluginArgs, frozen=True):
    # Upstream's table of validators misspells the plugin's name, so only the constructor checks these.
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "constructor"

    ignored_resources: Annotated[
        tuple[str, ...], Meta(description=noted("Extended resources that the filter leaves to someone else."))
    ] = ()
    ignored_resource_groups: Annotated[
        tuple[str, ...],
        Meta(description=noted("Prefixes (example.com) of extended resources that the filter leaves out.")),
    ] = ()
    scoring_strategy: Annotated[ScoringStrategy, Meta(description=noted("How nodes are ranked."))] = ScoringStrategy(
        type=LEAST_ALLOCATED, resources=DEFAULT_RESOURCES
    )

    def defaulted(self) -> Self:
        strategy = self.scoring_strategy
        resources = _with_weights(strategy.resources) or DEFAULT_RESOURCES
        return replace(self, scoring_strategy=replace(strategy, resources=resources))

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors: list[FieldError] = []
        for i, name in enumerate(self.ignored_resources):
            errors += validate_label_name(name, path.child("ignoredResources").index(i))
        for i, group in enumerate(self.ignored_resource_groups):
            at = path.child("ignoredResourceGroups").index(i)
            if "/" in group:
                errors.append(invalid(at, group, "resource group name can't contain '/'"))
            errors += validate_label_name(group, at)
        return errors + _validate_strategy(self.scoring_strategy, path.child("scoringStrategy"))


class NodeResourcesBalancedAllocationArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    resources: Annotated[
        tuple[ResourceSpec, ...], Meta(description=noted("The resources to balance; every weight must be 1."))
    ] = DEFAULT_RESOURCES

    def defaulted(self) -> Self:
        return replace(self, resources=_with_weights(self.resources) or DEFAULT_RESOURCES)

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors: list[FieldError] = []
        seen: set[str] = set()
        for i, resource in enumerate(self.resources):
            at = path.child("resources").index(i)
            if resource.name in seen:
                errors.append(duplicate(at.child("name"), resource.name))
            seen.add(resource.name)
            if resource.weight != 1:
                errors.append(invalid(at.child("weight"), resource.weight, "must be 1"))
        return errors


def _with_weights(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    """A weight of 0 counts as not given."""
    return tuple(resource if resource.weight else replace(resource, weight=1) for resource in resources)


def _validate_strategy(strategy: ScoringStrategy, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    if strategy.type not in _STRATEGIES:
        errors.append(not_supported(path.child("type"), strategy.type, _STRATEGIES))
    for i, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            errors.append(invalid(path.child("resources").index(i).child("weight"), resource.weight, detail))
    ratio, at = strategy.requested_to_capacity_ratio, path.child("requestedToCapacityRatio")
    if strategy.type == REQUESTED_TO_CAPACITY_RATIO:
        if ratio is None:
            errors.append(required(at, "must be specified when type is RequestedToCapacityRatio"))
        else:
            errors += shape_errors(ratio.shape, at.child("shape"))
    elif ratio is not None:
        errors.append(forbidden(at, "must be nil when type is not RequestedToCapacityRatio"))
    return errors
