"""Runs are deleted; schedweb/keeping lists what is, and brings it back."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator
from schedweb.api.errors import conflict
from schedweb.runs.deleting.serializers import RunsDeletedSerializer, RunsDeleteSerializer
from schedweb.runs.deleting.services import run_delete, runs_delete
from schedweb.runs.playing.api import RunApi
from schedweb.runs.records.converters import MomentRef, RunKey
from schedweb.sentences import say


class RunsDeleteApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_delete_many",
        description="Deletes every run named, as deleting one does; says of each that stayed why.",
        request=RunsDeleteSerializer,
        responses=RunsDeletedSerializer,
    )
    def post(self, request: Request) -> Response:
        wanted = RunsDeleteSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        return Response(runs_delete(ids=wanted.validated_data["runs"], user=request.user))


class RunAndDeletionApi(RunApi):
    @extend_schema(
        operation_id="runs_delete",
        description="Deletes a run; one that plays stops. It can be brought back for a while (`deleted_restore`). "
        "Operators delete their own runs, editors any.",
        responses={204: None},
    )
    def delete(self, request: Request, run: RunKey) -> Response:
        if isinstance(run, MomentRef):
            raise conflict(say("A moment cannot be deleted, only its run."), code="moment")
        run_delete(run=run, user=request.user)
        return Response(status=204)
