"""`/api/v1/me/`: the account that asks, its role and its CSRF token."""

from __future__ import annotations

from django.conf import settings
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.roles import role_of
from schedweb.accounts.serializers import MeSerializer


def initials_of(username: str) -> str:
    words = [word for word in username.replace(".", " ").replace("-", " ").replace("_", " ").split() if word]
    letters = words[0][0] + words[1][0] if len(words) > 1 else username[:2]
    return letters.upper()


class MeView(APIView):
    @extend_schema(operation_id="me", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        role = role_of(request.user)
        assert role is not None, "the permission lets nobody without a role in"
        username = request.user.get_username()
        return Response(
            {
                "username": username,
                "initials": initials_of(username),
                "role": role.group,
                "csrf_token": get_token(request._request),
                "mode": settings.MODE,
                "version": settings.VERSION,
            }
        )
