"""The functions of Kubernetes' CEL environment, by name and overload (upstream: apiserver/pkg/cel/environment/base.go,
apiserver/pkg/cel/library; cel-go: ext, common/stdlib)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from framework.cel import lists, strings
from framework.cel.errors import EvaluationError
from framework.cel.values import (
    MAX_UINT64,
    MIN_INT64,
    NONE,
    CelQuantity,
    Optional,
    TypeValue,
    Uint,
    Version,
    equal,
    from_key,
    map_key,
    type_name,
)
from framework.objects.quantity import MAX_INT64, NANOS, QuantityError, is_quantity

Implementation = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Overload:
    """``parameters`` as in cel-go's signatures; a member's first one is its receiver. ``result`` is empty for what the
    library declares itself."""

    id: str
    parameters: tuple[str, ...]
    result: str
    implementation: Implementation
    member: bool = True


def _quantity(text: str) -> CelQuantity:
    try:
        return CelQuantity.parse(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _integer(quantity: CelQuantity) -> int:
    value = quantity.integer()
    if value is None:
        raise EvaluationError("cannot convert value to integer")
    return value


def _whole(value: int) -> CelQuantity:
    return CelQuantity(value * NANOS, 0)


def _semver(text: str, normalize: bool = False) -> Version:
    try:
        return Version.parse_tolerant(text) if normalize else Version.parse(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from error


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _nanos(left: CelQuantity, right: CelQuantity) -> int:
    return _order(left.nanos, right.nanos)


_Q: Final = "kubernetes.Quantity"
_V: Final = "kubernetes.Semver"

KUBERNETES: Final[dict[str, tuple[Overload, ...]]] = {
    "quantity": (Overload("string_to_quantity", ("string",), _Q, _quantity, member=False),),
    "isQuantity": (Overload("is_quantity_string", ("string",), "bool", is_quantity, member=False),),
    "semver": (
        Overload("string_to_semver", ("string",), _V, _semver, member=False),
        Overload("string_bool_to_semver", ("string", "bool"), _V, _semver, member=False),
    ),
    "isSemver": (
        Overload("is_semver_string", ("string",), "bool", _is_semver, member=False),
        Overload("is_semver_string_bool", ("string", "bool"), "bool", _is_semver, member=False),
    ),
    # The quantity's sign() is a plain function upstream (cel/library/quantity.go).
    "sign": (Overload("quantity_sign", (_Q,), "int", lambda q: _order(q.nanos, 0), member=False),),
    "isGreaterThan": (
        Overload("quantity_is_greater_than", (_Q, _Q), "bool", lambda a, b: _nanos(a, b) > 0),
        Overload("semver_is_greater_than", (_V, _V), "bool", lambda a, b: a > b),
    ),
    "isLessThan": (
        Overload("quantity_is_less_than", (_Q, _Q), "bool", lambda a, b: _nanos(a, b) < 0),
        Overload("semver_is_less_than", (_V, _V), "bool", lambda a, b: a < b),
    ),
    "compareTo": (
        Overload("quantity_compare_to", (_Q, _Q), "int", _nanos),
        Overload("semver_compare_to", (_V, _V), "int", _order),
    ),
    "asApproximateFloat": (Overload("quantity_get_float", (_Q,), "double", CelQuantity.approximate),),
    "asInteger": (Overload("quantity_get_int", (_Q,), "int", _integer),),
    "isInteger": (Overload("quantity_is_integer", (_Q,), "bool", lambda q: q.integer() is not None),),
    "add": (
        Overload("quantity_add", (_Q, _Q), _Q, CelQuantity.plus),
        Overload("quantity_add_int", (_Q, "int"), _Q, lambda q, i: q.plus(_whole(i))),
    ),
    "sub": (
        Overload("quantity_sub", (_Q, _Q), _Q, CelQuantity.minus),
        Overload("quantity_sub_int", (_Q, "int"), _Q, lambda q, i: q.minus(_whole(i))),
    ),
    "major": (Overload("semver_major", (_V,), "int", lambda v: v.major),),
    "minor": (Overload("semver_minor", (_V,), "int", lambda v: v.minor),),
    "patch": (Overload("semver_patch", (_V,), "int", lambda v: v.patch),),
    "charAt": (Overload("string_char_at_int", ("string", "int"), "string", strings.char_at),),
    "indexOf": (
        Overload("string_index_of_string", ("string", "string"), "int", strings.index_of),
        Overload("string_index_of_string_int", ("string", "string", "int"), "int", strings.index_of),
        *(
            Overload(f"list_{name}_index_of_int", (f"list<{name}>", name), "int", lists.index_of)
            for name in lists.INDEXED
        ),
    ),
    "lastIndexOf": (
        Overload("string_last_index_of_string", ("string", "string"), "int", strings.last_index_of),
        Overload("string_last_index_of_string_int", ("string", "string", "int"), "int", strings.last_index_of),
        *(
            Overload(f"list_{name}_last_index_of_int", (f"list<{name}>", name), "int", lists.last_index_of)
            for name in lists.INDEXED
        ),
    ),
    "lowerAscii": (Overload("string_lower_ascii", ("string",), "string", strings.lower_ascii),),
    "upperAscii": (Overload("string_upper_ascii", ("string",), "string", strings.upper_ascii),),
    "trim": (Overload("string_trim", ("string",), "string", strings.trim),),
    "replace": (
        Overload("string_replace_string_string", ("string",) * 3, "string", strings.replace),
        Overload("string_replace_string_string_int", (*("string",) * 3, "int"), "string", strings.replace),
    ),
    "split": (
        Overload("string_split_string", ("string", "string"), "list<string>", strings.split),
        Overload("string_split_string_int", ("string", "string", "int"), "list<string>", strings.split),
    ),
    "substring": (
        Overload("string_substring_int", ("string", "int"), "string", strings.substring),
        Overload("string_substring_int_int", ("string", "int", "int"), "string", strings.substring),
    ),
    "join": (
        Overload("list_join", ("list<string>",), "string", strings.join),
        Overload("list_join_string", ("list<string>", "string"), "string", strings.join),
    ),
    "isSorted": tuple(
        Overload(f"list_{name}_is_sorted_bool", (f"list<{name}>",), "bool", lists.is_sorted)
        for name in lists.COMPARABLE
    ),
    "sum": tuple(
        Overload(f"list_{name}_sum_{name}", (f"list<{name}>",), name, implementation)
        for name, implementation in lists.SUMS.items()
    ),
    "max": tuple(
        Overload(f"list_{name}_max_{name}", (f"list<{name}>",), name, lists.largest) for name in lists.COMPARABLE
    ),
    "min": tuple(
        Overload(f"list_{name}_min_{name}", (f"list<{name}>",), name, lists.smallest) for name in lists.COMPARABLE
    ),
}


def includes(target: Any, item: Any) -> bool:
    """Upstream: dynamic-resource-allocation/cel/compile.go, includesFunc."""
    if not isinstance(target, list):
        return _equal_or_not(target, item)
    for position, each in enumerate(target):
        if position >= MAX_ATTRIBUTE_VALUES:
            raise EvaluationError(
                f"'includes' function cannot be applied to lists longer than {MAX_ATTRIBUTE_VALUES} values"
            )
        if _equal_or_not(each, item):
            return True
    return False


def _equal_or_not(left: Any, right: Any) -> bool:
    try:
        return equal(left, right)
    except EvaluationError:
        return False


MAX_ATTRIBUTE_VALUES: Final = 48  # resource.k8s.io/v1: ResourceSliceMaxAttributeValuesPerDevice
INCLUDES: Final = Overload("dra_includes_dyn_dyn", ("dyn", "dyn"), "bool", includes)


# What the library declares: the standard functions and the extensions lists, sets, optional and two-variable
# comprehensions. Keyed by overload.


def _to_int(value: Any) -> int:
    if isinstance(value, str):
        number = strings.parse_number(value, signed=True)
        if number is None or not MIN_INT64 <= number <= MAX_INT64:
            raise EvaluationError("type conversion error from 'string' to 'int'")
        return number
    if isinstance(value, float) and not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("integer overflow")
    if int(value) > MAX_INT64:
        raise EvaluationError("integer overflow")
    return int(value)


def _to_uint(value: Any) -> Uint:
    if isinstance(value, str):
        number = strings.parse_number(value, signed=False)
        if number is None or number > MAX_UINT64:
            raise EvaluationError("type conversion error from 'string' to 'uint'")
        return Uint(number)
    if (isinstance(value, float) and not 0 <= value < 2.0**64) or value < 0:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _to_double(value: Any) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError) as error:
        raise EvaluationError("type conversion error from 'string' to 'double'") from error


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("1", "t", "T", "TRUE", "true", "True"):
        return True
    if value in ("0", "f", "F", "FALSE", "false", "False"):
        return False
    raise EvaluationError("type conversion error from 'string' to 'bool'")


def _to_bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _insert(target: dict[Any, Any], *rest: Any) -> dict[Any, Any]:
    """cel.@mapInsert(map, key, value) and (map, map)."""
    result = dict(target)
    items = rest[0].items() if len(rest) == 1 else ((map_key(rest[0]), rest[1]),)
    for key, value in items:
        if key in result:
            raise EvaluationError(f"insert failed: key {strings.to_string(from_key(key))} already exists")
        result[key] = value
    return result


def _value(optional: Optional) -> Any:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.content


def _of_non_zero(value: Any) -> Optional:
    zero = value is None or (isinstance(value, bool | int | float | str | bytes | list | dict) and not value)
    return NONE if zero else Optional(True, value)


def _unwrap(values: list[Any]) -> list[Any]:
    return [value.content for value in values if value.present]


STANDARD: Final[dict[str, tuple[Overload, ...]]] = {
    "int": (Overload("", ("int|uint|double|string",), "", _to_int),),
    "uint": (Overload("", ("int|uint|double|string",), "", _to_uint),),
    "double": (Overload("", ("int|uint|double|string",), "", _to_double),),
    "string": (Overload("", ("string|bool|bytes|double|int|uint",), "", strings.to_string),),
    "bool": (Overload("", ("bool|string",), "", _to_bool),),
    "bytes": (Overload("", ("bytes|string",), "", _to_bytes),),
    "dyn": (Overload("", ("dyn",), "", lambda value: value),),
    "type": (Overload("", ("dyn",), "", lambda value: TypeValue(type_name(value))),),
    "contains": (Overload("", ("string", "string"), "", lambda text, part: part in text),),
    "startsWith": (Overload("", ("string", "string"), "", str.startswith),),
    "endsWith": (Overload("", ("string", "string"), "", str.endswith),),
    "sets.contains": (Overload("", ("list", "list"), "", lists.set_contains),),
    "sets.equivalent": (Overload("", ("list", "list"), "", lists.set_equivalent),),
    "sets.intersects": (Overload("", ("list", "list"), "", lists.set_intersects),),
    "slice": (Overload("", ("list", "int", "int"), "", lists.cut),),
    "flatten": (
        Overload("", ("list",), "", lists.flatten),
        Overload("", ("list", "int"), "", lists.flatten),
    ),
    "sort": (Overload("", ("list",), "", lists.sort),),
    "@sortByAssociatedKeys": (Overload("", ("list", "list"), "", lists.sort_by),),
    "lists.range": (Overload("", ("int",), "", lists.counted),),
    "reverse": (Overload("", ("list",), "", lambda values: values[::-1]),),
    "distinct": (Overload("", ("list",), "", lists.distinct),),
    "first": (Overload("", ("list",), "", lambda values: Optional(True, values[0]) if values else NONE),),
    "last": (Overload("", ("list",), "", lambda values: Optional(True, values[-1]) if values else NONE),),
    "cel.@mapInsert": (
        Overload("", ("map", "dyn", "dyn"), "", _insert),
        Overload("", ("map", "map"), "", _insert),
    ),
    "optional.of": (Overload("", ("dyn",), "", lambda value: Optional(True, value)),),
    "optional.ofNonZeroValue": (Overload("", ("dyn",), "", _of_non_zero),),
    "optional.none": (Overload("", (), "", lambda: NONE),),
    "optional.unwrap": (Overload("", ("list",), "", _unwrap),),
    "unwrapOpt": (Overload("", ("list",), "", _unwrap),),
    "value": (Overload("", ("optional_type",), "", _value),),
    "hasValue": (Overload("", ("optional_type",), "", lambda optional: optional.present),),
}


def accepts(parameter: str, value: Any) -> bool:
    """Whether a value may be passed (cel-go: common/types, IsAssignableRuntimeType)."""
    if parameter == "dyn":
        return True
    return type_name(value) in parameter.split("<", 1)[0].split("|")
