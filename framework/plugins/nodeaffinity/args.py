"""Arguments of NodeAffinity: affinity added to every pod of the profile (docs/semantics/plugins.md#nodeaffinity)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from framework.configuration.catalogue import PluginArgs
from framework.configuration.errors import FieldError, FieldPath, invalid, not_supported
from framework.configuration.names import label_key_errors, label_value_errors
from framework.objects import NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.affinity import NotGiven
from framework.sentences import noted

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS: Final = ("In", "NotIn")
_INTEGER: Final = re.compile(r"[-+]?[0-9]+", re.ASCII)


class NodeAffinityArgs(PluginArgs, frozen=True):
    VALIDATED_BY: ClassVar[Literal["configuration", "constructor"]] = "configuration"

    added_affinity: Annotated[
        NodeAffinity | None,
        Meta(description=noted("Applies to all pods of the profile, beside their own node affinity.")),
    ] = None

    def validate(self, path: FieldPath) -> list[FieldError]:
        if self.added_affinity is None:
            return []
        errors: list[FieldError] = []
        at = path.child("addedAffinity")
        needed = self.added_affinity.required_during_scheduling_ignored_during_execution
        if needed is not None:
            terms = at.child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
            for i, term in enumerate(needed.node_selector_terms):
                errors += _validate_term(term, terms.index(i))
        preferred = self.added_affinity.preferred_during_scheduling_ignored_during_execution or ()
        for i, weighted in enumerate(preferred):
            if weighted.weight == 0:
                continue  # never parsed, so never wrong
            # Upstream's path leaves out "preference".
            here = at.child("preferredDuringSchedulingIgnoredDuringExecution").index(i)
            errors += _validate_term(weighted.preference, here)
        return errors


def _validate_term(term: NodeSelectorTerm, path: FieldPath) -> list[FieldError]:
    errors: list[FieldError] = []
    for i, expression in enumerate(term.match_expressions):
        errors += _validate_expression(expression, path.child("matchExpressions").index(i))
    for i, expression in enumerate(term.match_fields):
        errors += _validate_field(expression, path.child("matchFields").index(i))
    return errors


def _validate_expression(expression: NodeSelectorRequirement, path: FieldPath) -> list[FieldError]:
    values, operator = expression.values, expression.operator
    if operator not in _OPERATORS:
        return [not_supported(path.child("operator"), operator, _OPERATORS)]
    errors: list[FieldError] = []
    if wrong := label_key_errors(expression.key):
        errors.append(invalid(path.child("key"), expression.key, "; ".join(wrong)))
    at = path.child("values")
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(invalid(at, _as_given(values), "for 'in', 'notin' operators, values set can't be empty"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(invalid(at, values, "values set must be empty for exists and does not exist"))
    else:
        if len(values) != 1:
            errors.append(invalid(at, _as_given(values), "for 'Gt', 'Lt' operators, exactly one value is required"))
        for i, value in enumerate(values):
            if not _is_int64(value):
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                errors.append(invalid(at.index(i), value, detail))
    for i, value in enumerate(values):
        if wrong := label_value_errors(value):
            errors.append(invalid(at.index(i).key(expression.key), value, "; ".join(wrong)))
    return errors


def _validate_field(expression: NodeSelectorRequirement, path: FieldPath) -> list[FieldError]:
    if expression.operator not in _FIELD_OPERATORS:
        return [not_supported(path.child("operator"), expression.operator, _FIELD_OPERATORS)]
    if len(expression.values) != 1:
        return [invalid(path.child("values"), _as_given(expression.values), "must have one element")]
    return []


def _as_given(values: tuple[str, ...]) -> Sequence[str]:
    """A list that was written stays one, also an empty one."""
    return values if isinstance(values, NotGiven) else list(values)


def _is_int64(text: str) -> bool:
    return len(text) <= 20 and bool(_INTEGER.fullmatch(text)) and -(2**63) <= int(text) < 2**63
