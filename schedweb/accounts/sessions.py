"""Who the sessions of many browsers are, in two queries however many there are.

`django.contrib.auth.get_user` answers for one request and may write to its session; sockets only ask.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from schedweb.accounts import visitor
from schedweb.accounts.roles import Role, role_of
from schedweb.accounts.seen import LATELY, sessions_seen


@dataclass(frozen=True)
class Admission:
    role: Role | None
    """None: nobody's, or that of an account without a role."""
    links: object = None
    """What the session remembers of share links that were opened with it."""


NOBODY = Admission(None)


def admissions(session_keys: Iterable[str]) -> dict[str, Admission]:
    """By session key. Sessions that are gone or have expired are left out."""
    decoder = import_module(settings.SESSION_ENGINE).SessionStore()
    rows = Session.objects.filter(session_key__in=set(session_keys), expire_date__gt=timezone.now())
    sessions: dict[str, dict[str, Any]] = {row.session_key: decoder.decode(row.session_data) for row in rows}
    wanted = {number for data in sessions.values() if (number := account_of(data)) is not None}
    users = {user.pk: user for user in User.objects.filter(pk__in=wanted).prefetch_related("groups")}
    found = {key: admission_of(data, users) for key, data in sessions.items()}
    if due := LATELY.due(key for key, admission in found.items() if admission.role is not None):
        sessions_seen(due)
    return found


def account_of(session: dict[str, Any]) -> int | None:
    if session.get(BACKEND_SESSION_KEY) not in settings.AUTHENTICATION_BACKENDS:
        return None
    try:
        return int(session[SESSION_KEY])
    except (KeyError, TypeError, ValueError):
        return None


def admission_of(session: dict[str, Any], users: dict[int, User]) -> Admission:
    user = users.get(account_of(session) or 0)
    known = user is not None and is_current(session, user)
    return Admission(role_of(user) if known else None, session.get(visitor.SESSION_KEY))


def is_current(session: dict[str, Any], user: User) -> bool:
    """Not from before the account got another password."""
    stored = session.get(HASH_SESSION_KEY) or ""
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return any(constant_time_compare(stored, each) for each in hashes)


def sessions_end(user: User, *, but: str | None = None) -> int:
    """Logs an account out everywhere, but for the session with the key ``but``; how many sessions that were. Sockets
    notice within seconds."""
    decoder = import_module(settings.SESSION_ENGINE).SessionStore()
    rows = Session.objects.filter(expire_date__gt=timezone.now()).iterator()
    mine = [row.session_key for row in rows if account_of(decoder.decode(row.session_data)) == user.pk]
    keys = [key for key in mine if key != but]
    Session.objects.filter(session_key__in=keys).delete()
    return len(keys)
