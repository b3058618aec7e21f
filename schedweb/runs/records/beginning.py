"""What is asked of a run before its first rows are stored: not there yet is not the same as not there."""

from __future__ import annotations

from schedweb.api.errors import ApiError
from schedweb.runs.models import Run
from schedweb.sentences import say


def refuse_until_begun(run: Run) -> None:
    """Where nothing was found: raises an ApiError `being_made` (202, as of a moment) while no engine has told what the
    run begins with.

    Where none could be made the run says why, and what is asked for is not there.
    """
    if run.moment is None and is_beginning(run.state, run.seq, run.error):
        raise being_made(run)


def is_beginning(state: str, seq: int, error: object) -> bool:
    """Of fields of a run's row."""
    return state == Run.State.CREATED and seq == 0 and not error


def refuse_until_written(run: Run) -> None:
    """The same of a pod, while rows of pods that were placed from the start are still to be written."""
    refuse_until_begun(run)
    if run.moment is None and run.unwritten:
        raise being_made(run)


def being_made(run: Run) -> ApiError:
    # No failure: a browser writes those into its console.
    return ApiError(say("{run} is being prepared.", run=run), code="being_made", status_code=202)
