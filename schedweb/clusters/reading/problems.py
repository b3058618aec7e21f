"""What can go wrong between this server and an API server: a sentence for people and a code for programs."""

from __future__ import annotations

import email.utils
import ssl
from collections.abc import Mapping
from typing import Final, Literal

import msgspec
import urllib3.exceptions

from framework.sentences import SentenceError, Words, sentence

Code = Literal[
    "no_kubeconfig",
    "bad_kubeconfig",
    "unknown_context",
    "not_offered",
    "credentials",
    "tls",
    "unreachable",
    "unauthorized",
    "forbidden",
    "absent",
    "too_old",
    "not_streamed",
    "busy",
    "broken",
    "not_allowed",
]
_LONGEST: Final = 600
"""Characters of what a server says that are shown."""


class ClusterProblem(SentenceError):
    def __init__(self, words: Words, code: Code, wait: float | None = None) -> None:
        """``wait``: seconds that the server asked to be left alone for (Retry-After)."""
        super().__init__(words)
        self.code = code
        self.wait = wait


class _Status(msgspec.Struct):
    """Kubernetes' own form of an error."""

    message: str = ""
    reason: str = ""
    code: int = 0


def status_of(body: bytes) -> _Status:
    """Of a proxy or a server under pressure it may be plain text."""
    try:
        return msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _Status(message=body.decode(errors="replace").strip()[:_LONGEST])


def refused(server: str, status: int, body: bytes, headers: Mapping[str, str]) -> ClusterProblem:
    """What an answer other than 200 means."""
    said = status_of(body).message[:_LONGEST] or f"HTTP {status}"
    match status:
        case 401:
            words = sentence(
                "The API server at {server} does not accept the credentials (401: {said}). A token or a certificate "
                "may have expired.",
                server=server,
                said=said,
            )
            return ClusterProblem(words, "unauthorized")
        case 403:
            return ClusterProblem(sentence("The credentials may not: {said}", said=said), "forbidden")
        case 404:
            return ClusterProblem(sentence("The API server at {server} does not have this.", server=server), "absent")
        case 410:
            return ClusterProblem(sentence("The watch is too old: {said}", said=said), "too_old")
        case 400 | 422:
            return ClusterProblem(sentence("The API server refused the request: {said}", said=said), "not_streamed")
        case 429 | 503 | 504:
            words = sentence(
                "The API server at {server} is busy ({status}: {said}).", server=server, status=str(status), said=said
            )
            return ClusterProblem(words, "busy", retry_after(headers))
    words = sentence(
        "The API server at {server} answered {status}: {said}", server=server, status=str(status), said=said
    )
    return ClusterProblem(words, "broken")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds. A date, which the header may hold as well, is left to the caller's own patience."""
    try:
        return max(0.0, float(headers.get("Retry-After", "")))
    except ValueError:
        return None


def clock_ahead(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the server's clock is ahead of this one's, by its Date, which has whole seconds."""
    try:
        date = email.utils.parsedate_to_datetime(headers.get("Date", ""))
    except (TypeError, ValueError):
        return None
    return date.timestamp() + 0.5 - now


def unreachable(server: str, error: Exception, proxy: str = "") -> ClusterProblem:
    """Of what urllib3 raises. ``proxy``: through which the server is reached, without its password."""
    if (failed := _of_proxy(error)) is not None:
        words = sentence(
            "The proxy {proxy}, through which the API server at {server} is reached, failed: {why}",
            proxy=proxy,
            server=server,
            why=_brief(failed.original_error),
        )
        return ClusterProblem(words, "unreachable")
    cause = _cause(error)
    if isinstance(cause, ssl.SSLError | urllib3.exceptions.SSLError):
        words = sentence("The TLS connection to {server} failed: {why}", server=server, why=_brief(cause))
        return ClusterProblem(words, "tls")
    words = sentence("The API server at {server} cannot be reached: {why}", server=server, why=_brief(cause))
    return ClusterProblem(words, "unreachable")


def _of_proxy(error: Exception) -> urllib3.exceptions.ProxyError | None:
    while not isinstance(error, urllib3.exceptions.ProxyError):
        reason = getattr(error, "reason", None)
        if not isinstance(reason, Exception):
            return None
        error = reason
    return error


def _cause(error: Exception) -> Exception:
    """The innermost error that says something: a failed try is wrapped in what was tried."""
    reason = getattr(error, "reason", None)
    if isinstance(reason, Exception) and not isinstance(error, ssl.SSLError):
        return _cause(reason)
    return error


def _brief(error: Exception) -> str:
    for each in (error, error.__cause__, error.__context__, *error.args):
        if isinstance(each, ssl.SSLCertVerificationError):
            return each.verify_message
        if isinstance(each, OSError) and each.strerror:
            return each.strerror
    inner = next((each for each in error.args if isinstance(each, Exception)), None)
    if inner is not None:
        return _brief(inner)
    # What urllib3 puts in front is the name of an object in memory.
    return str(error).rpartition(">: ")[2].rpartition("): ")[2][:_LONGEST] or type(error).__name__
