"""The shadow of a followed run: its figures, the decisions one by one, the same as a file, and when to say so."""

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
from schedweb.runs.attempts.serializers import AttemptExtendersSerializer
from schedweb.runs.models import Followed
from schedweb.runs.records.runs import run_get
from schedweb.runs.shadowing import selectors
from schedweb.runs.shadowing.extenders import extenders_body
from schedweb.runs.shadowing.serializers import (
    ShadowAlertSerializer,
    ShadowDecisionSerializer,
    ShadowSummarySerializer,
)

OF_PODS: Final = [
    OpenApiParameter("namespace", str, description="only of this namespace"),
    OpenApiParameter("profile", str, description="a schedulerName"),
    OpenApiParameter("workload", str, description="only of this workload, as decisions name it"),
]
FILTERS: Final = [
    *OF_PODS,
    OpenApiParameter(
        "kind",
        str,
        enum=selectors.KINDS,
        description="without it the bindings that ours would not have made; left_pending: pods without a node there "
        "about which ours decides otherwise",
    ),
    OpenApiParameter("plugin", str, description="that made the difference"),
    OpenApiParameter("q", str, description="only with this in namespace/name or in a node's name"),
]
COLUMNS: Final = (
    "at", "namespace", "name", "uid", "workload", "profile", "kind", "bound", "real_node", "own_node", "plugin",
    "margin", "rank", "tied", "reasons", "victims", "message", "real_message", "why_not",
)  # fmt: skip


def asked(request: Request) -> selectors.Asked:
    found = request.query_params
    wanted = {name: found.get(name, "") for name in ("namespace", "profile", "workload", "kind", "plugin")}
    return selectors.Asked(**wanted, query=found.get("q", ""))


class ShadowApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow",
        description="How far the configuration of a followed run agrees with the real scheduler, step by step: each "
        "decision on the state just before the real one.",
        parameters=OF_PODS,
        responses=ShadowSummarySerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(selectors.summary_body(run_get(run), asked(request)))

    @extend_schema(
        operation_id="runs_shadow_alert",
        description="Below how many percent of agreement in the last hour the page says so, and people are told of it "
        "once (docs/operating.md, notices).",
        request=ShadowAlertSerializer,
        responses=ShadowSummarySerializer,
    )
    def put(self, request: Request, run: UUID) -> Response:
        wanted = ShadowAlertSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        found = run_get(run)
        selectors.shadow_of(found)
        below = wanted.validated_data["alert_below"]
        # Without a threshold it is not below one: with the next one whoever is to be told is told.
        forgotten = {"below_since": None} if below is None else {}
        Followed.objects.filter(run=found).update(alert_below=below, **forgotten)
        return Response(selectors.summary_body(found, selectors.Asked()))


class ShadowDecisionsApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow_decisions",
        description="Decisions of the real scheduler beside ours, newest first.",
        parameters=[*WINDOW_PARAMETERS, *FILTERS],
        responses=window_serializer(ShadowDecisionSerializer),
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(selectors.judgement_window(run_get(run), window_of(request), asked(request)))


class ShadowExtendersApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow_extenders",
        description="What extenders were sent for a decision and what they replied, shortened, with status and time. "
        "Bodies are kept of decisions that do not agree, and of those that were not judged.",
        responses=AttemptExtendersSerializer,
    )
    def get(self, request: Request, run: UUID, number: int) -> Response:
        return Response(extenders_body(run_get(run), number))


class ShadowExportApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_shadow_export",
        description="The same decisions as a file; all that are kept with `kind=all`.",
        parameters=[OpenApiParameter("as", str, required=True, description="csv or json"), *FILTERS],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID) -> HttpResponse:
        kind, found, wanted = asked_format(request), run_get(run), asked(request)
        batches = selectors.judgement_batches(found, wanted)
        if kind == "csv":
            content = as_csv(COLUMNS, (csv_row(row) for rows in batches for row in rows))
        else:
            content = as_json(selectors.summary_body(found, wanted), batches, "decisions_made")
        return download(content, f"{found}-shadow", kind)


def csv_row(row: dict[str, Any]) -> list[Any]:
    told = {**row, "reasons": "; ".join(row["reasons"]), "victims": " ".join(row["victims"])}
    return [told[name] for name in COLUMNS]
