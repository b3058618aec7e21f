"""Attempts of a run: rows, what every plugin said, the filter's groups, the scores."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, integer_parameter, window_of, window_serializer
from schedweb.runs.attempts import selectors as attempts
from schedweb.runs.attempts.difference import difference_body
from schedweb.runs.attempts.extenders import extenders_body
from schedweb.runs.attempts.log import LEVELS, MOST_LINES, log_body
from schedweb.runs.attempts.preemptions import preemption_body, preemption_window
from schedweb.runs.attempts.score_matrix import matrix_body
from schedweb.runs.attempts.scores import scores_body
from schedweb.runs.attempts.selectors import attempt_body, attempt_window, stored_attempt
from schedweb.runs.attempts.serializers import (
    AttemptDifferenceSerializer,
    AttemptExtendersSerializer,
    AttemptLogSerializer,
    AttemptRowSerializer,
    AttemptSerializer,
    PreemptionRowSerializer,
    PreemptionSerializer,
    RunTimingSerializer,
    ScoreMatrixSerializer,
    ScoresSerializer,
)
from schedweb.runs.attempts.timings import attempt_timing, run_timing
from schedweb.runs.records.converters import RunKey
from schedweb.runs.records.runs import run_get


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
        return Response(attempt_window(run_get(run), window_of(request), **asked))


class TimingApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_timing",
        description="Where the time of the cycles went, by extension point and plugin.",
        responses=RunTimingSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(run_timing(run_get(run)))


class AttemptApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt",
        description="A scheduling attempt, extension point by extension point.",
        responses=AttemptSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        stored = stored_attempt(run, number)
        return Response({**attempt_body(stored), "timing": attempt_timing(stored.row)})


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


class AttemptExtendersApi(APIView):
    """Not for visitors: what a webhook says is its own words, which nobody has looked through."""

    @extend_schema(
        operation_id="runs_attempt_extenders",
        description="What extenders were sent in an attempt and what they replied, shortened, with status and time.",
        responses=AttemptExtendersSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        stored = stored_attempt(run, number)
        return Response(extenders_body(stored.row, stored.trace))


class AttemptLogApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt_log",
        description="The attempt as kube-scheduler's log has it (docs/semantics/log.md).",
        parameters=[
            OpenApiParameter("v", int, description=f"kube-scheduler's -v: {LEVELS.start} to {LEVELS[-1]}, default 4"),
            OpenApiParameter("limit", int, description=f"lines, at most {MOST_LINES:,}, default 500"),
        ],
        responses=AttemptLogSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        verbosity = integer_parameter(request, "v", 4, highest=LEVELS[-1])
        limit = integer_parameter(request, "limit", 500, highest=MOST_LINES)
        return Response(log_body(stored_attempt(run, number), verbosity, limit))


class AttemptPreemptionApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_attempt_preemption",
        description="The preemption of an attempt: its candidates with their victims, and why other nodes were none.",
        parameters=WINDOW_PARAMETERS,
        responses=PreemptionSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        return Response(preemption_body(stored_attempt(run_get(run), number), window_of(request)))


class AttemptScoreMatrixApi(APIView):
    @extend_schema(
        operation_id="runs_attempt_score_matrix",
        description="Never changes once the attempt is stored, so browsers may keep it.",
        responses=ScoreMatrixSerializer,
    )
    def get(self, request: Request, run: RunKey, number: int) -> Response:
        answer = Response(matrix_body(stored_attempt(run, number)))
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
            scores_body(
                stored_attempt(run, number),
                window_of(request),
                sort=request.query_params.get("sort", ""),
                query=request.query_params.get("q", ""),
                hide_equal=request.query_params.get("hide_equal", "") == "1",
            )
        )


class PreemptionListApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_preemptions",
        description="Which pods were evicted for which, over the whole run.",
        parameters=[*WINDOW_PARAMETERS, OpenApiParameter("pod", str, description="namespace/name of either")],
        responses=window_serializer(PreemptionRowSerializer),
    )
    def get(self, request: Request, run: RunKey) -> Response:
        asked = request.query_params.get("pod", "")
        return Response(preemption_window(run_get(run), window_of(request), pod=asked))
