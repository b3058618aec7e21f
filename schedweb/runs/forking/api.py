"""Forks of a run, and exact runs."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator
from schedweb.api.idempotency import idempotent
from schedweb.runs.forking.exact import exact_run
from schedweb.runs.forking.forks import run_fork
from schedweb.runs.forking.serializers import ExactAskSerializer, ExactRunSerializer, ForkSerializer
from schedweb.runs.playing.selectors import run_body
from schedweb.runs.playing.serializers import RunSerializer
from schedweb.runs.playing.timeline import step_at
from schedweb.runs.records.runs import run_get


class ForksApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_fork",
        description="A new run that begins where this one was at the position; this one is only read.",
        request=ForkSerializer,
        responses={201: RunSerializer},
    )
    @idempotent()
    def post(self, request: Request, run: UUID) -> Response:
        asked = ForkSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        wanted, parent = dict(asked.validated_data), run_get(run)
        if (at := wanted.pop("at", None)) is not None:
            wanted["position"] = step_at(parent, at)
        fork = run_fork(parent=parent, user=request.user, **wanted)
        return Response(run_body(run_get(fork.pk)), status=201)


class ExactRunApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_exact",
        description="This run played again from its start with other weights: 201, or 200 when there is one already.",
        request=ExactAskSerializer,
        responses={200: ExactRunSerializer, 201: ExactRunSerializer},
    )
    @idempotent()
    def post(self, request: Request, run: UUID) -> Response:
        asked = ExactAskSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = exact_run(run=run_get(run), user=request.user, **asked.validated_data)
        body = {"run": run_body(run_get(made.run.pk)), "not_repeated": made.not_repeated}
        return Response(body, status=201 if made.is_new else 200)
