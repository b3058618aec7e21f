"""A followed run whose base an engine of another version stored: the cluster is followed by a new run, as by a
scheduler that was started again, and the old one ends with what is stored of it (decision 0035)."""

from __future__ import annotations

import msgspec

from framework.sentences import Words, sentence
from schedweb.api.errors import ApiError
from schedweb.engine.live import Scheduling
from schedweb.runs.following.services import run_follow
from schedweb.runs.models import Followed, Run
from schedweb.runs.storing.batches import refuse_pending, stopped
from schedweb.runs.storing.lease import Lease, LeaseLost, mine


def follow_anew(run: Run, lease: Lease, why: Words) -> Run | None:
    """The new run; None where whoever began the old one may have no other, or is gone. Raises LeaseLost."""
    known, user = Followed.objects.get(run=run), run.started_by
    if user is None:
        return None

    def end_old(new: Run) -> None:
        held = Run.objects.filter(mine(lease))
        if not held.update(state=Run.State.STOPPED, wanted=False, taking_over=False):
            raise LeaseLost(f"run {run.pk} has another holder")
        refuse_pending(run, stopped(run))
        words = sentence("{why} {context} is followed by {new} now.", why=why, context=run.follows, new=str(new))
        Followed.objects.filter(run=run).update(ended=words)
        kept = ("most_bytes", "alert_below", "below_since", "alerts", "ends_at")
        Followed.objects.filter(run=new).update(**{name: getattr(known, name) for name in kept})

    try:
        return run_follow(
            snapshot=run.snapshot,
            user=user,
            version=run.configuration_version,
            megabytes=known.most_bytes // 1_000_000,
            shadow=known.shadow,
            own_world=run.own_world,
            terms=None if run.scheduling is None else msgspec.convert(run.scheduling, Scheduling),
            beside=end_old,
        )
    except ApiError:
        return None
