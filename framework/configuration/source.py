"""From YAML or JSON text to a tree of nodes that know where they stand.

A Node keeps line, column and its span of characters: errors point at it, and ``framework.configuration.document`` edits
the text there. Scalars follow the YAML that Kubernetes reads (YAML 1.1 booleans, octal numbers, ``~``). Size, depth and
the expansion of aliases are limited, so a YAML bomb is refused before it unfolds; so is a second document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from framework.objects.decode import HALF_OF_A_PAIR, expansion_complaint
from framework.parser_words import json_words, yaml_complaint, yaml_words
from framework.sentences import SentenceError, Words, sentence

MAX_CHARACTERS: Final = 1_048_576
MAX_DEPTH: Final = 64
MAX_NODES: Final = 25_000
"""Some 700 bytes each, with what is made of it."""
_TOO_DEEP: Final = sentence("nested deeper than {levels} levels", levels=MAX_DEPTH)

Kind = Literal["mapping", "sequence", "scalar"]


class SourceError(SentenceError):
    """The text is no YAML or JSON that we read. Caught by ``load`` and turned into a ConfigurationError."""

    def __init__(self, words: Words, line: int | None = None, column: int | None = None) -> None:
        super().__init__(words)
        self.line = line
        self.column = column


@dataclass(slots=True, eq=False)
class Node:
    kind: Kind
    value: Any = None
    """Of a scalar: str, int, float, bool or None."""
    items: list[Node] = field(default_factory=list)
    entries: list[tuple[Node, Node]] = field(default_factory=list)
    """In the order of the text, repeated keys included; ``<<`` is resolved behind them in ``merged``."""
    merged: list[tuple[Node, Node]] = field(default_factory=list)
    flow: bool = False
    alias: bool = False
    """Written as ``*name``; the content belongs to the anchor, the span is that of the alias."""
    quoted: bool = False
    start: int = -1
    end: int = -1
    """Characters of the text; for a block collection the end of its last entry."""
    line: int | None = None
    column: int | None = None
    size: int = 1
    """Nodes in this subtree, aliases expanded."""
    characters: int = 1
    """Of its scalars, one more for each node; aliases expanded. Of YAML only."""

    def pairs(self) -> Iterator[tuple[str, Node, Node]]:
        """(key, key node, value) once per key: the last of repeated keys counts, own keys win over merged ones."""
        found: dict[str, tuple[Node, Node]] = {}
        for key, value in self.entries:
            found[str(key.value)] = (key, value)
        for key, value in self.merged:
            found.setdefault(str(key.value), (key, value))
        for name, (key, value) in found.items():
            yield name, key, value

    def get(self, name: str) -> Node | None:
        for key, _, value in self.pairs():
            if key == name:
                return value
        return None

    def to_value(self) -> Any:
        """As plain dicts, lists and scalars."""
        match self.kind:
            case "mapping":
                return {name: value.to_value() for name, _, value in self.pairs()}
            case "sequence":
                return [item.to_value() for item in self.items]
            case _:
                return self.value


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    line: int
    column: int


def _placed(place: _Place, node: Node) -> Node:
    node.start, node.line, node.column = place.start, place.line, place.column
    return node


@dataclass(frozen=True, slots=True)
class Source:
    root: Node
    format: Literal["yaml", "json"]


def read_source(text: str) -> Source:
    """Reads a text that is JSON when it begins like an object, YAML otherwise (as kubectl and kube-scheduler do)."""
    if len(text) > MAX_CHARACTERS:
        raise SourceError(
            sentence(
                "the text has {characters:,} characters; a configuration may have {most:,}",
                characters=len(text),
                most=MAX_CHARACTERS,
            )
        )
    if not text.lstrip().startswith("{"):
        return Source(_read_yaml(text), "yaml")
    try:
        return Source(_JsonReader(text).read(), "json")
    except JSONDecodeError as error:
        words = sentence("couldn't get version/kind; json parse error: {why}", why=json_words(error.msg))
        raise SourceError(words, error.lineno, error.colno) from None


def node_from_value(value: object, depth: int = 0) -> Node:
    """A tree without places, for a configuration that is already decoded JSON."""
    if depth > MAX_DEPTH:
        raise SourceError(_TOO_DEEP)
    if isinstance(value, Mapping):
        entries = [(Node("scalar", str(key)), node_from_value(item, depth + 1)) for key, item in value.items()]
        return Node("mapping", entries=entries)
    if isinstance(value, list | tuple):
        return Node("sequence", items=[node_from_value(item, depth + 1) for item in value])
    return Node("scalar", value)


# YAML ----------------------------------------------------------------------------------------------------------------


def _read_yaml(text: str) -> Node:
    try:
        return _YamlReader(text).read()
    except YAMLError as error:
        why, line, column = yaml_complaint(error)
        if line is None:
            raise SourceError(sentence("yaml: {why}", why=why)) from None
        raise SourceError(sentence("yaml: line {line}: {why}", line=str(line), why=why), line, column) from None


class _YamlReader:
    """Composes nodes from the parser's events, counting as it goes (the parser itself does not recurse)."""

    def __init__(self, text: str) -> None:
        self._text = text
        yaml = YAML(typ="safe", pure=True)
        self._events: Iterator[Event] = iter(yaml.parse(text))
        self._anchors: dict[str, Node | None] = {}
        self._total = 0
        self._characters = 0

    def read(self) -> Node:
        root: Node | None = None
        for event in self._events:
            if not isinstance(event, DocumentStartEvent):
                continue
            if root is not None:
                mark = event.start_mark
                raise SourceError(
                    sentence("the text has more than one YAML document; a KubeSchedulerConfiguration is exactly one"),
                    mark.line + 1,
                    mark.column + 1,
                )
            root = self._node(next(self._events), 0)
        return root if root is not None else Node("scalar", None, line=1, column=1, start=0, end=0)

    def _node(self, event: Event, depth: int) -> Node:
        mark = event.start_mark
        place = _Place(mark.index, mark.line + 1, mark.column + 1)
        end = event.end_mark.index
        if depth > MAX_DEPTH:
            raise SourceError(_TOO_DEEP, mark.line + 1, mark.column + 1)
        if isinstance(event, AliasEvent):
            return self._alias(str(event.anchor), place, end)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self._anchors[anchor] = None
        if isinstance(event, ScalarEvent):
            if HALF_OF_A_PAIR.search(event.value):
                why = yaml_words("found invalid Unicode character escape code")
                raise SourceError(
                    sentence("yaml: line {line}: {why}", line=place.line, why=why), place.line, place.column
                )
            plain = event.style is None or event.style == ""
            tag = str(event.tag) if event.tag else ""
            value: Any = event.value
            if tag.endswith(("!!str", "2002:str")) or not plain:
                pass
            else:
                value = resolve_scalar(event.value)
            node = _placed(place, Node("scalar", value, quoted=not plain, end=end, characters=1 + len(event.value)))
            self._count(node)
        elif isinstance(event, SequenceStartEvent):
            node = self._sequence(event, place, depth)
        elif isinstance(event, MappingStartEvent):
            node = self._mapping(event, place, depth)
        else:
            words = sentence("yaml: {why}", why=yaml_words(f"unexpected {type(event).__name__}"))
            raise SourceError(words, mark.line + 1, mark.column + 1)
        if anchor:
            self._anchors[anchor] = node
        return node

    def _alias(self, name: str, place: _Place, end: int) -> Node:
        if name not in self._anchors:
            raise SourceError(f"yaml: unknown anchor '{name}' referenced", place.line, place.column)
        target = self._anchors[name]
        if target is None:
            raise SourceError(f"yaml: anchor '{name}' value contains itself", place.line, place.column)
        node = _placed(
            place,
            Node(
                target.kind,
                target.value,
                target.items,
                target.entries,
                target.merged,
                target.flow,
                True,
                target.quoted,
                end=end,
                size=target.size,
                characters=target.characters,
            ),
        )
        self._count(node)
        return node

    def _sequence(self, event: SequenceStartEvent, place: _Place, depth: int) -> Node:
        node = _placed(place, Node("sequence", flow=bool(event.flow_style), end=event.end_mark.index))
        self._count(node)
        while not isinstance(child := next(self._events), SequenceEndEvent):
            item = self._node(child, depth + 1)
            node.items.append(item)
            node.size += item.size
            node.characters += item.characters
            node.end = item.end
        if node.flow:
            node.end = child.end_mark.index
        return node

    def _mapping(self, event: MappingStartEvent, place: _Place, depth: int) -> Node:
        node = _placed(place, Node("mapping", flow=bool(event.flow_style), end=event.end_mark.index))
        self._count(node)
        while not isinstance(child := next(self._events), MappingEndEvent):
            key = self._node(child, depth + 1)
            if key.kind != "scalar":
                raise SourceError(sentence("yaml: {why}", why=yaml_words("found unhashable key")), key.line, key.column)
            merges = key.value == "<<" and not key.quoted
            key.value = str(getattr(child, "value", key.value))
            value = self._node(next(self._events), depth + 1)
            if value.start == value.end and value.kind == "scalar":
                # The parser puts an absent value behind the comments that follow; it stands behind the colon.
                value.start = value.end = self._text.find(":", key.end) + 1
            node.size += key.size + value.size
            node.characters += key.characters + value.characters
            node.end = max(value.end, key.end)
            if merges:
                node.merged += self._merge(value)
            else:
                node.entries.append((key, value))
        if node.flow:
            node.end = child.end_mark.index
        return node

    def _merge(self, value: Node) -> list[tuple[Node, Node]]:
        if value.kind == "mapping":
            return [*value.entries, *value.merged]
        if value.kind == "sequence" and all(item.kind == "mapping" for item in value.items):
            return [pair for item in value.items for pair in (*item.entries, *item.merged)]
        raise SourceError("yaml: map merge requires map or sequence of maps as the value", value.line, value.column)

    def _count(self, node: Node) -> None:
        """Of a scalar, an alias, or a collection that begins."""
        self._total += node.size
        self._characters += node.characters
        if self._total > MAX_NODES:
            words = sentence("more than {most:,} values once aliases are expanded; refused", most=MAX_NODES)
            raise SourceError(words, node.line, node.column)
        if node.alias and (why := expansion_complaint(self._characters, len(self._text))):
            raise SourceError(sentence("yaml: {why}", why=why), node.line, node.column)


