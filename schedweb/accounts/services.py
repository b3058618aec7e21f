"""Making and using accounts, login links and bearer tokens."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from typing import Final
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from schedweb.accounts.audit.recording import record
from schedweb.accounts.models import BearerToken, LoginLink
from schedweb.accounts.roles import BY_GROUP, TOKEN_NAME, TOKEN_ROLE, TOKEN_RUN, Role, own_role_of, role_of
from schedweb.accounts.sessions import sessions_end
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
def account_create(*, username: str, role: Role | None, password: str | None) -> User:
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError:
        raise AccountError(say("A name has letters, digits and @ . + - _ only, and no spaces."), "username") from None
    if User.objects.filter(username__iexact=username).exists():
        raise AccountError(say("There is an account named {name} already.", name=username), "username")
    user = User.objects.create_user(username, password=password)
    if role is not None:
        user.groups.add(group_of(role))
    record("account.create", target=username, target_id=user.pk, role=name_of(role))
    return user


def group_of(role: Role) -> Group:
    return Group.objects.get_or_create(name=role.group)[0]


def name_of(role: Role | None) -> str:
    return "" if role is None else role.group


@transaction.atomic
def account_disable(*, user: User) -> None:
    """Whatever it had is gone, also when it is enabled again: sessions, bearer tokens, login links. Of the last admin
    it is refused."""
    keep_an_admin(without=user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    BearerToken.objects.filter(user=user).delete()
    LoginLink.objects.filter(user=user, used_at=None).delete()
    sessions_end(user)
    record("account.disable", target=user.get_username(), target_id=user.pk)


@transaction.atomic
def account_enable(*, user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=True)
    record("account.enable", target=user.get_username(), target_id=user.pk)


@transaction.atomic
def account_set_role(*, user: User, role: Role | None) -> None:
    """In place of the one it had; None: none. Its tokens may do no more than it may, from now on. The last admin stays
    one."""
    before = own_role_of(User.objects.get(pk=user.pk))
    if before == role:
        return
    if user.is_superuser:
        raise AccountError(say("{name} is a superuser of Django and stays an admin.", name=user.get_username()), "role")
    if before == Role.ADMIN:
        keep_an_admin(without=user)
    user.groups.remove(*user.groups.filter(name__in=BY_GROUP))
    if role is not None:
        user.groups.add(group_of(role))
    record(
        "account.role",
        target=user.get_username(),
        target_id=user.pk,
        role=name_of(role) or "none",
        before=name_of(before),
    )


def keep_an_admin(*, without: User) -> None:
    """Raises AccountError where nobody would be left who manages accounts. Within a transaction: of two admins who
    disable each other one is second."""
    Group.objects.select_for_update().get(pk=group_of(Role.ADMIN).pk)
    admins = User.objects.filter(Q(is_superuser=True) | Q(groups__name=Role.ADMIN.group), is_active=True)
    if admins.filter(pk=without.pk).exists() and not admins.exclude(pk=without.pk).exists():
        raise AccountError(
            say(
                "{name} is the last admin who may log in. Make somebody else an admin first.",
                name=without.get_username(),
            )
        )


@transaction.atomic
def account_set_password(*, user: User, password: str) -> None:
    """Ends its sessions; its tokens stay."""
    user.set_password(password)
    user.save(update_fields=["password"])
    sessions_end(user)
    record("account.password", target=user.get_username(), target_id=user.pk)


@transaction.atomic
def owner_get() -> User:
    """The owner: an admin without a password, who logs in by link."""
    existing = User.objects.filter(username=OWNER).first()
    return existing or account_create(username=OWNER, role=Role.ADMIN, password=None)


@transaction.atomic
def login_link_create(*, user: User) -> str:
    """The token of a new link; nobody can read it again."""
    token = secrets.token_urlsafe(32)
    record("account.link", target=user.get_username(), target_id=user.pk)
    LoginLink.objects.create(user=user, token_hash=hash_of(token), expires_at=timezone.now() + LINK_LIFETIME)
    return token


def login_url(origin: str, user: User) -> str:
    """A new link, where people open it."""
    return f"{origin}/login?token={login_link_create(user=user)}"


def login_link_use(*, token: str) -> User | None:
    """The account, once; None for a token that is unknown, used or expired."""
    now = timezone.now()
    # The update is the decision: of two simultaneous requests one finds the link unused.
    unused = LoginLink.objects.filter(token_hash=hash_of(token), used_at=None, expires_at__gt=now, user__is_active=True)
    if unused.update(used_at=now) != 1:
        return None
    return LoginLink.objects.select_related("user").get(token_hash=hash_of(token)).user


def bearer_token_create(
    *,
    user: User,
    name: str,
    role: Role | None = None,
    expires_at: datetime.datetime | None = None,
    run: UUID | None = None,
    run_number: str = "",
) -> tuple[BearerToken, str]:
    """The row and the token, which nobody can read again. ``role`` None: as its owner; ``run``: only there."""
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
                run=run,
                run_number=run_number,
            )
            record(
                "token.create",
                target=name,
                target_id=row.pk,
                of=user.get_username(),
                role=row.role or "as its owner",
                run=run_number,
                expires_at="" if expires_at is None else day(expires_at),
            )
    except IntegrityError:
        raise AccountError(
            say("{user} has a token named {name} already.", user=user.get_username(), name=name), "name"
        ) from None
    return row, token


@transaction.atomic
def bearer_token_revoke(*, user: User, token: int) -> None:
    """At once: the next request with it is refused."""
    found = BearerToken.objects.select_for_update().filter(user=user, pk=token).first()
    if found is None:
        raise AccountError(say("You have no such token."))
    found.delete()
    record("token.revoke", target=found.name, target_id=token, of=user.get_username())


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
    if found.run is not None:
        setattr(found.user, TOKEN_RUN, found.run)
    setattr(found.user, TOKEN_NAME, found.name)
    return found.user


def day(moment: datetime.datetime) -> str:
    return f"{moment.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"
