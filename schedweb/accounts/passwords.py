"""The password of who is signed in, changed by themselves."""

from __future__ import annotations

import datetime
from typing import Final

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from schedweb.accounts import throttle
from schedweb.accounts.address import address_of
from schedweb.accounts.audit.recording import record, record_seldom
from schedweb.accounts.models import OpenIdIdentity, SessionInfo
from schedweb.accounts.pages import NEXT, duration
from schedweb.accounts.services import AccountError
from schedweb.accounts.sessions import sessions_end
from schedweb.sentences import noted, one_after_another, say

FRESH: Final = datetime.timedelta(hours=1)
"""For so long after a login by link an account without a password may be given its first one."""
BY_PROVIDER: Final = noted("You log in by OpenID Connect. Your password is changed there, not here.")
LINK_FIRST: Final = noted(
    "Your account has no password. Log in with a new login link, and set one within an hour of that; an admin or "
    "`manage.py login_link` makes a link."
)
WRONG: Final = noted("This is not your password now.")
SAME: Final = noted("This is your password already.")
TOO_MANY: Final = noted("Too many tries failed. Wait {wait}, then try again; this one was not looked at.")


class NotHere(Exception):
    """A sentence: why this session changes no password."""


class Wait(Exception):
    """A sentence; ``seconds`` until the next try is looked at."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


def refusal(request: HttpRequest, user: User) -> str:
    """Why this session changes no password; "": it may."""
    if OpenIdIdentity.objects.filter(user=user).exists():
        return say(BY_PROVIDER)
    if user.has_usable_password():
        return ""
    # Whoever finds a browser left open would else keep the account for good.
    began = SessionInfo.objects.filter(session_id=request.session.session_key, user=user, how="link")
    return "" if began.filter(started_at__gt=timezone.now() - FRESH).exists() else say(LINK_FIRST)


def own_password_change(request: HttpRequest, user: User, *, old: str, new: str) -> int:
    """How many other sessions it ended. The one that asks gets another key. Raises AccountError, NotHere, and Wait
    where the old password was tried too often: tries count as logins that fail do (docs/decisions/0015)."""
    if why := refusal(request, user):
        raise NotHere(why)
    if user.has_usable_password():
        prove(request, user, old)
        if old == new:
            raise AccountError(say(SAME), "new")
    try:
        validate_password(new, user)
    except ValidationError as error:
        raise AccountError(one_after_another(list(error.messages)), "new") from None
    with transaction.atomic():
        if User.objects.select_for_update().get(pk=user.pk).password != user.password:
            # The same person elsewhere, or an admin, was first.
            raise AccountError(say(WRONG), "old")
        before = SessionInfo.objects.filter(session_id=request.session.session_key).first()
        user.set_password(new)
        user.save(update_fields=["password"])
        update_session_auth_hash(request, user)
        request.session.save()
        ended = sessions_end(user, but=request.session.session_key)
        if before is not None:
            # It went with the key that the session had.
            before.session = Session.objects.get(session_key=request.session.session_key)
            before.pk = None
            before.save(force_insert=True)
        record("account.password", target=user.get_username(), target_id=user.pk, ended=ended)
    return ended


def prove(request: HttpRequest, user: User, old: str) -> None:
    """Raises AccountError or Wait unless ``old`` is the password."""
    name = user.get_username()
    try:
        attempt = throttle.begin(username=name, address=address_of(request))
    except throttle.TooMany as refused:
        record_seldom("account.password", target=name, target_id=user.pk, why="too_many")
        raise Wait(say(TOO_MANY, wait=duration(refused.wait)), refused.wait) from None
    if not user.check_password(old):
        record("account.password", result="refused", target=name, target_id=user.pk, why="wrong")
        wait = attempt.wait()
        more = say(NEXT, wait=duration(wait)) if wait else ""
        raise AccountError(one_after_another([say(WRONG), more]), "old")
    attempt.succeeded()
