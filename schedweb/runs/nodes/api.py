"""The nodes of a run: the picture of all, and one by one."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.api.windows import WINDOW_PARAMETERS, window_of
from schedweb.runs.nodes.selectors import MAX_NODES, node_body, node_get, node_table, node_yaml
from schedweb.runs.nodes.serializers import NodeDetailSerializer, NodesTableSerializer
from schedweb.runs.records.converters import RunKey
from schedweb.runs.records.fields import YamlSerializer
from schedweb.runs.records.runs import run_get


class NodeListApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_nodes",
        description="The nodes of a run with what they offer and what is taken.",
        parameters=WINDOW_PARAMETERS,
        responses=NodesTableSerializer,
    )
    def get(self, request: Request, run: RunKey) -> Response:
        window = window_of(request, default=MAX_NODES, highest=MAX_NODES)
        return Response(node_table(run_get(run), window))


class NodeApi(APIView):
    shared = ("run",)

    @extend_schema(
        operation_id="runs_node",
        description="A node: its use, its pods, labels and taints.",
        parameters=WINDOW_PARAMETERS,
        responses=NodeDetailSerializer,
    )
    def get(self, request: Request, run: RunKey, name: str) -> Response:
        return Response(node_body(run_get(run), name, window_of(request)))


class NodeYamlApi(APIView):
    shared = ("run",)

    @extend_schema(operation_id="runs_node_yaml", description="A node's manifest.", responses=YamlSerializer)
    def get(self, request: Request, run: RunKey, name: str) -> Response:
        return Response({"yaml": node_yaml(node_get(run_get(run), name))})
