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


class HeldState(msgspec.Struct, frozen=True):
    """The cluster's Lease as it was seen last; times are its own, as RFC 3339."""

    name: str
    """With its namespace."""
    holder: str
    """"" where nobody has it."""
    is_ours: bool
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0
    """How often it went from one holder to another."""
    seconds: int = 0
    """For which it is held without a renewal."""


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
    lease: HeldState | None = None
    """None in a dry run, which needs none, and before it was looked at."""
    rights_back: float = 0.0
    """Seconds since 1970: when rights that were missing were found again, all of them; 0 where none were missing."""
