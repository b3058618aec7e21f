"""Runs: list, create, read, delete; the board, the feed; commands and the journal."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator
from schedweb.api.errors import conflict
from schedweb.api.windows import WINDOW_PARAMETERS, integer_parameter, window_of, window_serializer
from schedweb.runs.converters import MomentRef, RunKey
from schedweb.runs.selectors import boards
from schedweb.runs.selectors import runs as selectors
from schedweb.runs.selectors.timeline import timeline_body
from schedweb.runs.serializers.fields import FeedItemSerializer
from schedweb.runs.serializers.run import (
    BoardSerializer,
    CommandReceiptSerializer,
    CommandRequestSerializer,
    ExactAskSerializer,
    ExactRunSerializer,
    ForkSerializer,
    JournalEntrySerializer,
    RunCreateSerializer,
    RunSerializer,
)
from schedweb.runs.serializers.timeline import TimelineSerializer
from schedweb.runs.services import commands, forks, runs
from schedweb.runs.services.exact import exact_run
from schedweb.sentences import say


class RunListApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_list",
        parameters=[*WINDOW_PARAMETERS, OpenApiParameter("snapshot", UUID, description="only runs of this snapshot")],
        responses=window_serializer(RunSerializer),
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.run_window(window_of(request), snapshot=request.query_params.get("snapshot", "")))

    @extend_schema(operation_id="runs_create", request=RunCreateSerializer, responses={201: RunSerializer})
    def post(self, request: Request) -> Response:
        wanted = RunCreateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        run = runs.run_create(user=request.user, **wanted.validated_data)
        return Response(selectors.run_body(selectors.run_get(run.pk)), status=201)


class RunApi(APIView):
    shared = ("run",)
    permission_classes = [IsOperator]

    @extend_schema(operation_id="runs_read", responses=RunSerializer)
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(selectors.run_body(selectors.run_get(run)))

    @extend_schema(operation_id="runs_delete", responses={204: None})
    def delete(self, request: Request, run: RunKey) -> Response:
        if isinstance(run, MomentRef):
            raise conflict(say("A moment cannot be deleted, only its run."), code="moment")
        runs.run_delete(run=selectors.run_get(run))
        return Response(status=204)


class ForksApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_fork",
        description="A new run, paused where this one was at the position; this one is only read.",
        request=ForkSerializer,
        responses={201: RunSerializer},
    )
    def post(self, request: Request, run: UUID) -> Response:
        asked = ForkSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        fork = forks.run_fork(parent=selectors.run_get(run), user=request.user, **asked.validated_data)
        return Response(selectors.run_body(selectors.run_get(fork.pk)), status=201)


class ExactRunApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_exact",
        description="This run played again from its start with other weights: 201, or 200 when there is one already.",
        request=ExactAskSerializer,
        responses={200: ExactRunSerializer, 201: ExactRunSerializer},
    )
    def post(self, request: Request, run: UUID) -> Response:
        asked = ExactAskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = exact_run(run=selectors.run_get(run), user=request.user, **asked.validated_data)
        body = {"run": selectors.run_body(selectors.run_get(made.run.pk)), "not_repeated": made.not_repeated}
        return Response(body, status=201 if made.is_new else 200)


class BoardApi(APIView):
    shared = ("run",)

    @extend_schema(operation_id="runs_board", responses=BoardSerializer)
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(boards.board_body(selectors.run_get(run)))


class TimelineApi(APIView):
    @extend_schema(operation_id="runs_timeline", responses=TimelineSerializer)
    def get(self, request: Request, run: UUID) -> Response:
        return Response(timeline_body(selectors.run_get(run)))


class FeedApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_feed",
        parameters=[
            OpenApiParameter("before", int, description="older than this item"),
            OpenApiParameter("limit", int, description="at most 200"),
            OpenApiParameter("pod", str, description="only what names this namespace/name"),
            OpenApiParameter("node", str, description="only what names this node"),
        ],
        responses=FeedItemSerializer(many=True),
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(
            boards.feed_items(
                selectors.run_get(run),
                before=integer_parameter(request, "before", 0) or None,
                limit=window_of(request).limit,
                pod=request.query_params.get("pod", ""),
                node=request.query_params.get("node", ""),
            )
        )


class CommandsApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_command", request=CommandRequestSerializer, responses={202: CommandReceiptSerializer}
    )
    def post(self, request: Request, run: UUID) -> Response:
        entry = commands.command_append(run_id=run, user=request.user, body=request.data)
        return Response({"id": entry.pk, "status": entry.status}, status=202)


class JournalApi(APIView):
    @extend_schema(
        operation_id="runs_journal", parameters=WINDOW_PARAMETERS, responses=window_serializer(JournalEntrySerializer)
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(selectors.journal_window(selectors.run_get(run), window_of(request)))


class JournalEntryApi(APIView):
    @extend_schema(operation_id="runs_journal_entry", responses=JournalEntrySerializer)
    def get(self, request: Request, run: UUID, entry: UUID) -> Response:
        return Response(selectors.journal_entry(run, entry))
