"""What an evaluation costs and when it is cut off (cel-go: interpreter/runtimecost.go; upstream:
apiserver/pkg/cel/library/cost.go; the limit: resource.k8s.io/v1, CELSelectorExpressionMaxCost)."""

from __future__ import annotations

import math
from typing import Any, Final

from framework.cel.errors import CostExceeded
from framework.cel.syntax import Call, Comprehension, Constant, Node, walk
from framework.cel.values import CelQuantity, Version

LIMIT: Final = 1_000_000
LIST: Final = 10
MAP: Final = 30
"""What cel-go charges for making one, beside its elements."""

# An expression of nothing but these, without loops and long literals, stays far below the limit whatever the device
# is, so nothing is counted: the worst of them, matches(), costs a few thousand on the longest attribute.
_CHEAP: Final = frozenset((
    "_&&_", "_||_", "_?_:_", "_==_", "_!=_", "!_", "-_", "@in", "size", "_-_", "_*_", "_/_", "_%_", "_<_", "_<=_",
    "_>_", "_>=_", "_[_]", "_[?_]", "_?._", "or", "orValue", "value", "hasValue", "contains", "startsWith",
    "endsWith", "matches", "quantity", "isQuantity", "sign", "isGreaterThan", "isLessThan", "compareTo",
    "asApproximateFloat", "asInteger", "isInteger", "add", "sub", "semver", "isSemver", "major", "minor", "patch",
    "lowerAscii", "upperAscii", "trim", "includes", "int", "uint", "double", "bool", "type", "dyn",
))  # fmt: skip
_SHORT: Final = 256
_FEW: Final = 200


def needs_tracking(root: Node) -> bool:
    nodes = list(walk(root))
    return len(nodes) > _FEW or any(map(_may_be_dear, nodes))


def _may_be_dear(node: Node) -> bool:
    match node:
        case Comprehension():
            return True
        case Call():
            return node.function not in _CHEAP
        case Constant():
            return isinstance(node.value, str | bytes) and len(node.value) > _SHORT
    return False


def charge(frame: list[Any], cost: int) -> None:
    frame[0] += cost
    if frame[0] > LIMIT:
        raise CostExceeded("operation cancelled: actual cost limit exceeded")


def size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def _part(count: float, factor: float = 0.1) -> int:
    return math.ceil(count * factor)


_NOMINAL: Final = frozenset((
    "sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub",
    "major", "minor", "patch",
))  # fmt: skip


def of_call(name: str, values: list[Any], result: Any) -> int:
    if name in _NOMINAL or not values:
        return 1
    first = size(values[0])
    match name:
        case "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf":
            return _traversal(values[0])
        case "lowerAscii" | "upperAscii" | "substring" | "trim" | "quantity" | "isQuantity" | "semver" | "isSemver":
            return _part(first)
        case "startsWith" | "endsWith":
            return _part(first)
        case "replace" | "split":
            return _part(first * 2)
        case "join":
            return _part(size(result) * 2)
        case "matches":
            return _part(1 + first) * _part(size(values[1]), 0.25)
        case "contains":
            return _part(first) * _part(size(values[1]))
        case "@in":
            return size(values[1]) if isinstance(values[1], list) else 1
        case "_==_" if isinstance(values[0], CelQuantity | Version):
            return 1
        case "_==_" | "_!=_":
            return _part(min(first, size(values[1])))
        case "_<_" | "_<=_" | "_>_" | "_>=_" if isinstance(values[0], str | bytes):
            return _part(min(first, size(values[1])))
        case "_+_" if isinstance(values[0], str | bytes):
            return _part(first + size(values[1]))
        case "bytes" | "string" if isinstance(values[0], str | bytes):
            return _part(first)
    return _of_list(name, values, first, result)


def _of_list(name: str, values: list[Any], first: int, result: Any) -> int:
    match name:
        case "slice" | "lists.range" | "reverse":
            return 1 + LIST + size(result)
        case "flatten":
            return 1 + LIST + first * (values[1] if len(values) == 2 else 1)
        case "distinct" | "sort" | "@sortByAssociatedKeys":
            compared = values[1] if name == "@sortByAssociatedKeys" else values[0]
            factor = 2.1 if compared and isinstance(compared[0], str | bytes) else 2.0
            return 1 + LIST + math.ceil(factor * len(compared) ** 2)
        case "sets.contains" | "sets.intersects":
            return 1 + first * size(values[1])
        case "sets.equivalent":
            return 1 + 2 * first * size(values[1])
    return 1


def _traversal(value: Any) -> int:
    """Upstream's traversalCost: each string inside is walked as well."""
    if isinstance(value, str | bytes):
        return _part(len(value))
    if isinstance(value, list):
        return sum(1 + _traversal(item) if isinstance(item, str | bytes | list) else 1 for item in value)
    return 1
