"""Manifests as they are stored: packed JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from framework.objects.stored_volumes import (
    write_empty_fields,
    write_empty_fields_of_claim,
    write_empty_fields_of_volume,
)
from framework.reading.yaml_text import yaml_text
from schedweb.runs.models.packed import text_of
from schedweb.snapshots.redaction import shown


def manifest_of(stored: bytes | memoryview | None) -> dict[str, Any]:
    """The stored manifest; empty when there is none."""
    if stored is None:
        return {}
    manifest: dict[str, Any] = msgspec.json.decode(text_of(stored))
    return manifest


def as_served(manifest: dict[str, Any]) -> dict[str, Any]:
    """What may be shown of an object, with what an API server writes of volumes and claims though it is empty."""
    spec = manifest.get("spec")
    # Before seals go: what was taken was not empty.
    match manifest.get("kind"):
        case "Pod":
            volumes = spec.get("volumes") if isinstance(spec, dict) else None
            for volume in volumes if isinstance(volumes, list) else ():
                if isinstance(volume, dict):
                    write_empty_fields(volume)
        case "PersistentVolume":
            write_empty_fields_of_volume(spec)
        case "PersistentVolumeClaim":
            write_empty_fields_of_claim(spec)
    # An older version may have stored more than is kept now.
    return shown(manifest)


def yaml_of(stored: bytes | memoryview | None) -> str:
    if stored is None:
        return ""
    return yaml_text(as_served(manifest_of(stored)))
