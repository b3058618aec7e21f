"""Requests over the pool that the kubernetes client made, on the shortest way that urllib3 has.

A binding waits for every function that runs before its request has left, and after a pause none of them is in the
processor's cache (docs/benchmarks-log.md#bindings-at-a-real-api-server).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util import parse_url

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

CONNECT_SECONDS: Final = 10.0
NEVER_AGAIN: Final = urllib3.Retry(False, redirect=False)
"""What is sent again is for the caller to say."""


class _AtOnce(HTTPConnection):
    """A request's head and body leave in one piece. As two the API server, woken by the head, may take the processor
    that would have sent the body."""

    _held: list[bytes] | None = None

    def request(self, *arguments: Any, **more: Any) -> None:
        self._held = []
        try:
            super().request(*arguments, **more)
        finally:
            held, self._held = self._held, None
        super().send(b"".join(held))

    def send(self, data: Any) -> None:
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)


class _SecureAtOnce(_AtOnce, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _AtOnce


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureAtOnce


class Connections:
    """Safe to be used by many threads."""

    def __init__(self, client: ApiClient) -> None:
        self._manager = client.rest_client.pool_manager
        self._host: str = client.configuration.host
        self._timeouts: dict[float, urllib3.Timeout] = {}
        self._pool: HTTPConnectionPool | None = None
        """Of the one host. None where a proxy stands before it: its manager says which address goes where."""
        if type(self._manager) is urllib3.PoolManager:
            self._manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
            self._pool = self._manager.connection_from_url(self._host)
            self._path = (parse_url(self._host).path or "").rstrip("/")

    def send(
        self, method: str, address: str, headers: dict[str, str], body: bytes | None, read_seconds: float
    ) -> urllib3.BaseHTTPResponse:
        """The answer, whose body is still to be read. ``read_seconds`` is between two of its bytes. Raises what urllib3
        raises."""
        timeout = self._timeouts.get(read_seconds)
        if timeout is None:
            timeout = self._timeouts[read_seconds] = urllib3.Timeout(connect=CONNECT_SECONDS, read=read_seconds)
        terms: dict[str, Any] = {
            "timeout": timeout,
            "preload_content": False,
            "retries": NEVER_AGAIN,
            "redirect": False,
        }
        if self._pool is None:
            return self._manager.urlopen(method, f"{self._host}{address}", headers=headers, body=body, **terms)
        return self._pool.urlopen(method, f"{self._path}{address}", headers=headers, body=body, **terms)
