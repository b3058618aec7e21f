"""Pods that wait on Permit in all runs, and the decisions about them."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, window_of, window_serializer
from schedweb.runs.waiting import selectors as waiting
from schedweb.runs.waiting.evictions import eviction_window, proposal_rows
from schedweb.runs.waiting.serializers import (
    DecisionSerializer,
    EvictionRowSerializer,
    WaitingCountSerializer,
    WaitingWindowSerializer,
)

RUN = OpenApiParameter("run", UUID, description="only this run")


class WaitingListApi(APIView):
    @extend_schema(
        operation_id="waiting_list",
        description="Pods that wait on Permit, over all runs.",
        parameters=[
            *WINDOW_PARAMETERS,
            RUN,
            OpenApiParameter("q", str, description="text, !inverse, -l key=value"),
            OpenApiParameter("kind", str, enum=["person", "gang"], description="Only pods that wait for this"),
        ],
        responses=WaitingWindowSerializer,
    )
    def get(self, request: Request) -> Response:
        asked = request.query_params
        return Response(
            waiting.waiting_window(
                window_of(request), run=asked.get("run", ""), query=asked.get("q", ""), kind=asked.get("kind", "")
            )
        )


class WaitingCountApi(APIView):
    @extend_schema(
        operation_id="waiting_count",
        description="How many pods wait on Permit, how many of them for a person, and how many evictions are proposed.",
        responses=WaitingCountSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(waiting.waiting_count())


class EvictionListApi(APIView):
    @extend_schema(
        operation_id="evictions_list",
        description="Evictions that a person is asked about, over all runs.",
        parameters=[*WINDOW_PARAMETERS, RUN],
        responses=window_serializer(EvictionRowSerializer),
    )
    def get(self, request: Request) -> Response:
        rows, run = proposal_rows(), request.query_params.get("run", "")
        return Response(eviction_window(window_of(request), rows.filter(run=waiting.run_id(run)) if run else rows))


class DecisionListApi(APIView):
    @extend_schema(
        operation_id="decisions_list",
        description="What was decided about pods that waited on Permit and about evictions: by whom, when and why; "
        "newest first.",
        parameters=[*WINDOW_PARAMETERS, RUN],
        responses=window_serializer(DecisionSerializer),
    )
    def get(self, request: Request) -> Response:
        return Response(waiting.decision_window(window_of(request), run=request.query_params.get("run", "")))
