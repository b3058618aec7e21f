"""What operators of kube-scheduler read, of a run: its metrics for Prometheus, its Events as kubectl prints them."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from framework.reports.events import event_list, table
from schedweb.api.errors import ApiError
from schedweb.api.windows import WINDOW_PARAMETERS, window_of
from schedweb.runs.operating.events import event_series, event_window
from schedweb.runs.operating.metrics import metrics_text, resources_text
from schedweb.runs.operating.serializers import EventWindowSerializer
from schedweb.runs.records.runs import run_get
from schedweb.sentences import say

PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
PLAIN: Final = "text/plain; charset=utf-8"
FILTERS: Final = [
    OpenApiParameter("q", str, description="only Events whose pod or message contains this"),
    OpenApiParameter("reason", str, description="Scheduled, FailedScheduling or Preempted; else all"),
]


class WhateverIsAccepted(BaseContentNegotiation):
    """The answer is a text, also for who asks for another: Prometheus names formats that only it knows."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class MetricsApi(APIView):
    shared = ("run",)
    content_negotiation_class = WhateverIsAccepted

    @extend_schema(
        operation_id="runs_metrics",
        description="kube-scheduler's /metrics of this run, in Prometheus' text format (docs/semantics/log.md). Five "
        "seconds old at most while it plays. 404 where nothing was counted.",
        responses={(200, "text/plain"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID) -> HttpResponse:
        return HttpResponse(metrics_text(run_get(run)), content_type=PROMETHEUS)


class ResourceMetricsApi(APIView):
    shared = ("run",)
    content_negotiation_class = WhateverIsAccepted

    @extend_schema(
        operation_id="runs_metrics_resources",
        description="kube-scheduler's /metrics/resources of this run: requests and limits of its pods.",
        responses={(200, "text/plain"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID) -> HttpResponse:
        return HttpResponse(resources_text(run_get(run)), content_type=PROMETHEUS)


class EventListApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_events",
        description="The Events that the scheduler wrote, the newest first; what comes again is a series.",
        parameters=[*WINDOW_PARAMETERS, *FILTERS],
        responses=EventWindowSerializer,
    )
    def get(self, request: Request, run: UUID) -> Response:
        query, reason = (request.query_params.get(name, "") for name in ("q", "reason"))
        return Response(event_window(run_get(run), window_of(request), query=query, reason=reason))


class EventFileApi(APIView):
    shared = ("run",)
    content_negotiation_class = WhateverIsAccepted

    @extend_schema(
        operation_id="runs_events_file",
        description="The Events as `kubectl get events` prints them.",
        parameters=[OpenApiParameter("as", str, required=True, description="table, or json: a List")],
        responses={(200, "application/json"): OpenApiTypes.OBJECT, (200, "text/plain"): OpenApiTypes.STR},
    )
    def get(self, request: Request, run: UUID) -> HttpResponse:
        kind = request.query_params.get("as", "")
        if kind not in ("table", "json"):
            raise ApiError(say("as must be table or json, not {kind!r}.", kind=kind), code="invalid", path="as")
        found = run_get(run)
        series, _ = event_series(found)
        if kind == "json":
            answer = HttpResponse(msgspec.json.encode(event_list(series)), content_type="application/json")
        else:
            text = "".join(f"{line}\n" for line in table(series, found.clock))
            answer = HttpResponse(text.encode(), content_type=PLAIN)
        name = f"{found}-events.{'json' if kind == 'json' else 'txt'}"
        answer["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer
