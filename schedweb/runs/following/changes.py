"""What is known of reading a followed cluster, and of scheduling it: stored by who holds the run."""

from __future__ import annotations

import msgspec
from django.utils import timezone

from schedweb.runs.following.scheduling import Lacking, SchedulingState
from schedweb.runs.models import Followed, Run
from schedweb.runs.storing.lease import Lease


def store_state(lease: Lease, encoded: str) -> None:
    held = Followed.objects.filter(run=lease.run, run__epoch=lease.epoch)
    held.update(state=encoded, state_at=timezone.now())


def store_scheduling(lease: Lease, encoded: str) -> None:
    Followed.objects.filter(run=lease.run, run__epoch=lease.epoch).update(scheduling=encoded)


def known_lacks(run: Run) -> tuple[Lacking, ...]:
    """What the holder before found missing; nothing where there was none, or one of another version."""
    encoded = Followed.objects.filter(run=run).values_list("scheduling", flat=True).first()
    try:
        return msgspec.json.decode(encoded, type=SchedulingState).lacks if encoded else ()
    except msgspec.DecodeError:
        return ()
