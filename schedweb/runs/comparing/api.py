"""Two runs side by side, and the pods that differ as windows or as a file."""

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
from schedweb.configurations.api import fields_of
from schedweb.configurations.comparison import compare
from schedweb.configurations.credentials import text_for
from schedweb.configurations.serializers import ComparisonSerializer
from schedweb.runs.comparing import selectors as comparison
from schedweb.runs.comparing.serializers import PodDifferenceSerializer, RunComparisonSerializer
from schedweb.runs.records.runs import run_get

FILTERS: Final = [
    OpenApiParameter("kind", str, description="one of the counts' names; else all pods that differ"),
    OpenApiParameter("q", str, description="only pods whose namespace/name contains this"),
]
COLUMNS: Final = (
    "namespace", "name", "kind", "queue_a", "node_a", "attempts_a", "queue_b", "node_b", "attempts_b", "why", "in_run",
    "plugin", "reasons", "swings",
)  # fmt: skip


def asked(request: Request) -> dict[str, str]:
    return {"kind": request.query_params.get("kind", ""), "query": request.query_params.get("q", "")}


class ComparisonApi(APIView):
    shared = ("run", "other")

    @extend_schema(
        operation_id="runs_comparison",
        description="Two runs beside each other: pods that went another way, use of nodes, waiting times.",
        responses=RunComparisonSerializer,
    )
    def get(self, request: Request, run: UUID, other: UUID) -> Response:
        return Response(comparison.comparison_body(run_get(run), run_get(other)))


class ComparisonConfigurationsApi(APIView):
    @extend_schema(
        operation_id="runs_comparison_configurations",
        description="What the configuration of the other run changes against this one's: in words and in lines.",
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, run: UUID, other: UUID) -> Response:
        texts = (run_get(each).configuration_version.text for each in (run, other))
        mine, theirs = (text_for(request.user, text) for text in texts)
        return Response(fields_of(compare(mine, theirs)))


class ComparisonPodsApi(APIView):
    shared = ("run", "other")

    @extend_schema(
        operation_id="runs_comparison_pods",
        description="The pods of a comparison: what became of each in both runs, and which plugin was the reason.",
        parameters=[*WINDOW_PARAMETERS, *FILTERS],
        responses=window_serializer(PodDifferenceSerializer),
    )
    def get(self, request: Request, run: UUID, other: UUID) -> Response:
        window = window_of(request, highest=comparison.BATCH)
        return Response(comparison.difference_window(run_get(run), run_get(other), window, **asked(request)))


def csv_side(side: dict[str, Any] | None) -> list[Any]:
    return ["", "", ""] if side is None else [side["column"], side["node"] or "", side["attempts"]]


def csv_row(row: dict[str, Any]) -> list[Any]:
    causes = row["causes"]
    return [
        row["pod"]["namespace"],
        row["pod"]["name"],
        row["kind"],
        *csv_side(row["a"]),
        *csv_side(row["b"]),
        *(" | ".join(each[name] for each in causes) for name in ("why", "side", "plugin")),
        " | ".join("; ".join(each["reasons"]) for each in causes),
        " ".join(f"{each['plugin']}={each['swing']:+d}" for each in row["points"]),
    ]


class ComparisonExportApi(APIView):
    shared = ("run", "other")

    @extend_schema(
        operation_id="runs_comparison_export",
        description="A comparison as a file.",
        parameters=[OpenApiParameter("as", str, required=True, description="csv or json"), *FILTERS],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID, other: UUID) -> HttpResponse:
        kind = asked_format(request)
        a, b = run_get(run), run_get(other)
        batches = comparison.difference_batches(a, b, **asked(request))
        if kind == "csv":
            content = as_csv(COLUMNS, (csv_row(row) for rows in batches for row in rows))
        else:
            content = as_json(comparison.comparison_body(a, b), batches)
        return download(content, f"{a}-and-{b}", kind)
