"""A run beside the real cluster: the counts, and its pods as windows or as a file."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.exports import as_csv, as_json, asked_format, download
from schedweb.api.windows import WINDOW_PARAMETERS, window_of, window_serializer
from schedweb.runs.comparing.selectors import BATCH
from schedweb.runs.real_cluster import selectors as real
from schedweb.runs.real_cluster.serializers import RealRowSerializer, RealSummarySerializer
from schedweb.runs.records.runs import run_get

FILTERS: Final = [
    OpenApiParameter("kind", str, description="one of the counts' names; else all pods that differ"),
    OpenApiParameter("q", str, description="only pods whose namespace/name contains this"),
    OpenApiParameter("pod", str, description="only this namespace/name, of whatever kind"),
]
COLUMNS: Final = (
    "namespace", "name", "kind", "real_outcome", "real_node", "real_at", "real_failures", "run_queue", "run_node",
    "run_attempts", "why", "plugin", "reasons", "rank", "margin", "real_message", "run_message",
)  # fmt: skip


def asked(request: Request) -> dict[str, str]:
    wanted = request.query_params
    return {"kind": wanted.get("kind", ""), "query": wanted.get("q", ""), "pod": wanted.get("pod", "")}


class RealApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_real",
        description="What the real cluster's scheduler said beside what the run decided, counted by kind.",
        responses=RealSummarySerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(real.summary_body(run_get(run)))


class RealPodsApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_real_pods",
        description="Pods with what the real scheduler said and what the run decided.",
        parameters=[*WINDOW_PARAMETERS, *FILTERS],
        responses=window_serializer(RealRowSerializer),
    )
    def get(self, request: Request, run: UUID) -> Response:
        window = window_of(request, highest=BATCH)
        return Response(real.real_window(run_get(run), window, **asked(request)))


def csv_row(row: dict[str, Any]) -> list[Any]:
    beside, here, causes = row["real"], row["run"], row["causes"]
    reasons = [f"{each['reason']}: {each['real']} real, {each['run']} here" for each in row["reasons"]]
    return [
        row["pod"]["namespace"],
        row["pod"]["name"],
        row["kind"],
        beside["outcome"],
        beside["node"] or "",
        beside["at"],
        beside["failures"],
        here["column"],
        here["node"] or "",
        here["attempts"],
        " | ".join(each["why"] for each in causes),
        " | ".join(each["plugin"] for each in causes),
        "; ".join([*(reason for each in causes for reason in each["reasons"]), *reasons]),
        *(" | ".join("" if each[name] is None else str(each[name]) for each in causes) for name in ("rank", "margin")),
        beside["message"],
        here["message"],
    ]


class RealExportApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_real_export",
        description="The pods of the real cluster beside the run's, as a file.",
        parameters=[OpenApiParameter("as", str, required=True, description="csv or json"), *FILTERS],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID) -> HttpResponse:
        kind = asked_format(request)
        found = run_get(run)
        batches = real.real_batches(found, **asked(request))
        if kind == "csv":
            content = as_csv(COLUMNS, (csv_row(row) for rows in batches for row in rows))
        else:
            content = as_json(real.summary_body(found), batches)
        return download(content, f"{found}-and-real", kind)
