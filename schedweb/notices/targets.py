"""Where notices go: the addresses of PLAYGROUND_NOTICE_URLS, by Apprise, and the signed webhook. Both are the
administrator's to set; nobody adds one through the site. Addresses hold secrets, so nothing here says or logs one.

The webhook is signed as Standard Webhooks has it (https://www.standardwebhooks.com): HMAC-SHA256 with the secret over
id, time and body, so that a receiver knows who sent it and refuses what is old.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Protocol

import requests
from django.conf import settings
from django.utils.crypto import salted_hmac

from schedweb.notices.messages import Message

SECONDS: Final = 10.0
PREFIX: Final = "whsec_"
_LEAST_BYTES: Final = 24


class NotSent(Exception):
    """Why, without anything of the address."""


class Target(Protocol):
    @property
    def kind(self) -> str:
        """What people know it by: ``slack``, ``mailto``, ``webhook``."""

    @property
    def key(self) -> str:
        """Of its address, which cannot be told from it."""

    def send(self, message: Message, identity: str) -> None:
        """``identity``: the same when the same message is tried again. Raises NotSent."""


@dataclass(frozen=True)
class Webhook:
    url: str
    secret: str
    kind: str = "webhook"

    @property
    def key(self) -> str:
        return hashed(self.url)

    def send(self, message: Message, identity: str) -> None:
        body = json.dumps(message.body(), ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json", **signed(self.secret, identity, int(time.time()), body)}
        try:
            # Whoever answers with another address would get what is meant for this one.
            answer = requests.post(self.url, data=body, headers=headers, timeout=SECONDS, allow_redirects=False)
        except requests.RequestException as error:
            raise NotSent(f"no answer ({type(error).__name__})") from None
        if not 200 <= answer.status_code < 300:
            raise NotSent(f"it answered {answer.status_code}")


def signed(secret: str, identity: str, at: int, body: bytes) -> dict[str, str]:
    """Headers. ``at``: seconds since 1970."""
    content = f"{identity}.{at}.".encode() + body
    code = hmac.new(key_of(secret), content, hashlib.sha256).digest()
    return {
        "webhook-id": identity,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(code).decode()}",
    }


def key_of(secret: str) -> bytes:
    """Raises ValueError when it is none."""
    try:
        found = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        found = b""
    if len(found) < _LEAST_BYTES:
        raise ValueError
    return found


@dataclass(frozen=True)
class ByApprise:
    service: Any
    """Of Apprise."""
    url: str
    kind: str

    @property
    def key(self) -> str:
        return hashed(self.url)

    def send(self, message: Message, identity: str) -> None:
        if not self.service.notify(body=message.text, title=message.title):
            raise NotSent("it was not delivered")


def hashed(url: str) -> str:
    return salted_hmac("schedweb.notices", url, algorithm="sha256").hexdigest()[:32]


@cache
def targets() -> tuple[Target, ...]:
    """Raises ValueError with a sentence for whoever starts the server."""
    environment = settings.ENVIRONMENT
    found: list[Target] = []
    if complaint := environment.notice_problem:
        raise ValueError(complaint)
    if environment.notice_webhook:
        try:
            key_of(environment.notice_secret)
        except ValueError:
            raise ValueError(
                f"PLAYGROUND_NOTICE_SECRET must be {PREFIX} and at least {_LEAST_BYTES} bytes in base64 "
                f'(echo "{PREFIX}$(openssl rand -base64 32)").'
            ) from None
        found.append(Webhook(environment.notice_webhook, environment.notice_secret))
    if environment.notice_urls:
        import apprise  # noqa: PLC0415 - only where it is used: it brings a hundred services

        # What its services log may hold an address.
        logging.getLogger("apprise").disabled = True
        for number, url in enumerate(environment.notice_urls, 1):
            service = apprise.Apprise.instantiate(url, suppress_exceptions=True)
            kind = url.partition("://")[0]
            if not service:
                raise ValueError(
                    f"PLAYGROUND_NOTICE_URLS: address {number} ({kind}://…) is none that Apprise can send to. Between "
                    "addresses are spaces."
                )
            found.append(ByApprise(service, url, kind))
    return tuple(found)
