"""Plugins of kube-scheduler that are not built here yet: names, extension points and arguments, no behaviour.

They stay in the effective plugin set marked "not evaluated yet", their arguments are decoded and validated as upstream
does, and pods they would have judged carry a warning (design §11.7). The last three are registered but off by default.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from framework.configuration.catalogue import CatalogueEntry, ExtensionPoint, PluginArgs
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


_P = ExtensionPoint


def _absent(
    name: str, description: str, *points: ExtensionPoint, args_type: type[PluginArgs] | None = None
) -> CatalogueEntry:
    return CatalogueEntry(name, frozenset(points), args_type, description, evaluated=False)


NOT_EVALUATED_YET: Final = (
    _absent(
        "VolumeRestrictions",
        "Keeps pods apart that cannot share a volume.",
        _P.PRE_FILTER,
        _P.FILTER,
    ),
    _absent(
        "NodeVolumeLimits",
        "Keeps a node within the number of volumes its CSI drivers can attach.",
        _P.PRE_FILTER,
        _P.FILTER,
    ),
    _absent(
        "VolumeBinding",
        "Finds nodes where the pod's volumes are, or can be bound or provisioned.",
        _P.PRE_FILTER,
        _P.FILTER,
        _P.PRE_SCORE,
        _P.SCORE,
        _P.RESERVE,
        _P.PRE_BIND,
        args_type=VolumeBindingArgs,
    ),
    _absent(
        "VolumeZone",
        "Keeps a pod in the zone of its volumes.",
        _P.PRE_FILTER,
        _P.FILTER,
    ),
    _absent(
        "GangScheduling",
        "Holds the pods of a group until enough of them can run (feature gate GangScheduling, off).",
        _P.PRE_ENQUEUE,
        _P.PERMIT,
    ),
    _absent(
        "TopologyPlacementGenerator",
        "Proposes placements for pod groups (feature gate TopologyAwareWorkloadScheduling, off).",
        _P.PLACEMENT_GENERATE,
    ),
    _absent(
        "PodGroupPodsCount",
        "Scores placements of pod groups (feature gate TopologyAwareWorkloadScheduling, off).",
        _P.PLACEMENT_SCORE,
    ),
)
