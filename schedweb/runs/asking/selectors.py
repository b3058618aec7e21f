"""An analysis as the API shows it."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import msgspec

from framework.advice import Elsewhere
from framework.sentences import sentence
from schedweb.api.errors import ApiError, not_found
from schedweb.api.windows import Window, window_body
from schedweb.database.clock import database_now
from schedweb.engine.moved import unpacked_rows
from schedweb.engine.questions import OTHER_WEIGHTS, WHAT_WOULD_HELP, WHY_PENDING
from schedweb.engine.times import wall
from schedweb.runs.attempts.selectors import pod_ref
from schedweb.runs.models import Analysis
from schedweb.runs.pending.tried_now import said_of
from schedweb.runs.records.analyses import OPEN
from schedweb.sentences import say, translated
from schedweb.snapshots.redaction import shown

OLD_REMEDY: Final = {
    "others": [],
    "others_count": 0,
    "pods": 0,
    "placed": 1,
    "commands": [],
    "diff": "",
    "finished": True,
}
"""What answers that an older version stored do not say."""
OLD_HELP: Final = {"workload": "", "alike": 1, "complete": True}
LOST: Final = sentence("The worker of this analysis was lost. Ask again.")


def analysis_body(analysis: Analysis) -> dict[str, Any]:
    status, error = analysis.status, analysis.error
    if status in OPEN and analysis.expires < database_now():
        status, error = Analysis.Status.FAILED, LOST
    arguments = analysis.arguments
    if isinstance(arguments.get("manifest"), dict):
        # An older version may have stored more than is kept now.
        arguments = {**arguments, "manifest": shown(arguments["manifest"])}
    return {
        "id": str(analysis.pk),
        "run": str(analysis.run_id),
        "name": analysis.name,
        "position": analysis.position,
        "arguments": arguments,
        "status": status,
        "error": translated(error) or None,
        "seconds": analysis.seconds,
        "asked_by": analysis.asked_by,
        "at": wall(analysis.created_at),
        "result": result_body(analysis) if analysis.result else None,
    }


def result_body(analysis: Analysis) -> object:
    stored = analysis.result.encode()
    if analysis.name == WHY_PENDING:
        return why_body(analysis, msgspec.json.decode(stored))
    if analysis.name != WHAT_WOULD_HELP:
        return msgspec.Raw(stored)
    found: dict[str, Any] = msgspec.json.decode(stored)
    remedies = [remedy_body({**OLD_REMEDY, **each}) for each in found["remedies"]]
    return {**OLD_HELP, **found, "why": translated(found.get("why", "")), "remedies": remedies}


def why_body(analysis: Analysis, found: dict[str, Any]) -> dict[str, Any]:
    headline, detail = said_of(analysis, found)
    names = ("pod", "node", "evicts", "message", "without_extenders")
    known = {name: found[name] for name in names if name in found}
    return {**known, "headline": headline, "detail": detail}


def remedy_body(remedy: dict[str, Any]) -> dict[str, Any]:
    others = [{**each, "text": translated(each["text"])} for each in remedy["others"]]
    return {**remedy, "text": translated(remedy["text"]), "cost": translated(remedy["cost"]), "others": others}


def moved_window(analysis: Analysis, window: Window, *, kind: str = "", query: str = "") -> dict[str, Any]:
    """Of an `other_weights` answer."""
    if kind not in ("", "elsewhere", "open"):
        raise ApiError(say("kind must be elsewhere or open, not {kind!r}.", kind=kind), code="invalid", path="kind")
    if analysis.name != OTHER_WEIGHTS or analysis.status != Analysis.Status.DONE or analysis.blob is None:
        raise not_found(say("This analysis has no list of pods."))
    rows = [
        row
        for row in unpacked_rows(bytes(analysis.blob))
        if query.lower() in row.pod.lower() and kind in ("", "open" if row.stays_possible else "elsewhere")
    ]
    return window_body(window, len(rows), [moved_body(row) for row in window.cut(rows)])


def moved_body(row: Elsewhere) -> dict[str, Any]:
    namespace, _, name = row.pod.partition("/")
    return {
        "number": row.number,
        "pod": pod_ref(namespace, name),
        "node": row.node,
        "to": row.to or None,
        "tied": row.tied,
        "named": list(row.named),
        "stays_possible": row.stays_possible,
        "behind": row.behind,
    }


def analysis_get(run: UUID, analysis: UUID) -> Analysis:
    found = Analysis.objects.filter(run=run, run__deleted_at=None, pk=analysis).first()
    if found is None:
        raise not_found(say("This run has no such analysis."))
    return found
