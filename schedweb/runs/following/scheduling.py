"""How a run that schedules a real cluster stands, as its worker says it."""

from __future__ import annotations

from typing import Literal

import msgspec

from framework.sentences import Sentence

StateName = Literal["catching_up", "scheduling", "standing_by", "lease_lost", "not_allowed"]


class SchedulingState(msgspec.Struct, frozen=True):
    state: StateName
    since: float
    """Seconds since 1970."""
    problem: Sentence | str = ""
    holder: str = ""
    """Of the cluster's Lease, where it is somebody else."""
