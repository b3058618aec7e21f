"""Making, opening and revoking share links."""

from __future__ import annotations

import datetime
import secrets
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from schedweb.accounts.audit.recording import record
from schedweb.accounts.services import day, hash_of
from schedweb.api.errors import ApiError, conflict, not_found
from schedweb.runs.models import Run, ShareLink
from schedweb.runs.sharing.selectors import MOST_LINKS, ended
from schedweb.runs.wire.publisher import PUBLISHER, share_group
from schedweb.sentences import say

MOST_OPENED: Final = 20
"""That one session remembers."""


class LinkClosed(Exception):
    """The sentence for who opened it; ``known`` says whether there ever was such a link."""

    def __init__(self, message: str, *, known: bool) -> None:
        super().__init__(message)
        self.known = known


def share_link_create(
    *, run: Run, user: User, name: str, expires_at: datetime.datetime | None = None
) -> tuple[ShareLink, str]:
    """The link and its token, which nobody can read again."""
    if expires_at is not None and expires_at <= timezone.now():
        raise ApiError(say("expires_at must be in the future."), code="invalid", path="expires_at")
    if sum(1 for each in run.share_links.filter(revoked_at=None) if not ended(each)) >= MOST_LINKS:
        raise conflict(
            say("{run} has {most_links} open share links; revoke one first.", run=run, most_links=MOST_LINKS)
        )
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        link = ShareLink.objects.create(
            run=run,
            name=name,
            token_hash=hash_of(token),
            expires_at=expires_at,
            created_by=user,
            created_by_name=user.get_username(),
        )
        expires = "" if expires_at is None else day(expires_at)
        record("share.create", target=name, target_id=link.pk, run=str(run), expires_at=expires)
    return link, token


def share_link_revoke(*, run: Run, link: UUID) -> None:
    """At once, also for those who look at the run now. Revoking twice is no mistake."""
    found = ShareLink.objects.filter(run=run, pk=link).first()
    if found is None:
        raise not_found(say("This run has no such share link."))
    if found.revoked_at is None:
        found.revoked_at = timezone.now()
        with transaction.atomic():
            found.save(update_fields=["revoked_at"])
            record("share.revoke", target=found.name, target_id=found.pk, run=str(run))
    PUBLISHER.send(share_group(found.pk), {"type": "share.ended"})


def share_link_open(*, token: str) -> ShareLink:
    """Raises LinkClosed."""
    link = ShareLink.objects.select_related("run").defer("run__columns").filter(token_hash=hash_of(token)).first()
    if link is None:
        raise LinkClosed(
            say("There is no such share link. Perhaps its run was deleted, or the address was cut."), known=False
        )
    if why := ended(link):
        raise LinkClosed(
            say("{why} Ask {created_by_name} for another.", why=why, created_by_name=link.created_by_name), known=True
        )
    ShareLink.objects.filter(pk=link.pk).update(last_used_at=timezone.now())
    return link
