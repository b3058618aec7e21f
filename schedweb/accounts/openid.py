"""Login by OpenID Connect: the authorization code flow with PKCE, state and nonce, by Authlib (docs/decisions/0017).

The provider says who somebody is (issuer and subject, nothing else) and, anew at every login, which role they have.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from joserfc.errors import JoseError

from schedweb.accounts import services
from schedweb.accounts.audit.recording import record
from schedweb.accounts.models import OpenIdIdentity
from schedweb.accounts.roles import BY_GROUP, Role
from schedweb.accounts.sessions import sessions_end
from schedweb.environment import OpenIdSettings
from schedweb.sentences import noted, say

log = logging.getLogger(__name__)
T = TypeVar("T")
SECONDS: Final = 10.0
"""That the provider has for each answer."""
RESTS: Final = 5.0
"""Seconds for which a provider that did not answer is not asked again: whoever asks waits in a thread of the server."""
NO_ANSWER: Final = noted("{provider} does not answer. Try again in a moment, or log in another way.")
NOT_BELIEVED: Final = noted("What {provider} answered is not believed. Begin again; the log of the server says why.")
DENIED: Final = noted("{provider} did not log you in ({error}).")


class OpenIdRefused(Exception):
    """The sentence for who tried; ``why`` for the audit log."""

    def __init__(self, message: str, why: str, user: User | None = None) -> None:
        super().__init__(message)
        self.why = why
        self.user = user


@dataclass(frozen=True)
class Begun:
    """What is remembered between leaving for the provider and coming back."""

    url: str
    state: str
    nonce: str
    verifier: str


def provider() -> OpenIdSettings | None:
    """None where nobody logs in this way."""
    found: OpenIdSettings | None = settings.ENVIRONMENT.openid
    return found


def asked_provider() -> OpenIdSettings:
    found = provider()
    assert found is not None, "its addresses exist only where there is one"
    return found


@cache
def client_of(wanted: OpenIdSettings) -> Any:
    """Authlib's, which keeps the provider's addresses and keys; it fetches the keys again for one that it does not
    know."""
    return OAuth().register(
        name="openid",
        client_id=wanted.client_id,
        client_secret=wanted.client_secret or None,
        server_metadata_url=f"{wanted.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": " ".join(wanted.scopes),
            "code_challenge_method": "S256",
            "default_timeout": SECONDS,
            **({} if wanted.client_secret else {"token_endpoint_auth_method": "none"}),
        },
    )


class Resting:
    """Until when the provider is not asked again."""

    until = 0.0


def asked(wanted: OpenIdSettings, question: Callable[[], T]) -> T:
    """Raises OpenIdRefused with a sentence for whatever the provider does."""
    if time.monotonic() < Resting.until:
        raise OpenIdRefused(say(NO_ANSWER, provider=wanted.name), "no_answer")
    try:
        return question()
    except requests.HTTPError as error:
        log.warning("the OpenID Connect provider refused: %s", error)
        raise OpenIdRefused(say(NOT_BELIEVED, provider=wanted.name), "refused") from None
    except requests.JSONDecodeError as error:
        log.warning("the OpenID Connect provider's answer is no JSON: %s", error)
        raise OpenIdRefused(say(NOT_BELIEVED, provider=wanted.name), "not_believed") from None
    except requests.RequestException as error:
        Resting.until = time.monotonic() + RESTS
        log.warning("the OpenID Connect provider does not answer: %s", error)
        raise OpenIdRefused(say(NO_ANSWER, provider=wanted.name), "no_answer") from None
    except (AuthlibBaseError, JoseError, ValueError, TypeError, KeyError, RuntimeError) as error:
        # Whatever strange things it sends; the name of a claim or an error at most, never a token.
        log.warning("the OpenID Connect provider's answer is not believed: %s: %s", type(error).__name__, error)
        raise OpenIdRefused(say(NOT_BELIEVED, provider=wanted.name), "not_believed") from None


def begin(redirect_uri: str) -> Begun:
    wanted = asked_provider()
    client = client_of(wanted)

    def question() -> Begun:
        metadata = client.load_server_metadata()
        if metadata.get("issuer") != wanted.issuer:
            raise ValueError(f"it says that it is {metadata.get('issuer')!r}")
        made = client.create_authorization_url(redirect_uri)
        return Begun(made["url"], made["state"], made["nonce"], made["code_verifier"])

    return asked(wanted, question)


def finish(*, code: str, redirect_uri: str, nonce: str, verifier: str) -> dict[str, Any]:
    """What the provider says of who came back, once its signature, issuer, audience, times and nonce are checked."""
    wanted = asked_provider()
    client = client_of(wanted)

    def question() -> dict[str, Any]:
        token = client.fetch_access_token(
            redirect_uri=redirect_uri, code=code, code_verifier=verifier, grant_type="authorization_code"
        )
        checks = {"iss": {"value": wanted.issuer}, "aud": {"value": wanted.client_id}}
        claims = client.parse_id_token(token, nonce=nonce, claims_options=checks)
        if claims is None:
            raise ValueError("it sent no ID token")
        found = dict(claims)
        if not found.get("sub") or not isinstance(found["sub"], str):
            raise ValueError("the ID token has no subject")
        missing = [each for each in (wanted.role_claim, wanted.username_claim) if claim(found, each) is None]
        if missing and client.load_server_metadata().get("userinfo_endpoint"):
            # Many providers tell groups and names there only.
            more = dict(client.userinfo(token=token))
            if more.get("sub") != found["sub"]:
                raise ValueError("its user info is somebody else's")
            found = {**more, **found}
        return found

    return asked(wanted, question)


def claim(claims: Any, path: str) -> Any:
    """``realm_access.roles`` is within ``realm_access``, unless a claim has the whole name (some are addresses)."""
    if not isinstance(claims, dict):
        return None
    if path in claims:
        return claims[path]
    first, _, rest = path.partition(".")
    return claim(claims.get(first), rest) if rest else None


def role_in(claims: dict[str, Any], wanted: OpenIdSettings) -> Role | None:
    """The highest that the claim has, one text or several."""
    said = claim(claims, wanted.role_claim)
    values = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    by_value = dict(wanted.roles)
    found = [BY_GROUP[by_value[each]] for each in values if isinstance(each, str) and each in by_value]
    default = BY_GROUP[wanted.default_role] if wanted.default_role else None
    return max(found, default=default)


def account_of(claims: dict[str, Any]) -> User:
    """The account of this subject, with the role that the provider says now; made at the first login. Raises
    OpenIdRefused."""
    wanted = asked_provider()
    role = role_in(claims, wanted)
    known = OpenIdIdentity.objects.select_related("user").filter(issuer=wanted.issuer, subject=claims["sub"]).first()
    if known is None:
        return account_new(claims, wanted, role)
    user = known.user
    if not user.is_active:
        raise OpenIdRefused(say("This account is disabled. Ask an admin."), "disabled", user)
    try:
        with transaction.atomic():
            services.account_set_role(user=user, role=role)
            if role is None:
                sessions_end(user)
    except services.AccountError as error:
        raise OpenIdRefused(str(error), "last_admin", user) from None
    # Its groups are not those that were read.
    return User.objects.get(pk=user.pk)


def account_new(claims: dict[str, Any], wanted: OpenIdSettings, role: Role | None) -> User:
    if role is None:
        raise OpenIdRefused(
            say("{provider} names no role for you. Ask whoever gives roles there.", provider=wanted.name), "no_role"
        )
    username = claim(claims, wanted.username_claim)
    if not isinstance(username, str) or not username:
        raise OpenIdRefused(
            say("{provider} does not say your name ({claim}).", provider=wanted.name, claim=wanted.username_claim),
            "no_name",
        )
    if User.objects.filter(username__iexact=username).exists():
        # Names and addresses change hands: who has the name there need not be who has the account here.
        raise OpenIdRefused(
            say(
                "There is an account named {name} already. If it is yours, an admin of the server links it: {command}",
                name=username,
                command=f"manage.py account identity {username} {claims['sub']}",
            ),
            "name_taken",
        )
    try:
        with transaction.atomic():
            user = services.account_create(username=username[:150], role=role, password=None)
            identity_link(user=user, subject=claims["sub"])
    except services.AccountError as error:
        raise OpenIdRefused(str(error), "no_name") from None
    except IntegrityError:
        # Twice at once: the other one was first.
        raise OpenIdRefused(say("You are logging in elsewhere at this moment. Begin again."), "at_once") from None
    return user


@transaction.atomic
def identity_link(*, user: User, subject: str) -> None:
    """From now on this subject of the provider logs in as this account. Raises AccountError."""
    wanted = asked_provider()
    other = OpenIdIdentity.objects.filter(issuer=wanted.issuer, subject=subject).exclude(user=user).first()
    if other is not None:
        raise services.AccountError(say("This subject is {name} already.", name=other.user.get_username()))
    OpenIdIdentity.objects.update_or_create(user=user, defaults={"issuer": wanted.issuer, "subject": subject[:255]})
    record("account.identity", target=user.get_username(), target_id=user.pk, issuer=wanted.issuer)
