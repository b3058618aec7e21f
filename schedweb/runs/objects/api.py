"""Objects of a run besides pods and nodes, and who preempted whom."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, window_of
from schedweb.runs.objects.selectors import object_window, object_yaml
from schedweb.runs.objects.serializers import ObjectYamlSerializer, RunObjectWindowSerializer
from schedweb.runs.records.converters import RunKey
from schedweb.runs.records.runs import run_get

KIND: Final = "PodGroup, or PodGroup.scheduling.k8s.io where two API groups have a kind of that name"


class ObjectListApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_objects",
        description="Other objects of a run: claims, volumes, classes, pod groups, devices.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("kind", str, description=KIND),
            OpenApiParameter("q", str, description="a part of the name"),
        ],
        responses=RunObjectWindowSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        kind, query = (request.query_params.get(key, "") for key in ("kind", "q"))
        return Response(object_window(run_get(run), window_of(request), kind=kind, query=query))


class ObjectYamlApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_object_yaml",
        description="The manifest of one of a run's other objects.",
        parameters=[
            OpenApiParameter("kind", str, required=True, description=KIND),
            OpenApiParameter("namespace", str, description="empty for what has none"),
            OpenApiParameter("name", str, required=True, description="The object's name"),
        ],
        responses=ObjectYamlSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        asked = {key: request.query_params.get(key, "") for key in ("kind", "namespace", "name")}
        return Response(object_yaml(run_get(run), **asked))
