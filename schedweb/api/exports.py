"""Files that people download: rows as CSV, or as JSON beside what sums them up."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any, Final, Literal

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request

from schedweb.api.errors import ApiError
from schedweb.sentences import say

Format = Literal["csv", "json"]
FORMULA: Final = re.compile(r"(?![+-]?[\d.]+$)[=+\-@\t\r]")
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
    writer.writerows([plain_text(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def plain_text(cell: Any) -> Any:
    """A spreadsheet takes a text that begins like a formula for one, and names come from strangers' clusters: an
    apostrophe before it keeps it a text (https://owasp.org/www-community/attacks/CSV_Injection). Numbers are let be."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def as_json(summary: dict[str, Any], batches: Iterable[list[dict[str, Any]]], rows_name: str = "pods") -> bytes:
    """The summary with all rows, one a line."""
    rows = b",\n".join(msgspec.json.encode(row) for batch in batches for row in batch)
    opening = b',"%s":[\n' % rows_name.encode()
    return msgspec.json.encode(summary).removesuffix(b"}") + opening + rows + b"\n]}\n"


def download(content: bytes, name: str, kind: Format) -> HttpResponse:
    answer = HttpResponse(content, content_type=_TYPES[kind])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return answer
