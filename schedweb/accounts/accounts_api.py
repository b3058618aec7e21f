"""`/api/v1/accounts/`: who may log in, for admins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts import services
from schedweb.accounts.audit.recording import Action, record
from schedweb.accounts.models import BearerToken, OpenIdIdentity, SessionInfo
from schedweb.accounts.permissions import IsAdminHere
from schedweb.accounts.roles import BY_GROUP, own_role_of
from schedweb.accounts.serializers import (
    AccountChangeSerializer,
    AccountCreatedSerializer,
    AccountCreateSerializer,
    AccountSerializer,
    LoginLinkSerializer,
)
from schedweb.api.errors import ApiError, conflict, not_found
from schedweb.api.windows import WINDOW_PARAMETERS, window_answer, window_of, window_serializer
from schedweb.sentences import say


def accounts() -> QuerySet[Any]:
    """By name, each with its numbers of sessions and tokens."""
    sessions = SessionInfo.objects.filter(user=OuterRef("pk"), session__expire_date__gt=timezone.now())
    tokens = BearerToken.objects.filter(user=OuterRef("pk"))
    return (
        User.objects.prefetch_related("groups")
        .annotate(
            session_count=count_of(sessions),
            token_count=count_of(tokens),
            openid_account=Subquery(OpenIdIdentity.objects.filter(user=OuterRef("pk")).values("pk")[:1]),
        )
        .order_by("username")
    )


def count_of(rows: QuerySet[Any]) -> Any:
    return Coalesce(Subquery(rows.order_by().values("user").annotate(count=Count("pk")).values("count")), 0)


def account_body(user: Any) -> dict[str, Any]:
    role = own_role_of(user)
    return {
        "id": user.pk,
        "username": user.get_username(),
        "role": None if role is None else role.group,
        "active": user.is_active,
        "superuser": user.is_superuser,
        "has_password": user.has_usable_password(),
        "openid": user.openid_account is not None,
        "last_login": None if user.last_login is None else user.last_login.replace(microsecond=0),
        "sessions": user.session_count,
        "tokens": user.token_count,
    }


def account_get(account: int) -> Any:
    found = accounts().filter(pk=account).first()
    if found is None:
        raise not_found(say("There is no such account."))
    return found


def link_body(user: User) -> dict[str, Any]:
    token = services.login_link_create(user=user)
    expires = timezone.now() + services.LINK_LIFETIME
    return {"path": f"/login?token={token}", "expires_at": expires.replace(microsecond=0)}


class AccountsView(APIView):
    permission_classes = (IsAdminHere,)

    @extend_schema(
        operation_id="accounts_list",
        description="Everybody who may log in, or might: by name.",
        parameters=[*WINDOW_PARAMETERS, OpenApiParameter("q", str, description="a part of the name")],
        responses=window_serializer(AccountSerializer),
    )
    def get(self, request: Request) -> Response:
        found = accounts().filter(username__icontains=request.query_params.get("q", ""))
        return Response(window_answer(window_of(request), found, account_body))

    @extend_schema(
        operation_id="accounts_create",
        description="An account without a password, and a link that logs its first visitor in. Not with a token.",
        request=AccountCreateSerializer,
        responses={201: AccountCreatedSerializer},
    )
    def post(self, request: Request) -> Response:
        asked = AccountCreateSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
        try:
            with transaction.atomic():
                user = services.account_create(username=given["username"], role=BY_GROUP[given["role"]], password=None)
                link = link_body(user)
        except services.AccountError as error:
            raise ApiError(str(error), code="invalid", path=error.path) from None
        return Response({**account_body(account_get(user.pk)), "link": link}, status=201)


class AccountView(APIView):
    permission_classes = (IsAdminHere,)

    @extend_schema(operation_id="accounts_get", description="An account.", responses=AccountSerializer)
    def get(self, request: Request, account: int) -> Response:
        return Response(account_body(account_get(account)))

    @extend_schema(
        operation_id="accounts_change",
        description="Another role, or disabled or enabled. Who is disabled loses sessions, tokens and login links. The "
        "last admin who may log in stays one. Not with a token.",
        request=AccountChangeSerializer,
        responses=AccountSerializer,
    )
    def patch(self, request: Request, account: int) -> Response:
        asked = AccountChangeSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
        user = account_get(account)
        if "role" in given:
            role = BY_GROUP[given["role"]]
            changed("account.role", user, lambda: services.account_set_role(user=user, role=role))
        if given.get("active") is False:
            changed("account.disable", user, lambda: services.account_disable(user=user))
        elif given.get("active"):
            changed("account.enable", user, lambda: services.account_enable(user=user))
        return Response(account_body(account_get(account)))


def changed(action: Action, user: User, change: Callable[[], None]) -> None:
    try:
        change()
    except services.AccountError as error:
        record(action, result="refused", target=user.get_username(), target_id=user.pk, why="last_admin")
        raise conflict(str(error), code="last_admin") from None


class AccountLinkView(APIView):
    permission_classes = (IsAdminHere,)

    @extend_schema(
        operation_id="accounts_login_link",
        description="Another link that logs its first visitor in as this account. Not with a token.",
        request=None,
        responses={201: LoginLinkSerializer},
    )
    def post(self, request: Request, account: int) -> Response:
        user = account_get(account)
        if not user.is_active:
            raise conflict(say("{name} is disabled. Enable it first.", name=user.get_username()), code="disabled")
        return Response(link_body(user), status=201)
