"""Following a cluster, and how far it is read for a run that does."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator, signed_in_user
from schedweb.api.idempotency import idempotent
from schedweb.api.windows import WINDOW_PARAMETERS, check_choice, window_of, window_serializer
from schedweb.clusters.api import refused
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.engine.live import Scheduling
from schedweb.runs.following import services
from schedweb.runs.following.selectors import (
    EVERY,
    ON_ITS_OWN,
    OUTCOMES,
    PURPOSES,
    AskedWrites,
    followed_body,
    scheduled_body,
    writes_window,
)
from schedweb.runs.following.serializers import (
    ClusterWriteSerializer,
    FollowAnswerSerializer,
    FollowedSerializer,
    FollowRequestSerializer,
    ForRealSerializer,
    KeepSerializer,
    ScheduledSerializer,
    ScheduleRequestSerializer,
)
from schedweb.runs.following.terms import refuse_person, terms_for_real, terms_of
from schedweb.runs.models import Followed, Run
from schedweb.runs.playing.selectors import run_body
from schedweb.runs.records.runs import run_get
from schedweb.snapshots import queue
from schedweb.snapshots.api import import_body
from schedweb.snapshots.api import refused as snapshot_refused
from schedweb.snapshots.models import Import
from schedweb.snapshots.services import SnapshotError


class ClusterFollowApi(APIView):
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="clusters_follow",
        description="Begins a run that follows the cluster: first all of it is read, as for a snapshot, which "
        "`reading` tells (202). Ask again with its id as `import_id` until there is a run (201). Nothing is "
        "written to the cluster. The command `stop` ends it.",
        request=FollowRequestSerializer,
        responses={201: FollowAnswerSerializer, 202: FollowAnswerSerializer},
    )
    @idempotent()
    def post(self, request: Request, name: str) -> Response:
        wanted = FollowRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked, user = wanted.validated_data, signed_in_user(request)
        return begun(name, asked, user, shadow=asked.get("shadow", False), own_world=asked.get("way") == ON_ITS_OWN)


class ClusterScheduleApi(APIView):
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="clusters_schedule",
        description="Begins a run that is a scheduler of the cluster: what it decides is written there. As "
        "`clusters_follow`, the cluster is read first (202), then there is a run (201). Refused unless the server was "
        "started with PLAYGROUND_MAY_SCHEDULE naming the context, the person has the right, the cluster's name is "
        "typed, and the schedulerName of every profile is named. The command `stop` takes effect before the "
        "next write.",
        request=ScheduleRequestSerializer,
        responses={201: FollowAnswerSerializer, 202: FollowAnswerSerializer},
    )
    @idempotent()
    def post(self, request: Request, name: str) -> Response:
        user = signed_in_user(request)
        refuse_person(user, request.auth)
        wanted = ScheduleRequestSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        return begun(name, asked, user, terms=terms_of(name, asked))


def begun(
    name: str,
    asked: dict[str, Any],
    user: User,
    *,
    shadow: bool = False,
    own_world: bool = False,
    terms: Scheduling | None = None,
    in_place_of: Run | None = None,
) -> Response:
    """The cluster begins to be read, is being read, or there is a run. Raises ApiError."""
    version = asked.get("configuration_version")
    try:
        if "import_id" not in asked:
            queue.refuse_too_many(user)
            row = services.follow_read(
                name=name, user=user, configuration_version=version, shadow=shadow, own_world=own_world, terms=terms
            )
            queue.offer(row)
            return reading(row)
        row = services.import_of(name=name, import_id=asked["import_id"], user=user)
        if row.state == Import.State.READING:
            return reading(row)
        run = services.follow_begin(
            row=row,
            user=user,
            configuration_version=version,
            megabytes=asked.get("megabytes", 0),
            minutes=asked.get("minutes", 0),
            shadow=shadow,
            own_world=own_world,
            terms=terms,
            in_place_of=in_place_of,
        )
    except ClusterProblem as problem:
        raise refused(problem) from None
    except SnapshotError as error:
        raise snapshot_refused(error) from None
    return Response({"reading": None, "run": run_body(run_get(run.pk))}, status=status.HTTP_201_CREATED)


def reading(row: Import) -> Response:
    return Response({"reading": import_body(row, [], ""), "run": None}, status=status.HTTP_202_ACCEPTED)


class RunFollowApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_follow",
        description="Of a run that follows a cluster: how it is read, since when, and how much of it is kept.",
        responses=FollowedSerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(followed_body(run_get(run)))

    @extend_schema(
        operation_id="runs_keep",
        description="How much is kept of a run that follows a cluster, from now on, and when it is stopped by itself. "
        "Of one that has more than three quarters of that its oldest part goes when it is measured next, within a "
        "minute or so.",
        request=KeepSerializer,
        responses=FollowedSerializer,
    )
    def put(self, request: Request, run: UUID) -> Response:
        wanted = KeepSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        found = run_get(run)
        asked = wanted.validated_data
        services.follow_change(
            run=found, megabytes=asked.get("megabytes"), until=asked.get("until"), sets_until="until" in asked
        )
        return Response(followed_body(found))


class RunScheduleApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_schedule",
        description="Of a run that schedules a real cluster: how it stands, since when, and what became of its writes.",
        responses=ScheduledSerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response(scheduled_body(run_get(run)))


class RunForRealApi(APIView):
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_schedule_for_real",
        description="Of a dry run: begins a run that schedules the cluster for real, with the same configuration and "
        "on the same terms, and stops the dry run when there is one. As `clusters_schedule`: the cluster is read and "
        "the credentials are asked first (202), then there is a run (201); refused for the same reasons.",
        request=ForRealSerializer,
        responses={201: FollowAnswerSerializer, 202: FollowAnswerSerializer},
    )
    @idempotent()
    def post(self, request: Request, run: UUID) -> Response:
        user, dry = signed_in_user(request), run_get(run)
        refuse_person(user, request.auth)
        wanted = ForRealSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        terms = terms_for_real(dry, wanted.validated_data["typed"])
        asked = {
            **wanted.validated_data,
            "configuration_version": dry.configuration_version_id,
            "megabytes": Followed.objects.get(run=dry).most_bytes // services.MEGABYTE,
        }
        return begun(dry.follows, asked, user, terms=terms, in_place_of=dry)


class RunWritesApi(APIView):
    of_run = ("run",)
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="runs_writes",
        description="What a run that schedules a real cluster wrote there, and what became of it; newest first.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter(
                "purpose", str, enum=(EVERY, *PURPOSES), description="without it everything but Events; all: these, too"
            ),
            OpenApiParameter("outcome", str, enum=OUTCOMES, description="without it all of them"),
            OpenApiParameter("q", str, description="only of objects with this in their namespace or name"),
        ],
        responses=window_serializer(ClusterWriteSerializer),
    )
    def get(self, request: Request, run: UUID) -> Response:
        found = request.query_params
        check_choice("purpose", found.get("purpose", ""), (EVERY, *PURPOSES))
        check_choice("outcome", found.get("outcome", ""), OUTCOMES)
        asked = AskedWrites(found.get("purpose", ""), found.get("outcome", ""), found.get("q", ""))
        return Response(writes_window(run_get(run), window_of(request), asked))
