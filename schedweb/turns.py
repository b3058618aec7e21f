"""Whose turn it is: of people whose work waits, the one with the least of it under way, then the one whose last turn is
longest ago. Who comes first with much keeps nobody waiting."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

LOOKED_AT: Final = 500
"""So many of those that wait are compared, the oldest ones."""
NEVER: Final = datetime.datetime.min.replace(tzinfo=datetime.UTC)


class Waits(NamedTuple):
    id: UUID
    person: Any
    """Whose it is: an account's id or name."""
    since: datetime.datetime | None
    """Of one person's the oldest goes first; None is older than all."""


def next_in_turn(
    waiting: Iterable[Waits], under_way: Mapping[Any, int], last_turn: Mapping[Any, datetime.datetime | None]
) -> UUID | None:
    """`under_way`, at all workers, and `last_turn` per person. Among equals the first goes. None when nothing waits."""

    def place(one: Waits) -> tuple[int, datetime.datetime, datetime.datetime]:
        return under_way.get(one.person, 0), last_turn.get(one.person) or NEVER, one.since or NEVER

    first = min(waiting, key=place, default=None)
    return None if first is None else first.id
