"""A delta in a reader's language: it is published once, and said once per language however many browsers hear it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import msgspec
from django.utils.translation import override

from schedweb.runs.playing.board import feed_shown
from schedweb.runs.playing.selectors import cycle_shown, hit_body
from schedweb.runs.wire.messages import RunDelta, to_text

HELD: Final = 24
"""Deltas: several runs play at a time, in a few languages."""
_DELTA: Final = msgspec.json.Decoder(RunDelta)


@lru_cache(maxsize=HELD)
def delta_in(language: str, text: str) -> str:
    delta = _DELTA.decode(text)
    cycle: dict[str, Any] | None = msgspec.json.decode(delta.cycle)
    with override(language):
        spoken = msgspec.structs.replace(
            delta,
            cycle=delta.cycle if cycle is None else msgspec.Raw(msgspec.json.encode(cycle_shown(cycle))),
            feed=[feed_shown(item) for item in delta.feed],
            hit=hit_body(delta.hit),
        )
    return to_text(spoken)
