"""Label and field selectors, as far as the API server knows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tests.apiserver import statuses

Labels = Mapping[str, str]
Test = Callable[[Labels], bool]

_SET = re.compile(r"^\s*([^\s!=,()]+)\s+(in|notin)\s*\(([^)]*)\)\s*$")
_EQUAL = re.compile(r"^\s*([^\s!=,()]+)\s*(==|=|!=)\s*([^\s!=,()]*)\s*$")
_EXISTS = re.compile(r"^\s*(!?)\s*([^\s!=,()]+)\s*$")
_COMMAS = re.compile(r",(?![^(]*\))")


def labels_match(selector: str) -> Test:
    """What a ``labelSelector`` asks; 400 where it cannot be read."""
    tests = [_requirement(part) for part in _COMMAS.split(selector)] if selector.strip() else []
    return lambda labels: all(test(labels) for test in tests)


def _requirement(text: str) -> Test:
    if found := _SET.match(text):
        key, operator, written = found.groups()
        values = {value.strip() for value in written.split(",")}
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if found := _EQUAL.match(text):
        key, operator, value = found.groups()
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if found := _EXISTS.match(text):
        no, key = found.groups()
        return lambda labels: (key in labels) is not bool(no)
    raise statuses.bad_request(f"unable to parse requirement: {text!r}")


def field_terms(selector: str) -> list[tuple[str, bool, str]]:
    """``a=b,c!=d`` as (field, wanted equal, value)."""
    terms = []
    for part in selector.split(",") if selector.strip() else []:
        found = _EQUAL.match(part)
        if not found:
            raise statuses.bad_request(f"invalid selector: '{selector}'; can't understand '{part}'")
        field, operator, value = found.groups()
        terms.append((field, operator != "!=", value))
    return terms
