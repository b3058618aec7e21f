"""Who is asking at this moment, so that whatever is done for a request can be written down with its author."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_only_middleware

from schedweb.accounts.address import address_of
from schedweb.accounts.roles import token_name_of

View = Callable[[HttpRequest], HttpResponseBase]
_REQUEST: ContextVar[HttpRequest | None] = ContextVar("audited_request", default=None)
SESSION: Final = "session"
SERVER: Final = "server"
"""A command on the server, or the product itself."""


@dataclass(frozen=True)
class Author:
    account: int | None = None
    username: str = ""
    via: str = ""
    address: str = ""


@sync_only_middleware
def remembered(get_response: View) -> View:
    """After the middleware that knows the account."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        before = _REQUEST.set(request)
        try:
            return get_response(request)
        finally:
            _REQUEST.reset(before)

    return answer


def author_here() -> Author:
    """Of the request that is answered; outside of requests it is the server."""
    request = _REQUEST.get()
    if request is None:
        return Author(via=SERVER)
    user = request.user
    if not isinstance(user, User):
        return Author(address=address_of(request))
    name = token_name_of(user)
    via = SESSION if name is None else f"token {name}"
    return Author(account=user.pk, username=user.get_username(), via=via, address=address_of(request))
