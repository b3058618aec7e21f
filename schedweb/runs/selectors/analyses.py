"""An analysis as the API shows it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
from django.utils import timezone

from schedweb.api.errors import not_found
from schedweb.runs.models import Analysis
from schedweb.runs.services.analyses import OPEN
from schedweb.runs.times import wall

LOST = "The worker of this analysis was lost. Ask again."


def analysis_body(analysis: Analysis) -> dict[str, Any]:
    status, error = analysis.status, analysis.error
    if status in OPEN and analysis.expires < timezone.now():
        status, error = Analysis.Status.FAILED, LOST
    return {
        "id": str(analysis.pk),
        "run": str(analysis.run_id),
        "name": analysis.name,
        "position": analysis.position,
        "arguments": analysis.arguments,
        "status": status,
        "error": error or None,
        "seconds": analysis.seconds,
        "asked_by": analysis.asked_by,
        "at": wall(analysis.created_at),
        "result": msgspec.Raw(analysis.result.encode()) if analysis.result else None,
    }


def analysis_get(run: UUID, analysis: UUID) -> Analysis:
    found = Analysis.objects.filter(run=run, pk=analysis).first()
    if found is None:
        raise not_found("This run has no such analysis.")
    return found
