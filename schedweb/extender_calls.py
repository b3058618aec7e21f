"""Calling extenders over HTTP, for whoever asks them: workers for engines, and the command that schedules a cluster.

Upstream: pkg/scheduler/extender.go `send`. http.client and not a library that does more: no redirects, no proxies from
the environment, the name is looked up once and that very address is called.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from framework.configuration.types import Extender
from framework.extenders import Answer, url_of
from schedweb.calling import PORTS, Allowed, refusal_of
from schedweb.engine.asked import LARGEST_ANSWER, Asking
from schedweb.sentences import translated

MOST_AT_ONCE: Final = 8
PIECE: Final = 64 * 1024
_HEADERS: Final = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_UNVERIFIED: Final = "tls: failed to verify certificate"
_UNKNOWN_AUTHORITY: Final = (18, 19, 20, 21)
_ALERTS: Final = {
    "unknown ca": "unknown certificate authority",
    "protocol version": "protocol version not supported",
    "certificate unknown": "unknown certificate",
}
"""OpenSSL's word and Go's, where they differ."""
_EXPIRED: Final = 10
"""X509_V_ERR_* of OpenSSL."""
_BODY: Final = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"


class CallFailed(Exception):
    """There is no answer; the text is what Go's client says where it has a word for it."""


class Called(NamedTuple):
    asking: Asking
    answer: Answer
    microseconds: int


def call_all(asked: Sequence[Asking], policy: Allowed) -> list[Called]:
    """In their order. ``MOST_AT_ONCE`` are asked at the same time, so it takes as long as the longest time-out of each
    so many at most."""

    found: dict[int, Called | BaseException] = {}
    places = iter(range(len(asked)))
    lock = threading.Lock()

    def one_after_the_other() -> None:
        while True:
            with lock:
                place = next(places, None)
            if place is None:
                return
            began = time.monotonic()
            try:
                answer = call(asked[place], policy)
            except BaseException as error:  # noqa: BLE001 - raised below, where somebody hears it
                found[place] = error
                return
            found[place] = Called(asked[place], answer, round((time.monotonic() - began) * 1e6))

    # Not a pool: Python waits for its threads before it ends, so an extender that is silent would hold whoever stops.
    threads = [threading.Thread(target=one_after_the_other, name="extender", daemon=True) for _ in asked[:MOST_AT_ONCE]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found.values():
        if isinstance(each, BaseException):
            raise each
    return [each for _, each in sorted(found.items()) if isinstance(each, Called)]


def call(asking: Asking, policy: Allowed) -> Answer:
    """One request. Whatever goes wrong is in the answer."""
    request, extender = asking.request, asking.extender
    if (refused := refusal_of(extender, policy)) is not None:
        return Answer(error=str(translated(refused)))
    deadline = time.monotonic() + request.timeout / 1e9
    try:
        url = url_of(extender, request.verb)
        plain = _connected(url, policy, deadline)
        with plain, contextlib.closing(_End(plain, deadline)) as end:
            return _exchange(plain, url, extender, request.body, end)
    except CallFailed as error:
        return Answer(error=f'Post "{request.url}": {error}')
    except TimeoutError:
        return Answer(error=f'Post "{request.url}": {_HEADERS}')
    except ssl.SSLCertVerificationError as error:
        return Answer(error=f'Post "{request.url}": {_UNVERIFIED}: {_why_unverified(error)}')
    except ssl.SSLError as error:
        return Answer(error=f'Post "{request.url}": {_why_no_tls(error)}')
    except http.client.InvalidURL:
        # Its text has the path with the query.
        return Answer(error=f'parse "{request.url}": net/url: invalid control character in URL')
    except (OSError, http.client.HTTPException, ValueError) as error:
        return Answer(error=f'Post "{request.url}": {str(error) or type(error).__name__}')


def _why_unverified(error: ssl.SSLCertVerificationError) -> str:
    """In Go's words where it has the same ones for the case."""
    if error.verify_code in _UNKNOWN_AUTHORITY:
        return "x509: certificate signed by unknown authority"
    if error.verify_code == _EXPIRED:
        return "x509: certificate has expired or is not yet valid"
    return f"x509: {error.verify_message}"


def _why_no_tls(error: ssl.SSLError) -> str:
    """In Go's words for what the other side said (alerts, RFC 8446 section 6) or did not."""
    reason = error.reason or ""
    if reason == "WRONG_VERSION_NUMBER":
        return "http: server gave HTTP response to HTTPS client"
    _, is_alert, alert = reason.partition("_ALERT_")
    if is_alert:
        words = alert.lower().replace("_", " ")
        return f"remote error: tls: {_ALERTS.get(words, words)}"
    return f"tls: {reason.lower().replace('_', ' ')}" if reason else str(error)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _End:
    """Breaks a connection at its deadline. A socket's own time-out begins anew with every byte that comes."""

    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._over = threading.Event()
        plain.settimeout(None)
        # Of its own: TLS takes the other one over.
        self._plain = plain.dup()
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._break)
        self._timer.daemon = True
        self._timer.start()

    def _break(self) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._plain.shutdown(socket.SHUT_RDWR)

    def is_over(self) -> bool:
        return self._over.is_set()

    def close(self) -> None:
        self._timer.cancel()
        self._plain.close()


