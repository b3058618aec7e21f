"""Reads the library's checked expressions: the CheckedExpr message of cel-spec (proto/cel/expr/checked.proto).

The library hands it out as bytes in protobuf's wire format, which is four rules long; reading it here spares the
product the protobuf runtime and generated classes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

Fields = dict[int, list[Any]]


@dataclass(frozen=True, slots=True)
class Type:
    """``name`` is what upstream prints ("int", "list", "kubernetes.Quantity")."""

    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})" if self.parameters else self.name


@dataclass(frozen=True, slots=True)
class Node:
    id: int


@dataclass(frozen=True, slots=True)
class Constant(Node):
    value: Any
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class Identifier(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Select(Node):
    operand: Node
    name: str
    test_only: bool


@dataclass(frozen=True, slots=True)
class Call(Node):
    function: str
    target: Node | None
    arguments: tuple[Node, ...]

    def operands(self) -> tuple[Node, ...]:
        return self.arguments if self.target is None else (self.target, *self.arguments)


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    elements: tuple[Node, ...]
    optional: frozenset[int]


@dataclass(frozen=True, slots=True)
class MapLiteral(Node):
    """``entries`` are (key, value, whether the value is optional)."""

    entries: tuple[tuple[Node, Node, bool], ...]


@dataclass(frozen=True, slots=True)
class MessageLiteral(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    variable: str
    second_variable: str
    range: Node
    accumulator: str
    initial: Node
    condition: Node
    step: Node
    result: Node


@dataclass(frozen=True, slots=True)
class Checked:
    """``overloads`` and ``names`` are what the checker resolved, by expression id; ``positions`` are offsets in code
    points."""

    root: Node
    types: dict[int, Type]
    overloads: dict[int, tuple[str, ...]]
    names: dict[int, str]
    positions: dict[int, int]


_PRIMITIVES: Final = {1: "bool", 2: "int", 3: "uint", 4: "double", 5: "string", 6: "bytes"}
_WELL_KNOWN: Final = {1: "any", 2: "google.protobuf.Timestamp", 3: "google.protobuf.Duration"}
DYN: Final = Type("dyn")


def read_checked(raw: bytes) -> Checked:
    """``raw``: a google.protobuf.Any with a CheckedExpr in it."""
    checked = _fields(_fields(raw)[2][0])
    types: dict[int, Type] = {}
    overloads: dict[int, tuple[str, ...]] = {}
    names: dict[int, str] = {}
    for entry in map(_fields, checked.get(3, ())):
        types[entry[1][0]] = _type(entry[2][0])
    for entry in map(_fields, checked.get(2, ())):
        reference = _fields(entry[2][0])
        names[entry[1][0]] = _text(reference, 1)
        overloads[entry[1][0]] = tuple(name.decode() for name in reference.get(3, ()))
    return Checked(_expression(checked[4][0]), types, overloads, names, _positions(checked.get(5, ())))


def read_parsed(raw: bytes) -> Checked:
    """The same for a ParsedExpr, which knows no types yet."""
    parsed = _fields(_fields(raw)[2][0])
    return Checked(_expression(parsed[2][0]), {}, {}, {}, _positions(parsed.get(3, ())))


def _positions(sources: Sequence[bytes]) -> dict[int, int]:
    entries = [_fields(entry) for source in sources for entry in _fields(source).get(4, ())]
    return {entry[1][0]: entry.get(2, [0])[0] for entry in entries}


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    yield node
    for child in _children(node):
        yield from walk(child)


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return node.operands()
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return tuple(part for key, value, _ in node.entries for part in (key, value))
        case Comprehension():
            return (node.range, node.initial, node.condition, node.step, node.result)
    return ()


def _expression(raw: bytes) -> Node:
    parts = _fields(raw)
    id_ = parts.get(2, [0])[0]
    if 4 in parts:
        return Identifier(id_, _text(_fields(parts[4][0]), 1))
    if 5 in parts:
        select = _fields(parts[5][0])
        return Select(id_, _expression(select[1][0]), _text(select, 2), bool(select.get(3, [0])[0]))
    if 6 in parts:
        call = _fields(parts[6][0])
        target = _expression(call[1][0]) if 1 in call else None
        return Call(id_, _text(call, 2), target, tuple(map(_expression, call.get(3, ()))))
    if 7 in parts:
        literal = _fields(parts[7][0])
        return ListLiteral(id_, tuple(map(_expression, literal.get(1, ()))), frozenset(_packed(literal.get(2, []))))
    if 8 in parts:
        return _struct(id_, _fields(parts[8][0]))
    if 9 in parts:
        fold = _fields(parts[9][0])
        inner = [_expression(fold[number][0]) for number in (2, 4, 5, 6, 7)]
        return Comprehension(
            id_, _text(fold, 1), _text(fold, 8), inner[0], _text(fold, 3), inner[1], inner[2], inner[3], inner[4]
        )
    return _constant(id_, _fields(parts[3][0]))


def _struct(id_: int, parts: Fields) -> Node:
    if name := _text(parts, 1):
        return MessageLiteral(id_, name)
    entries = [_fields(entry) for entry in parts.get(2, ())]
    return MapLiteral(
        id_,
        tuple((_expression(e[3][0]), _expression(e[4][0]), bool(e.get(5, [0])[0])) for e in entries),
    )


def _constant(id_: int, parts: Fields) -> Constant:
    ((number, values),) = parts.items()
    value = values[-1]
    match number:
        case 1:
            return Constant(id_, None)
        case 2:
            return Constant(id_, bool(value))
        case 3:
            return Constant(id_, value - (1 << 64) if value >> 63 else value)
        case 4:
            return Constant(id_, value, unsigned=True)
        case 5:
            return Constant(id_, struct.unpack("<d", value)[0])
        case 6:
            return Constant(id_, value.decode())
    return Constant(id_, bytes(value))


def _type(raw: bytes) -> Type:
    parts = _fields(raw)
    if not parts:
        return DYN
    ((number, values),) = parts.items()
    value = values[-1]
    match number:
        case 2:
            return Type("null_type")
        case 3:
            return Type(_PRIMITIVES[value])
        case 4:
            return Type("wrapper", (Type(_PRIMITIVES[value]),))
        case 5:
            return Type(_WELL_KNOWN[value])
        case 6:
            return Type("list", tuple(_inner(_fields(value), 1)))
        case 7:
            inner = _fields(value)
            return Type("map", (*_inner(inner, 1), *_inner(inner, 2)))
        case 9 | 10:
            return Type(value.decode())
        case 11:
            return Type("type", (_type(value),))
        case 14:
            inner = _fields(value)
            return Type(_text(inner, 1), tuple(map(_type, inner.get(2, ()))))
    return DYN


def _inner(parts: Fields, number: int) -> Iterator[Type]:
    yield _type(parts[number][0]) if number in parts else DYN


def _text(parts: Fields, number: int) -> str:
    text: str = parts[number][-1].decode() if number in parts else ""
    return text


def _packed(values: list[Any]) -> Iterator[int]:
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        offset = 0
        while offset < len(value):
            number, offset = _varint(value, offset)
            yield number


def _fields(raw: bytes) -> Fields:
    parts: Fields = {}
    offset = 0
    while offset < len(raw):
        tag, offset = _varint(raw, offset)
        value: Any
        match tag & 7:
            case 0:
                value, offset = _varint(raw, offset)
            case 1:
                value, offset = raw[offset : offset + 8], offset + 8
            case 2:
                size, offset = _varint(raw, offset)
                value, offset = raw[offset : offset + size], offset + size
            case _:
                value, offset = raw[offset : offset + 4], offset + 4
        parts.setdefault(tag >> 3, []).append(value)
    return parts


def _varint(raw: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[offset]
        value |= (byte & 0x7F) << shift
        offset += 1
        if byte < 0x80:
            return value, offset
        shift += 7
