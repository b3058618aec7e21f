"""Selectors compiled to matchers (upstream: apimachinery/pkg/labels, component-helpers/scheduling/corev1/nodeaffinity).

A LabelMatcher selects by labels, a NodeSelectorMatcher by a node's labels and name. Both are hashable and equal when
they were made of the same requirements in any order, so counters can be keyed by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from framework.objects.affinity import NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm
from framework.objects.field_errors import FieldError, invalid, not_supported
from framework.objects.metadata import LabelSelector
from framework.objects.names import label_value_errors, qualified_name_errors
from framework.objects.pod import Pod

IN: Final = "In"
NOT_IN: Final = "NotIn"
EXISTS: Final = "Exists"
DOES_NOT_EXIST: Final = "DoesNotExist"
GREATER_THAN: Final = "Gt"
LESS_THAN: Final = "Lt"

NODE_OPERATORS: Final = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST, GREATER_THAN, LESS_THAN)
FIELD_OPERATORS: Final = (IN, NOT_IN)
METADATA_NAME: Final = "metadata.name"

Labels = Mapping[str, str]


class SelectorError(ValueError):
    """A selector that the API server would not accept; the message is upstream's."""


class Requirement(NamedTuple):
    """Values are sorted and distinct: a value named twice is still one value."""

    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, labels: Labels) -> bool:
        value = labels.get(self.key)
        operator = self.operator
        if operator == IN:
            return value is not None and value in self.values
        if operator == NOT_IN:
            return value is None or value not in self.values
        if operator == EXISTS:
            return value is not None
        if operator == DOES_NOT_EXIST:
            return value is None
        return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        """Gt and Lt: both sides are decimal int64; anything else does not match."""
        left = parse_int64(value) if value is not None else None
        right = parse_int64(self.values[0]) if len(self.values) == 1 else None
        if left is None or right is None:
            return False
        return left > right if self.operator == GREATER_THAN else left < right

    def __str__(self) -> str:
        if self.operator in (IN, NOT_IN):
            if len(self.values) == 1:
                return f"{self.key}{'=' if self.operator == IN else '!='}{self.values[0]}"
            return f"{self.key} {'in' if self.operator == IN else 'notin'} ({','.join(self.values)})"
        if self.operator == EXISTS:
            return self.key
        if self.operator == DOES_NOT_EXIST:
            return f"!{self.key}"
        return f"{self.key}{'>' if self.operator == GREATER_THAN else '<'}{','.join(self.values)}"


def make_requirement(key: str, operator: str, values: Iterable[str]) -> Requirement:
    return Requirement(key, operator, tuple(sorted(set(values))))


