"""How a run that schedules a real cluster stands, as its worker says it."""

from __future__ import annotations

from typing import Literal

import msgspec

from framework.sentences import Sentence
from schedweb.clusters.reading.rights import Rule

StateName = Literal["catching_up", "scheduling", "standing_by", "lease_lost", "lacks_rights", "not_allowed"]


class Lacking(msgspec.Struct, frozen=True):
    """A rule that the credentials had, or were to have, and do not."""

    rule: Rule
    missing: tuple[str, ...]
    """Of its verbs."""
    since: float
    """Seconds since 1970: when it was found."""


class SchedulingState(msgspec.Struct, frozen=True):
    state: StateName
    since: float
    """Seconds since 1970."""
    problem: Sentence | str = ""
    holder: str = ""
    """Of the cluster's Lease, where it is somebody else."""
    lacks: tuple[Lacking, ...] = ()
    who: str = ""
    """Whose credentials they are, where that is known."""
