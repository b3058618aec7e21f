"""Making and using accounts, login links and bearer tokens."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from typing import Final

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from schedweb.accounts.models import BearerToken, LoginLink
from schedweb.accounts.roles import Role
from schedweb.sentences import say

OWNER: Final = "owner"
"""The account behind the printed link of a local start."""
LINK_LIFETIME: Final = datetime.timedelta(hours=12)


class AccountError(Exception):
    """A sentence for the person who asked."""


def hash_of(token: str) -> str:
    """Tokens are long random strings, so a plain digest is as good as a slow one."""
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def account_create(*, username: str, role: Role, password: str | None) -> User:
    if User.objects.filter(username=username).exists():
        raise AccountError(say("There is an account named {name} already.", name=username))
    user = User.objects.create_user(username, password=password)
    user.groups.add(Group.objects.get_or_create(name=role.group)[0])
    return user


@transaction.atomic
def owner_get() -> User:
    """The owner: an editor without a password, who logs in by link."""
    existing = User.objects.filter(username=OWNER).first()
    return existing or account_create(username=OWNER, role=Role.EDITOR, password=None)


def login_link_create(*, user: User) -> str:
    """The token of a new link; nobody can read it again."""
    token = secrets.token_urlsafe(32)
    LoginLink.objects.create(user=user, token_hash=hash_of(token), expires_at=timezone.now() + LINK_LIFETIME)
    return token


def login_link_use(*, token: str) -> User | None:
    """The account, once; None for a token that is unknown, used or expired."""
    now = timezone.now()
    # The update is the decision: of two simultaneous requests one finds the link unused.
    unused = LoginLink.objects.filter(token_hash=hash_of(token), used_at=None, expires_at__gt=now, user__is_active=True)
    if unused.update(used_at=now) != 1:
        return None
    return LoginLink.objects.select_related("user").get(token_hash=hash_of(token)).user


def bearer_token_create(*, user: User, name: str) -> str:
    if BearerToken.objects.filter(user=user, name=name).exists():
        raise AccountError(say("{user} has a token named {name} already.", user=user.username, name=name))
    token = secrets.token_urlsafe(32)
    BearerToken.objects.create(user=user, name=name, token_hash=hash_of(token))
    return token


def bearer_token_use(*, token: str) -> User | None:
    """Remembers the use at most once a minute, so that reading does not mean writing."""
    found = BearerToken.objects.select_related("user").filter(token_hash=hash_of(token), user__is_active=True).first()
    if found is None:
        return None
    now = timezone.now()
    if found.last_used_at is None or now - found.last_used_at > datetime.timedelta(minutes=1):
        BearerToken.objects.filter(pk=found.pk).update(last_used_at=now)
    return found.user
