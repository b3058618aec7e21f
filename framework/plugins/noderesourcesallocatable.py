"""NodeResourcesAllocatable: points for small nodes, or for large ones; what is used plays no role.

Rules: docs/semantics/catalogue.md#noderesourcesallocatable.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, ClassVar, Final, Self

import numpy as np
from msgspec import Meta
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.columns.usage import wrap
from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.types import ConfigurationStruct, Int64
from framework.interface import BoundsNormalizer, Column, ColumnScorePlugin, CycleState, Plan, PodInfo, View
from framework.interface.scores import between_bounds, quotient
from framework.sentences import noted

LEAST: Final = "Least"
MOST: Final = "Most"


class AllocatableResource(ConfigurationStruct, frozen=True):
    name: Annotated[str, Meta(description=noted("A resource such as cpu, memory or nvidia.com/gpu."))] = ""
    weight: Annotated[
        Int64,
        Meta(
            description=noted("What a millicore or a byte of it counts, at least 1."), extra_json_schema={"minimum": 1}
        ),
    ] = 0


# A millicore counts as much as a mebibyte.
DEFAULT_RESOURCES: Final = (
    AllocatableResource(name="cpu", weight=1 << 20),
    AllocatableResource(name="memory", weight=1),
)


class NodeResourcesAllocatableArgs(PluginArgs, frozen=True):
    resources: Annotated[
        tuple[AllocatableResource, ...], Meta(description=noted("The resources that count; none means cpu and memory."))
    ] = ()
    mode: Annotated[
        str,
        Meta(
            description=noted("Least prefers nodes that offer little, Most those that offer much."),
            extra_json_schema={"enum": [LEAST, MOST]},
        ),
    ] = LEAST

    def defaulted(self) -> Self:
        return replace(self, resources=self.resources or DEFAULT_RESOURCES, mode=self.mode or LEAST)

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = [
            invalid(
                path.child("resources").index(i).child("weight"),
                resource.weight,
                f"resource weight of {resource.name} should be a positive value, got :{resource.weight}",
            )
            for i, resource in enumerate(self.resources)
            if resource.weight <= 0
        ]
        if self.mode not in (LEAST, MOST):
            errors.append(invalid(path.child("mode"), self.mode, "invalid support ModeType"))
        return errors


class NodeResourcesAllocatable(ColumnScorePlugin, BoundsNormalizer):
    name: ClassVar[str] = "NodeResourcesAllocatable"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[NodeResourcesAllocatableArgs]] = NodeResourcesAllocatableArgs
    description: ClassVar[str] = noted("Prefers small nodes (or large ones), whatever is used of them.")

    args: NodeResourcesAllocatableArgs

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        # Of two entries for one resource the last one counts.
        weights = {resource.name: resource.weight for resource in self.args.resources}
        names = tuple(name for name in weights if name != "pods")
        total = wrap(sum(weights.values()))
        if not total:
            raise ArithmeticError("the weights add up to 0 in int64: kube-scheduler would crash here")
        sign = 1 if self.args.mode == MOST else -1

        def kernel(column: Column) -> NDArray[np.int64]:
            scores = np.zeros(len(column.pods), dtype=np.int64)
            for name, allocatable in zip(column.resources, column.allocatable, strict=True):
                scores += sign * allocatable * weights[name]
            return quotient(scores, total)

        return Plan(kernel, (view.own_rows(names),))

    def fragment(self, pod: PodInfo) -> Hashable:
        return ()

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return between_bounds(scores, lowest, highest)
