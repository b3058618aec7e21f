"""Which CSI volumes a pod has attached to its node (docs/semantics/volumes.md#nodevolumelimits).

A volume is known by ``driver/handle``; a claim that is not bound counts for its class's provisioner under a made-up
handle. Whether in-tree volumes count as CSI volumes depends on the node having a CSINode, and on nothing else.
"""

from __future__ import annotations

from typing import Final

from framework.interface import ObjectStore
from framework.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, Volume
from framework.objects.claims import claim_name, class_of_claim, not_made_for
from framework.objects.csi_migration import (
    MigratedPlugin,
    TranslationError,
    plugin_named,
    plugin_of_inline,
    plugin_of_volume,
    translated,
)

UNBOUND: Final = "3f0c7a52d9e148b6a1c4e87f20b5d693"
"""Stands before the name of a claim that is not bound, where upstream has 32 random letters: no real handle does."""

Volumes = dict[str, str]
"""``driver/handle`` → driver."""


class CountingError(RuntimeError):
    """Upstream's error; ``missing``: a claim of the new pod is not there."""

    def __init__(self, text: str, *, missing: bool = False) -> None:
        super().__init__(text)
        self.missing = missing


class Attachable:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def add_volumes(self, pod: Pod, into: Volumes, *, csi_node: bool, new: bool) -> None:
        """``csi_node``: the node has a CSINode. ``new``: the pod has yet to be placed; claims of others may be gone.

        Raises CountingError.
        """
        for volume in pod.spec.volumes:
            name = claim_name(pod, volume)
            if name is None:
                if csi_node:
                    self._add_inline(pod, volume, into)
                continue
            if not name:
                raise CountingError("PersistentVolumeClaim had no name")
            claim = self._objects.get(PersistentVolumeClaim, pod.metadata.namespace, name)
            if claim is None:
                if new:
                    text = f'persistentvolumeclaim "{name}" not found'
                    raise CountingError(f"looking up PVC {pod.metadata.namespace}/{name}: {text}", missing=True)
                continue
            if volume.ephemeral is not None and (refused := not_made_for(pod, claim)) is not None:
                raise CountingError(refused)
            driver, handle = self._of_claim(claim, csi_node)
            if driver and handle:
                into[f"{driver}/{handle}"] = driver

    def _add_inline(self, pod: Pod, volume: Volume, into: Volumes) -> None:
        plugin = plugin_of_inline(volume)
        if plugin is None or not plugin.always_on:
            return
        into[f"{plugin.driver}/{inline_handle(plugin, volume, pod.metadata.namespace)}"] = plugin.driver

    def _of_claim(self, claim: PersistentVolumeClaim, csi_node: bool) -> tuple[str, str]:
        """A volume that is not there (yet) counts as if the claim were not bound."""
        volume = None
        if claim.spec.volume_name:
            volume = self._objects.get(PersistentVolume, "", claim.spec.volume_name)
        if volume is None:
            return self._of_class(claim, csi_node)
        source = volume.spec.csi
        if source is None:
            plugin = plugin_of_volume(volume)
            if plugin is None or not (csi_node and plugin.always_on):
                return "", ""
            try:
                source = translated(volume, plugin).spec.csi
            except TranslationError:
                return "", ""
            assert source is not None
        return source.driver, source.volume_handle

    def _of_class(self, claim: PersistentVolumeClaim, csi_node: bool) -> tuple[str, str]:
        name = class_of_claim(claim)
        storage_class = self._objects.get(StorageClass, "", name) if name else None
        if storage_class is None:
            return "", ""
        handle = f"{UNBOUND}-{claim.metadata.namespace}/{claim.metadata.name}"
        plugin = plugin_named(storage_class.provisioner)
        if plugin is None:
            return storage_class.provisioner, handle
        return (plugin.driver, handle) if csi_node and plugin.always_on else ("", "")


def inline_handle(plugin: MigratedPlugin, volume: Volume, namespace: str) -> str:
    """Raises CountingError."""
    try:
        return plugin.inline_handle(volume, namespace)
    except TranslationError as error:
        raise CountingError(f"converting volume({volume.name}) from inline to csi: {error}") from None
