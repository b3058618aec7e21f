"""Strict decoding of a node tree into Structs, with every problem and its place.

Go's decoder stops at the first value of a wrong type and otherwise lists all unknown and repeated fields; we find all
of both, and keep which of them upstream would report. Constraints of ``Meta`` (ge, le, …) are not checked here: ranges
are validation, with upstream's texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import inspect

from framework.configuration.durations import InvalidDuration, parse_duration
from framework.configuration.errors import ROOT, FieldPath, did_you_mean, go_quote
from framework.configuration.source import Node
from framework.sentences import Words, sentence

_GO_RANGES: Final = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}


@dataclass(frozen=True, slots=True)
class DecodingProblem:
    """``fatal``: a value of the wrong type, which upstream reports alone."""

    path: FieldPath
    """From the root of the decoded value."""
    text: str
    message: Words
    node: Node
    fatal: bool
    hint: Words = ""


def decode(
    node: Node, into: type[msgspec.Struct], *, allowed: Sequence[str] = (), yaml: bool = False
) -> tuple[Any, list[DecodingProblem]]:
    """An ``into`` from ``node`` and what is wrong with it; unusable parts are left at their defaults.

    ``allowed``: keys of the outermost mapping that are read elsewhere (apiVersion, kind). YAML reaches Go's decoder by
    way of a map, which sorts the keys: the order of problems follows.
    """
    decoder = _Decoder(sort_keys=yaml, allowed=frozenset(allowed))
    if yaml:
        decoder.repeated_yaml_keys(node)
    value = decoder.struct(node, _struct_info(into), ROOT, ())
    return value, decoder.problems


@cache
def _struct_info(type_: type[msgspec.Struct]) -> inspect.StructType:
    info = inspect.type_info(type_)
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"{type_.__name__} is no msgspec Struct")
    return info


class _Decoder:
    def __init__(self, *, sort_keys: bool, allowed: frozenset[str]) -> None:
        self.problems: list[DecodingProblem] = []
        self._sort_keys = sort_keys
        self._allowed = allowed
        # Go's name of the Struct being filled and the fields on the way to it, for its type errors.
        self._struct_name = ""

    def repeated_yaml_keys(self, node: Node, path: FieldPath = ROOT) -> None:
        seen: set[str] = set()
        for key, value in node.entries:
            name = str(key.value)
            if name in seen:
                text = f"yaml: unmarshal errors:\n  line {key.line}: key {go_quote(name)} already set in map"
                self.problems.append(
                    DecodingProblem(path.child(name), text, f"duplicate field {go_quote(name)}", key, fatal=False)
                )
            seen.add(name)
            self.repeated_yaml_keys(value, path.child(name))
        for i, item in enumerate(node.items):
            self.repeated_yaml_keys(item, path.index(i))

    def struct(self, node: Node, info: inspect.StructType, path: FieldPath, fields: tuple[str, ...]) -> Any:
        outer = self._struct_name
        if node.kind != "mapping":
            if node.kind != "scalar" or node.value is not None:
                self._mismatch(node, _go_struct(info.cls), path, fields)
            return info.cls()
        self._struct_name = info.cls.__name__
        known = {field.encode_name: field for field in info.fields}
        values: dict[str, Any] = {}
        self._repeated(node, path)
        pairs = list(node.pairs())
        if self._sort_keys:
            pairs.sort(key=lambda pair: pair[0])
        for name, key, value in pairs:
            field = known.get(name)
            if field is None:
                if path.parts or name not in self._allowed:
                    self._unknown(name, key, path, [*known, *self._allowed])
                continue
            self._struct_name = info.cls.__name__
            if _is_null(value):
                if _is_duration(field.type) and field.default == "0s":  # a pointer would stay nil
                    self._duration(value, path.child(name), (*fields, name))
                continue  # null leaves a field as it is, in Go too, but for a duration, which reads it as ""
            values[field.name] = self.value(value, field.type, path.child(name), (*fields, name))
        self._struct_name = outer
        return info.cls(**{name: value for name, value in values.items() if value is not msgspec.UNSET})

    def value(self, node: Node, type_: inspect.Type, path: FieldPath, fields: tuple[str, ...], go: str = "") -> Any:
        """The value, or UNSET when it cannot be used."""
        match type_:
            case inspect.Metadata():
                extra = type_.extra or {}
                return self.value(node, type_.type, path, fields, str(extra.get("go", go)))
            case inspect.UnionType():
                return self._union(node, type_, path, fields, go)
            case inspect.StructType():
                return self.struct(node, type_, path, fields)
            case inspect.VarTupleType() | inspect.ListType():
                return self._list(node, type_, path, fields)
            case inspect.DictType():
                return self._dict(node, type_, path, fields)
            case inspect.AnyType():
                self._repeated_inside(node, path)
                return node.to_value()
            case _:
                return self._scalar(node, type_, path, fields, go)

    def _union(self, node: Node, type_: inspect.UnionType, path: FieldPath, fields: tuple[str, ...], go: str) -> Any:
        members = [member for member in type_.types if not isinstance(member, inspect.NoneType)]
        for member in members[:-1]:
            attempt = _Decoder(sort_keys=self._sort_keys, allowed=frozenset())
            attempt._struct_name = self._struct_name
            value = attempt.value(node, member, path, fields, go)
            if not attempt.problems:
                return value
        return self.value(node, members[-1], path, fields, go)

    def _list(
        self, node: Node, type_: inspect.VarTupleType | inspect.ListType, path: FieldPath, fields: tuple[str, ...]
    ) -> Any:
        if node.kind != "sequence":
            return self._mismatch(node, f"[]{_go_name(type_.item_type)}", path, fields)
        items = []
        for i, item in enumerate(node.items):
            value = (
                self.value(item, type_.item_type, path.index(i), fields)
                if not _is_null(item)
                else _zero(type_.item_type)
            )
            if value is not msgspec.UNSET:
                items.append(value)
        return tuple(items) if isinstance(type_, inspect.VarTupleType) else items

    def _dict(self, node: Node, type_: inspect.DictType, path: FieldPath, fields: tuple[str, ...]) -> Any:
        if node.kind != "mapping":
            return self._mismatch(node, f"map[string]{_go_name(type_.value_type)}", path, fields)
        self._repeated(node, path)
        values = {
            name: self.value(value, type_.value_type, path.child(name), (*fields, name))
            for name, _, value in node.pairs()
            if not _is_null(value)
        }
        return {name: value for name, value in values.items() if value is not msgspec.UNSET}

    def _scalar(self, node: Node, type_: inspect.Type, path: FieldPath, fields: tuple[str, ...], go: str) -> Any:
        got = node.value if node.kind == "scalar" else msgspec.UNSET
        if go == "duration":
            return self._duration(node, path, fields)
        match type_:
            case inspect.StrType() if isinstance(got, str):
                return got
            case inspect.LiteralType() if isinstance(got, str):
                return got  # unsupported values are for validation to name
            case inspect.BoolType() if isinstance(got, bool):
                return got
            case inspect.FloatType() if isinstance(got, int | float) and not isinstance(got, bool):
                return float(got)
            case inspect.IntType() if isinstance(got, int | float) and not isinstance(got, bool):
                return self._integer(node, path, fields, go or "int32")
        return self._mismatch(node, _go_name(type_, go), path, fields)

    def _integer(self, node: Node, path: FieldPath, fields: tuple[str, ...], go: str) -> Any:
        number = node.value
        low, high = _GO_RANGES[go]
        # YAML's 10.0 arrives at Go as 10, JSON's 10.0 does not.
        if isinstance(number, float) and self._sort_keys and number.is_integer():
            number = int(number)
        if isinstance(number, int) and low <= number <= high:
            return number
        return self._mismatch(node, go, path, fields, f"number {number}")

    def _duration(self, node: Node, path: FieldPath, fields: tuple[str, ...]) -> Any:
        if not _is_null(node) and (node.kind != "scalar" or not isinstance(node.value, str)):
            text = f"json: cannot unmarshal {json_type(node)} into {self._go_field(fields)} of type string"
            message = sentence("must be a duration such as 15s or 2m30s, not {given}", given=_article(node))
            return self._fatal(node, path, text, message)
        try:
            parse_duration(node.value or "")
        except InvalidDuration as error:
            return self._fatal(node, path, str(error), str(error))
        return node.value

    def _mismatch(self, node: Node, go: str, path: FieldPath, fields: tuple[str, ...], shown: str = "") -> Any:
        shown = shown or json_type(node)
        if fields:
            text = f"json: cannot unmarshal {shown} into {self._go_field(fields)}"
        else:
            text = f"json: cannot unmarshal {shown} into Go value"
        wanted = _PLAIN.get(go) or (_A_LIST if go.startswith("[]") else _A_MAPPING)
        given = shown.removeprefix("number ") if shown.startswith("number ") else _article(node)
        message = sentence("must be {wanted}, not {given}", wanted=wanted, given=given)
        return self._fatal(node, path, f"{text} of type {go}", message)

    def _go_field(self, fields: tuple[str, ...]) -> str:
        """Go names the Struct that two of the fields are embedded in."""
        embedded = "DebuggingConfiguration." if fields[0] in _EMBEDDED else ""
        return f"Go struct field {self._struct_name}.{embedded}{'.'.join(fields)}"

    def _fatal(self, node: Node, path: FieldPath, text: str, message: Words) -> Any:
        self.problems.append(DecodingProblem(path, text, message, node, fatal=True))
        return msgspec.UNSET

    def _unknown(self, name: str, key: Node, path: FieldPath, known: list[str]) -> None:
        text = f"unknown field {go_quote(str(path.child(name)))}"
        meant = did_you_mean(name, known)
        self.problems.append(DecodingProblem(path.child(name), text, text, key, fatal=False, hint=meant))

    def _repeated(self, node: Node, path: FieldPath) -> None:
        if self._sort_keys:
            return  # YAML's were found before decoding
        seen: set[str] = set()
        for key, _ in node.entries:
            name = str(key.value)
            if name in seen:
                text = f"duplicate field {go_quote(str(path.child(name)))}"
                self.problems.append(DecodingProblem(path.child(name), text, text, key, fatal=False))
            seen.add(name)

    def _repeated_inside(self, node: Node, path: FieldPath) -> None:
        self._repeated(node, path)
        for name, _, value in node.pairs():
            self._repeated_inside(value, path.child(name))
        for i, item in enumerate(node.items):
            self._repeated_inside(item, path.index(i))


_EMBEDDED = ("enableProfiling", "enableContentionProfiling")
_A_MAPPING: Final = sentence("a mapping")
_A_LIST: Final = sentence("a list")
_A_TEXT: Final = sentence("a text")
_A_NUMBER: Final = sentence("a number")
_TRUE_OR_FALSE: Final = sentence("true or false")
_PLAIN: Final = {
    "string": _A_TEXT,
    "bool": _TRUE_OR_FALSE,
    "int32": sentence("a whole number (32 bits)"),
    "int64": sentence("a whole number (64 bits)"),
    "float32": _A_NUMBER,
    "float64": _A_NUMBER,
}


def _is_duration(type_: inspect.Type) -> bool:
    return isinstance(type_, inspect.Metadata) and (type_.extra or {}).get("go") == "duration"


def _is_null(node: Node) -> bool:
    return node.kind == "scalar" and node.value is None


def _zero(type_: inspect.Type) -> Any:
    """What a null in a list becomes: Go's zero value."""
    match type_:
        case inspect.Metadata():
            return _zero(type_.type)
        case inspect.StructType():
            return type_.cls()
        case inspect.StrType():
            return ""
        case inspect.IntType():
            return 0
        case _:
            return msgspec.UNSET


