"""Manifests as they are stored: compressed JSON."""

from __future__ import annotations

from io import StringIO
from typing import Any

import msgspec
import zstandard
from ruamel.yaml import YAML


def manifest_of(stored: bytes | memoryview | None) -> dict[str, Any]:
    """The stored manifest; empty when there is none."""
    if stored is None:
        return {}
    manifest: dict[str, Any] = msgspec.json.decode(text_of(stored))
    return manifest


def text_of(stored: bytes | memoryview) -> bytes:
    """Of a manifest as it is stored, its JSON."""
    return zstandard.ZstdDecompressor().decompress(bytes(stored))


def yaml_of(stored: bytes | memoryview | None) -> str:
    if stored is None:
        return ""
    content = manifest_of(stored)
    writer = YAML()
    writer.default_flow_style = False
    text = StringIO()
    writer.dump(content, text)
    return text.getvalue()
