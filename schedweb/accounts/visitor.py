"""Visitor: somebody without an account who reads what links were shared with them, and nothing else.

A view lets visitors in by saying ``shared = ("run",)``: which parts of its address are runs. They may GET it when
one of their links is for each of them. What a link is, and whether it is still open, is the business of who makes them
(schedweb/runs/sharing/services.py).
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from schedweb.sentences import say

SESSION_KEY = "share_links"
"""In a session: the ids of the links that were opened with it."""


VISITOR = "visitor"
"""What stands in place of a role."""


@dataclass(frozen=True)
class SharedRun:
    link: UUID
    run: UUID
    number: str
    """The run's. What its maker calls the link (for whom it is) is not the visitor's business."""
    ended: str
    """Why it is no longer open, as a sentence; "" while it is."""
    expires_at: datetime.datetime | None = None

    def is_over(self) -> bool:
        """Also when it has expired since it was read."""
        return bool(self.ended) or (self.expires_at is not None and self.expires_at <= timezone.now())


class Visitor:
    """In place of an account. It has no role (schedweb/accounts/roles.py), so what is not shared refuses it."""

    is_authenticated = False
    is_active = False
    pk = None

    def __init__(self, shared: Iterable[SharedRun]) -> None:
        self.shared = {each.run: each for each in sorted(shared, key=lambda each: bool(each.ended), reverse=True)}
        """By run; of several links to one run an open one."""

    @property
    def open(self) -> list[SharedRun]:
        return [each for each in self.shared.values() if not each.ended]

    def has_lost(self, run: UUID) -> bool:
        """Also when the link is gone with its run."""
        shared = self.shared.get(run)
        return shared is None or shared.is_over()

    def may_read(self, runs: Iterable[UUID]) -> str:
        """Why not all of these runs may be read; "" if they may."""
        for run in runs:
            found = self.shared.get(run)
            if found is None:
                return say("A share link shows one run only.")
            if found.ended:
                return found.ended
        return ""


def visitor_in(user: Any) -> Visitor | None:
    """A request's user, if it is one."""
    return user if isinstance(user, Visitor) else None