def json_type(node: Node) -> str:
    if node.kind != "scalar":
        return "object" if node.kind == "mapping" else "array"
    match node.value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case None:
            return "null"
        case _:
            return "string"


_ARTICLES: Final[dict[str, Words]] = {
    "object": _A_MAPPING,
    "array": _A_LIST,
    "bool": _TRUE_OR_FALSE,
    "number": _A_NUMBER,
    "null": "null",
    "string": _A_TEXT,
}


def _article(node: Node) -> Words:
    return _ARTICLES[json_type(node)]


def _go_struct(type_: type) -> str:
    return f"v1.{type_.__name__}"


def _go_name(type_: inspect.Type, go: str = "") -> str:
    match type_:
        case inspect.Metadata():
            return _go_name(type_.type, str((type_.extra or {}).get("go", go)))
        case inspect.UnionType():
            members = [member for member in type_.types if not isinstance(member, inspect.NoneType)]
            return _go_name(members[-1], go)
        case inspect.StructType():
            return _go_struct(type_.cls)
        case inspect.VarTupleType() | inspect.ListType():
            return f"[]{_go_name(type_.item_type)}"
        case inspect.DictType():
            return f"map[string]{_go_name(type_.value_type)}"
        case inspect.BoolType():
            return "bool"
        case inspect.IntType():
            return go or "int32"
        case inspect.FloatType():
            return go or "float64"
        case _:
            return "string"
