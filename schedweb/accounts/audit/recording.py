"""Writing entries. What is done and its entry are one transaction: nothing is done without being written down.

Nobody's password, token or link goes into an entry, nor what was typed in place of a name: it may be a password.
"""

from __future__ import annotations

import datetime
from typing import Any, Final, Literal

from django.contrib.auth.models import User
from django.utils import timezone

from schedweb.accounts.audit.asking import Author, author_here
from schedweb.accounts.models import AuditEntry

Result = Literal["done", "refused"]
Action = Literal[
    "login", "logout", "session.end",
    "token.create", "token.revoke", "share.create", "share.revoke",
    "account.create", "account.disable", "account.enable", "account.role", "account.password", "account.link",
    "account.identity", "request",
    "decision.approve", "decision.reject", "decision.override",
    "run.delete", "run.restore", "run.remove", "run.configuration", "run.keep", "run.until", "run.star", "run.unstar",
    "run.prune",
    "snapshot.import", "snapshot.events", "snapshot.delete", "snapshot.restore", "snapshot.remove",
    "configuration.create", "configuration.change", "configuration.rename", "configuration.delete",
    "configuration.restore", "configuration.remove",
    "cluster.connect", "cluster.disconnect", "cluster.follow", "cluster.may_schedule",
    "cluster.schedule", "cluster.snapshot",
    "settings", "audit.export", "audit.prune",
]  # fmt: skip
"""`request`: one that somebody's role did not allow."""
RESULTS: Final[tuple[Result, ...]] = ("done", "refused")
SELDOM: Final = datetime.timedelta(minutes=1)


def entry_of(
    action: Action,
    *,
    result: Result = "done",
    target: object = "",
    target_id: object = "",
    user: User | None = None,
    author: Author | None = None,
    **details: Any,
) -> AuditEntry:
    """One that is to be stored. ``user``: whose doing it is, where the request does not know them yet (a login). Of
    details None, "" and {} are left out."""
    author = author or author_here()
    return AuditEntry(
        at=timezone.now(),
        account=author.account if user is None else user.pk,
        username=author.username if user is None else user.get_username(),
        via=author.via,
        address=author.address,
        action=action,
        result=result,
        target=str(target).replace("\0", "")[:200],
        target_id=str(target_id)[:64],
        details={name: value for name, value in details.items() if value not in (None, "", {})},
    )


def record(action: Action, **facts: Any) -> None:
    """Stores an entry. ``facts``: of `entry_of`."""
    entry_of(action, **facts).save(force_insert=True)


def record_seldom(action: Action, *, user: User | None = None, **facts: Any) -> None:
    """Of what can be tried as often as anybody likes: that it was refused, unless the same action of the same account
    and address was within the last minute. So nobody fills the disk with it."""
    author = author_here()
    since = timezone.now() - SELDOM
    recent = AuditEntry.objects.filter(action=action, address=author.address, at__gt=since, result="refused")
    if not recent.filter(account=author.account if user is None else user.pk).exists():
        record(action, result="refused", user=user, **facts)
