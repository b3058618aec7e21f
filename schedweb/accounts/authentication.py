"""Who is asking: a session cookie (browsers, with CSRF) or `Authorization: Bearer <token>` (scripts)."""

from __future__ import annotations

from typing import Any

from rest_framework import authentication, exceptions
from rest_framework.request import Request

from schedweb.accounts import services
from schedweb.accounts.roles import BY_TOKEN


class SessionAuthentication(authentication.SessionAuthentication):
    """As DRF's, but nobody is answered 401 instead of 403, so that a browser knows to log in."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class BearerAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            return services.bearer_token_use(token=token.strip()), BY_TOKEN
        except services.TokenRefused as error:
            raise exceptions.AuthenticationFailed(str(error)) from None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
