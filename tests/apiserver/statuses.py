"""Errors as kube-apiserver words them: a Status with reason, message and details, and headers where it sends some.

The texts are those of apimachinery's ``api/errors`` and of the recordings in ``tests/data/live``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.apiserver.kinds import Json, Kind

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
BUSY = "Too many requests, please try again later.\n"
EXPIRED_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


class ApiError(Exception):
    """An answer that is no success: the HTTP status, the body (a Status, or text) and headers."""

    def __init__(self, code: int, body: Json | str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(body if isinstance(body, str) else body.get("message"))
        self.code, self.body, self.headers = code, body, dict(headers or {})


def failure(code: int, reason: str, message: str, details: Json | None = None, metadata: Json | None = None) -> Json:
    status: Json = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata or {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if details:
        status["details"] = details
    return {**status, "code": code}


def success(code: int, details: Json | None = None) -> Json:
    """``code`` is left out where upstream leaves it out: deletions."""
    status: Json = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = details
    return status if code == 200 else {**status, "code": code}


def details_of(kind: Kind, name: str = "", subresource: str = "") -> Json:
    details: Json = {"name": name} if name else {}
    if kind.group:
        details["group"] = kind.group
    details["kind"] = f"{kind.plural}/{subresource}" if subresource else kind.plural
    return details


def not_found(kind: Kind, name: str) -> ApiError:
    return ApiError(404, failure(404, "NotFound", f'{kind.resource} "{name}" not found', details_of(kind, name)))


def unknown_path() -> ApiError:
    """What the router says where nothing is served: plain text."""
    return ApiError(404, "404 page not found\n")


def already_exists(kind: Kind, name: str) -> ApiError:
    message = f'{kind.resource} "{name}" already exists'
    return ApiError(409, failure(409, "AlreadyExists", message, details_of(kind, name)))


def conflict(kind: Kind, name: str, why: str, subresource: str = "") -> ApiError:
    what = f"{kind.plural}/{subresource}" if subresource else kind.resource
    message = f'Operation cannot be fulfilled on {what} "{name}": {why}'
    return ApiError(409, failure(409, "Conflict", message, details_of(kind, name, subresource)))


def wrong_uid(kind: Kind, namespace: str, name: str, wanted: str, found: str) -> ApiError:
    """The storage's own precondition, as a binding or a PUT meets it."""
    group = f"{kind.group}/" if kind.group else ""
    key = "/".join(part for part in (f"/registry/{group}{kind.plural}", namespace, name) if part)
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    )
    return conflict(kind, name, why)


def delete_precondition(kind: Kind, name: str, field: str, wanted: str, found: str) -> ApiError:
    """A deletion looks itself before the storage does, and names the kind instead of the resource."""
    fate = "deleted and then recreated" if field == "UID" else "modified"
    qualified = f"{kind.name}.{kind.group}" if kind.group else kind.name
    message = (
        f'Operation cannot be fulfilled on {qualified} "{name}": the {field} in '
        f"the precondition ({wanted}) does not match the {field} in record ({found}). The object might have been {fate}"
    )
    details = {**details_of(kind, name), "kind": kind.name}
    return ApiError(409, failure(409, "Conflict", message, details))


def invalid(kind: Kind, name: str, causes: Sequence[tuple[str, str, str]]) -> ApiError:
    """``causes``: (reason, field, what), as ``("FieldValueRequired", "target.name", "Required value")``."""
    details = {**details_of(kind, name), "kind": kind.name}
    details["causes"] = [{"reason": reason, "message": what, "field": field} for reason, field, what in causes]
    whole = [f"{field}: {what}" for _, field, what in causes]
    said = whole[0] if len(whole) == 1 else f"[{', '.join(whole)}]"
    qualified = f"{kind.name}.{kind.group}" if kind.group else kind.name
    return ApiError(422, failure(422, "Invalid", f'{qualified} "{name}" is invalid: {said}', details))


def invalid_options(field: str, why: str) -> ApiError:
    """List options that do not go together."""
    said = f"Forbidden: {why}"
    details: Json = {
        "group": "meta.k8s.io",
        "kind": "ListOptions",
        "causes": [{"reason": "FieldValueForbidden", "message": said, "field": field}],
    }
    message = f'ListOptions.meta.k8s.io "" is invalid: {field}: {said}'
    return ApiError(422, failure(422, "Invalid", message, details))


def bad_request(message: str) -> ApiError:
    return ApiError(400, failure(400, "BadRequest", message))


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted)
    return ApiError(415, failure(415, "UnsupportedMediaType", message))


def not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, failure(405, "MethodNotAllowed", message, {}))


def unauthorized() -> ApiError:
    return ApiError(401, failure(401, "Unauthorized", "Unauthorized"))


def expired(message: str, metadata: Json | None = None) -> ApiError:
    return ApiError(410, failure(410, "Expired", message, metadata=metadata))


def no_progress() -> ApiError:
    message = (
        "a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled"
    )
    return ApiError(500, failure(500, "InternalError", message))


def too_large_version(wanted: int, current: int) -> ApiError:
    details: Json = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
        "retryAfterSeconds": 1,
    }
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    return ApiError(504, failure(504, "Timeout", message, details), {"Retry-After": "1"})


def throttled(seconds: int = 1) -> ApiError:
    """Priority and fairness rejects with plain text, no Status (recorded: throttled_429)."""
    return ApiError(429, BUSY, {"Retry-After": str(seconds)})


def evicting_too_many(budget: str, needed: int, healthy: int) -> ApiError:
    cause = {
        "reason": "DisruptionBudget",
        "message": f"The disruption budget {budget} needs {needed} healthy pods and has {healthy} currently",
    }
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return ApiError(429, failure(429, "TooManyRequests", message, {"causes": [cause]}))


def of_code(code: int, retry_after: int | None = None) -> ApiError:
    """A failure of the server's own, for faults: 500, 503, 504, 429."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    details: Json | None = None if retry_after is None else {"retryAfterSeconds": retry_after}
    if code == 429:
        return throttled(1 if retry_after is None else retry_after)
    known: dict[int, tuple[str, str]] = {
        401: ("Unauthorized", "Unauthorized"),
        500: ("InternalError", "Internal error occurred: etcdserver: request timed out"),
        503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504: ("Timeout", "Timeout: request did not complete within the allotted timeout"),
    }
    if code not in known:
        raise ValueError(f"no wording for status {code}: pass a body")
    reason, message = known[code]
    return ApiError(code, failure(code, reason, message, details), headers)


def as_event(error: ApiError) -> dict[str, Any]:
    """The same error within a watch that has begun."""
    return {"type": "ERROR", "object": error.body}
