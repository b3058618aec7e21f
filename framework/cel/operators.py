"""Operators of CEL on values (cel-go: common/types, interpreter/attributes.go)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from framework.cel import lists
from framework.cel.check import regex_matches
from framework.cel.errors import EvaluationError, no_such_overload
from framework.cel.values import (
    MAX_UINT64,
    MIN_INT64,
    DomainMap,
    Optional,
    Uint,
    compare,
    equal,
    from_key,
    keys,
    map_key,
    shown,
    type_name,
)
from framework.objects.quantity import MAX_INT64

# Types whose values cannot even be tried (cel-go: the traits of common/types); the text then names the operator.
_NO_ARITHMETIC: Final = frozenset(
    ("kubernetes.Quantity", "kubernetes.Semver", "map", "bool", "null_type", "type", "optional_type")
)


def find(value: Any, key: Any) -> tuple[Any, bool]:
    """(what is there, whether something is): has() and optional selection."""
    if type(value) is DomainMap:
        if not isinstance(key, str):
            return None, False
        return value.get(key, {}), True
    if isinstance(value, dict):
        place = map_key(key)
        return (value[place], True) if _hashable(place) and place in value else (None, False)
    if isinstance(value, list):
        at = _position(key)
        return (value[at], True) if 0 <= at < len(value) else (None, False)
    if isinstance(value, Optional):
        return find(value.content, key) if value.present else (None, False)
    return None, False


def index(value: Any, key: Any) -> Any:
    """``value[key]`` and ``value.key``."""
    if isinstance(value, Optional):
        found, present = find(value, key)
        return Optional(present, found)
    if isinstance(value, list):
        at = _position(key)
        if not 0 <= at < len(value):
            raise EvaluationError(f"index out of bounds: {at}")
        return value[at]
    found, present = find(value, key)
    if not present:
        raise EvaluationError(f"no such key: {shown(key)}")
    return found


def _hashable(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _position(key: Any) -> int:
    if isinstance(key, bool) or not isinstance(key, int | float):
        raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")
    if isinstance(key, float) and (math.isinf(key) or math.isnan(key) or key != int(key)):
        raise EvaluationError(f"unsupported index value {key} in list")
    return int(key)


def pairs(source: Any, *, two: bool) -> Iterable[tuple[Any, Any]]:
    """What a comprehension walks: (item, None) and with two variables (position or key, item)."""
    if isinstance(source, list):
        return enumerate(source) if two else ((item, None) for item in source)
    if isinstance(source, dict):
        # Go walks maps in no order; ours is that of the device.
        return ((from_key(key), item) for key, item in source.items()) if two else ((key, None) for key in keys(source))
    kind = _GO_TYPES.get(type_name(source), type_name(source))
    if two:
        raise EvaluationError(f"unsupported comprehension range type: {kind}")
    raise EvaluationError(f"got '{kind}', expected iterable type")


_GO_TYPES: Final = {
    "int": "types.Int",
    "uint": "types.Uint",
    "double": "types.Double",
    "bool": "types.Bool",
    "string": "types.String",
    "bytes": "types.Bytes",
    "null_type": "types.Null",
    "kubernetes.Semver": "cel.Semver",
    "kubernetes.Quantity": "cel.Quantity",
    "optional_type": "*types.Optional",
}


def matches(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str):
        raise EvaluationError("no such overload: matches")
    if not isinstance(pattern, str):
        raise no_such_overload()
    verdict = regex_matches(pattern, text)
    if verdict is None:
        raise EvaluationError(f"error parsing regexp: {pattern}")
    return verdict


def _in(item: Any, source: Any) -> bool:
    if isinstance(source, list):
        return lists.contains(source, item)
    if isinstance(source, dict):
        return _hashable(item) and map_key(item) in source
    raise no_such_overload()


def _not_equal(left: Any, right: Any) -> bool:
    """An error of == counts as unequal (cel-go: interpretable.go, evalNe)."""
    try:
        return not equal(left, right)
    except EvaluationError:
        return True


def _not(value: Any) -> bool:
    if type(value) is not bool:
        raise no_such_overload()
    return not value


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise EvaluationError("no such overload: size")


def _bounded(value: int, like: Any) -> int:
    if type(like) is Uint:
        if not 0 <= value <= MAX_UINT64:
            raise EvaluationError("unsigned integer overflow")
        return Uint(value)
    if not MIN_INT64 <= value <= MAX_INT64:
        raise EvaluationError("integer overflow")
    return value


def _arithmetic(name: str, whole: Callable[[int, int], int], real: Callable[[float, float], float] | None) -> Any:
    def run(left: Any, right: Any) -> Any:
        if type(left) is not type(right):
            _refuse(name, left)
        if type(left) is int or type(left) is Uint:
            return _bounded(whole(int(left), int(right)), left)
        if type(left) is float and real is not None:
            return real(left, right)
        if name == "_+_" and type(left) in (str, bytes, list):
            return left + right
        raise EvaluationError(f"no such overload: {name}")

    return run


def _refuse(name: str, left: Any) -> None:
    kind = type_name(left)
    lacks = kind in _NO_ARITHMETIC or (kind in ("string", "bytes", "list") and name != "_+_")
    raise EvaluationError(f"no such overload: {name}") if lacks else no_such_overload()


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _modulo(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if left == MIN_INT64 and right == -1:
        raise EvaluationError("integer overflow")  # cel-go: common/types/overflow.go
    return left - _divide(left, right) * right


def _divide_real(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1, right)
    return left / right


def _negate(value: Any) -> Any:
    if type(value) is int:
        return _bounded(-value, value)
    if type(value) is float:
        return -value
    raise EvaluationError("no such overload: -_")


def _ordered(name: str, accept: tuple[int, ...]) -> Callable[[Any, Any], bool]:
    def run(left: Any, right: Any) -> bool:
        return compare(left, right, name) in accept

    return run


TABLE: Final[dict[str, Callable[..., Any]]] = {
    "_==_": equal,
    "_!=_": _not_equal,
    "!_": _not,
    "-_": _negate,
    "@in": _in,
    "size": _size,
    "_+_": _arithmetic("_+_", int.__add__, float.__add__),
    "_-_": _arithmetic("_-_", int.__sub__, float.__sub__),
    "_*_": _arithmetic("_*_", int.__mul__, float.__mul__),
    "_/_": _arithmetic("_/_", _divide, _divide_real),
    "_%_": _arithmetic("_%_", _modulo, None),
    "_<_": _ordered("_<_", (-1,)),
    "_<=_": _ordered("_<=_", (-1, 0)),
    "_>_": _ordered("_>_", (1,)),
    "_>=_": _ordered("_>=_", (1, 0)),
}
