"""`/api/v1/deleted/`: what was deleted, brought back or removed for good."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsOperator, signed_in_user
from schedweb.api.windows import WINDOW_PARAMETERS, check_choice, window_of, window_serializer
from schedweb.keeping import deleted
from schedweb.keeping.serializers import (
    KINDS,
    DeletedSerializer,
    SeveralDoneSerializer,
    SeveralNamedSerializer,
)


class DeletedApi(APIView):
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="deleted_list",
        description="What was deleted and you may bring back, newest first: your runs; for editors everything.",
        parameters=[*WINDOW_PARAMETERS, OpenApiParameter("kind", str, enum=KINDS, description="only these")],
        responses=window_serializer(DeletedSerializer),
    )
    def get(self, request: Request) -> Response:
        kind = request.query_params.get("kind", "")
        check_choice("kind", kind, KINDS)
        return Response(deleted.deleted_window(window_of(request), request.user, kind=kind))


def named_in(request: Request) -> list[deleted.Named]:
    wanted = SeveralNamedSerializer(data=request.data)
    wanted.is_valid(raise_exception=True)
    return [deleted.Named(**each) for each in wanted.validated_data["items"]]


class DeletedRestoreApi(APIView):
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="deleted_restore",
        description="Brings back what was deleted, runs with what they play on. One that played is paused.",
        request=SeveralNamedSerializer,
        responses=SeveralDoneSerializer,
    )
    def post(self, request: Request) -> Response:
        return Response(deleted.with_each(named_in(request), signed_in_user(request), deleted.restore))


class DeletedRemoveApi(APIView):
    permission_classes = (IsOperator,)

    @extend_schema(
        operation_id="deleted_remove",
        description="Removes what was deleted for good, before its time.",
        request=SeveralNamedSerializer,
        responses=SeveralDoneSerializer,
    )
    def post(self, request: Request) -> Response:
        return Response(deleted.with_each(named_in(request), signed_in_user(request), deleted.remove_now))
