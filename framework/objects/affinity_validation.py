"""What the API server checks of selectors, affinity, tolerations and spread constraints, with its texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Final

from framework.objects.affinity import (
    Affinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    Toleration,
    TopologySpreadConstraint,
)
from framework.objects.field_errors import (
    MOST_ERRORS,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from framework.objects.metadata import LabelSelector
from framework.objects.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)
from framework.objects.remembering import MOST_LABELS
from framework.objects.selectors import (
    DOES_NOT_EXIST,
    EXISTS,
    GREATER_THAN,
    IN,
    INTEGER,
    LESS_THAN,
    METADATA_NAME,
    NOT_IN,
    parse_int64,
)
from framework.objects.tolerations import GREATER, LESS, is_decimal

TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"

_NEEDS_VALUES: Final = "must be specified when `operator` is 'In' or 'NotIn'"
_FORBIDS_VALUES: Final = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_MAX_INT32: Final = (1 << 31) - 1


def label_errors(labels: Mapping[str, str], path: str) -> Iterable[FieldError]:
    if len(labels) > MOST_LABELS:
        return islice(_errors_of(labels.items(), path), MOST_ERRORS)
    return _label_errors(tuple(labels.items()), path)


@lru_cache(maxsize=1 << 12)
def _label_errors(labels: tuple[tuple[str, str], ...], path: str) -> tuple[FieldError, ...]:
    """Replicas have the same ones."""
    return tuple(_errors_of(labels, path))


def _errors_of(labels: Iterable[tuple[str, str]], path: str) -> Iterable[FieldError]:
    for key, value in labels:
        yield from label_name_errors(key, path)
        for text in label_value_errors(value):
            yield invalid(path, value, text)


def label_name_errors(name: str, path: str) -> Iterable[FieldError]:
    return [invalid(path, name, text) for text in qualified_name_errors(name)]


def label_selector_errors(selector: LabelSelector | None, path: str) -> Iterable[FieldError]:
    if selector is None:
        return
    yield from label_errors(selector.match_labels, f"{path}.matchLabels")
    for i, expression in enumerate(selector.match_expressions):
        at = f"{path}.matchExpressions[{i}]"
        if expression.operator in (IN, NOT_IN):
            if not expression.values:
                yield required(f"{at}.values", _NEEDS_VALUES)
        elif expression.operator in (EXISTS, DOES_NOT_EXIST):
            if expression.values:
                yield forbidden(f"{at}.values", _FORBIDS_VALUES)
        else:
            yield invalid(f"{at}.operator", expression.operator, "not a valid selector operator")
        yield from label_name_errors(expression.key, f"{at}.key")
        for n, value in enumerate(expression.values):
            for text in label_value_errors(value):
                yield invalid(f"{at}.values[{n}]", value, text)


def node_selector_errors(selector: NodeSelector, path: str) -> Iterable[FieldError]:
    if not selector.node_selector_terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for i, term in enumerate(selector.node_selector_terms):
        yield from _term_errors(term, f"{path}.nodeSelectorTerms[{i}]", check_values=True)


def _term_errors(term: NodeSelectorTerm, path: str, *, check_values: bool) -> Iterable[FieldError]:
    for i, expression in enumerate(term.match_expressions):
        yield from _expression_errors(expression, f"{path}.matchExpressions[{i}]", check_values)
    for i, expression in enumerate(term.match_fields):
        at = f"{path}.matchFields[{i}]"
        if expression.operator in (IN, NOT_IN):
            if len(expression.values) != 1:
                text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
                yield required(f"{at}.values", text)
        else:
            yield invalid(f"{at}.operator", expression.operator, "not a valid selector operator")
        if expression.key != METADATA_NAME:
            yield invalid(f"{at}.key", expression.key, "not a valid field selector key")
        else:
            for n, value in enumerate(expression.values):
                for text in dns1123_subdomain_errors(value):
                    yield invalid(f"{at}.values[{n}]", value, text)


def _expression_errors(expression: NodeSelectorRequirement, at: str, check_values: bool) -> Iterable[FieldError]:
    if expression.operator in (IN, NOT_IN):
        if not expression.values:
            yield required(f"{at}.values", _NEEDS_VALUES)
    elif expression.operator in (EXISTS, DOES_NOT_EXIST):
        if expression.values:
            yield forbidden(f"{at}.values", _FORBIDS_VALUES)
    elif expression.operator in (GREATER_THAN, LESS_THAN):
        if len(expression.values) != 1:
            yield required(f"{at}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(f"{at}.operator", expression.operator, "not a valid selector operator")
    yield from label_name_errors(expression.key, f"{at}.key")
    if check_values:
        for n, value in enumerate(expression.values):
            for text in label_value_errors(value):
                yield invalid(f"{at}.values[{n}]", value, text)


def affinity_errors(affinity: Affinity, path: str) -> Iterable[FieldError]:
    if node := affinity.node_affinity:
        at = f"{path}.nodeAffinity"
        if node.required_during_scheduling_ignored_during_execution is not None:
            yield from node_selector_errors(
                node.required_during_scheduling_ignored_during_execution,
                f"{at}.requiredDuringSchedulingIgnoredDuringExecution",
            )
        for i, preferred in enumerate(node.preferred_during_scheduling_ignored_during_execution or ()):
            here = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{i}]"
            yield from _weight_errors(preferred.weight, here)
            # Values of preferred terms are not checked, as upstream.
            yield from _term_errors(preferred.preference, f"{here}.preference", check_values=False)
    if affinity.pod_affinity:
        yield from _pod_affinity_errors(affinity.pod_affinity, f"{path}.podAffinity")
    if affinity.pod_anti_affinity:
        yield from _pod_affinity_errors(affinity.pod_anti_affinity, f"{path}.podAntiAffinity")


def _weight_errors(weight: int, path: str) -> Iterable[FieldError]:
    if not 1 <= weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _pod_affinity_errors(affinity: PodAffinity | PodAntiAffinity, path: str) -> Iterable[FieldError]:
    for i, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _pod_term_errors(term, f"{path}.requiredDuringSchedulingIgnoredDuringExecution[{i}]")
    for i, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        at = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{i}]"
        yield from _weight_errors(weighted.weight, at)
        yield from _pod_term_errors(weighted.pod_affinity_term, f"{at}.podAffinityTerm")


def _pod_term_errors(term: PodAffinityTerm, path: str) -> Iterable[FieldError]:
    yield from label_selector_errors(term.label_selector, f"{path}.labelSelector")
    yield from label_selector_errors(term.namespace_selector, f"{path}.namespaceSelector")
    for name in term.namespaces:
        for text in dns1123_label_errors(name):
            yield invalid(f"{path}.namespace", name, text)
    yield from _label_keys_errors(term.match_label_keys, term.mismatch_label_keys, term.label_selector, path)
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from label_name_errors(term.topology_key, f"{path}.topologyKey")


def _label_keys_errors(
    match: tuple[str, ...], mismatch: tuple[str, ...], selector: LabelSelector | None, path: str
) -> Iterable[FieldError]:
    for keys, name in ((match, "matchLabelKeys"), (mismatch, "mismatchLabelKeys")):
        if keys and selector is None:
            yield forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set")
        elif keys:
            for i, key in enumerate(keys):
                yield from label_name_errors(key, f"{path}.{name}[{i}]")
    if selector is not None and match:
        # The keys have been merged into the selector by now: one occurrence is theirs, a second is the user's.
        seen = list(selector.match_labels)
        for expression in selector.match_expressions:
            if expression.key in match and expression.key in seen:
                at = f"{path}[{match.index(expression.key)}]"
                yield invalid(at, expression.key, "exists in both matchLabelKeys and labelSelector")
            seen.append(expression.key)
    for i, key in enumerate(match):
        if key in mismatch:
            yield invalid(f"{path}.matchLabelKeys[{i}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def toleration_errors(
    tolerations: tuple[Toleration, ...], path: str, *, comparisons: bool = False
) -> Iterable[FieldError]:
    """``comparisons``: the API server's gate TaintTolerationComparisonOperators."""
    for i, toleration in enumerate(tolerations):
        at = f"{path}[{i}]"
        operator = toleration.operator
        if toleration.key:
            yield from label_name_errors(toleration.key, f"{at}.key")
        elif operator != "Exists":
            text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{at}.operator", operator, text)
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid(f"{at}.effect", toleration.effect, text)
        if operator in ("", "Equal"):
            if found := label_value_errors(toleration.value):
                yield invalid(f"{at}.operator", toleration.value, ";".join(found))
        elif operator == "Exists":
            if toleration.value:
                yield invalid(f"{at}.operator", toleration.value, "value must be empty when `operator` is 'Exists'")
        elif operator in (LESS, GREATER) and comparisons:
            if not is_decimal(toleration.value):
                text = "must be a valid decimal integer in canonical form" if toleration.value else "must be non-empty"
                yield invalid(f"{at}.value", toleration.value, text)
            if parse_int64(toleration.value) is None:
                wrong = "value out of range" if INTEGER.fullmatch(toleration.value) else "invalid syntax"
                text = f"strconv.ParseInt: parsing {json.dumps(toleration.value)}: {wrong}"
                yield invalid(f"{at}.value", toleration.value, text)
        elif operator in (LESS, GREATER):
            yield not_supported(f"{at}.operator", operator, ("Equal", "Exists", "Lt", "Gt"))
        else:
            yield not_supported(f"{at}.operator", operator, ("Equal", "Exists"))
        if toleration.effect and toleration.effect not in TAINT_EFFECTS:
            yield not_supported(f"{at}.effect", toleration.effect, TAINT_EFFECTS)


