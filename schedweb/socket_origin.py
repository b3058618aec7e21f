"""Refuses WebSockets that a page of another site opened: cookies travel with them, CSRF tokens do not.

channels' AllowedHostsOriginValidator would let every port of an allowed host in. The page that opens our socket was
served from the very host and port it connects to, so the origin must equal Host, and that must be an allowed host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Application = Callable[[dict[str, Any], Any, Any], Awaitable[Any]]


def is_same_origin(origin: str, host: str, allowed_hosts: list[str]) -> bool:
    url = urlsplit(origin)
    if url.scheme not in ("http", "https") or url.netloc.lower() != host.lower():
        return False
    return validate_host(split_domain_port(host)[0], allowed_hosts)


class SameOriginOnly:
    def __init__(self, application: Application) -> None:
        self.application = application
        self.denier = WebsocketDenier()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        headers = {name: value.decode("latin-1") for name, value in scope.get("headers", ())}
        if is_same_origin(headers.get(b"origin", ""), headers.get(b"host", ""), list(settings.ALLOWED_HOSTS)):
            return await self.application(scope, receive, send)
        return await self.denier(scope, receive, send)
