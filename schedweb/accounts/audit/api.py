"""`/api/v1/audit/`: who did what, for admins."""

from __future__ import annotations

import json
from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.audit import selectors
from schedweb.accounts.audit.recording import RESULTS, record
from schedweb.accounts.audit.serializers import ACTIONS, GROUPS, AuditEntrySerializer, AuditFilterSerializer
from schedweb.accounts.permissions import IsAdmin
from schedweb.api.errors import ApiError
from schedweb.api.exports import as_csv, as_json, asked_format, download
from schedweb.api.windows import WINDOW_PARAMETERS, window_answer, window_of, window_serializer
from schedweb.sentences import say

MOST_EXPORTED: Final = 100_000
FILTERS: Final = [
    OpenApiParameter(
        "action", str, enum=[*ACTIONS, *GROUPS], description="only these; a part before the dot: all of it"
    ),
    OpenApiParameter("result", str, enum=list(RESULTS), description="only what was done, or what was refused"),
    OpenApiParameter("who", str, description="only of the account of this name"),
    OpenApiParameter("q", str, description="words in what it was done to, where from or by which token"),
    OpenApiParameter("since", OpenApiTypes.DATETIME, description="not before"),
    OpenApiParameter("until", OpenApiTypes.DATETIME, description="before"),
]


def filter_of(request: Request) -> dict[str, Any]:
    asked = AuditFilterSerializer(data=request.query_params.dict())
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


class AuditView(APIView):
    permission_classes = (IsAdmin,)

    @extend_schema(
        operation_id="audit_list",
        description="What was done and tried, newest first: who, when, from where, with what result.",
        parameters=[*WINDOW_PARAMETERS, *FILTERS],
        responses=window_serializer(AuditEntrySerializer),
    )
    def get(self, request: Request) -> Response:
        found = selectors.entries(**filter_of(request))
        return Response(window_answer(window_of(request), found, selectors.entry_body))


class AuditExportView(APIView):
    permission_classes = (IsAdmin,)

    @extend_schema(
        operation_id="audit_export",
        description=f"The same as a file, at most {MOST_EXPORTED:,} entries. That it was taken is an entry, too.",
        parameters=[OpenApiParameter("as", str, required=True, description="csv or json"), *FILTERS],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        kind = asked_format(request)
        asked = filter_of(request)
        found = selectors.entries(**asked)
        # Without what comes while it is written, its own entry first of all.
        newest = found.values_list("pk", flat=True).first() or 0
        found = found.filter(pk__lte=newest)
        count = found.count()
        if count > MOST_EXPORTED:
            raise ApiError(
                say(
                    "These are {count:,} entries; a file has {most:,} at most. Ask for a shorter time.",
                    count=count,
                    most=MOST_EXPORTED,
                ),
                code="too_many",
                status_code=413,
            )
        limits = {name: str(value) for name, value in asked.items() if value}
        record("audit.export", count=count, format=kind, filter=limits)
        if kind == "csv":
            rows = (row for batch in selectors.batches(found) for row in batch)
            content = as_csv(selectors.COLUMNS, (csv_row(row) for row in rows))
        else:
            content = as_json({"count": count}, selectors.batches(found), "entries")
        return download(content, "audit", kind)


def csv_row(row: dict[str, Any]) -> list[Any]:
    written = {**row, "at": row["at"].isoformat(), "details": json.dumps(row["details"], ensure_ascii=False)}
    return [written[name] for name in selectors.COLUMNS]
