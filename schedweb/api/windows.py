"""Windows over lists: `?offset=&limit=` (at most 200) answered as `{count, offset, limit, results}`.

No endpoint returns an unbounded list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request

from schedweb.api.errors import ApiError
from schedweb.sentences import say

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
#: Beyond every row; a database refuses what 64 bits do not hold.
BEYOND = 10**15


@dataclass(frozen=True)
class Window:
    offset: int = 0
    limit: int = DEFAULT_LIMIT

    def cut(self, rows: Any) -> Any:
        return rows[self.offset : self.offset + self.limit]


def integer_parameter(request: Request, name: str, default: int, *, lowest: int = 0, highest: int = BEYOND) -> int:
    """What is above ``highest`` is cut to it."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ApiError(
            say("{name} must be a whole number, not {text!r}.", name=name, text=text), code="invalid", path=name
        ) from None
    if value < lowest:
        raise ApiError(say("{name} must not be below {lowest}.", name=name, lowest=lowest), code="invalid", path=name)
    return min(value, highest)


def check_choice(name: str, value: str, known: Collection[str]) -> None:
    """Of a query parameter; one that is not given is no mistake."""
    if value and value not in known:
        text = say("{name} must be one of {known}, not {value!r}.", name=name, known=", ".join(known), value=value)
        raise ApiError(text, code="invalid", path=name)


def window_of(request: Request, *, default: int = DEFAULT_LIMIT, highest: int = MAX_LIMIT) -> Window:
    """What the request asks for; a limit above the highest is cut to it."""
    return Window(
        offset=integer_parameter(request, "offset", 0),
        limit=integer_parameter(request, "limit", default, lowest=1, highest=highest),
    )


def window_body(window: Window, count: int, results: Sequence[Any]) -> dict[str, Any]:
    return {"count": count, "offset": window.offset, "limit": window.limit, "results": list(results)}


def window_answer(window: Window, rows: Any, present: Callable[[Any], Any]) -> dict[str, Any]:
    """A window over a queryset: one query for the count, one for the rows."""
    return window_body(window, rows.count(), [present(row) for row in window.cut(rows)])


WINDOW_PARAMETERS = [
    OpenApiParameter("offset", int, description="How many to leave out"),
    OpenApiParameter("limit", int, description=f"How many to return, at most {MAX_LIMIT}"),
]


def window_serializer(item: type[serializers.BaseSerializer[Any]], name: str | None = None) -> Any:
    """The window's type in the OpenAPI file, named `<Item>Window`."""
    title = name or f"{item.__name__.removesuffix('Serializer')}Window"
    return inline_serializer(
        title,
        {
            "count": serializers.IntegerField(),
            "offset": serializers.IntegerField(),
            "limit": serializers.IntegerField(),
            "results": item(many=True),
        },
    )