class LabelMatcher(msgspec.Struct, frozen=True, cache_hash=True, dict=True):
    """All requirements must match; none of them means everything; ``nothing`` matches no labels at all."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    @classmethod
    def from_requirements(cls, requirements: Iterable[Requirement]) -> LabelMatcher:
        return cls(tuple(sorted(set(requirements))))

    @property
    def is_empty(self) -> bool:
        """Restricts nothing (upstream Empty)."""
        return not self.requirements and not self.nothing

    @cached_property
    def _equal_pairs(self) -> tuple[tuple[str, str], ...] | None:
        if self.nothing:
            return None
        pairs = []
        for requirement in self.requirements:
            if requirement.operator != IN or len(requirement.values) != 1:
                return None
            pairs.append((requirement.key, requirement.values[0]))
        return tuple(pairs)

    def matches(self, labels: Labels) -> bool:
        pairs = self._equal_pairs
        if pairs is not None:
            for key, value in pairs:  # noqa: SIM110 (the hot path: a generator costs three times as much)
                if labels.get(key) != value:
                    return False
            return True
        if self.nothing:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    def and_also(self, requirements: Iterable[Requirement]) -> LabelMatcher:
        """Nothing stays nothing."""
        return self if self.nothing else LabelMatcher.from_requirements((*self.requirements, *requirements))

    def __str__(self) -> str:
        """As kubectl shows it: ``app=web,tier in (a,b)``; empty for both everything and nothing."""
        return ",".join(map(str, self.requirements))


EVERYTHING: Final = LabelMatcher()
NOTHING: Final = LabelMatcher(nothing=True)


def compile_label_selector(selector: LabelSelector | None) -> LabelMatcher:
    """None selects nothing, an empty selector everything. Raises SelectorError."""
    if selector is None:
        return NOTHING
    if not selector.match_labels and not selector.match_expressions:
        return EVERYTHING
    requirements = [Requirement(key, IN, (value,)) for key, value in selector.match_labels.items()]
    for requirement in requirements:
        _raise_first(requirement_errors(requirement.key, IN, requirement.values, ""))
    for expression in selector.match_expressions:
        if expression.operator not in (IN, NOT_IN, EXISTS, DOES_NOT_EXIST):
            raise SelectorError(f'"{expression.operator}" is not a valid label selector operator')
        _raise_first(requirement_errors(expression.key, expression.operator, expression.values, ""))
        requirements.append(make_requirement(expression.key, expression.operator, expression.values))
    return LabelMatcher.from_requirements(requirements)


def matcher_from_labels(labels: Labels | None) -> LabelMatcher:
    """Every label as written, unchecked (upstream SelectorFromSet): a nil or empty set selects everything."""
    return LabelMatcher.from_requirements(Requirement(key, IN, (value,)) for key, value in (labels or {}).items())


def _raise_first(errors: list[FieldError]) -> None:
    if errors:
        raise SelectorError(errors[0].text if len(errors) == 1 else f"[{', '.join(e.text for e in errors)}]")


def requirement_errors(key: str, operator: str, values: tuple[str, ...], path: str) -> list[FieldError]:
    """What upstream's NewRequirement refuses."""
    errors = [invalid(_child(path, "key"), key, "; ".join(found))] if (found := qualified_name_errors(key)) else []
    at = _child(path, "values")
    if operator in (IN, NOT_IN):
        if not values:
            errors.append(invalid(at, list(values), "for 'in', 'notin' operators, values set can't be empty"))
    elif operator in (EXISTS, DOES_NOT_EXIST):
        if values:
            errors.append(invalid(at, list(values), "values set must be empty for exists and does not exist"))
    else:
        if len(values) != 1:
            errors.append(invalid(at, list(values), "for 'Gt', 'Lt' operators, exactly one value is required"))
        errors += [
            invalid(f"{at}[{i}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
            for i, value in enumerate(values)
            if parse_int64(value) is None
        ]
    for i, value in enumerate(values):
        if found := label_value_errors(value):
            errors.append(invalid(f"{at}[{i}][{key}]", value, "; ".join(found)))
    return errors


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


def parse_int64(text: str) -> int | None:
    """Go's strconv.ParseInt(text, 10, 64); None is its error."""
    if len(text) > 64 or not INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


@dataclass(frozen=True)
class NodeTermMatcher:
    """One nodeSelectorTerm. A term with a requirement that cannot be parsed matches no node."""

    labels: LabelMatcher
    fields: tuple[Requirement, ...] = ()
    errors: tuple[FieldError, ...] = ()

    def matches(self, labels: Labels, name: str) -> bool:
        if self.errors or not self.labels.matches(labels):
            return False
        # Upstream does not look at matchFields for a node without a name, which has no fields.
        if not name or not self.fields:
            return True
        fields = {METADATA_NAME: name}
        return all(_field_matches(requirement, fields.get(requirement.key, "")) for requirement in self.fields)

    def __str__(self) -> str:
        return ",".join([*map(str, self.labels.requirements), *map(str, self.fields)])


def _field_matches(requirement: Requirement, value: str) -> bool:
    """Upstream reads an unknown field as the empty string."""
    return (value == requirement.values[0]) == (requirement.operator == IN)


def compile_node_term(term: NodeSelectorTerm, path: str = "") -> NodeTermMatcher:
    errors: list[FieldError] = []
    requirements = []
    for i, expression in enumerate(term.match_expressions):
        at = f"{_child(path, 'matchExpressions')}[{i}]"
        if expression.operator not in NODE_OPERATORS:
            errors.append(not_supported(_child(at, "operator"), expression.operator, NODE_OPERATORS))
        elif found := requirement_errors(expression.key, expression.operator, expression.values, at):
            errors += found
        else:
            requirements.append(make_requirement(expression.key, expression.operator, expression.values))
    fields = []
    for i, expression in enumerate(term.match_fields):
        at = f"{_child(path, 'matchFields')}[{i}]"
        if expression.operator not in FIELD_OPERATORS:
            errors.append(not_supported(_child(at, "operator"), expression.operator, FIELD_OPERATORS))
        elif len(expression.values) != 1:
            errors.append(invalid(_child(at, "values"), list(expression.values), "must have one element"))
        else:
            fields.append(make_requirement(expression.key, expression.operator, expression.values))
    return NodeTermMatcher(LabelMatcher.from_requirements(requirements), tuple(sorted(set(fields))), tuple(errors))


def is_empty_term(term: NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


class NodeSelectorMatcher(msgspec.Struct, frozen=True, cache_hash=True, dict=True):
    """``labels`` and, when there are ``terms``, at least one of them; terms that are empty match no node.

    ``terms`` None: no selector was given; (): one without a term that could match.
    """

    labels: LabelMatcher = EVERYTHING
    terms: tuple[NodeTermMatcher, ...] | None = None

    @property
    def is_empty(self) -> bool:
        return self.labels.is_empty and self.terms is None

    @cached_property
    def errors(self) -> tuple[FieldError, ...]:
        """Parse errors of all terms. Matching ignores them: such a term matches nothing."""
        return tuple(error for term in self.terms or () for error in term.errors)

    def matches(self, labels: Labels, name: str) -> bool:
        if not self.labels.matches(labels):
            return False
        return self.terms is None or any(term.matches(labels, name) for term in self.terms)

    def __str__(self) -> str:
        either = " or ".join(f"({term})" for term in self.terms or ())
        return " and ".join(part for part in (str(self.labels), either) if part)


EVERY_NODE: Final = NodeSelectorMatcher(EVERYTHING, None)


def compile_node_selector(
    selector: NodeSelector | None, labels: Labels | None = None, path: str = ""
) -> NodeSelectorMatcher:
    if selector is None and not labels:
        return EVERY_NODE
    terms = None
    if selector is not None:
        at = _child(path, "nodeSelectorTerms")
        terms = tuple(
            compile_node_term(term, f"{at}[{i}]")
            for i, term in enumerate(selector.node_selector_terms)
            if not is_empty_term(term)
        )
    return NodeSelectorMatcher(matcher_from_labels(labels), terms)


def required_node_affinity(pod: Pod) -> NodeSelectorMatcher:
    """spec.nodeSelector and the required node affinity together (upstream GetRequiredNodeAffinity)."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return compile_node_selector(required, pod.spec.node_selector)


class PreferredTerm(NamedTuple):
    weight: int
    term: NodeTermMatcher


def compile_preferred_terms(
    terms: Iterable[PreferredSchedulingTerm], path: str = ""
) -> tuple[tuple[PreferredTerm, ...], tuple[FieldError, ...]]:
    """Terms that count, and parse errors (upstream NewPreferredSchedulingTerms); weight 0 and empty terms are left
    out unread."""
    compiled: list[PreferredTerm] = []
    errors: list[FieldError] = []
    for i, preferred in enumerate(terms):
        if preferred.weight == 0 or is_empty_term(preferred.preference):
            continue
        term = compile_node_term(preferred.preference, f"{path}[{i}]")
        errors += term.errors
        if not term.errors:
            compiled.append(PreferredTerm(preferred.weight, term))
    return tuple(compiled), tuple(errors)


def field_node_names(term: NodeSelectorTerm) -> list[str] | None:
    """Names that the term's matchFields allow by ``metadata.name In (x)``; None when it names none.

    Several such requirements must all hold, so different names leave an empty list.
    """
    allowed: list[str] | None = None
    for expression in term.match_fields:
        if expression.key == METADATA_NAME and expression.operator == IN:
            named: Iterable[str] = (
                expression.values if allowed is None else (value for value in expression.values if value in allowed)
            )
            allowed = sorted(set(named))
    return allowed
