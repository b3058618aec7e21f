"""What extenders were sent for a decision of a shadow and what they replied, as of an attempt of a run
(schedweb/runs/attempts/extenders.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schedweb.api.errors import not_found
from schedweb.runs.attempts.extenders import body_of
from schedweb.runs.models import Run, ShadowJudgement
from schedweb.sentences import say

SHORT: Final = ("extender", "verb", "sent", "kept", "error", "microseconds")
"""What lists of decisions have of a call."""
OK: Final = 200


def in_short(calls: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: call[name] for name in SHORT} for call in calls]


def extenders_body(run: Run, number: int) -> dict[str, Any]:
    """Raises ApiError (404) where no such decision is kept."""
    row = ShadowJudgement.objects.filter(run=run, number=number).first()
    if row is None:
        raise not_found(say("{run} keeps no decision {number}.", run=run, number=number))
    calls = row.detail.get("extenders", [])
    waited: dict[int, int] = {}
    for at, call in enumerate(calls):
        together = call.get("together", -at)
        waited[together] = max(waited.get(together, 0), call["microseconds"])
    return {"calls": [_call_body(call) for call in calls], "waited_us": sum(waited.values())}


def _call_body(call: Mapping[str, Any]) -> dict[str, Any]:
    """Of decisions that an older version stored neither status nor bodies are known: what was used was 200."""
    error = call["error"]
    status = call.get("status", None if error else OK)
    reply = None if status is None or "body" not in call else body_of(call["body"], call["body_bytes"])
    return {
        **{name: call[name] for name in ("extender", "verb", "sent", "error")},
        "kept": None if error else call["kept"],
        "status": status,
        "ignored": call.get("ignored", False),
        "us": call["microseconds"],
        "request": body_of(call.get("request", ""), call.get("request_bytes")),
        "reply": {"text": "", "bytes": 0} if reply is None and call.get("body_bytes") == 0 and status else reply,
    }
