"""Of a run that lost its breakdowns to make room (schedweb/keeping/retention.py): what is said where they would be."""

from __future__ import annotations

from typing import Any

from rest_framework import status

from schedweb.accounts.services import day
from schedweb.api.errors import ApiError
from schedweb.engine.times import wall
from schedweb.runs.models import Run
from schedweb.sentences import one_after_another, say, translated


def gone_text(run: Run) -> str:
    assert run.breakdowns_gone_at is not None
    return one_after_another(
        [
            say(
                "What the plugins said in the attempts of {run} went on {day} to make room.",
                run=run,
                day=day(run.breakdowns_gone_at),
            ),
            translated(run.breakdowns_gone_why),
            say("Its journal is kept: a fork at its last step plays all of it again, with what the plugins say."),
        ]
    )


def gone_body(run: Run) -> dict[str, Any] | None:
    if run.breakdowns_gone_at is None:
        return None
    return {
        "at": wall(run.breakdowns_gone_at),
        "text": gone_text(run),
        "position": run.position if run.moment is None else run.last_position,
    }


def refuse_if_gone(run: Run) -> None:
    """Raises ApiError `breakdowns_gone`, with what to do about it."""
    if run.breakdowns_gone_at is not None:
        raise ApiError(
            gone_text(run),
            code="breakdowns_gone",
            status_code=status.HTTP_404_NOT_FOUND,
            extra={"breakdowns_gone": gone_body(run)},
        )
