"""`/api/v1/me/`: the account or visitor that asks, with its role and CSRF token. `/api/v1/tokens/`: bearer tokens."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.middleware.csrf import get_token
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts import services
from schedweb.accounts.models import BearerToken
from schedweb.accounts.permissions import IsAnybodyKnown, SignedInHere, signed_in_user
from schedweb.accounts.roles import BY_GROUP, role_of
from schedweb.accounts.serializers import (
    MeSerializer,
    TokenCreatedSerializer,
    TokenCreateSerializer,
    TokenSerializer,
)
from schedweb.accounts.visitor import VISITOR, visitor_in
from schedweb.api.errors import ApiError, not_found


def initials_of(username: str) -> str:
    words = [word for word in username.replace(".", " ").replace("-", " ").replace("_", " ").split() if word]
    letters = words[0][0] + words[1][0] if len(words) > 1 else username[:2]
    return letters.upper()


class MeView(APIView):
    permission_classes = (IsAnybodyKnown,)

    @extend_schema(
        operation_id="me",
        description="The account or visitor that asks, its role, and the token by which browsers prove that they ask.",
        responses=MeSerializer,
    )
    def get(self, request: Request) -> Response:
        visitor = visitor_in(request.user)
        role = role_of(request.user)
        username = request.user.get_username() if visitor is None else ""
        return Response(
            {
                "username": username,
                "initials": initials_of(username),
                "role": VISITOR if role is None else role.group,
                "shared": []
                if visitor is None
                else [{"run": each.run, "number": each.number} for each in visitor.open],
                "csrf_token": get_token(request._request),
                "mode": settings.MODE,
                "version": settings.VERSION,
            }
        )


def token_body(row: BearerToken) -> dict[str, Any]:
    moments = ("created_at", "expires_at", "last_used_at")
    return {
        "id": row.pk,
        "name": row.name,
        "role": row.role or None,
        "run": None if row.run is None else {"run": row.run, "number": row.run_number},
        "expired": row.expires_at is not None and row.expires_at <= timezone.now(),
        **{name: None if (at := getattr(row, name)) is None else at.replace(microsecond=0) for name in moments},
    }


def token_made(request: Request, *, run: UUID | None = None, run_number: str = "") -> dict[str, Any]:
    """As the request asks for it. Raises ApiError."""
    asked = TokenCreateSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    given = asked.validated_data
    try:
        row, token = services.bearer_token_create(
            user=signed_in_user(request),
            name=given["name"],
            role=BY_GROUP.get(given["role"]),
            expires_at=given["expires_at"],
            run=run,
            run_number=run_number,
        )
    except services.AccountError as error:
        raise ApiError(str(error), code="invalid", path=error.path) from None
    return {**token_body(row), "token": token}


class TokensView(APIView):
    permission_classes = (SignedInHere,)

    @extend_schema(
        operation_id="tokens_list",
        description="Your bearer tokens, newest first. Not with a token.",
        responses=TokenSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response([token_body(row) for row in BearerToken.objects.filter(user=signed_in_user(request))])

    @extend_schema(
        operation_id="tokens_create",
        description="A bearer token for scripts: it may do what you may, or less. Answered once. Not with a token.",
        request=TokenCreateSerializer,
        responses={201: TokenCreatedSerializer},
    )
    def post(self, request: Request) -> Response:
        return Response(token_made(request), status=201)


class TokenView(APIView):
    permission_classes = (SignedInHere,)

    @extend_schema(
        operation_id="tokens_revoke",
        description="Revokes one of your bearer tokens: the next request with it is refused. Not with a token.",
        responses={204: None},
    )
    def delete(self, request: Request, token: int) -> Response:
        try:
            services.bearer_token_revoke(user=signed_in_user(request), token=token)
        except services.AccountError as error:
            raise not_found(str(error)) from None
        return Response(status=204)
