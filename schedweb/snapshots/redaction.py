"""The door: whatever the server takes in goes through ``redact`` before it is stored, what it shows through ``shown``.

What stays is decided in framework/reading/redaction.py. Beside that the annotations stay that installed plugins read,
and those that the environment names for extenders (``KEPT_ANNOTATIONS``).
What an older version stored may hold more, so manifests are redacted when they are shown, too.

A seal stands for what was taken of volumes, so that batching tells pods apart as upstream does. Its key is this
installation's, and it is never shown: nobody can try out what it was made of.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from framework.reading.redaction import KEPT_ANNOTATIONS, Removed, redacted
from schedweb.environment import kept_annotation_problem, kept_annotations, read_environment

log = logging.getLogger(__name__)


def redact(manifest: Mapping[str, Any], removed: Removed | None = None) -> dict[str, Any]:
    """What may be kept of an object; ``removed`` is added up. ``manifest`` is not changed."""
    return redacted(manifest, removed, annotations=annotations_kept(), seal=_seal)


def shown(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What may be shown of an object that is kept, without seals. ``manifest`` is not changed."""
    return redacted(manifest, annotations=annotations_kept())


def _seal(value: bytes) -> str:
    return hashlib.blake2b(value, digest_size=8, key=_key(), person=b"volumes").hexdigest()


@cache
def _key() -> bytes:
    """Once per process, as the environment is read; the reader does without Django's settings."""
    return hashlib.blake2b(read_environment().secret_key.encode(), digest_size=32).digest()


@cache
def annotations_kept() -> frozenset[str]:
    """With those that plugins of other packages read, and those that the environment names. Once per process: plugins
    are installed before it starts."""
    named = {name for name in kept_annotations(os.environ) if not kept_annotation_problem(name)}
    found = entry_points(group="scheduling_playground.plugins")
    if not found:
        return KEPT_ANNOTATIONS | named
    from framework.plugins.registry import plugin_of  # noqa: PLC0415 - the reader can do without the plugins

    kept: set[str] = set()
    for each in found:
        try:
            kept |= {*plugin_of(each).annotations}
        except Exception:  # noqa: BLE001 - whatever a package raises; `doctor` and the log of the web say it
            log.warning("the plugin %s cannot be loaded, so no annotation is kept for it", each.name)
    return KEPT_ANNOTATIONS | named | kept
