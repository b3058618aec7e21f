"""Manifests as they are stored: packed JSON."""

from __future__ import annotations

from io import StringIO
from typing import Any

import msgspec
from ruamel.yaml import YAML

from schedweb.runs.models.packed import text_of
from schedweb.snapshots.redaction import shown


def manifest_of(stored: bytes | memoryview | None) -> dict[str, Any]:
    """The stored manifest; empty when there is none."""
    if stored is None:
        return {}
    manifest: dict[str, Any] = msgspec.json.decode(text_of(stored))
    return manifest


def yaml_of(stored: bytes | memoryview | None) -> str:
    if stored is None:
        return ""
    # An older version may have stored more than is kept now.
    content = shown(manifest_of(stored))
    writer = YAML()
    writer.default_flow_style = False
    text = StringIO()
    writer.dump(content, text)
    return text.getvalue()
