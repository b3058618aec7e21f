"""Pods and nodes of a run."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.errors import ApiError
from schedweb.api.windows import WINDOW_PARAMETERS, window_of, window_serializer
from schedweb.runs.pods.page import pod_body
from schedweb.runs.pods.selection import selection_body
from schedweb.runs.pods.serializers import PodDetailSerializer, SelectionSerializer
from schedweb.runs.records.converters import RunKey
from schedweb.runs.records.fields import CardSerializer, YamlSerializer
from schedweb.runs.records.pods import PodFilter, pod_get, pod_window, pod_yaml
from schedweb.runs.records.runs import run_get
from schedweb.sentences import say

POD_FILTERS = [
    OpenApiParameter("column", str, description="gated, active, backoff, unschedulable, in_flight, waiting or bound"),
    OpenApiParameter("group", str, description="a card's group_key"),
    OpenApiParameter("q", str, description="text, !inverse, -l key=value"),
    OpenApiParameter("namespace", str, description="Only pods of this namespace"),
    OpenApiParameter("node", str, description="Only pods on this node"),
    OpenApiParameter("sort", str, description="place, name, priority, attempts or since; with - in front: descending"),
]


class PodListApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_pods",
        description="The pods of a run as the board shows them.",
        parameters=[*WINDOW_PARAMETERS, *POD_FILTERS],
        responses=window_serializer(CardSerializer, "PodWindow"),
    )
    def get(self, request: Request, run: RunKey) -> Response:
        asked = {parameter.name: request.query_params.get(parameter.name, "") for parameter in POD_FILTERS}
        return Response(pod_window(run_get(run), window_of(request), PodFilter(**asked)))


class PodApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_pod",
        description="A pod: where it is and why, what it asks for, its claims, and its way through the queues.",
        responses=PodDetailSerializer,
    )
    def get(self, request: Request, run: RunKey, namespace: str, name: str) -> Response:
        return Response(pod_body(run_get(run), namespace, name))


class PodYamlApi(APIView):
    shared = ("run",)

    @extend_schema(operation_id="runs_pod_yaml", description="A pod's manifest.", responses=YamlSerializer)
    def get(self, request: Request, run: RunKey, namespace: str, name: str) -> Response:
        return Response({"yaml": pod_yaml(pod_get(run_get(run), namespace, name))})


class SelectionApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_selection",
        description="What is known of a pod or a node, in short.",
        parameters=[
            OpenApiParameter("namespace", str, required=True, description="The pod's namespace"),
            OpenApiParameter("name", str, required=True, description="The pod's name"),
        ],
        responses=SelectionSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        namespace, name = (request.query_params.get(key, "") for key in ("namespace", "name"))
        if not namespace or not name:
            raise ApiError(say("namespace and name say which pod is selected."), code="invalid", path="name")
        return Response(selection_body(run_get(run), namespace, name))