_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """What an unquoted scalar means to the YAML library of Kubernetes."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits):
        sign = -1 if digits[0] == "-" else 1
        unsigned = digits.lstrip("+-").lower()
        if unsigned.startswith(("0x", "0b", "0o")):
            return sign * int(unsigned, 0)
        if unsigned.startswith("0") and len(unsigned) > 1:
            return sign * int(unsigned, 8)
        if len(unsigned) > 400:  # no number of a configuration; int() of much more is slow
            return text
        return sign * int(unsigned)
    if _FLOAT.fullmatch(digits) and len(digits) <= 400:
        return float(digits)
    return text


# JSON ----------------------------------------------------------------------------------------------------------------

_decode_string = JSONDecoder().raw_decode
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_LITERALS = {"true": True, "false": False, "null": None}


class _JsonReader:
    """A JSON reader that keeps places and repeated keys, which ``json`` does not."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._total = 0
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._line = 0

    def read(self) -> Node:
        node, at = self._value(self._skip(0), 0)
        at = self._skip(at)
        if at != len(self._text):
            raise JSONDecodeError("Extra data after the object", self._text, at)
        return node

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _place(self, at: int) -> _Place:
        starts = self._line_starts
        while self._line + 1 < len(starts) and starts[self._line + 1] <= at:
            self._line += 1
        return _Place(at, self._line + 1, at - starts[self._line] + 1)

    def _value(self, at: int, depth: int) -> tuple[Node, int]:
        text, place = self._text, self._place(at)
        self._total += 1
        if depth > MAX_DEPTH:
            raise SourceError(_TOO_DEEP, place.line, place.column)
        if self._total > MAX_NODES:
            words = sentence("more than {most:,} values; refused", most=MAX_NODES)
            raise SourceError(words, place.line, place.column)
        char = text[at : at + 1]
        if char == "{":
            return self._object(at, place, depth)
        if char == "[":
            return self._array(at, place, depth)
        if char == '"':
            value, end = self._string(at)
            return _placed(place, Node("scalar", value, quoted=True, end=end)), end
        for name, literal in _LITERALS.items():
            if text.startswith(name, at):
                return _placed(place, Node("scalar", literal, end=at + len(name))), at + len(name)
        number = _NUMBER.match(text, at)
        if number is None or len(number[0]) > 400:
            raise JSONDecodeError("Expecting a value", text, at)
        # A JSON number with point or exponent is a float even where it is whole: Go refuses it for an integer field.
        scalar: int | float = float(number[0]) if number[1] or number[2] else int(number[0])
        return _placed(place, Node("scalar", scalar, end=number.end())), number.end()

    def _string(self, at: int) -> tuple[str, int]:
        value, end = _decode_string(self._text, at)
        # As in Go; YAML that has one is refused.
        return HALF_OF_A_PAIR.sub("\ufffd", value), end

    def _array(self, at: int, place: _Place, depth: int) -> tuple[Node, int]:
        node = _placed(place, Node("sequence", flow=True))
        at = self._skip(at + 1)
        if self._text.startswith("]", at):
            node.end = at + 1
            return node, node.end
        while True:
            item, at = self._value(at, depth + 1)
            node.items.append(item)
            node.size += item.size
            at, done = self._separator(at, "]")
            if done:
                node.end = at
                return node, at

    def _object(self, at: int, place: _Place, depth: int) -> tuple[Node, int]:
        node = _placed(place, Node("mapping", flow=True))
        at = self._skip(at + 1)
        if self._text.startswith("}", at):
            node.end = at + 1
            return node, node.end
        while True:
            if not self._text.startswith('"', at):
                raise JSONDecodeError("Expecting a key in double quotes", self._text, at)
            key_place = self._place(at)
            name, end = self._string(at)
            key = _placed(key_place, Node("scalar", name, quoted=True, end=end))
            at = self._skip(end)
            if not self._text.startswith(":", at):
                raise JSONDecodeError("Expecting ':'", self._text, at)
            value, at = self._value(self._skip(at + 1), depth + 1)
            node.entries.append((key, value))
            node.size += 1 + value.size
            at, done = self._separator(at, "}")
            if done:
                node.end = at
                return node, at

    def _separator(self, at: int, closing: str) -> tuple[int, bool]:
        at = self._skip(at)
        if self._text.startswith(",", at):
            return self._skip(at + 1), False
        if self._text.startswith(closing, at):
            return at + 1, True
        raise JSONDecodeError(f"Expecting ',' or '{closing}'", self._text, at)