def _connected(url: str, policy: Allowed, deadline: float) -> socket.socket:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CallFailed(f"dial tcp: lookup {host}: {error.strerror or error}") from None
    address = str(found[0][4][0])
    if not policy.may_reach(url, address):
        raise CallFailed(f"{host} is {address}, which this server may not call")
    try:
        return socket.create_connection((address, port), timeout=_left(deadline))
    except ConnectionRefusedError:
        raise CallFailed(f"dial tcp {address}:{port}: connect: connection refused") from None


def tls_context(extender: Extender) -> ssl.SSLContext:
    """As client-go: without an authority nothing is checked where HTTPS is asked for, else the system's are."""
    tls = extender.tls_config
    authority = tls.ca_data if tls is not None else ""
    context = ssl.create_default_context(cadata=_pem(authority) if authority else None)
    if (tls is not None and tls.insecure) or (extender.enable_https and not authority):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls is not None and tls.cert_data and tls.key_data:
        # The library takes a client's certificate from files only.
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder, "certificate"), Path(folder, "key")
            certificate.write_text(_pem(tls.cert_data))
            key.touch(mode=0o600)
            key.write_text(_pem(tls.key_data))
            context.load_cert_chain(certificate, key)
    return context


def _pem(data: str) -> str:
    return base64.b64decode(data).decode()


def _exchange(plain: socket.socket, url: str, extender: Extender, body: bytes, end: _End) -> Answer:
    """Raises TimeoutError where no headers came in time."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "")
    connection.sock = plain
    try:
        try:
            if parts.scheme == "https":
                name = (extender.tls_config.server_name if extender.tls_config else "") or parts.hostname
                connection.sock = tls_context(extender).wrap_socket(plain, server_hostname=name)
            response = _posted(connection, parts, body)
        except (OSError, http.client.HTTPException, ValueError, CallFailed):
            if not end.is_over():
                raise
        if end.is_over():  # also where the library takes the broken connection for the end of the headers
            raise TimeoutError
        try:
            answer = Answer(response.status, _read(response))
        except (OSError, http.client.HTTPException, ValueError):
            if not end.is_over():
                raise
        return Answer(error=_BODY) if end.is_over() else answer
    except http.client.IncompleteRead:
        return Answer(error="unexpected EOF")
    finally:
        connection.close()


def _posted(connection: http.client.HTTPConnection, url: SplitResult, body: bytes) -> http.client.HTTPResponse:
    userinfo, at, host = url.netloc.rpartition("@")
    headers = {"Host": host, "Content-Type": "application/json", "User-Agent": "scheduling-playground"}
    if at:
        headers["Authorization"] = _basic(userinfo)
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    try:
        connection.request("POST", target, body, headers)
        return connection.getresponse()
    except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
        raise CallFailed("EOF") from None


def _read(response: http.client.HTTPResponse) -> bytes:
    pieces: list[bytes] = []
    size = 0
    # read1: what is there; read would wait for the whole piece, however slowly it comes, beyond what may be kept.
    while piece := response.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_ANSWER:
            raise CallFailed(f"the answer is larger than {LARGEST_ANSWER} bytes")
    return b"".join(pieces)


def _basic(userinfo: str) -> str:
    """As Go's client: what a URL has of them is decoded, and who has no password has an empty one."""
    user, _, password = userinfo.partition(":")
    given = unquote_to_bytes(user) + b":" + unquote_to_bytes(password)
    return f"Basic {base64.b64encode(given).decode()}"
