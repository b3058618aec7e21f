"""`/login/openid`: to the provider, and back from it.

What has to be remembered meanwhile is in a signed cookie of ten minutes, not in a session: everybody may begin a login,
and nobody is to fill the database with that.
"""

from __future__ import annotations

import hmac
import http
import math
import re
from typing import Any, Final

from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from schedweb.accounts import openid
from schedweb.accounts.audit.recording import record_seldom
from schedweb.accounts.pages import LoginRefused, enter, next_page, page
from schedweb.sentences import noted, say

COOKIE: Final = "playground_openid"
SALT: Final = "schedweb.accounts.openid"
SECONDS: Final = 600
PATH: Final = "/login/openid"
BEGUN_ELSEWHERE: Final = noted(
    "This login was not begun in this browser within the last ten minutes, or another one was begun since. Begin again."
)


@never_cache
@require_safe
def begin_page(request: HttpRequest) -> HttpResponse:
    if openid.provider() is None:
        raise Http404
    try:
        begun = openid.begin(redirect_uri(request))
    except openid.OpenIdRefused as refused:
        return refusal(request, refused)
    remembered = {"state": begun.state, "nonce": begun.nonce, "verifier": begun.verifier, "next": next_page(request)}
    answer = HttpResponseRedirect(begun.url)
    answer.set_cookie(
        COOKIE,
        signing.dumps(remembered, salt=SALT),
        max_age=SECONDS,
        path=PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        # The provider sends the browser back by a link: a stricter cookie would not come along.
        samesite="Lax",
    )
    return answer


@never_cache
@require_safe
def back_page(request: HttpRequest) -> HttpResponse:
    if openid.provider() is None:
        raise Http404
    try:
        remembered = remembered_of(request)
        claims = openid.finish(
            code=request.GET["code"],
            redirect_uri=redirect_uri(request),
            nonce=remembered["nonce"],
            verifier=remembered["verifier"],
        )
        enter(request, openid.account_of(claims), "openid")
        answer: HttpResponse = HttpResponseRedirect(next_page(request, remembered["next"]))
    except openid.OpenIdRefused as refused:
        answer = refusal(request, refused)
    except LoginRefused as refused_here:
        answer = page(request, str(refused_here))
    # A code works once, and so does what belongs to it.
    answer.delete_cookie(COOKIE, path=PATH)
    return answer


def remembered_of(request: HttpRequest) -> dict[str, Any]:
    """Of the login that this is the answer to. Raises OpenIdRefused."""
    try:
        remembered = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        raise openid.OpenIdRefused(say(BEGUN_ELSEWHERE), "state") from None
    if not hmac.compare_digest(request.GET.get("state", "").encode(), remembered["state"].encode()):
        raise openid.OpenIdRefused(say(BEGUN_ELSEWHERE), "state")
    if "code" not in request.GET:
        error = re.sub(r"[^a-z_]", "", request.GET.get("error", ""))[:40] or "no_code"
        raise openid.OpenIdRefused(say(openid.DENIED, provider=openid.asked_provider().name, error=error), error)
    found: dict[str, Any] = remembered
    return found


def redirect_uri(request: HttpRequest) -> str:
    """As the provider knows it: PUBLIC_URL where that is set."""
    path = reverse("openid-back")
    public: str = settings.ENVIRONMENT.public_url
    return f"{public}{path}" if public else request.build_absolute_uri(path)


def refusal(request: HttpRequest, refused: openid.OpenIdRefused) -> HttpResponse:
    record_seldom("login", user=refused.user, how="openid", why=refused.why)
    answer = page(request, str(refused))
    if refused.why == "no_answer":
        answer.status_code = http.HTTPStatus.SERVICE_UNAVAILABLE
        answer["Retry-After"] = str(math.ceil(openid.RESTS))
    return answer
