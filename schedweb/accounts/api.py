"""`/api/v1/me/`: the account or visitor that asks, the role and the CSRF token."""

from __future__ import annotations

from django.conf import settings
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.permissions import IsAnybodyKnown
from schedweb.accounts.roles import role_of
from schedweb.accounts.serializers import MeSerializer
from schedweb.accounts.visitor import VISITOR, visitor_in


def initials_of(username: str) -> str:
    words = [word for word in username.replace(".", " ").replace("-", " ").replace("_", " ").split() if word]
    letters = words[0][0] + words[1][0] if len(words) > 1 else username[:2]
    return letters.upper()


class MeView(APIView):
    permission_classes = (IsAnybodyKnown,)

    @extend_schema(operation_id="me", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        visitor = visitor_in(request.user)
        role = role_of(request.user)
        username = request.user.get_username() if visitor is None else ""
        return Response(
            {
                "username": username,
                "initials": initials_of(username),
                "role": VISITOR if role is None else role.group,
                "shared": [] if visitor is None else [{"run": each.run, "name": each.name} for each in visitor.open],
                "csrf_token": get_token(request._request),
                "mode": settings.MODE,
                "version": settings.VERSION,
            }
        )
