"""What is written back as it was shown stays what it was: people are shown volumes without their seals, and send them
back without (docs/threat-model.md#seals)."""

from __future__ import annotations

from msgspec.structs import replace

from framework.objects import KubeObject, PersistentVolume, Pod
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.storage import PersistentVolumeSpec
from framework.reading.redaction import redacted


def with_kept_seals(known: KubeObject, asked: KubeObject) -> KubeObject:
    """``asked``, that takes the place of ``known``: with ``known``'s volumes where they are as they were shown.

    A volume that differs from what was shown is taken as it is asked for. Of workloads nobody is shown a template.
    """
    if isinstance(known, Pod) and isinstance(asked, Pod):
        return _pod(known, asked)
    if isinstance(known, PersistentVolume) and isinstance(asked, PersistentVolume):
        return _volume(known, asked)
    return asked


def _pod(known: Pod, asked: Pod) -> Pod:
    if not known.spec.volumes or known.spec.volumes == asked.spec.volumes:
        return asked
    shown = _shown(known)
    assert isinstance(shown, Pod)
    kept = {each.name: (was, each) for was, each in zip(known.spec.volumes, shown.spec.volumes, strict=True)}
    volumes = tuple(
        kept[each.name][0] if each.name in kept and kept[each.name][1] == each else each for each in asked.spec.volumes
    )
    return replace(asked, spec=replace(asked.spec, volumes=volumes))


def _volume(known: PersistentVolume, asked: PersistentVolume) -> PersistentVolume:
    shown = _shown(known)
    assert isinstance(shown, PersistentVolume)
    kept = {
        name: getattr(known.spec, name)
        for name in PersistentVolumeSpec.__struct_fields__
        if getattr(shown.spec, name) != getattr(known.spec, name)
        and getattr(shown.spec, name) == getattr(asked.spec, name)
    }
    return replace(asked, spec=replace(asked.spec, **kept)) if kept else asked


def _shown(known: KubeObject) -> KubeObject:
    return decode_manifest(redacted(to_manifest(known)))
