"""Fields that no API server knows: they decide nothing, and mostly somebody meant another one. Nothing is refused.

An API server drops them, so in what it exported there are none but those of other versions, or of a hand that was at it
later: there only what is nearly a known name is told.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from framework.objects import Node, Pod
from framework.reading.documents import Fields, Manifest
from framework.reading.field_names import SHAPES, Shape
from framework.reading.gaps import with_gaps
from framework.sentences import Content, Sentence, counted_sentence, sentence

MOST_REPORTED: Final = 10
_MOST_KEPT: Final = 200
"""Different ones; more are counted only."""
_ALIKE: Final = 0.75
_NEARLY: Final = 0.85
_LONGEST: Final = 60
_INDEX: Final = re.compile(r"\[\d+\]")
_FIELDS: Final = msgspec.json.Decoder(Fields)
_PARSED: Final = msgspec.json.Decoder(dict[str, Any])
_JSON: Final = msgspec.json.Encoder()
_NOTHING: Final = msgspec.Raw(b"{}")
_DEEPEST: Final = 6
"""How far below the top a field is looked for that stands in the wrong place."""


class UnknownField(msgspec.Struct, array_like=True, frozen=True):
    """``meant``: the field, or its path where it stands in the wrong place; "" when nothing is like it."""

    path: str
    meant: str
    nearly: bool
    """``meant`` is spelt almost the same."""


class Sighting(msgspec.Struct, array_like=True):
    field: UnknownField
    first: str
    """Kind and name of the first object that has it."""
    objects: int = 1


class Sightings(msgspec.Struct):
    """The same field in replicas, or in the third container of one and the first of another, is told once."""

    kept: dict[str, Sighting] = {}
    others: int = 0
    """Objects' fields for which there was no place."""

    def take(self, kind: str, name: str, fields: Iterable[UnknownField]) -> None:
        mine = {f"{kind} {_INDEX.sub('[]', field.path)}": field for field in fields}
        for key, field in mine.items():
            self._add(key, Sighting(field, f"{kind} {name}"))

    def add(self, later: Sightings) -> None:
        for key, sighting in later.kept.items():
            self._add(key, sighting)
        self.others += later.others

    def _add(self, key: str, sighting: Sighting) -> None:
        if (known := self.kept.get(key)) is not None:
            known.objects += sighting.objects
        elif len(self.kept) < _MOST_KEPT:
            self.kept[key] = sighting
        else:
            self.others += sighting.objects

    def sentences(self) -> list[Sentence]:
        sentences = [_sentence(each) for each in list(self.kept.values())[:MOST_REPORTED]]
        rest = max(0, len(self.kept) - MOST_REPORTED) + self.others
        if rest:
            sentences.append(
                counted_sentence(
                    "{count} more field is unknown and ignored.", "{count} more fields are unknown and ignored.", rest
                )
            )
        return sentences


class Looking:
    """Looks at objects, and of replicas only at the first."""

    def __init__(self) -> None:
        self._of_specs: dict[Hashable, list[UnknownField]] = {}

    def at_text(self, text: msgspec.Raw, kind: type[Pod | Node], *, exported: bool) -> list[UnknownField]:
        """Of an object of this kind as JSON, which can be parsed."""
        if kind is Node:
            return reported(unknown_fields(_PARSED.decode(text)), exported=exported)
        fields = _FIELDS.decode(text)
        spec = fields.pop("spec", _NOTHING)
        found = self.at_spec(with_gaps(bytes(spec))[0], lambda: msgspec.json.decode(spec))
        if not exported:
            found = unknown_fields(_PARSED.decode(_JSON.encode(fields))) + found
        return reported(found, exported=exported)

    def at_spec(self, key: Hashable, spec: Callable[[], Any]) -> list[UnknownField]:
        """Of a pod's spec; ``key``: one for all replicas."""
        found = self._of_specs.get(key)
        if found is None:
            found = self._of_specs[key] = unknown_fields({"apiVersion": "v1", "kind": Pod.kind, "spec": spec()})
        return found


def reported(found: list[UnknownField], *, exported: bool) -> list[UnknownField]:
    return [each for each in found if each.nearly] if exported and found else found


def unknown_fields(manifest: Manifest) -> list[UnknownField]:
    """Of an object of any kind, in its current version; of kinds into which nobody looks there are none."""
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    shape = SHAPES.get((version, kind)) if isinstance(version, str) and isinstance(kind, str) else None
    return [] if shape is None else unknown_in(manifest, shape)


def unknown_in(manifest: Manifest, shape: Shape) -> list[UnknownField]:
    return list(_unknown(manifest, shape, "", shape))


def _unknown(value: Any, shape: Shape, path: str, whole: Shape) -> Iterator[UnknownField]:
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _unknown(each, shape, f"{path}[{index}]", whole)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in shape:
                yield _found(str(name), shape, path, whole)
            elif (below := shape[name]) is not None and inner:
                yield from _unknown(inner, below, f"{path}.{name}" if path else name, whole)


def _found(name: str, shape: Shape, path: str, whole: Shape) -> UnknownField:
    where = f"{path}.{name[:_LONGEST]}" if path else name[:_LONGEST]
    spelt = {known.lower(): known for known in shape}
    asked = name.lower()[:_LONGEST]
    for alike in difflib.get_close_matches(asked, spelt, n=1, cutoff=_ALIKE):
        nearly = difflib.SequenceMatcher(None, asked, alike).ratio() >= _NEARLY
        if nearly or not _elsewhere(name, whole):
            # Newer versions add podIPs to podIP: in an export a plural is no slip.
            return UnknownField(where, spelt[alike], nearly and asked.rstrip("s") != alike.rstrip("s"))
    return UnknownField(where, _elsewhere(name, whole), False)


def _elsewhere(name: str, whole: Shape) -> str:
    """The one path where a field of this name is nearest to the top; "" when there is none, or two."""
    level: list[tuple[str, Shape]] = [("", whole)]
    for _ in range(_DEEPEST):
        places = [f"{path}{name}" for path, shape in level if name in shape]
        if places:
            return places[0] if len(places) == 1 else ""
        level = [(f"{path}{field}.", below) for path, shape in level for field, below in shape.items() if below]
    return ""


def _sentence(sighting: Sighting) -> Sentence:
    field, first, others = sighting.field, sighting.first, sighting.objects - 1
    what: Content = first
    if others:
        what = counted_sentence("{first} and {count} other", "{first} and {count} others", others, first=first)
    if not field.meant:
        return sentence("{what}: unknown field {field}, which is ignored.", what=what, field=f'"{field.path}"')
    return sentence(
        "{what}: unknown field {field}, which is ignored. Did you mean {meant}?",
        what=what,
        field=f'"{field.path}"',
        meant=field.meant,
    )
