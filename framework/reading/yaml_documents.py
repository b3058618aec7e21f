"""YAML as Kubernetes reads it, from the parser's events straight to values: timestamps stay text, a repeated key is an
error.

PyYAML's own way (compose, then construct) calls itself for every level, in C: 50 KB of brackets end the process. It
also keeps a node with two places for every value, which took up to 250 times the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from framework.reading.density import BASE, FIELD, LIST, MOST, OBJECT

_TAG: Final = "tag:yaml.org,2002:"
_STR, _MERGE, _TIMESTAMP = _TAG + "str", _TAG + "merge", _TAG + "timestamp"
_TEXTS: Final = frozenset((_STR, _TAG + "value"))
_SCALARS: Final = frozenset(_TAG + name for name in ("null", "bool", "int", "float", "binary", "timestamp"))
_DEEPEST: Final = 1000
"""Levels. Far more than anybody accepts later, and little enough for whoever walks them."""
_NO_KEY: Final = object()


def read_yaml(data: bytes) -> Iterator[Any]:
    """Its documents: dictionaries, lists and scalars; what an alias names is the very same object. Raises
    yaml.YAMLError, ValueError, and RecursionError for what is nested too deeply."""
    yield from _Reader(data).documents()


class _Mapping:
    """One that is not closed yet."""

    __slots__ = ("key", "merged", "place", "seen", "value", "written")

    def __init__(self, place: Any) -> None:
        self.value: dict[Any, Any] = {}
        self.place = place
        self.key: Any = _NO_KEY
        self.written: str | None = None
        """The key as it stands in the text; None of what is no scalar."""
        self.seen: set[str] = set()
        self.merged: list[Any] = []
        """What `<<` names, in order."""


class _Merge:
    """The key `<<`."""


class _Reader(yaml.CSafeLoader):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._left = max(BASE, MOST * len(data))
        """Of what all of it may take, by the estimate of framework/reading/density.py. Merged pairs are no aliases but
        copies, and in `[a: b, a: b]` no bracket says that each is an object, so it is counted here."""
        self._shared: dict[str, str] = {}
        """Keys, which a file repeats over and over."""

    def documents(self) -> Iterator[Any]:
        """To be asked once."""
        try:
            while not isinstance(event := self.get_event(), StreamEndEvent):
                if isinstance(event, DocumentStartEvent):
                    yield self._document()
        finally:
            self.dispose()

    def _document(self) -> Any:
        # What an anchor names, and how it was written if it is a scalar, which may be a key.
        anchors: dict[str, tuple[Any, str | None]] = {}
        open_: list[list[Any] | _Mapping] = []
        result = None
        while True:
            event: Any = self.get_event()
            kind, written = type(event), None
            if kind is ScalarEvent:
                value, written = self._scalar(event), event.value
                self._name(anchors, event, value, written)
            elif kind is SequenceStartEvent or kind is MappingStartEvent:
                self._check_start(event, kind, len(open_))
                self._take(LIST if kind is SequenceStartEvent else OBJECT, event.start_mark)
                opened: list[Any] | _Mapping = [] if kind is SequenceStartEvent else _Mapping(event.start_mark)
                self._name(anchors, event, opened.value if isinstance(opened, _Mapping) else opened, None)
                open_.append(opened)
                continue
            elif kind is SequenceEndEvent:
                value = open_.pop()
            elif kind is MappingEndEvent:
                closed = open_.pop()
                assert isinstance(closed, _Mapping)
                value = self._merged(closed)
            elif kind is AliasEvent:
                if event.anchor not in anchors:
                    raise yaml.composer.ComposerError(None, None, "found undefined alias", event.start_mark)
                value, written = anchors[event.anchor]
            else:
                assert kind is DocumentEndEvent
                return result
            within = open_[-1] if open_ else None
            if isinstance(within, _Mapping) and within.key is _NO_KEY:
                self._put_key(within, value, written, event.start_mark)
                continue
            if value is _Merge:
                value = written
            if within is None:
                result = value
            elif isinstance(within, list):
                within.append(value)
            else:
                _put_value(within, value, event.start_mark)

    @staticmethod
    def _name(anchors: dict[str, tuple[Any, str | None]], event: Any, value: Any, written: str | None) -> None:
        if event.anchor is None:
            return
        if event.anchor in anchors:
            raise yaml.composer.ComposerError(
                "found duplicate anchor; first occurrence", None, "second occurrence", event.start_mark
            )
        anchors[event.anchor] = value, written

    def _take(self, amount: int, place: Any) -> None:
        self._left -= amount
        if self._left < 0:
            raise ConstructorError(None, None, "what is merged and nested is many times the text", place)

    def _check_start(self, event: Any, kind: type, depth: int) -> None:
        if depth >= _DEEPEST:
            raise RecursionError("YAML is nested too deeply")
        plain = _TAG + ("seq" if kind is SequenceStartEvent else "map")
        if event.tag not in (None, "!", plain):
            raise _unknown_tag(event)

    def _scalar(self, event: Any) -> Any:
        tag, text = event.tag, event.value
        if tag is None or tag == "!":
            if not event.implicit[0] or (text and text[0] not in self.yaml_implicit_resolvers):
                return text
            tag = self.resolve(yaml.ScalarNode, text, event.implicit)  # type: ignore[no-untyped-call]  # untyped
        if tag in _TEXTS:
            return text
        if tag == _MERGE:
            return _Merge
        if tag not in _SCALARS:
            raise _unknown_tag(event)
        node = yaml.ScalarNode(tag, text, event.start_mark, event.end_mark, event.style)
        try:
            return self.yaml_constructors[tag](self, node)
        except (ValueError, LookupError, AttributeError):
            # Whatever PyYAML stumbled over: `!!int ""`, `!!bool x`, `!!timestamp x`.
            raise ConstructorError(None, None, f"found a value that is no {tag}", event.start_mark) from None

    def _merged(self, mapping: _Mapping) -> dict[Any, Any]:
        """What is merged comes first, and what is written counts. The same object, which an anchor may name."""
        if mapping.merged:
            own = dict(mapping.value)
            mapping.value.clear()
            for each in mapping.merged:
                self._take(FIELD * len(each), mapping.place)
                mapping.value.update(each)
            mapping.value.update(own)
        return mapping.value

    def _put_key(self, into: _Mapping, key: Any, written: str | None, place: Any) -> None:
        if isinstance(key, (dict, list)):
            raise ConstructorError("while constructing a mapping", into.place, "found unhashable key", place)
        if key is not _Merge and written is not None:
            if written in into.seen:
                raise ConstructorError(None, None, f'key "{written}" already set in map', place)
            into.seen.add(written)
        into.key = self._shared.setdefault(key, key) if isinstance(key, str) else key


def _put_value(into: _Mapping, value: Any, place: Any) -> None:
    if into.key is not _Merge:
        into.value[into.key] = value
    elif isinstance(value, dict):
        into.merged.append(value)
    elif isinstance(value, list) and all(isinstance(each, dict) for each in value):
        # Of several the first one counts.
        into.merged.extend(reversed(value))
    else:
        raise ConstructorError(
            "while constructing a mapping", into.place, "expected a mapping or list of mappings for merging", place
        )
    into.key = _NO_KEY


_Reader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _unknown_tag(event: Any) -> ConstructorError:
    return ConstructorError(
        None, None, f"could not determine a constructor for the tag {event.tag!r}", event.start_mark
    )
