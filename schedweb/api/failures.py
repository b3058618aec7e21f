"""What fails because of where the server runs: no database, no room left, a folder that cannot be written any more.

Nobody who asked did anything wrong, and the same request succeeds when that is mended. Answered with 503, a sentence
and Retry-After, whoever notices it: a view, what stands around it, or Django.
"""

from __future__ import annotations

import errno
import http
import logging
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any, Final

from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from schedweb.api.room import WATCH
from schedweb.observing.trace_context import CURRENT
from schedweb.sentences import noted, say

log = logging.getLogger(__name__)
RETRY_SECONDS: Final = 2
NO_DATABASE: Final = noted("The database does not answer. Try again in a moment.")
NO_ROOM: Final = noted(
    "The disk on which this server keeps its data is full. What was stored stays; this was not done. Try again when "
    "there is room."
)
READ_ONLY: Final = noted(
    "Where this server keeps its data nothing can be written. What was stored stays; this was not done. Try "
    "again when that is mended."
)
FAILED: Final = noted("Something went wrong in the server. Its log has more, under the id {id}.")
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
UNWRITABLE: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_SQLITE_UNWRITABLE: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_PRIMARY: Final = 0xFF
"""The bits of SQLite's extended result codes that say which code it is."""
_DISK_FULL: Final = "53100"
_READ_ONLY_TRANSACTION: Final = "25006"
STATUSES: Final[dict[int, tuple[str, str]]] = {
    400: ("bad_request", noted("This request cannot be read.")),
    403: ("forbidden", noted("This is not allowed.")),
    404: ("not_found", noted("There is no such thing here.")),
}


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """It, and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__


def storage_failure(error: BaseException) -> tuple[str, str] | None:
    """(code, sentence) of what is wrong with where the server runs; None for any other error."""
    for each in causes(error):
        if isinstance(each, sqlite3.Error):
            code = getattr(each, "sqlite_errorcode", 0) & _PRIMARY
            if code == sqlite3.SQLITE_FULL:
                return "storage_full", NO_ROOM
            if code in _SQLITE_UNWRITABLE:
                return "storage_read_only", READ_ONLY
        elif isinstance(each, OSError) and each.errno in FULL:
            return "storage_full", NO_ROOM
        elif isinstance(each, OSError) and each.errno in UNWRITABLE and each.filename:
            return "storage_read_only", READ_ONLY
        state = getattr(each, "sqlstate", None)
        if state == _DISK_FULL:
            return "storage_full", NO_ROOM
        if state == _READ_ONLY_TRANSACTION:
            return "storage_read_only", READ_ONLY
    if isinstance(error, OperationalError | InterfaceError):
        return "unavailable", NO_DATABASE
    return None


def noted_failure(error: BaseException) -> tuple[str, str] | None:
    """``storage_failure``, and whoever asks for room hears of it. Not beside PostgreSQL of a file that could not be
    written: that is the folder for uploads, whose disk is asked itself."""
    failure = storage_failure(error)
    if failure is not None and not (
        connection.vendor == "postgresql" and any(isinstance(each, OSError) for each in causes(error))
    ):
        WATCH.note_refusal(failure[0])
    return failure


def body_of(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def answered(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    """As JSON where programs ask."""
    if request.path == "/api" or request.path.startswith("/api/"):
        return JsonResponse(body_of(code, message), status=status)
    return HttpResponse(message, status=status, content_type="text/plain; charset=utf-8")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500: for what no view answered, also what stands around views."""
    error = sys.exception()
    if error is not None and (failure := noted_failure(error)) is not None:
        code, sentence = failure
        log.warning("%s: %s", code, error)
        response = answered(request, http.HTTPStatus.SERVICE_UNAVAILABLE, code, say(sentence))
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    known = CURRENT.get()
    sentence = say(FAILED, id="" if known is None else known.trace_id)
    return answered(request, http.HTTPStatus.INTERNAL_SERVER_ERROR, "failed", sentence)


def plain(status: int) -> Any:
    """Django's handler of a status: what it raises before a view is found, or for lack of one."""

    def answer(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
        code, sentence = STATUSES[status]
        return answered(request, status, code, say(sentence))

    return answer
