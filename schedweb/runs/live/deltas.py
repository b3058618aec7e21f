"""A delta in a reader's language: published once, and translated once per language however many browsers hear it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec
from django.utils.translation import override

from schedweb.engine.shapes import Cycle, FeedItem, FeedPart, Hit, NumberedFeedItem, UntranslatedCycle, UntranslatedHit
from schedweb.runs.wire.messages import RunDelta, UntranslatedDelta, to_text
from schedweb.sentences import told, told_parts

HELD: Final = 24
"""Deltas: several runs play at a time, in a few languages."""
_DELTA: Final = msgspec.json.Decoder(UntranslatedDelta)
_CYCLE: Final = msgspec.json.Decoder(UntranslatedCycle | None)


@lru_cache(maxsize=HELD)
def delta_in(language: str, text: str) -> str:
    published = _DELTA.decode(text)
    fields = msgspec.structs.asdict(published)
    with override(language):
        fields["cycle"] = translated_cycle(_CYCLE.decode(published.cycle))
        fields["feed"] = [translated_item(item) for item in published.feed]
        fields["hit"] = translated_hit(published.hit)
    return to_text(RunDelta(**fields))


def translated_cycle(cycle: UntranslatedCycle | None) -> Cycle | None:
    return None if cycle is None else Cycle(**{**msgspec.structs.asdict(cycle), "note": told(cycle.note)})


def translated_item(item: NumberedFeedItem) -> FeedItem:
    parts = msgspec.convert(told_parts(item.parts), list[FeedPart])
    return FeedItem(**{**msgspec.structs.asdict(item), "parts": parts})


def translated_hit(hit: UntranslatedHit | None) -> Hit | None:
    return None if hit is None else Hit(hit.id, told(hit.text), hit.pod)
