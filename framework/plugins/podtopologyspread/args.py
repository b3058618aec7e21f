"""Arguments of PodTopologySpread: constraints for pods that bring none.

Rules: docs/semantics/plugins.md#podtopologyspread.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import (
    FieldError,
    FieldPath,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from framework.configuration.names import validate_label_name
from framework.objects import TopologySpreadConstraint
from framework.sentences import noted

SYSTEM_DEFAULTING: Final = "System"
LIST_DEFAULTING: Final = "List"
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")


class PodTopologySpreadArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    default_constraints: Annotated[
        tuple[TopologySpreadConstraint, ...],
        Meta(description=noted("For pods that define none; the selector comes from the pod's Services and owner.")),
    ] = ()
    defaulting_type: Annotated[
        str,
        Meta(
            description=noted("System: kube-scheduler's own constraints. List: the ones given here."),
            extra_json_schema={"enum": [SYSTEM_DEFAULTING, LIST_DEFAULTING]},
        ),
    ] = SYSTEM_DEFAULTING

    def defaulted(self) -> PodTopologySpreadArgs:
        return self if self.defaulting_type else PodTopologySpreadArgs(default_constraints=self.default_constraints)

    def validate(self, path: FieldPath) -> list[FieldError]:
        constraints, errors = self.default_constraints, []
        at = path.child("defaultingType")
        if self.defaulting_type not in (SYSTEM_DEFAULTING, LIST_DEFAULTING):
            errors.append(not_supported(at, self.defaulting_type, (SYSTEM_DEFAULTING, LIST_DEFAULTING)))
        elif self.defaulting_type == SYSTEM_DEFAULTING and constraints:
            errors.append(invalid(at, self.defaulting_type, "when .defaultConstraints are not empty"))
        for i, constraint in enumerate(constraints):
            here = path.child("defaultConstraints").index(i)
            errors += _validate_constraint(constraint, here)
            if any(_same_rule(constraint, earlier) for earlier in constraints[:i]):
                errors.append(duplicate(here, f"{{{constraint.topology_key}, {constraint.when_unsatisfiable}}}"))
        return errors


def _validate_constraint(constraint: TopologySpreadConstraint, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    if constraint.max_skew <= 0:
        errors.append(invalid(path.child("maxSkew"), constraint.max_skew, "not in valid range (0, inf)"))
    key = path.child("topologyKey")
    if not constraint.topology_key:
        errors.append(required(key, "can not be empty"))
    else:
        errors += validate_label_name(constraint.topology_key, key)
    action = path.child("whenUnsatisfiable")
    if not constraint.when_unsatisfiable:
        errors.append(required(action, "can not be empty"))
    elif constraint.when_unsatisfiable not in _ACTIONS:
        errors.append(not_supported(action, constraint.when_unsatisfiable, _ACTIONS))
    if constraint.label_selector is not None:
        errors.append(
            forbidden(
                path.child("labelSelector"), "constraint must not define a selector, as they deduced for each pod"
            )
        )
    return errors


def _same_rule(one: TopologySpreadConstraint, other: TopologySpreadConstraint) -> bool:
    return (one.topology_key, one.when_unsatisfiable) == (other.topology_key, other.when_unsatisfiable)
