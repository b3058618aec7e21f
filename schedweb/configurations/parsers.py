"""Request bodies of this app: JSON of a size that a configuration can have."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import status
from rest_framework.request import Request

from schedweb.api.errors import ApiError
from schedweb.sentences import say

MAX_BYTES: Final = 4 * 1024 * 1024


def body_of(request: Request) -> Any:
    """The request's data; what is too large is refused before it is read."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > MAX_BYTES:
        raise ApiError(
            say(
                "The request has {length:,} bytes; {max_bytes:,} are the most for a configuration.",
                length=int(length),
                max_bytes=MAX_BYTES,
            ),
            code="too_large",
            status_code=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE,
        )
    return request.data
