"""The board as the engine last wrote it, and the activity feed."""

from __future__ import annotations

from typing import Any

import msgspec

from schedweb.runs.models import FeedItem, Run
from schedweb.runs.playing.selectors import cycle_shown, run_body
from schedweb.runs.records.fields import STATE_KEYS
from schedweb.sentences import translated_parts


def board_body(run: Run) -> dict[str, Any]:
    stored = msgspec.json.decode(run.columns, type=dict[str, msgspec.Raw])
    columns = {key: stored.get(key) or {"count": 0, "cards": [], "more": 0} for key in STATE_KEYS}
    return {"seq": run.seq, "run": run_body(run), "cycle": cycle_shown(run.cycle), "columns": columns}


def feed_items(run: Run, *, before: int | None, limit: int, pod: str = "", node: str = "") -> list[dict[str, Any]]:
    rows = FeedItem.objects.filter(run=run)
    if run.moment is not None:
        rows = rows.filter(at__lte=run.clock)
    if before is not None:
        rows = rows.filter(number__lt=before)
    for subject in (pod, node):
        if subject:
            rows = rows.filter(subjects__contains=f" {subject} ")
    return [feed_shown(item) for item in rows.values_list("item", flat=True)[:limit]]


def feed_shown(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "parts": translated_parts(item["parts"])}
