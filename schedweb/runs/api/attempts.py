"""Attempts of a run: rows, what every plugin said, the filter's groups, the scores."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, integer_parameter, window_of, window_serializer
from schedweb.runs.converters import MomentRef, RunKey
from schedweb.runs.selectors import attempts, filters, preemptions, score_matrix, scores, timings
from schedweb.runs.selectors.attempt_difference import difference_body
from schedweb.runs.selectors.runs import run_get
from schedweb.runs.serializers.attempt import (
    AttemptRowSerializer,
    AttemptSerializer,
    FilterSerializer,
    ScoreMatrixSerializer,
    ScoresSerializer,
)
from schedweb.runs.serializers.claims import PreemptionSerializer
from schedweb.runs.serializers.history import AttemptDifferenceSerializer, RunTimingSerializer


class AttemptListApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempts",
        description="Scheduling attempts, newest first, with their result and time.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("pod", str, description="namespace/name"),
            OpenApiParameter("q", str, description="only pods whose namespace/name contains this"),
            OpenApiParameter("result", str, enum=attempts.RESULTS, description="Only attempts that ended so"),
            OpenApiParameter("node", str, description="only attempts that chose this node"),
        ],
        responses=window_serializer(AttemptRowSerializer),
    )
    def get(self, request: Request, run: RunKey) -> Response:
        asked = {name: request.query_params.get(name, "") for name in ("pod", "q", "result", "node")}
        return Response(attempts.attempt_window(run_get(run), window_of(request), **asked))


class TimingApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_timing",
        description="Where the time of the cycles went, by extension point and plugin.",
        responses=RunTimingSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(timings.run_timing(run_get(run)))


class AttemptApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt",
        description="A scheduling attempt, extension point by extension point.",
        responses=AttemptSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        stored = attempts.stored_attempt(run, number)
        return Response({**attempts.attempt_body(stored), "timing": timings.attempt_timing(stored.row)})


class AttemptDifferenceApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt_difference",
        description="What differs between two attempts of a pod: nodes that came or went, verdicts, scores.",
        parameters=[*WINDOW_PARAMETERS, OpenApiParameter("group", int, description="a window of this group's nodes")],
        responses=AttemptDifferenceSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int, other: int) -> Response:
        group = integer_parameter(request, "group", 0) if "group" in request.query_params else None
        return Response(difference_body(run, number, other, window_of(request), group=group))


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
        stored = attempts.stored_attempt(run_get(run) if isinstance(run, MomentRef) else run, number)
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
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt_preemption",
        description="The preemption of an attempt: its candidates with their victims, and why other nodes were none.",
        parameters=WINDOW_PARAMETERS,
        responses=PreemptionSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        return Response(preemptions.preemption_body(attempts.stored_attempt(run, number), window_of(request)))


class AttemptScoreMatrixApi(APIView):
    @extend_schema(
        operation_id="runs_attempt_score_matrix",
        description="Never changes once the attempt is stored, so browsers may keep it.",
        responses=ScoreMatrixSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        answer = Response(score_matrix.matrix_body(attempts.stored_attempt(run, number)))
        answer["Cache-Control"] = "private, max-age=3600"
        return answer


class AttemptScoresApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt_scores",
        description="The feasible nodes of an attempt with their scores, by plugin and weight.",
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
