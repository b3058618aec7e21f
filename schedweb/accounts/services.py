"""Making and using accounts, login links and bearer tokens."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from typing import Final

from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.utils import timezone

from schedweb.accounts.models import BearerToken, LoginLink
from schedweb.accounts.roles import BY_GROUP, TOKEN_ROLE, Role, role_of
from schedweb.sentences import say

OWNER: Final = "owner"
"""The account behind the printed link of a local start."""
MOST_TOKENS: Final = 100
"""Per account."""
LINK_LIFETIME: Final = datetime.timedelta(hours=12)


class AccountError(Exception):
    """A sentence for the person who asked; ``path`` names the field that is wrong."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


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


def bearer_token_create(
    *, user: User, name: str, role: Role | None = None, expires_at: datetime.datetime | None = None
) -> tuple[BearerToken, str]:
    """The row and the token, which nobody can read again. ``role`` None: as much as its owner may."""
    own = role_of(user)
    if role is not None and (own is None or role > own):
        raise AccountError(say("You are no {role}, so no token of yours can be one.", role=role.group), "role")
    if expires_at is not None and expires_at <= timezone.now():
        raise AccountError(say("expires_at must be in the future."), "expires_at")
    if BearerToken.objects.filter(user=user).count() >= MOST_TOKENS:
        raise AccountError(say("{most} tokens are the most; revoke one first.", most=MOST_TOKENS))
    token = secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            row = BearerToken.objects.create(
                user=user,
                name=name,
                role="" if role is None else role.group,
                expires_at=expires_at,
                token_hash=hash_of(token),
            )
    except IntegrityError:
        raise AccountError(
            say("{user} has a token named {name} already.", user=user.get_username(), name=name), "name"
        ) from None
    return row, token


def bearer_token_revoke(*, user: User, token: int) -> None:
    """At once: the next request with it is refused."""
    deleted, _ = BearerToken.objects.filter(user=user, pk=token).delete()
    if not deleted:
        raise AccountError(say("You have no such token."))


class TokenRefused(Exception):
    """A sentence for whoever sent it."""


def bearer_token_use(*, token: str) -> User:
    """Its owner, who may do no more than the token. Raises TokenRefused.

    Remembers the use at most once a minute, so that reading does not mean writing.
    """
    found = BearerToken.objects.select_related("user").filter(token_hash=hash_of(token)).first()
    if found is None or not found.user.is_active:
        raise TokenRefused(say("This bearer token is not valid."))
    now = timezone.now()
    if found.expires_at is not None and found.expires_at <= now:
        raise TokenRefused(say("This bearer token expired on {day}.", day=day(found.expires_at)))
    if found.last_used_at is None or now - found.last_used_at > datetime.timedelta(minutes=1):
        BearerToken.objects.filter(pk=found.pk).update(last_used_at=now)
    if found.role:
        setattr(found.user, TOKEN_ROLE, BY_GROUP[found.role])
    return found.user


def day(moment: datetime.datetime) -> str:
    return f"{moment.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
