"""Share links: which there are, whether one is open, and who somebody with a session of them is.

The API's settings name what uses this, so nothing here needs the API.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.utils import timezone

from schedweb.accounts.services import day
from schedweb.accounts.visitor import SharedRun, Visitor
from schedweb.runs.models import Run, ShareLink
from schedweb.sentences import say

MOST_LINKS: Final = 100
"""Open ones per run, and how many closed ones are listed."""


def share_link_list(*, run: Run) -> list[ShareLink]:
    """Open ones first, then the newest; of those that ended the last few."""
    rows = list(run.share_links.order_by("-created_at"))
    closed = [each for each in rows if ended(each)]
    return [*(each for each in rows if not ended(each)), *closed[:MOST_LINKS]]


def ended(link: ShareLink) -> str:
    """Why it is no longer open; "" while it is. Visitors read this, so it does not say what its maker calls it."""
    if link.revoked_at is not None:
        return say("This share link was revoked on {day}.", day=day(link.revoked_at))
    if link.expires_at is not None and link.expires_at <= timezone.now():
        return say("This share link expired on {day}.", day=day(link.expires_at))
    if link.run.deleted_at is not None:
        return say("The run of this share link was deleted on {day}.", day=day(link.run.deleted_at))
    return ""


def visitor_of(opened: object) -> Visitor | None:
    """By the ids that a session remembers; None when it remembers none."""
    ids = known_ids(opened)
    if not ids:
        return None
    links = ShareLink.objects.filter(pk__in=ids).select_related("run")
    rows = links.only("pk", "run_id", "run__number", "run__deleted_at", "revoked_at", "expires_at")
    return Visitor(SharedRun(row.pk, row.run_id, str(row.run), ended(row), row.expires_at) for row in rows)


def known_ids(opened: object) -> list[UUID]:
    if not isinstance(opened, Iterable):
        return []
    return [UUID(each) for each in opened]
