"""`/api/v1/sessions/`: where one's account is logged in, and ending that; `/api/v1/me/password/`: its password."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts import passwords
from schedweb.accounts.audit.recording import record
from schedweb.accounts.models import SessionInfo
from schedweb.accounts.permissions import SignedInHere, signed_in_user
from schedweb.accounts.serializers import (
    PasswordChangeSerializer,
    PasswordSerializer,
    SessionsEndedSerializer,
    SessionSerializer,
)
from schedweb.accounts.services import AccountError
from schedweb.api.errors import ApiError, TooMany, conflict, not_found
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


class PasswordView(APIView):
    permission_classes = (SignedInHere,)

    @extend_schema(
        operation_id="password_get",
        description="Whether this session may change your password, and must know it. Not with a token.",
        responses=PasswordSerializer,
    )
    def get(self, request: Request) -> Response:
        user = signed_in_user(request)
        why = passwords.refusal(request._request, user)
        return Response({"asks_old": user.has_usable_password(), "refused": why})

    @extend_schema(
        operation_id="password_change",
        description="Changes your password and ends all your other sessions; tokens stay. Tries with a wrong old one "
        "count as logins that fail: 429 with Retry-After. Not with a token.",
        request=PasswordChangeSerializer,
        responses=SessionsEndedSerializer,
    )
    def post(self, request: Request) -> Response:
        asked = PasswordChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        user, given = signed_in_user(request), asked.validated_data
        try:
            ended = passwords.own_password_change(request._request, user, old=given["old"], new=given["new"])
        except passwords.NotHere as refused:
            raise conflict(str(refused), code="no_password_here") from None
        except passwords.Wait as refused:
            raise TooMany(str(refused), code="too_many_tries", wait=refused.seconds) from None
        except AccountError as error:
            raise ApiError(str(error), code="invalid", path=error.path) from None
        return Response({"ended": ended})
