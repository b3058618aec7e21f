"""Analyses: ask about a moment of a run, read the answer, cancel. Nothing of the run changes, so viewers may ask."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.roles import Role, role_of
from schedweb.api.windows import WINDOW_PARAMETERS, window_of, window_serializer
from schedweb.runs.asking.questions import question_asked
from schedweb.runs.asking.selectors import analysis_body, analysis_get, moved_window
from schedweb.runs.asking.serializers import AnalysisAskSerializer, AnalysisSerializer, MovedPodSerializer
from schedweb.runs.models import Analysis
from schedweb.runs.records.analyses import analysis_ask, analysis_cancel
from schedweb.runs.records.runs import run_get
from schedweb.sentences import say


class AnalysesApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_analysis_ask",
        description="200 with the answer when it is known, else 202: follow `analysis.changed`, or read it again. 429 "
        "with Retry-After when too many of the person's own are under way.",
        request=AnalysisAskSerializer,
        responses={200: AnalysisSerializer, 202: AnalysisSerializer},
    )
    def post(self, request: Request, run: UUID) -> Response:
        asked = AnalysisAskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        found = run_get(run)
        question, position = question_asked(run=found, **asked.validated_data)
        analysis, _ = analysis_ask(
            run=found, asked_by=request.user.get_username(), question=question, position=position
        )
        done = analysis.status == Analysis.Status.DONE
        return Response(analysis_body(analysis), status=200 if done else 202)


class MovedPodsApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_analysis_moved",
        description="The pods of an `other_weights` answer, in the order of their attempts.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("kind", str, description="elsewhere or open; else both"),
            OpenApiParameter("q", str, description="only pods whose namespace/name contains this"),
        ],
        responses=window_serializer(MovedPodSerializer),
    )
    def get(self, request: Request, run: UUID, analysis: UUID) -> Response:
        return Response(
            moved_window(
                analysis_get(run, analysis),
                window_of(request),
                kind=request.query_params.get("kind", ""),
                query=request.query_params.get("q", ""),
            )
        )


class AnalysisApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_analysis",
        description="A question about a run, and its answer once it is there.",
        responses=AnalysisSerializer,
    )
    def get(self, request: Request, run: UUID, analysis: UUID) -> Response:
        return Response(analysis_body(analysis_get(run, analysis)))

    @extend_schema(
        operation_id="runs_analysis_cancel",
        description="Ends the work on it; what has ended already stays. For who asked, operators and editors.",
        responses=AnalysisSerializer,
    )
    def delete(self, request: Request, run: UUID, analysis: UUID) -> Response:
        asked_by = analysis_get(run, analysis).asked_by
        role = role_of(request.user)
        if asked_by != request.user.get_username() and (role is None or role < Role.OPERATOR):
            raise PermissionDenied(say("Who asked a question cancels it, or an operator or editor."))
        return Response(analysis_body(analysis_cancel(run=run, analysis=analysis)))
