"""Extended resources that device classes back (upstream ``deviceclass/extendedresourcecache``; DRAExtendedResource)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.objects.devices import DEVICE_CLASS_RESOURCE_PREFIX, DeviceClass
from framework.objects.resources import is_extended_resource_name
from framework.objects.timestamps import parse_timestamp


def may_be_backed(resource: str) -> bool:
    """Upstream ``IsDRAExtendedResourceName``."""
    return is_extended_resource_name(resource) or resource.startswith(DEVICE_CLASS_RESOURCE_PREFIX)


def classes_by_resource(classes: Sequence[DeviceClass]) -> dict[str, DeviceClass]:
    """Of several classes with one name for the resource the newest wins, then the smaller name.

    A class that loses when it arrives is not found by its implicit name either, which upstream may not have meant.
    """
    found: dict[str, DeviceClass] = {}
    for each in classes:
        name = each.spec.extended_resource_name
        if name is not None:
            known = found.get(name)
            if known is not None and not _wins(each, known):
                continue
            found[name] = each
        found[DEVICE_CLASS_RESOURCE_PREFIX + each.name] = each
    return found


class ClassesByResource:
    """``classes_by_resource``, worked out anew when a class has changed."""

    __slots__ = ("_classes", "_found")

    def __init__(self) -> None:
        self._classes: tuple[DeviceClass, ...] = ()
        self._found: dict[str, DeviceClass] = {}

    def for_classes(self, classes: Sequence[DeviceClass]) -> dict[str, DeviceClass]:
        known = self._classes
        if not classes and not known:
            return self._found
        if len(known) != len(classes) or any(a is not b for a, b in zip(known, classes, strict=True)):
            self._classes, self._found = tuple(classes), classes_by_resource(classes)
        return self._found


def _wins(new: DeviceClass, known: DeviceClass) -> bool:
    mine, theirs = _created(new), _created(known)
    return mine > theirs or (mine == theirs and new.name < known.name)


def _created(device_class: DeviceClass) -> int:
    created = device_class.metadata.creation_timestamp
    return parse_timestamp(created) if created else 0
