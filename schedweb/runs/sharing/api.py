"""Share links of a run, made, listed and revoked by operators; and tokens for one run, which everybody makes alone."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.api import token_made
from schedweb.accounts.permissions import IsOperator, SignedInHere, signed_in_user
from schedweb.accounts.serializers import TokenCreatedSerializer, TokenCreateSerializer
from schedweb.engine.times import wall
from schedweb.runs.models import ShareLink
from schedweb.runs.records.runs import run_get
from schedweb.runs.sharing import services as share_links
from schedweb.runs.sharing.selectors import ended, share_link_list
from schedweb.runs.sharing.serializers import ShareLinkCreatedSerializer, ShareLinkCreateSerializer, ShareLinkSerializer


def link_body(link: ShareLink) -> dict[str, Any]:
    moments = ("created_at", "expires_at", "revoked_at", "last_used_at")
    return {
        "id": str(link.pk),
        "name": link.name,
        "created_by": link.created_by_name,
        **{name: None if (at := getattr(link, name)) is None else wall(at) for name in moments},
        "open": not ended(link),
    }


class ShareLinksApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_share_links",
        description="The links by which people without an account look at this run.",
        responses=ShareLinkSerializer(many=True),
    )
    def get(self, request: Request, run: UUID) -> Response:
        return Response([link_body(each) for each in share_link_list(run=run_get(run))])

    @extend_schema(
        operation_id="runs_share_link_create",
        description="Whoever opens `path` reads this run without an account. It is answered once and never again.",
        request=ShareLinkCreateSerializer,
        responses={201: ShareLinkCreatedSerializer},
    )
    def post(self, request: Request, run: UUID) -> Response:
        asked = ShareLinkCreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        link, token = share_links.share_link_create(
            run=run_get(run), user=signed_in_user(request), **asked.validated_data
        )
        return Response({**link_body(link), "path": f"/share/{token}"}, status=201)


class RunTokensApi(APIView):
    permission_classes = [SignedInHere]

    @extend_schema(
        operation_id="runs_tokens_create",
        description="A bearer token for this run alone: it reads it, tells it what its role allows, and sees nothing "
        "else. `/tokens/` lists and revokes it. Not with a token.",
        request=TokenCreateSerializer,
        responses={201: TokenCreatedSerializer},
    )
    def post(self, request: Request, run: UUID) -> Response:
        found = run_get(run)
        return Response(token_made(request, run=found.pk, run_number=str(found)), status=201)


class ShareLinkApi(APIView):
    permission_classes = [IsOperator]

    @extend_schema(
        operation_id="runs_share_link_revoke", description="Closes a share link at once.", responses={204: None}
    )
    def delete(self, request: Request, run: UUID, link: UUID) -> Response:
        share_links.share_link_revoke(run=run_get(run), link=link)
        return Response(status=204)
