"""List and set functions (upstream: apiserver/pkg/cel/library/lists.go; cel-go: ext/lists.go, ext/sets.go)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from framework.cel.errors import EvaluationError
from framework.cel.values import MAX_UINT64, MIN_INT64, Uint, compare, same, type_name
from framework.objects.quantity import MAX_INT64

List = list[Any]
COMPARABLE: Final = ("int", "uint", "double", "bool", "string", "bytes")
# Upstream's overload takes any element type; the library cannot declare type parameters, so these are spelled out.
INDEXED: Final = (*COMPARABLE, "kubernetes.Quantity", "kubernetes.Semver")
LONGEST_RANGE: Final = 1_000_000  # a bound of ours; the cost limit is the same number


def is_sorted(values: List) -> bool:
    return all(compare(a, b, "isSorted") <= 0 for a, b in pairwise(values))


def _extreme(name: str, sign: int) -> Callable[[List], Any]:
    def find(values: List) -> Any:
        if not values:
            raise EvaluationError(f"{name} called on empty list")
        best = values[0]
        for value in values[1:]:
            if compare(value, best, name) == sign:
                best = value
        return best

    return find


largest: Final = _extreme("max", 1)
smallest: Final = _extreme("min", -1)


def _sum_int(values: List) -> int:
    total = 0
    for value in values:
        total += value
        if not MIN_INT64 <= total <= MAX_INT64:
            raise EvaluationError("integer overflow")
    return total


def _sum_uint(values: List) -> Uint:
    total = 0
    for value in values:
        total += int(value)
        if total > MAX_UINT64:
            raise EvaluationError("unsigned integer overflow")
    return Uint(total)


def _sum_double(values: List) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


SUMS: Final[dict[str, Callable[[List], Any]]] = {"int": _sum_int, "uint": _sum_uint, "double": _sum_double}


def index_of(values: List, item: Any) -> int:
    return next((position for position, value in enumerate(values) if same(value, item)), -1)


def last_index_of(values: List, item: Any) -> int:
    return next((position for position in reversed(range(len(values))) if same(values[position], item)), -1)


def contains(values: List, item: Any) -> bool:
    return any(same(item, value) for value in values)


def set_contains(values: List, part: List) -> bool:
    return all(contains(values, item) for item in part)


def set_equivalent(left: List, right: List) -> bool:
    return set_contains(left, right) and set_contains(right, left)


def set_intersects(left: List, right: List) -> bool:
    return any(contains(right, item) for item in left)


def cut(values: List, start: int, end: int) -> List:
    call = f"cannot slice({start}, {end})"
    if start < 0 or end < 0:
        raise EvaluationError(f"{call}, negative indexes not supported")
    if start > end:
        raise EvaluationError(f"{call}, start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"{call}, list is length {len(values)}")
    return values[start:end]


def flatten(values: List, depth: int = 1) -> List:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    result: List = []
    for value in values:
        if isinstance(value, list) and depth > 0:
            result.extend(flatten(value, depth - 1))
        else:
            result.append(value)
    return result


def sort(values: List) -> List:
    return sort_by(values, values)


def sort_by(values: List, keys: List) -> List:
    if len(values) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got "
            f"{len(values)} and {len(keys)} elements respectively"
        )
    if not values:
        return values
    if type_name(keys[0]) not in COMPARABLE:
        raise EvaluationError("list elements must be comparable")
    if len(values) > 1 and any(type_name(key) != type_name(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")

    def by_key(left: int, right: int) -> int:
        return compare(keys[left], keys[right], "sort")

    order = sorted(range(len(keys)), key=cmp_to_key(by_key))
    return [values[position] for position in order]


def counted(size: int) -> List:
    if size > LONGEST_RANGE:
        raise EvaluationError(f"lists.range({size}) is longer than {LONGEST_RANGE}, the bound of this playground")
    return list(range(size))


def distinct(values: List) -> List:
    result: List = []
    for value in values:
        if not any(same(value, other) for other in result):
            result.append(value)
    return result
