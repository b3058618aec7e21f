"""What may be secret in volumes, and what stands in its place: seals (docs/threat-model.md#seals).

A text is a seal at these fields alone: elsewhere whatever looks like one was written by a person.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from framework.objects.further_volume_sources import (
    CephFSVolumeSource,
    FlexVolumeSource,
    GitRepoVolumeSource,
    LocalObjectReference,
    PodCertificateProjection,
    ScaleIOVolumeSource,
    SecretProjection,
)
from framework.objects.pod import CSIVolumeSource, PersistentVolumeClaimTemplate, Volume
from framework.objects.volume_sources import (
    AzureDiskVolumeSource,
    AzureFilePersistentVolumeSource,
    AzureFileVolumeSource,
    RBDVolumeSource,
)

SEAL: Final = "sealed:"
"""Begins what stands in place of a text that is not kept (framework/reading/redaction.py); 16 digits follow."""
_SEAL: Final = re.compile(SEAL + "[0-9a-f]{16}")

SEALED: Final[Mapping[type[msgspec.Struct], frozenset[str]]] = {
    AzureDiskVolumeSource: frozenset({"diskURI"}),
    AzureFilePersistentVolumeSource: frozenset({"secretName", "secretNamespace"}),
    AzureFileVolumeSource: frozenset({"secretName"}),
    CephFSVolumeSource: frozenset({"secretFile"}),
    CSIVolumeSource: frozenset({"volumeAttributes"}),
    FlexVolumeSource: frozenset({"options"}),
    GitRepoVolumeSource: frozenset({"repository"}),
    LocalObjectReference: frozenset({"name"}),
    PodCertificateProjection: frozenset({"userAnnotations"}),
    RBDVolumeSource: frozenset({"keyring"}),
    ScaleIOVolumeSource: frozenset({"gateway"}),
    SecretProjection: frozenset({"name"}),
}
"""Free texts, URLs that may hold credentials, names of Secrets and of files with keys. Decisions tell volumes apart by
them and by nothing that they say, so a seal may stand in their place."""
IF_CREDENTIALS: Final = frozenset({"diskURI"})
"""Of these, the ones that most often are names that everybody may read: sealed if there are credentials in them."""
NAMESPACES: Final = frozenset({"secretNamespace"})
"""Of these, names of namespaces, which stay, as they do everywhere: a volume in whose YAML there was none would find no
Secret when it is read again. What was stored before may have seals there."""
SEALED_ANNOTATIONS: Final = "redacted"
"""Among the annotations of an ephemeral volume's claim (``volumeClaimTemplate.metadata``): the seal of those that are
not kept. Batching tells pods apart by all of them; the claim that is made has none."""
DEFAULTS: Final[Mapping[type[msgspec.Struct], Mapping[str, Any]]] = {
    struct: {
        each.encode_name: each.default
        for each in msgspec.structs.fields(struct)
        if each.encode_name in names and isinstance(each.default, str)
    }
    for struct, names in SEALED.items()
}
"""Texts that everybody knows: they stay."""


def is_sealed(value: Any) -> bool:
    """Of a value at one of ``SEALED``."""
    if isinstance(value, dict):
        return value.keys() == {"redacted"} and is_sealed(value["redacted"])
    return isinstance(value, str) and _SEAL.fullmatch(value) is not None


class _Place(typing.NamedTuple):
    """Where a seal may stand: field ``name`` of ``struct``; None: of a mapping."""

    struct: type[msgspec.Struct] | None
    name: str


_Places = dict[str, "_Places | _Place"]
"""Field → the fields in it that lead to such places, or the place."""
Goes = Callable[[type[msgspec.Struct] | None, str, Any], bool]
"""(Struct, field, what stands there) → whether it is left out; the Struct is None for ``SEALED_ANNOTATIONS``."""


def without_seals(volume: dict[str, Any]) -> dict[str, Any]:
    """Of a pod's volume as JSON: what may leave the server. Seals are for comparing, and tell whoever gets two of them
    that two texts are equal."""
    return without(volume, lambda struct, name, value: is_sealed(value))


def without(volume: dict[str, Any], goes: Goes) -> dict[str, Any]:
    """A pod's volume as JSON without what ``goes`` at the fields where seals may stand; ``volume`` is not changed."""
    return _without(volume, _OF_VOLUME, goes)


def without_sealed_annotations(annotations: dict[str, str]) -> dict[str, str]:
    """Of an ephemeral volume's claim: those that the claim itself has."""
    if not is_sealed(annotations.get(SEALED_ANNOTATIONS)):
        return annotations
    return {key: value for key, value in annotations.items() if key != SEALED_ANNOTATIONS}


def _value_without(value: Any, places: _Places, goes: Goes) -> Any:
    if isinstance(value, list):
        return [_value_without(each, places, goes) for each in value]
    return _without(value, places, goes) if isinstance(value, dict) else value


def _without(value: dict[str, Any], places: _Places, goes: Goes) -> dict[str, Any]:
    kept = {}
    for key, each in value.items():
        inner = places.get(key)
        if inner is None:
            kept[key] = each
        elif isinstance(inner, dict):
            kept[key] = _value_without(each, inner, goes)
            if key == "annotations" and not kept[key]:
                del kept[key]
        elif not goes(inner.struct, inner.name, each):
            kept[key] = each
    return kept


def _places(struct: type[msgspec.Struct]) -> _Places:
    found: _Places = {name: _Place(struct, name) for name in SEALED.get(struct, ())}
    for field in msgspec.structs.fields(struct):
        for inner in _structs(field.type):
            if below := _places(inner):
                found[field.encode_name] = below
    if struct is PersistentVolumeClaimTemplate:
        found["metadata"] = {"annotations": {SEALED_ANNOTATIONS: _Place(None, SEALED_ANNOTATIONS)}}
    return found


def _structs(type_: Any) -> list[type[msgspec.Struct]]:
    """In the type of a field: a Struct, a tuple of them, or either or None."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return [type_]
    return [each for argument in typing.get_args(type_) for each in _structs(argument)]


_OF_VOLUME: Final = _places(Volume)
