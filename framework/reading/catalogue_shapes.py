"""Which fields objects of the catalogue have, from their types: what else somebody writes into one decides nothing.

For objects that are edited here, which have no other fields. Exports of a cluster may have more than is typed.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from framework.objects import PodGroup
from framework.objects.catalogue import CATALOGUE_KINDS
from framework.objects.metadata import KubernetesObject
from framework.objects.scheduling import SchedulingPodGroup
from framework.reading.documents import Manifest
from framework.reading.field_names import Shape
from framework.reading.unknown_fields import UnknownField, unknown_in

EDITED_KINDS: Final[tuple[type[KubernetesObject], ...]] = (*CATALOGUE_KINDS, PodGroup, SchedulingPodGroup)
_ANYTHING: Final = ("metadata", "template")
"""These have more fields than are typed."""


def catalogue_unknown_fields(manifest: Manifest) -> list[UnknownField]:
    """None of other kinds."""
    shape = _shapes().get((str(manifest.get("apiVersion")), str(manifest.get("kind"))))
    return [] if shape is None else unknown_in(manifest, shape)


@cache
def _shapes() -> dict[tuple[str, str], Shape]:
    shapes: dict[tuple[str, str], Shape] = {}
    for kind in EDITED_KINDS:
        typed = _shape(msgspec.inspect.type_info(kind))
        assert typed is not None
        shapes[kind.api_version, kind.kind] = {"apiVersion": None, "kind": None, **typed}
    return shapes


def _shape(of: msgspec.inspect.Type) -> Shape | None:
    """None of what is no object, or one with names of its own."""
    match of:
        case msgspec.inspect.StructType(fields=fields):
            return {each.encode_name: None if each.encode_name in _ANYTHING else _shape(each.type) for each in fields}
        case msgspec.inspect.VarTupleType(item_type=item) | msgspec.inspect.ListType(item_type=item):
            return _shape(item)
        case msgspec.inspect.UnionType(types=types):
            return next((found for each in types if (found := _shape(each)) is not None), None)
    return None
