"""Messages in a reader's language: published once, and translated once per language however many browsers hear it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec
from django.utils.translation import override

from schedweb.engine.shapes import (
    CommandOutcome,
    CommandResult,
    Cycle,
    FeedItem,
    FeedPart,
    Hit,
    NumberedFeedItem,
    UntranslatedCycle,
    UntranslatedHit,
    UntranslatedOutcome,
)
from schedweb.runs.playing.selectors import result_body
from schedweb.runs.wire.messages import (
    CommandSettled,
    RunDelta,
    Untranslated,
    UntranslatedDelta,
    UntranslatedSettled,
    to_text,
)
from schedweb.sentences import translated, translated_parts

HELD: Final = 24
"""Messages: several runs play at a time, in a few languages."""
_PUBLISHED: Final = msgspec.json.Decoder(Untranslated)
_CYCLE: Final = msgspec.json.Decoder(UntranslatedCycle | None)


@lru_cache(maxsize=HELD)
def in_language(language: str, text: str) -> str:
    published: Untranslated = _PUBLISHED.decode(text)
    with override(language):
        match published:
            case UntranslatedDelta():
                return to_text(translated_delta(published))
            case UntranslatedSettled(run, outcome):
                return to_text(CommandSettled(run, translated_outcome(outcome)))


def translated_delta(delta: UntranslatedDelta) -> RunDelta:
    fields = msgspec.structs.asdict(delta)
    fields["cycle"] = translated_cycle(_CYCLE.decode(delta.cycle))
    fields["feed"] = [translated_item(item) for item in delta.feed]
    fields["hit"] = translated_hit(delta.hit)
    fields["outcomes"] = [translated_outcome(outcome) for outcome in delta.outcomes]
    return RunDelta(**fields)


def translated_cycle(cycle: UntranslatedCycle | None) -> Cycle | None:
    return None if cycle is None else Cycle(**{**msgspec.structs.asdict(cycle), "note": translated(cycle.note)})


def translated_item(item: NumberedFeedItem) -> FeedItem:
    parts = msgspec.convert(translated_parts(item.parts), list[FeedPart])
    return FeedItem(**{**msgspec.structs.asdict(item), "parts": parts})


def translated_hit(hit: UntranslatedHit | None) -> Hit | None:
    return None if hit is None else Hit(hit.id, translated(hit.text), hit.pod)


def translated_outcome(outcome: UntranslatedOutcome) -> CommandOutcome:
    result = result_body(msgspec.to_builtins(outcome.result))
    return CommandOutcome(
        outcome.id, outcome.status, translated(outcome.text), msgspec.convert(result, CommandResult | None)
    )
