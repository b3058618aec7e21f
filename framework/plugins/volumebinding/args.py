"""VolumeBindingArgs (upstream ``pkg/scheduler/apis/config``)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid
from framework.configuration.types import Int32, Int64, Written


class StorageCapacityPoint(Written, frozen=True):
    utilization: Int32 = 0
    score: Int32 = 0


class VolumeBindingArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    bind_timeout_seconds: Annotated[
        Int64,
        Meta(description="How long binding may wait for volumes; 0 fails at once.", extra_json_schema={"minimum": 0}),
    ] = 600
    shape: Annotated[
        tuple[StorageCapacityPoint, ...] | None,
        Meta(description="Needs the feature gate StorageCapacityScoring, which is off."),
    ] = None

    def validate(self, path: FieldPath) -> list[FieldError]:
        errors = []
        if self.bind_timeout_seconds < 0:
            errors.append(
                invalid(
                    path.child("bindTimeoutSeconds"),
                    self.bind_timeout_seconds,
                    "invalid BindTimeoutSeconds, should not be a negative value",
                )
            )
        if self.shape is not None:
            shown = [{"Utilization": point.utilization, "Score": point.score} for point in self.shape]
            detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
            errors.append(invalid(path.child("shape"), shown, detail))
        return errors
