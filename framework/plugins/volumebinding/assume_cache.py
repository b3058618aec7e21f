"""Objects as this scheduler means to write them, until the API server has newer ones (``passive_assume_cache.go``).

An assumed object counts only while the stored one still has the version that it was made from.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from framework.interface import Handle
from framework.objects import KubernetesObject, PersistentVolume, PersistentVolumeClaim

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741


class OutOfSync(RuntimeError):
    """The object changed since it was read; the text is upstream's."""


class AssumeCache(Generic[O]):
    def __init__(self, handle: Handle, kind: type[O]) -> None:
        self._handle = handle
        self._kind = kind
        self._assumed: dict[tuple[str, str], O] = {}

    def stored(self, namespace: str, name: str) -> O | None:
        return self._handle.objects.get(self._kind, namespace, name)

    def get(self, namespace: str, name: str) -> O | None:
        """The assumed object, if there is one that is not outdated; else the stored one."""
        stored = self.stored(namespace, name)
        return None if stored is None else self._latest(stored)

    def list(self) -> list[O]:
        """In order of creation."""
        stored = self._handle.objects.list(self._kind)
        return [self._latest(each) for each in stored] if self._assumed else list(stored)

    def _latest(self, stored: O) -> O:
        key = stored.metadata.namespace, stored.metadata.name
        assumed = self._assumed.get(key)
        if assumed is None:
            return stored
        if assumed.metadata.resource_version == stored.metadata.resource_version:
            return assumed
        del self._assumed[key]
        return stored

    def assume(self, obj: O) -> None:
        """Raises OutOfSync."""
        metadata = obj.metadata
        stored = self.stored(metadata.namespace, metadata.name)
        if stored is None:
            raise OutOfSync(f'{obj.plural} "{obj.key}" not found')
        if stored.metadata.resource_version != metadata.resource_version:
            versions = f"stored: {stored.metadata.resource_version}, assume: {metadata.resource_version}"
            raise OutOfSync(f'"{obj.key}" is out of sync ({versions})')
        self._assumed[metadata.namespace, metadata.name] = obj

    def restore(self, obj: O) -> None:
        """Forgets what was assumed from this version of the object."""
        key = obj.metadata.namespace, obj.metadata.name
        assumed = self._assumed.get(key)
        if assumed is not None and assumed.metadata.resource_version == obj.metadata.resource_version:
            del self._assumed[key]


class AssumeCaches:
    """One per plugin, as upstream: profiles do not see what another one assumes."""

    def __init__(self, handle: Handle) -> None:
        self.volumes = AssumeCache(handle, PersistentVolume)
        self.claims = AssumeCache(handle, PersistentVolumeClaim)
