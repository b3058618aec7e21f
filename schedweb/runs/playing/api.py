"""Runs: list, create, read; the board, the feed; commands and the journal."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator
from schedweb.api.idempotency import idempotent, identity_of
from schedweb.api.windows import WINDOW_PARAMETERS, check_choice, integer_parameter, window_of, window_serializer
from schedweb.runs.models import Run
from schedweb.runs.playing.board import board_body, feed_items
from schedweb.runs.playing.commands import command_append, is_kept
from schedweb.runs.playing.manifests import warnings_of
from schedweb.runs.playing.resting import LONGEST, wait_for_rest
from schedweb.runs.playing.selectors import RunFilter, journal_entry, journal_window, run_body, run_window
from schedweb.runs.playing.serializers import (
    BoardSerializer,
    CommandReceiptSerializer,
    CommandRequestSerializer,
    JournalEntrySerializer,
    RunCreateSerializer,
    RunSerializer,
    RunWaitSerializer,
    StepSerializer,
    TimelineAskSerializer,
    TimelineSerializer,
)
from schedweb.runs.playing.services import run_create
from schedweb.runs.playing.timeline import step_at, step_body, timeline_body
from schedweb.runs.records.converters import RunKey
from schedweb.runs.records.fields import FeedItemSerializer
from schedweb.runs.records.runs import run_get

TRUTHS = {"true": True, "false": False}
COMMANDED = (
    "Tells a run to play, to pause, to change pods or nodes, to decide. The command is stored when this is answered; "
    "its journal entry says what came of it."
)


WAITED = (
    "The run, as soon as it rests: it is finished, stopped or failed, paused, or waits for a person, no command is on "
    "its way, and all its pods are listed. `rests` is false when the time was up first; then ask again."
)


class RunListApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_list",
        description="Runs, newest first.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("snapshot", UUID, description="only runs of this snapshot"),
            OpenApiParameter("configuration", UUID, description="only runs that any version of it is played with"),
            OpenApiParameter("state", str, enum=Run.State.values, description="only runs in this state"),
            OpenApiParameter("fork", bool, description="true: only forks; false: none of them"),
            OpenApiParameter("starred", bool, description="true: only starred runs; false: none of them"),
            OpenApiParameter(
                "beside",
                bool,
                description="true: only those that follow, shadow or schedule a real cluster now; false: none of them",
            ),
            OpenApiParameter(
                "q", str, description="words that its number, cluster, configuration or starter contain, all of them"
            ),
        ],
        responses=window_serializer(RunSerializer),
    )
    def get(self, request: Request) -> Response:
        given = request.query_params
        check_choice("fork", given.get("fork", ""), TRUTHS)
        check_choice("starred", given.get("starred", ""), TRUTHS)
        check_choice("beside", given.get("beside", ""), TRUTHS)
        asked = RunFilter(
            snapshot=given.get("snapshot", ""),
            configuration=given.get("configuration", ""),
            state=given.get("state", ""),
            fork=TRUTHS.get(given.get("fork", "")),
            starred=TRUTHS.get(given.get("starred", "")),
            beside=TRUTHS.get(given.get("beside", "")),
            q=given.get("q", ""),
        )
        return Response(run_window(window_of(request), asked))

    @extend_schema(
        operation_id="runs_create",
        description="A run of a snapshot with a configuration version. It is paused unless `paused` is false.",
        request=RunCreateSerializer,
        responses={201: RunSerializer},
    )
    @idempotent()
    def post(self, request: Request) -> Response:
        wanted = RunCreateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        run = run_create(user=request.user, **wanted.validated_data)
        return Response(run_body(run_get(run.pk)), status=201)


class RunApi(APIView):
    shared = ("run",)
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_read", description="A run: its state, clock, counts and worker.", responses=RunSerializer
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(run_body(run_get(run)))


class RunWaitApi(APIView):
    """Not for visitors: a request that waits holds a thread."""

    of_run = ("run",)

    @extend_schema(
        operation_id="runs_wait",
        description=WAITED,
        parameters=[
            OpenApiParameter("seconds", int, description=f"How long to wait at most: 0 to {LONGEST}, by default 30")
        ],
        responses=RunWaitSerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        run_get(run)
        at_rest = wait_for_rest(run, integer_parameter(request, "seconds", 30, highest=LONGEST))
        return Response({"rests": at_rest, "run": run_body(run_get(run))})


class BoardApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_board",
        description="The queues of a run with their first pods, and the cycle that is under way.",
        responses=BoardSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        return Response(board_body(run_get(run)))


class TimelineApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_timeline",
        description="The whole run as a line: positions, times and marks, to rewind to; and which step it was at, at a "
        "moment of its clock (422 of one before it began, before what is kept of it, or still to come).",
        parameters=[TimelineAskSerializer],
        responses=TimelineSerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        asked = TimelineAskSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        found, at = run_get(run), asked.validated_data.get("at")
        return Response({**timeline_body(found), "at": None if at is None else step_body(found, step_at(found, at))})


class StepApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_timeline_step",
        description="When the run was at a step, and how many pods each queue had: of the last step at or before it "
        "that was noted. Within a cycle at full speed none is, so that is the step before the cycle.",
        responses=StepSerializer,
    )
    def get(self, request: Request, run: UUID, position: int) -> Response:
        return Response({"step": step_body(run_get(run), position)})


class FeedApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_feed",
        description="What happened in a run, newest first.",
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
            feed_items(
                run_get(run),
                before=integer_parameter(request, "before", 0) or None,
                limit=window_of(request).limit,
                pod=request.query_params.get("pod", ""),
                node=request.query_params.get("node", ""),
            )
        )


def frees_room(body: Any) -> bool:
    """A run that stands writes no more, and one that was stopped can be deleted: a small row that is worth a try."""
    return isinstance(body, dict) and body.get("type") in ("pause", "stop")


class CommandsApi(APIView):
    of_run = ("run",)
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_command",
        description=COMMANDED,
        request=CommandRequestSerializer,
        responses={202: CommandReceiptSerializer},
    )
    @idempotent(whole=False, needs_room=lambda request: not frees_room(request.data))
    def post(self, request: Request, run: UUID) -> Response:
        entry = command_append(run_id=run, user=request.user, body=request.data, known_as=identity_of(request))
        receipt = {
            "id": entry.pk,
            "status": entry.status,
            "warnings": warnings_of(request.data),
            "kept": is_kept(entry),
        }
        return Response(receipt, status=202)


class JournalApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_journal",
        description="What the run was told, newest first: author, time, position and outcome.",
        parameters=WINDOW_PARAMETERS,
        responses=window_serializer(JournalEntrySerializer),
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(journal_window(run_get(run), window_of(request)))


class JournalEntryApi(APIView):
    of_run = ("run",)

    @extend_schema(
        operation_id="runs_journal_entry",
        description="One command that a run was told, and what came of it.",
        responses=JournalEntrySerializer,
    )
    def get(self, request: Request, run: UUID, entry: UUID) -> Response:
        return Response(journal_entry(run, entry))
