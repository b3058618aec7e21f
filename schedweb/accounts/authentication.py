"""Who is asking: a session cookie (browsers, with CSRF) or `Authorization: Bearer <token>` (scripts)."""

from __future__ import annotations

from typing import Any

from rest_framework import authentication
from rest_framework.request import Request


class SessionAuthentication(authentication.SessionAuthentication):
    """As DRF's, but nobody is answered 401 instead of 403, so that a browser knows to log in."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class BearerAuthentication(authentication.BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        return None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
