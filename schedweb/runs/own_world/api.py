"""A shadow on its own: its figures beside the real cluster's, the pods that differ, and the same as a file."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator
from schedweb.api.exports import as_csv, as_json, asked_format, download
from schedweb.api.windows import WINDOW_PARAMETERS, window_of, window_serializer
from schedweb.runs.comparing.selectors import BATCH
from schedweb.runs.own_world import selectors
from schedweb.runs.own_world.serializers import OwnWorldPodSerializer, OwnWorldSerializer
from schedweb.runs.records.runs import run_get

OF_PODS: Final = [
    OpenApiParameter("namespace", str, description="only of this namespace"),
    OpenApiParameter("profile", str, description="a schedulerName"),
    OpenApiParameter("workload", str, description="only of this workload, as the answer names it"),
]
FILTERS: Final = [
    *OF_PODS,
    OpenApiParameter(
        "kind", str, enum=selectors.KINDS, description="one of the counts' names; without it those that differ"
    ),
    OpenApiParameter("q", str, description="only with this in namespace/name"),
]
COLUMNS: Final = (
    "namespace", "name", "workload", "profile", "kind", "real_node", "real_since", "real_message", "queue", "own_node",
    "attempts", "own_message", "evicted_for", "why", "plugin", "reasons", "rank", "margin",
)  # fmt: skip


def asked(request: Request) -> selectors.Asked:
    found = request.query_params
    wanted = {name: found.get(name, "") for name in ("namespace", "profile", "workload", "kind")}
    return selectors.Asked(**wanted, query=found.get("q", ""))


class OwnWorldApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow_world",
        description="Of a shadow on its own: our world beside the real cluster, in the figures of a comparison.",
        parameters=OF_PODS,
        responses=OwnWorldSerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(selectors.summary_body(run_get(run), asked(request)))


class OwnWorldPodsApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow_world_pods",
        description="Of a shadow on its own: pods that the two schedulers decided otherwise about, or that differ for "
        "what was decided before.",
        parameters=[*WINDOW_PARAMETERS, *FILTERS],
        responses=window_serializer(OwnWorldPodSerializer),
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(selectors.pods_window(run_get(run), window_of(request, highest=BATCH), asked(request)))


class OwnWorldExportApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow_world_export",
        description="The same pods as a file; as JSON with the figures.",
        parameters=[OpenApiParameter("as", str, required=True, description="csv or json"), *FILTERS],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID) -> HttpResponse:
        kind, found, wanted = asked_format(request), run_get(run), asked(request)
        batches = selectors.pods_batches(found, wanted)
        if kind == "csv":
            content = as_csv(COLUMNS, (csv_row(row) for rows in batches for row in rows))
        else:
            content = as_json(selectors.summary_body(found, wanted), batches)
        return download(content, f"{found}-on-its-own", kind)


def csv_row(row: dict[str, Any]) -> list[Any]:
    there, here = row["there"], row["here"] or {"column": "", "node": None, "attempts": "", "message": ""}
    causes = row["causes"]
    return [
        row["pod"]["namespace"],
        row["pod"]["name"],
        row["workload"],
        row["profile"],
        row["kind"],
        there["node"] or "",
        there["since"],
        there["message"],
        here["column"],
        here["node"] or "",
        here["attempts"],
        here["message"],
        row["evicted_for"],
        *(" | ".join(each[name] for each in causes) for name in ("why", "plugin")),
        " | ".join("; ".join(each["reasons"]) for each in causes),
        *(next((each[name] for each in causes if each[name] is not None), "") for name in ("rank", "margin")),
    ]
