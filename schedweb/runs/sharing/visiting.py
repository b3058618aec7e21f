"""Visitors of the API: who they are, by the share links of their session, and how often they may ask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rest_framework import authentication, exceptions, throttling
from rest_framework.request import Request

from schedweb.sentences import say

if TYPE_CHECKING:
    # rest_framework.views reads the settings that name this module.
    from rest_framework.views import APIView

from schedweb.accounts.visitor import SESSION_KEY, visitor_in
from schedweb.runs.sharing.selectors import visitor_of

A_MINUTE: Final = 1200


class VisitorAuthentication(authentication.BaseAuthentication):
    """The last one: only who has no account is a visitor."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        visitor = visitor_of(request.session.get(SESSION_KEY))
        return None if visitor is None else (visitor, None)

    def authenticate_header(self, request: Request) -> str:
        return "Session"


class VisitorThrottle(throttling.SimpleRateThrottle):
    """Per address and set of links; accounts are not limited."""

    rate = f"{A_MINUTE}/min"
    scope = "visitor"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        visitor = visitor_in(request.user)
        if visitor is None:
            return None
        links = ",".join(sorted(str(each.link) for each in visitor.shared.values()))
        return f"visitor:{self.get_ident(request)}:{links}"

    def throttle_failure(self) -> bool:
        raise exceptions.Throttled(
            math.ceil(self.wait() or 1),
            say("This share link was asked more than {a_minute:,} times in a minute.", a_minute=A_MINUTE),
        )
