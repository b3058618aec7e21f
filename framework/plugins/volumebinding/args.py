"""VolumeBindingArgs (docs/semantics/volumes.md#volumebinding)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from msgspec import Meta
from msgspec.structs import replace

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.configuration.shapes import UtilizationShapePoint, shape_errors
from framework.configuration.types import Int64
from framework.sentences import noted

GATE = "StorageCapacityScoring"
EMPTY_FIRST = (UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0))


class VolumeBindingArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    bind_timeout_seconds: Annotated[
        Int64,
        Meta(
            description=noted("How long binding may wait for volumes; 0 fails at once."),
            extra_json_schema={"minimum": 0},
        ),
    ] = 600
    shape: Annotated[
        tuple[UtilizationShapePoint, ...] | None,
        Meta(description=noted("Needs the feature gate StorageCapacityScoring, which is off by default.")),
    ] = None

    def with_gates(self, gates: FeatureGates) -> Self:
        """With the gate an empty disk is best, unless a shape says otherwise."""
        return replace(self, shape=EMPTY_FIRST) if gates.enabled(GATE) and not self.shape else self

    def validate(self, path: FieldPath) -> list[FieldError]:
        return self.validate_with_gates(path, DEFAULT_GATES)

    def validate_with_gates(self, path: FieldPath, gates: FeatureGates) -> list[FieldError]:
        errors = []
        if self.bind_timeout_seconds < 0:
            errors.append(
                invalid(
                    path.child("bindTimeoutSeconds"),
                    self.bind_timeout_seconds,
                    "invalid BindTimeoutSeconds, should not be a negative value",
                )
            )
        if gates.enabled(GATE):
            errors += shape_errors(self.shape or (), path.child("shape"))
        elif self.shape is not None:
            shown = [{"Utilization": point.utilization, "Score": point.score} for point in self.shape]
            detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
            errors.append(invalid(path.child("shape"), shown, detail))
        return errors
