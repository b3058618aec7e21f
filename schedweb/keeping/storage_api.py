"""`/api/v1/storage/`: what uses the space, and what goes when."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsAnybodyKnown, IsViewer
from schedweb.api.room import KINDS, WATCH
from schedweb.api.windows import WINDOW_PARAMETERS, check_choice, window_of, window_serializer
from schedweb.keeping import storage
from schedweb.keeping.retention import NEEDED
from schedweb.runs.models import Run
from schedweb.runs.playing.selectors import id_asked
from schedweb.sentences import say

TRUTHS: Final = {"true": True, "false": False}
SORTS: Final = (*storage.SORTS, *(f"-{each}" for each in storage.SORTS))


class StoredKindSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(storage.ALL_KINDS)
    bytes = serializers.IntegerField()


class StoredRunsSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="what `limits.total_bytes` is held against")
    deleted_count = serializers.IntegerField(help_text="under Recently deleted")
    deleted_bytes = serializers.IntegerField()


class StoredSnapshotSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    bytes = serializers.IntegerField(help_text="of itself")
    runs = serializers.IntegerField()
    runs_bytes = serializers.IntegerField()
    deleted = serializers.BooleanField()


class StoredPersonSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    runs = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="with those under Recently deleted")
    deleted_bytes = serializers.IntegerField()
    limit_bytes = serializers.IntegerField(allow_null=True, help_text="null: any amount")


class LimitsSerializer(serializers.Serializer[Any]):
    """null: nothing goes for this reason."""

    breakdowns_days = serializers.IntegerField(
        allow_null=True, help_text="after so many days without being played a run loses what the plugins said"
    )
    runs_days = serializers.IntegerField(
        allow_null=True, help_text="after so many days without being played a finished run goes to Recently deleted"
    )
    total_bytes = serializers.IntegerField(allow_null=True, help_text="of all runs that are not deleted")
    per_person_bytes = serializers.IntegerField(allow_null=True, help_text="beyond that one starts no run")
    deleted_days = serializers.IntegerField(help_text="what people delete can be brought back for so long")
    pruned_days = serializers.IntegerField(help_text="and a run that went to make room")


class NextSerializer(serializers.Serializer[Any]):
    breakdowns = serializers.IntegerField(help_text="runs that would lose what the plugins said")
    runs = serializers.IntegerField(help_text="runs that would go to Recently deleted")
    bytes = serializers.IntegerField(help_text="free afterwards")
    over_bytes = serializers.IntegerField(
        help_text="by how much the limit would still be passed: what is left is needed"
    )
    every_seconds = serializers.IntegerField(help_text="how often a worker does it")


class StorageSerializer(serializers.Serializer[Any]):
    database_bytes = serializers.IntegerField(help_text="as large as the database is")
    free_bytes = serializers.IntegerField(
        allow_null=True, help_text="of these, used again before it grows; null where only PostgreSQL knows"
    )
    kinds = StoredKindSerializer(many=True, help_text="the largest first; together `database_bytes` - `free_bytes`")
    runs = StoredRunsSerializer()
    snapshots = StoredSnapshotSerializer(many=True, help_text="the 50 largest with their runs")
    people = StoredPersonSerializer(many=True, help_text="the 50 who use most")
    limits = LimitsSerializer()
    next = NextSerializer(help_text="what would go now")


class GoesSerializer(serializers.Serializer[Any]):
    breakdowns_at = serializers.DateTimeField(allow_null=True, help_text="what the plugins said goes, by its age")
    run_at = serializers.DateTimeField(
        allow_null=True, help_text="the run goes to Recently deleted, by its age; of a deleted one: for good"
    )


class StoredRunSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.CharField(help_text="r-0042")
    snapshot = serializers.CharField()
    state = serializers.ChoiceField(Run.State.values)
    started_by = serializers.CharField()
    used_at = serializers.DateTimeField(help_text="played last, or brought back")
    bytes = serializers.IntegerField()
    parts = StoredKindSerializer(many=True)
    made_again_bytes = serializers.IntegerField(help_text="of `bytes`, what goes first: replay makes it again")
    measured_at = serializers.DateTimeField(allow_null=True, help_text="null: not since an upgrade")
    needed = serializers.ChoiceField(
        NEEDED,
        allow_blank=True,
        help_text="why nothing of it goes; unfinished: why only what the plugins said may; empty: nobody needs it",
    )
    breakdowns_gone_at = serializers.DateTimeField(allow_null=True)
    deleted_at = serializers.DateTimeField(allow_null=True)
    goes = GoesSerializer()


class StorageApi(APIView):
    permission_classes = (IsViewer,)

    @extend_schema(
        operation_id="storage_read",
        description="What uses the space, by kind, snapshot and person; the limits; and what would go now. Sizes of "
        "runs are of when they were measured last: at rest, and every minute while they play.",
        responses=StorageSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(storage.storage_body())


class TroubleSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(KINDS)
    since = serializers.DateTimeField(help_text="when this server saw it first")
    message = serializers.CharField()


class StorageTroubleSerializer(serializers.Serializer[Any]):
    trouble = TroubleSerializer(allow_null=True)


class StorageTroubleApi(APIView):
    """Visitors, too, see a run that stands still because of it."""

    permission_classes = (IsAnybodyKnown,)

    @extend_schema(
        operation_id="storage_trouble",
        description="Why nothing can be stored now, a full disk or a database that is read-only; null when all is "
        "well. Found out at most every two seconds, so it may be asked often.",
        responses=StorageTroubleSerializer,
    )
    def get(self, request: Request) -> Response:
        found = WATCH.trouble()
        if found is None:
            return Response({"trouble": None})
        return Response({"trouble": {"kind": found.kind, "since": found.since, "message": found.sentence()}})


class StorageRunsApi(APIView):
    permission_classes = (IsViewer,)

    @extend_schema(
        operation_id="storage_runs",
        description="What each run uses, deleted ones, too; why it is kept, and when what of it goes.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("sort", str, enum=SORTS, description="by default -bytes"),
            OpenApiParameter("person", str, description="only what this account started"),
            OpenApiParameter("snapshot", UUID, description="only runs of this snapshot"),
            OpenApiParameter("deleted", bool, description="true: only under Recently deleted; false: none of these"),
        ],
        responses=window_serializer(StoredRunSerializer),
    )
    def get(self, request: Request) -> Response:
        given = request.query_params
        check_choice("deleted", given.get("deleted", ""), TRUTHS)
        snapshot = given.get("snapshot", "")
        if snapshot:
            refusal = say("{snapshot!r} is not a snapshot's id.", snapshot=snapshot)
            snapshot = str(id_asked("snapshot", snapshot, refusal))
        rows = storage.runs_asked(
            person=given.get("person", ""),
            snapshot=snapshot,
            deleted=TRUTHS.get(given.get("deleted", "")),
            sort=given.get("sort", "") or "-bytes",
        )
        return Response(storage.storage_runs_window(window_of(request), rows))
