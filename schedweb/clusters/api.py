"""`/api/v1/clusters/`: real clusters, by the contexts that this server offers."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsEditor, signed_in_user
from schedweb.accounts.roles import BY_TOKEN
from schedweb.accounts.scheduling import may_schedule
from schedweb.api.errors import ApiError
from schedweb.api.idempotency import idempotent
from schedweb.clusters import selectors, services
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.serializers import ClusterDetailsSerializer, ClustersSerializer
from schedweb.clusters.writing.permission import is_allowed
from schedweb.sentences import translated
from schedweb.snapshots.api import import_body
from schedweb.snapshots.queue import offer, refuse_too_many
from schedweb.snapshots.serializers import ImportSerializer


def refused(problem: ClusterProblem) -> ApiError:
    return ApiError(translated(problem.words), code=problem.code, status_code=status.HTTP_404_NOT_FOUND)


def details(request: Request, name: str) -> dict[str, Any]:
    """Tokens schedule nothing, whoever's they are."""
    user = request.user
    may = isinstance(user, User) and request.auth != BY_TOKEN and may_schedule(user)
    return {**selectors.cluster_details(name), "scheduling": {"is_allowed": is_allowed(name), "may": may}}


class ClustersApi(APIView):
    @extend_schema(
        operation_id="clusters_list",
        description="The contexts that people may connect to, with the state of those that are connected.",
        responses=ClustersSerializer,
    )
    def get(self, request: Request) -> Response:
        results, found = selectors.clusters()
        return Response({"results": results, "problem": translated(found.problem)})


class ClusterApi(APIView):
    @extend_schema(
        operation_id="clusters_get",
        description="A cluster: how far it is read, kind by kind, and what the credentials may do.",
        responses=ClusterDetailsSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(details(request, name))


class ClusterConnectApi(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="clusters_connect",
        description="A worker reads the cluster from now on: get, list and watch, nothing else.",
        request=None,
        responses=ClusterDetailsSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        try:
            services.cluster_connect(name=name, user=signed_in_user(request))
        except ClusterProblem as problem:
            raise refused(problem) from None
        return Response(details(request, name))


class ClusterDisconnectApi(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="clusters_disconnect",
        description="Nobody reads the cluster any more. Snapshots of it stay.",
        request=None,
        responses={204: None},
    )
    def post(self, request: Request, name: str) -> Response:
        services.cluster_disconnect(row=selectors.connection_get(name))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ClusterAskApi(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="clusters_ask",
        description="Asks again what the credentials may do, and tries now what waits for its next try.",
        request=None,
        responses={202: None},
    )
    def post(self, request: Request, name: str) -> Response:
        services.cluster_ask_again(row=selectors.connection_get(name))
        return Response(status=status.HTTP_202_ACCEPTED)


class ClusterSnapshotApi(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="clusters_snapshot",
        description="Begins to read all of the cluster, as an import reads a file. Ask for the import until it is "
        "read, then commit it. The cluster need not be connected.",
        request=None,
        responses={201: ImportSerializer},
    )
    @idempotent(whole=False)
    def post(self, request: Request, name: str) -> Response:
        user = signed_in_user(request)
        refuse_too_many(user)
        try:
            row = services.cluster_snapshot(name=name, user=user)
        except ClusterProblem as problem:
            raise refused(problem) from None
        offer(row)
        return Response(import_body(row, [], ""), status=status.HTTP_201_CREATED)
