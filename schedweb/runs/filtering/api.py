"""The filter of an attempt, and what is used of ElasticQuotas."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, integer_parameter, window_of
from schedweb.runs.attempts.selectors import stored_attempt
from schedweb.runs.filtering.catalogue_facts import RunQuotasSerializer
from schedweb.runs.filtering.filters import filter_body
from schedweb.runs.filtering.quota_bars import bars_of_run
from schedweb.runs.filtering.serializers import FilterSerializer
from schedweb.runs.records.converters import MomentRef, RunKey
from schedweb.runs.records.runs import run_get


class AttemptFilterApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt_filter",
        description="Which nodes were rejected in an attempt, by which plugin and why: by cause, or node by node.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("group", int, description="a window of this group's nodes"),
            OpenApiParameter("table", int, description="1: a flat window of node, plugin, code, reasons"),
            OpenApiParameter("q", str, description="only nodes whose name contains this"),
        ],
        responses=FilterSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        stored = stored_attempt(run_get(run) if isinstance(run, MomentRef) else run, number)
        group = integer_parameter(request, "group", -1) if "group" in request.query_params else None
        return Response(
            filter_body(
                stored,
                window_of(request),
                group=group,
                table=request.query_params.get("table", "") == "1",
                query=request.query_params.get("q", ""),
            )
        )


class ObjectQuotasApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_object_quotas",
        description="ElasticQuotas of a run: per resource what is used, guaranteed and allowed.",
        responses=RunQuotasSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(bars_of_run(run_get(run)))
