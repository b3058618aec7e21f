"""Objects of ours as the JSON of a body. Only what we made ourselves is written this way: objects that were read have
lost fields that nobody here knows, so they are patched (docs/live-clusters.md)."""

from __future__ import annotations

from typing import Any

import msgspec

from framework.objects import KubeObject
from framework.objects.metadata import Manifest


def as_json(value: Manifest | KubeObject) -> dict[str, Any]:
    # Through the text: what is compared with an answer has lists, where ours has tuples.
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return found
