"""Kinds that no API server knows where one of those that are read was meant: such an object decides nothing.

Custom resources have a group with a dot in it, and kinds of their own there; of those nothing is told.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from framework.objects.kinds import TYPED_KINDS, api_group
from framework.reading.documents import Manifest
from framework.sentences import Content, Sentence, counted_sentence, sentence
from framework.workloads import KINDS

_MOST_KEPT: Final = 20
_LONGEST: Final = 60

_VERSIONS: Final[dict[str, list[str]]] = {}
"""Kind → the versions in which it is read."""
_SPELT: Final[dict[str, str]] = {}
"""Kind, or its plural, in small letters → kind."""
for _version, _kind, _plural in (
    *((each.api_version, each.kind, each.plural) for each in TYPED_KINDS),
    *((version, kind, plural) for kind, (version, plural) in KINDS.items()),
):
    if _version not in _VERSIONS.setdefault(_kind, []):
        _VERSIONS[_kind].append(_version)
    _SPELT[_kind.lower()] = _SPELT[_plural] = _kind
_GROUPS: Final = frozenset(api_group(version) for versions in _VERSIONS.values() for version in versions)


class UnknownKind(msgspec.Struct, array_like=True):
    version: str
    kind: str
    first: str
    """The first object of it."""
    objects: int = 1


class UnknownKinds(msgspec.Struct):
    kept: dict[str, UnknownKind] = {}

    def take(self, manifest: Manifest, name: str) -> bool:
        """Whether it is of a kind that is told of."""
        version, kind = manifest.get("apiVersion"), manifest.get("kind")
        if not isinstance(version, str) or not isinstance(kind, str) or not meant_kind(version, kind):
            return False
        self._add(UnknownKind(version, kind, f"{kind} {name}"))
        return True

    def add(self, later: UnknownKinds) -> None:
        for each in later.kept.values():
            self._add(each)

    def _add(self, found: UnknownKind) -> None:
        key = f"{found.version} {found.kind}"
        if (known := self.kept.get(key)) is not None:
            known.objects += found.objects
        elif len(self.kept) < _MOST_KEPT:
            self.kept[key] = found

    def sentences(self) -> list[Sentence]:
        return [_sentence(each) for each in self.kept.values()]


def meant_kind(version: str, kind: str) -> str:
    """The kind that was probably meant; "" when this one is read, or none is nearly like it."""
    group = api_group(version)
    if version in _VERSIONS.get(kind, ()) or ("." in group and group not in _GROUPS):
        return ""
    spelt = kind.lower()[:_LONGEST]
    return _SPELT.get(spelt) or next((known for name, known in _SPELT.items() if _one_edit(spelt, name)), "")


def _one_edit(one: str, other: str) -> bool:
    """One letter more, less or another one, or two neighbours changed places."""
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def _sentence(found: UnknownKind) -> Sentence:
    meant, others = meant_kind(found.version, found.kind), found.objects - 1
    versions = " / ".join(_VERSIONS[meant])
    what: Any = found.first
    if others:
        what = counted_sentence("{first} and {count} other", "{first} and {count} others", others, first=found.first)
    values: dict[str, Content] = {"what": what, "version": found.version[:_LONGEST]}
    if meant == found.kind:
        return sentence(
            "{what}: {kind} is of {versions}, not of {version}, so nothing reads it.",
            kind=meant,
            versions=versions,
            **values,
        )
    if found.version not in _VERSIONS[meant]:
        meant = f"{meant} ({versions})"
    return sentence(
        "{what}: no kind {kind} in version {version}; did you mean {meant}?",
        kind=f'"{found.kind[:_LONGEST]}"',
        meant=meant,
        **{**values, "version": f'"{values["version"]}"'},
    )
