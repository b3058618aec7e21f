"""The star of a run: operators give it and take it away."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator, signed_in_user
from schedweb.runs.playing.selectors import run_body
from schedweb.runs.playing.serializers import RunSerializer
from schedweb.runs.starring import services


class StarApi(APIView):
    of_run = ("run",)
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_star",
        description="Nothing of a starred run goes to make room. Starring twice is no mistake.",
        request=None,
        responses=RunSerializer,
    )
    def post(self, request: Request, run: UUID) -> Response:
        return Response(run_body(services.star(run=run, user=signed_in_user(request))))

    @extend_schema(
        operation_id="runs_unstar",
        description="Takes the star away, whoever gave it.",
        responses={204: None},
    )
    def delete(self, request: Request, run: UUID) -> Response:
        services.unstar(run=run)
        return Response(status=204)
