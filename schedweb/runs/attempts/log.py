"""What kube-scheduler's log would say of a stored attempt."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from framework.reports.log_entries import attempt_log
from schedweb.runs.attempts.selectors import StoredAttempt
from schedweb.runs.records.profiles import profile_at

#: At level 10 an attempt on 5,000 nodes has 50,000 lines.
MOST_LINES: Final = 60_000
LEVELS: Final = range(0, 11)


def log_body(stored: StoredAttempt, verbosity: int, limit: int) -> dict[str, Any]:
    """The first ``limit`` lines, and how many there are."""
    row = stored.row
    profile = profile_at(row.run, row.run.position if row.position is None else row.position, row.profile)
    lines = attempt_log(stored.trace, profile, verbosity)
    shown = list(islice(lines, limit))
    return {"lines": shown, "count": len(shown) + sum(1 for _ in lines)}
