"""Of a run whose oldest part went because it grew past its bound (schedweb/runs/following/thinning.py): what is said
where that part would be."""

from __future__ import annotations

import datetime
from typing import Any

from framework.sentences import Sentence, sentence
from schedweb.api.errors import ApiError
from schedweb.engine.times import EPOCH, iso
from schedweb.runs.models import Run
from schedweb.sentences import translated


def base_moment(clock: int) -> datetime.datetime:
    """Of nanoseconds of run time."""
    return EPOCH + datetime.timedelta(microseconds=clock // 1000)


def thinned_words(run: Run) -> Sentence:
    """Of a run that has a base."""
    return sentence(
        "The past of {run} before {time} (step {position}) went to make room: it grew past what is kept of it.",
        run=str(run),
        time=f"{base_moment(run.base_clock or 0):%Y-%m-%d %H:%M:%S} UTC",
        position=run.base_position,
    )


def thinned_body(run: Run) -> dict[str, Any] | None:
    if not run.base_position:
        return None
    return {"position": run.base_position, "at": iso(run.base_clock or 0), "text": translated(thinned_words(run))}


def refuse_before_base(run: Run, position: int) -> None:
    """Raises ApiError `thinned`."""
    if position < run.base_position:
        raise ApiError(
            translated(thinned_words(run)),
            code="thinned",
            status_code=422,
            path="position",
            extra={"thinned": thinned_body(run)},
        )


def refuse_if_thinned(run: Run, ended_at: int) -> None:
    """Of an attempt whose breakdown is not there, and whose cycle ended at that position. Raises ApiError `thinned`."""
    if ended_at <= run.base_position != 0:
        raise ApiError(
            translated(thinned_words(run)), code="thinned", status_code=404, extra={"thinned": thinned_body(run)}
        )
