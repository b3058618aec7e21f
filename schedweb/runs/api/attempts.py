"""Attempts of a run: rows, what every plugin said, the filter's groups, the scores."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, integer_parameter, window_of, window_serializer
from schedweb.runs.converters import RunKey
from schedweb.runs.selectors import attempts, filters, preemptions, scores
from schedweb.runs.selectors.runs import run_get
from schedweb.runs.serializers.attempt import (
    AttemptRowSerializer,
    AttemptSerializer,
    FilterSerializer,
    ScoresSerializer,
)
from schedweb.runs.serializers.claims import PreemptionSerializer


class AttemptListApi(APIView):
    @extend_schema(
        operation_id="runs_attempts",
        parameters=[*WINDOW_PARAMETERS, OpenApiParameter("pod", str, description="namespace/name")],
        responses=window_serializer(AttemptRowSerializer),
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(
            attempts.attempt_window(run_get(run), window_of(request), pod=request.query_params.get("pod", ""))
        )


class AttemptApi(APIView):
    @extend_schema(operation_id="runs_attempt", responses=AttemptSerializer)
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        return Response(attempts.attempt_body(attempts.stored_attempt(run, number)))


class AttemptFilterApi(APIView):
    @extend_schema(
        operation_id="runs_attempt_filter",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("group", int, description="a window of this group's nodes"),
            OpenApiParameter("table", int, description="1: a flat window of node, plugin, code, reasons"),
            OpenApiParameter("q", str, description="only nodes whose name contains this"),
        ],
        responses=FilterSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        stored = attempts.stored_attempt(run, number)
        group = integer_parameter(request, "group", -1) if "group" in request.query_params else None
        return Response(
            filters.filter_body(
                stored,
                window_of(request),
                group=group,
                table=request.query_params.get("table", "") == "1",
                query=request.query_params.get("q", ""),
            )
        )


class AttemptPreemptionApi(APIView):
    @extend_schema(operation_id="runs_attempt_preemption", parameters=WINDOW_PARAMETERS, responses=PreemptionSerializer)
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        return Response(preemptions.preemption_body(attempts.stored_attempt(run, number), window_of(request)))


class AttemptScoresApi(APIView):
    @extend_schema(
        operation_id="runs_attempt_scores",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("sort", str, description="total, node or a plugin's name; with - in front: descending"),
            OpenApiParameter("q", str, description="only nodes whose name contains this"),
            OpenApiParameter("hide_equal", int, description="1: leave out plugins that are equal for all"),
        ],
        responses=ScoresSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        return Response(
            scores.scores_body(
                attempts.stored_attempt(run, number),
                window_of(request),
                sort=request.query_params.get("sort", ""),
                query=request.query_params.get("q", ""),
                hide_equal=request.query_params.get("hide_equal", "") == "1",
            )
        )
