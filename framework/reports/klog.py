"""Lines as klog writes them: ``I1124 10:31:05.000400       1 file.go:12] "message" key="value"``.

Upstream: k8s.io/klog/v2 (``klog.InfoS``, internal/serialize.KVListFormat).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final

from framework.configuration.errors import go_quote

PROCESS: Final = 1
"""The process id that is printed: a scheduler in a container is the first process."""
_SECOND: Final = 1_000_000_000


def line(at: int, place: str, message: str, **values: object) -> str:
    """One line. ``at``: nanoseconds since 1970; ``place``: upstream's file and line number.

    A value that is a text of several lines takes several lines, as klog does. An underscore in a key is a blank.
    """
    seconds, rest = divmod(at, _SECOND)
    written = datetime.fromtimestamp(seconds, UTC).strftime("%m%d %H:%M:%S")
    pairs = "".join(f" {key.replace('_', ' ')}={shown(value)}" for key, value in values.items())
    return f"I{written}.{rest // 1000:06d} {PROCESS:7d} {place}] {go_quote(message)}{pairs}"


def shown(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping | Collection):
        return json.dumps(value if isinstance(value, Mapping) else list(value), separators=(",", ":"))
    return str(value)


def _text(value: str) -> str:
    if "\n" not in value:
        return go_quote(value)
    return "<\n" + "".join(f"\t{each}\n" for each in value.removesuffix("\n").split("\n")) + " >"
