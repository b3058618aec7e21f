"""`/api/v1/sessions/`: where one's account is logged in, and ending that."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.audit.recording import record
from schedweb.accounts.models import SessionInfo
from schedweb.accounts.permissions import SignedInHere, signed_in_user
from schedweb.accounts.serializers import SessionsEndedSerializer, SessionSerializer
from schedweb.api.errors import not_found
from schedweb.sentences import say


def session_body(row: SessionInfo, current: str | None) -> dict[str, Any]:
    return {
        "id": row.pk,
        "current": row.session_id == current,
        "how": row.how,
        "started_at": row.started_at.replace(microsecond=0),
        "last_seen_at": row.last_seen_at.replace(microsecond=0),
        "address": row.address,
        "agent": row.agent,
    }


class SessionsView(APIView):
    permission_classes = (SignedInHere,)

    @extend_schema(
        operation_id="sessions_list",
        description="Where your account is logged in, last seen first. Not with a token.",
        responses=SessionSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        rows = SessionInfo.objects.filter(user=signed_in_user(request), session__expire_date__gt=timezone.now())
        return Response([session_body(row, request.session.session_key) for row in rows])


class SessionView(APIView):
    permission_classes = (SignedInHere,)

    @extend_schema(
        operation_id="sessions_end",
        description="Ends one of your sessions: its next request is refused, its live updates stop within seconds.",
        responses={204: None},
    )
    @transaction.atomic
    def delete(self, request: Request, session: int) -> Response:
        row = SessionInfo.objects.filter(user=signed_in_user(request), pk=session).first()
        if row is None:
            raise not_found(say("You have no such session; it may have ended."))
        Session.objects.filter(pk=row.session_id).delete()
        record("session.end", target=row.address, target_id=session, agent=row.agent)
        return Response(status=204)


class SessionsEndOthersView(APIView):
    permission_classes = (SignedInHere,)

    @extend_schema(
        operation_id="sessions_end_others",
        description="Ends all your sessions but the one that asks.",
        request=None,
        responses=SessionsEndedSerializer,
    )
    @transaction.atomic
    def post(self, request: Request) -> Response:
        mine = SessionInfo.objects.filter(user=signed_in_user(request))
        others = list(mine.exclude(session_id=request.session.session_key).values_list("session_id", flat=True))
        Session.objects.filter(pk__in=others).delete()
        record("session.end", count=len(others), which="all others")
        return Response({"ended": len(others)})
