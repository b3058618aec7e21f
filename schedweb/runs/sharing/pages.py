"""`/share/<token>`: where a share link leads. It opens the run to this browser, or says why not."""

from __future__ import annotations

import http
from typing import Final

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from schedweb.accounts.roles import role_of
from schedweb.accounts.visitor import SESSION_KEY
from schedweb.runs.sharing.services import MOST_OPENED, LinkClosed, share_link_open
from schedweb.sentences import say

MOST_UNKNOWN: Final = 20
WITHIN_SECONDS: Final = 60


@never_cache
@require_safe
def share_page(request: HttpRequest, token: str) -> HttpResponse:
    try:
        link = share_link_open(token=token)
    except LinkClosed as closed:
        return refused(request, closed)
    if role_of(request.user) is None:
        opened = [each for each in request.session.get(SESSION_KEY, []) if each != str(link.pk)]
        request.session[SESSION_KEY] = [*opened, str(link.pk)][-MOST_OPENED:]
    # On to an address without the token, which would stand in bookmarks and pictures of the screen.
    return HttpResponseRedirect(f"/runs/{link.run_id}")


def refused(request: HttpRequest, closed: LinkClosed) -> HttpResponse:
    if closed.known:
        return page(request, str(closed), http.HTTPStatus.GONE)
    # Guessing a token is hopeless; this spares the database those who try. Links that exist are not held up.
    key = f"unknown-share-links:{request.META.get('REMOTE_ADDR', '')}"
    cache.add(key, 0, WITHIN_SECONDS)
    if cache.incr(key) > MOST_UNKNOWN:
        answer = page(
            request,
            say(
                "More than {most} share links that do not exist were opened from this address within {seconds} "
                "seconds. Wait a minute, then open yours again.",
                most=MOST_UNKNOWN,
                seconds=WITHIN_SECONDS,
            ),
            http.HTTPStatus.TOO_MANY_REQUESTS,
        )
        answer["Retry-After"] = str(WITHIN_SECONDS)
        return answer
    return page(request, str(closed), http.HTTPStatus.NOT_FOUND)


def page(request: HttpRequest, problem: str, status: http.HTTPStatus) -> HttpResponse:
    return render(request, "runs/share_closed.html", {"problem": problem}, status=status)
