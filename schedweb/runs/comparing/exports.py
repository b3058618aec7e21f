"""Files that people download: rows as CSV, or as JSON beside what sums them up."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any, Literal

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from schedweb.api.errors import ApiError
from schedweb.sentences import say

Format = Literal["csv", "json"]
_TYPES: dict[Format, str] = {"csv": "text/csv", "json": "application/json"}


def asked_format(request: Request) -> Format:
    match request.query_params.get("as", ""):
        case "csv":
            return "csv"
        case "json":
            return "json"
        case kind:
            raise ApiError(say("as must be csv or json, not {kind!r}.", kind=kind), code="invalid", path="as")


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def as_json(summary: dict[str, Any], batches: Iterator[list[dict[str, Any]]]) -> bytes:
    """The summary with all pods, one a line."""
    rows = b",\n".join(msgspec.json.encode(row) for batch in batches for row in batch)
    return msgspec.json.encode(summary)[:-1] + b',"pods":[\n' + rows + b"\n]}\n"


def download(content: bytes, name: str, kind: Format) -> HttpResponse:
    answer = HttpResponse(content, content_type=_TYPES[kind])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return answer
