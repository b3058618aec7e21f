"""A draft beside what is saved: what it changes, and what somebody else saved since it was begun."""

from __future__ import annotations

import datetime

import msgspec

from schedweb.configurations.changes import EffectiveChange, changes_between
from schedweb.configurations.examination import TooLarge, examine
from schedweb.configurations.lines import Diff, diff_lines, merge
from schedweb.configurations.models import ConfigurationVersion


class Comparison(msgspec.Struct, frozen=True):
    changes: list[EffectiveChange]
    diff: Diff


class Meanwhile(msgspec.Struct, frozen=True):
    """What others saved after the version that a draft began with."""

    number: int
    who: str
    when: str
    comment: str
    changes: list[EffectiveChange]
    diff: Diff
    overlaps: bool
    """The draft changes the same or neighbouring lines."""
    merged: str | None
    """Both together, where that is possible and without errors."""


def wall(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def compare(old: str, new: str) -> Comparison:
    return Comparison(changes_between(examine(old).effective, examine(new).effective), diff_lines(old, new))


def compare_saved(*, base: ConfigurationVersion, latest: ConfigurationVersion, mine: str) -> Meanwhile:
    theirs = compare(base.text, latest.text)
    both = merge(base.text, mine, latest.text)
    return Meanwhile(
        number=latest.number,
        who=latest.created_by_name,
        when=wall(latest.created_at),
        comment=latest.comment,
        changes=theirs.changes,
        diff=theirs.diff,
        overlaps=both is None,
        merged=both if both is not None and _is_valid(both) else None,
    )


def _is_valid(text: str) -> bool:
    try:
        return not examine(text).errors
    except TooLarge:
        return False
