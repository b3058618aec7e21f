"""Errors as the API answers them: `{"error": {"code", "message", "path"?, "line"?, "column"?}, …}`.

`message` is a sentence for people; `code` is for programs; `path` names the field or object that is wrong.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from schedweb.accounts.audit.recording import record_seldom
from schedweb.api.failures import NO_ROOM, READ_ONLY, RETRY_SECONDS, body_of, noted_failure
from schedweb.api.room import stores_nothing
from schedweb.sentences import say

log = logging.getLogger(__name__)


class ProblemPlaceSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(allow_blank=True, help_text="the field of the object: spec.min[cpu]")
    message = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    column = serializers.IntegerField(allow_null=True)


class ErrorBodySerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    path = serializers.CharField(required=False)
    line = serializers.IntegerField(required=False)
    column = serializers.IntegerField(required=False)
    problems = ProblemPlaceSerializer(many=True, required=False, help_text="all that is wrong in a manifest")


class ErrorSerializer(serializers.Serializer[Any]):
    error = ErrorBodySerializer()


class ApiError(exceptions.APIException):
    """An answer other than success that is expected: 400, 404, 409, 413, 422, 429 or 503 with a sentence."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status_code: int = status.HTTP_400_BAD_REQUEST,
        path: str | None = None,
        line: int | None = None,
        column: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, code)
        self.status_code = status_code
        self.body: dict[str, Any] = {"code": code, "message": message}
        for name, value in (("path", path), ("line", line), ("column", column)):
            if value is not None:
                self.body[name] = value
        self.extra = dict(extra or {})


class TooMany(ApiError):
    """429: a person has as much under way as one person may. `wait`: seconds, for Retry-After; None where only the
    person can change that."""

    def __init__(self, message: str, *, code: str, wait: int | None = None) -> None:
        super().__init__(message, code=code, status_code=status.HTTP_429_TOO_MANY_REQUESTS)
        self.wait = wait


class Unavailable(ApiError):
    """503 with Retry-After."""

    wait = RETRY_SECONDS

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message, code=code, status_code=status.HTTP_503_SERVICE_UNAVAILABLE)


def refuse_without_room() -> None:
    """Before anything is begun that would be stored. Raises Unavailable."""
    if (found := stores_nothing()) is not None:
        is_full = found.kind.endswith("full")
        raise Unavailable(
            say(NO_ROOM if is_full else READ_ONLY), code="storage_full" if is_full else "storage_read_only"
        )


def not_found(what: str) -> ApiError:
    return ApiError(what, code="not_found", status_code=status.HTTP_404_NOT_FOUND)


def was_deleted(what: str) -> ApiError:
    """Not there, but it may be brought back; the sentence says so."""
    return ApiError(what, code="deleted", status_code=status.HTTP_404_NOT_FOUND)


def conflict(message: str, *, code: str = "conflict", path: str | None = None, **extra: Any) -> ApiError:
    return ApiError(message, code=code, status_code=status.HTTP_409_CONFLICT, path=path, extra=extra)


def first_detail(detail: Any, path: str = "") -> tuple[str, str]:
    """The first field error of a DRF ValidationError: (path, sentence)."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            where = path if key == "non_field_errors" else f"{path}.{key}".lstrip(".")
            return first_detail(value, where)
    if isinstance(detail, list):
        for index, value in enumerate(detail):
            if isinstance(value, Mapping) and not value:
                continue
            return first_detail(value, f"{path}[{index}]" if isinstance(value, Mapping) else path)
    return path, str(detail)


def error_body(error: exceptions.APIException) -> dict[str, Any]:
    if isinstance(error, ApiError):
        return {"error": error.body, **error.extra}
    if isinstance(error, exceptions.ValidationError):
        path, message = first_detail(error.detail)
        body = {"code": "invalid", "message": f"{path}: {message}" if path else message}
        return {"error": {**body, "path": path} if path else body}
    code = error.get_codes()
    return body_of(code if isinstance(code, str) else "error", str(error.detail))


def note_refusal(context: dict[str, Any]) -> None:
    """Of who is known by an account: what their role does not allow."""
    request = context["request"]
    if isinstance(request.user, User):
        match = request._request.resolver_match
        record_seldom("request", target=f"{request.method} /{'' if match is None else match.route}")


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, Http404):
        error = not_found(str(error) or say("There is no such thing here."))
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied(str(error) or None)
    elif (failure := noted_failure(error)) is not None:
        code, sentence = failure
        log.warning("%s: %s", code, error)
        error = Unavailable(say(sentence), code=code)
    if not isinstance(error, exceptions.APIException):
        return None
    headers: dict[str, str] = {}
    if error.status_code == status.HTTP_403_FORBIDDEN:
        note_refusal(context)
    if (authenticate := getattr(error, "auth_header", None)) is not None:
        headers["WWW-Authenticate"] = authenticate
    if (wait := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait))
    set_rollback()
    return Response(error_body(error), status=error.status_code, headers=headers)
