"""Cuts bodies over their limit while they arrive, before Django keeps them in a file, and before login.

What may be sent depends on who sends it; that is looked up only for bodies larger than anybody may send.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import io
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from channels.db import database_sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError
from django.utils import translation

from framework.reading.documents import JSON_LIMIT
from schedweb.accounts.roles import role_of
from schedweb.accounts.services import TokenRefused, bearer_token_use
from schedweb.accounts.sessions import NOBODY, admissions
from schedweb.api.failures import NO_DATABASE, RETRY_SECONDS
from schedweb.sentences import noted, say

KILO: Final = 1024
ANYBODY: Final = 64 * KILO
"""A login form, and a look at what is shared."""
SIGNED_IN: Final = 64 * KILO * KILO
"""A command, a configuration, a change of a snapshot."""
UPLOAD: Final = JSON_LIMIT + KILO * KILO
"""With room for the form around the file."""
UPLOADS: Final = re.compile(r"/api/v1/(imports|snapshots/[^/]+/events)/")
LET_PASS_SECONDS: Final = 30.0
SILENT_SECONDS: Final = 1.0
LET_PASS: Final = 2
"""Times as much as may be sent: who sends a little more than that hears why it was refused."""
NOT_SIGNED_IN: Final = noted("A request of somebody who is not signed in has at most {most} KiB.")
TOO_LARGE: Final = noted("This request has more than {most} MB, which is the most here.")

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass
class Refusal(Exception):
    """What is answered instead of the view's answer."""

    status: int
    code: str
    text: str


class BodyLimit:
    """ASGI middleware for HTTP."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = Body(scope, receive)
        try:
            await body.refuse_what_is_announced()
            await self.application(scope, body.receive, send)
        except Refusal as refusal:
            await answer(refusal, scope, send, body.let_pass)


class Body:
    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self._receive = receive
        self.size = 0
        self.most = ANYBODY
        self.is_known = False

    async def refuse_what_is_announced(self) -> None:
        """Raises Refusal. A length that is no number is the server's matter."""
        announced = dict(self.scope["headers"]).get(b"content-length", b"")
        if announced.isdigit():
            await self.check(int(announced))

    async def receive(self) -> Message:
        """Raises Refusal, in the middle of the application's reading."""
        message = await self._receive()
        self.size += len(message.get("body", b""))
        await self.check(self.size)
        return message

    async def let_pass(self) -> None:
        """What is on its way after the answer, within bounds: who still sends when the connection ends often loses the
        answer with it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LET_PASS_SECONDS):
                passed = 0
                while passed < LET_PASS * self.most:
                    message = await asyncio.wait_for(self._receive(), SILENT_SECONDS)
                    passed += len(message.get("body", b""))
                    if not message.get("more_body"):
                        return

    async def check(self, size: int) -> None:
        if size > self.most and not self.is_known:
            request = ASGIRequest(self.scope, io.BytesIO())
            try:
                self.most = await database_sync_to_async(most_of)(request)
            except DatabaseError:
                raise Refusal(503, "unavailable", sentence(request, NO_DATABASE)) from None
            self.is_known = True
        if size > self.most:
            request = ASGIRequest(self.scope, io.BytesIO())
            if self.most == ANYBODY:
                text = sentence(request, NOT_SIGNED_IN, most=ANYBODY // KILO)
            else:
                text = sentence(request, TOO_LARGE, most=self.most // KILO**2)
            raise Refusal(413, "too_large", text)


def most_of(request: ASGIRequest) -> int:
    """Bytes that whoever sends this may send there."""
    if not request.path.startswith("/api/") or not is_signed_in(request):
        return ANYBODY
    return UPLOAD if request.method == "POST" and UPLOADS.fullmatch(request.path) else SIGNED_IN


def is_signed_in(request: ASGIRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        try:
            return role_of(bearer_token_use(token=token.strip())) is not None
        except TokenRefused:
            return False
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    return admissions([key]).get(key, NOBODY).role is not None


def sentence(request: ASGIRequest, text: str, **values: Any) -> str:
    with translation.override(translation.get_language_from_request(request)):
        return say(text, **values)


async def answer(refusal: Refusal, scope: Scope, send: Send, let_pass: Callable[[], Awaitable[None]]) -> None:
    """The connection ends with it."""
    if scope["path"].startswith("/api/"):
        kind = b"application/json"
        body = json.dumps({"error": {"code": refusal.code, "message": refusal.text}}, ensure_ascii=False).encode()
    else:
        kind, body = b"text/plain; charset=utf-8", refusal.text.encode()
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    if refusal.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", str(RETRY_SECONDS).encode()))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await let_pass()
    await send({"type": "http.response.body", "body": b""})