def spread_errors(constraints: tuple[TopologySpreadConstraint, ...], path: str) -> Iterable[FieldError]:
    for i, constraint in enumerate(constraints):
        at = f"{path}[{i}]"
        when = constraint.when_unsatisfiable
        if constraint.max_skew <= 0:
            yield invalid(f"{at}.maxSkew", constraint.max_skew, "must be greater than zero")
        elif constraint.max_skew > _MAX_INT32:
            yield invalid(f"{at}.maxSkew", constraint.max_skew, f"must be less than or equal to {_MAX_INT32}")
        if not constraint.topology_key:
            yield required(f"{at}.topologyKey", "can not be empty")
        if when not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
            yield not_supported(f"{at}.whenUnsatisfiable", when, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
        if any((c.topology_key, c.when_unsatisfiable) == (constraint.topology_key, when) for c in constraints[i + 1 :]):
            yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{constraint.topology_key}, {when}}}")
        if constraint.min_domains is not None:
            if constraint.min_domains <= 0:
                yield invalid(f"{at}.minDomains", constraint.min_domains, "must be greater than zero")
            if when != DO_NOT_SCHEDULE:
                text = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}, not {when}"
                yield invalid(f"{at}.minDomains", constraint.min_domains, text)
        for name, policy in (
            ("nodeAffinityPolicy", constraint.node_affinity_policy),
            ("nodeTaintsPolicy", constraint.node_taints_policy),
        ):
            if policy is not None and policy not in ("Honor", "Ignore"):
                yield not_supported(f"{at}.{name}", policy, ("Honor", "Ignore"))
        yield from _label_keys_errors(constraint.match_label_keys, (), constraint.label_selector, at)
        yield from label_selector_errors(constraint.label_selector, f"{at}.labelSelector")
