"""Login and logout as plain pages: they work before the UI is loaded, and without it."""

from __future__ import annotations

import http
import math

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from schedweb.accounts import services, throttle
from schedweb.accounts.address import address_of
from schedweb.accounts.audit.recording import record, record_seldom
from schedweb.accounts.roles import role_of
from schedweb.accounts.seen import How, session_begun
from schedweb.sentences import counted, noted, one_after_another, say

USED_LINK = noted("This link was used already or has expired. `manage.py login_link` prints another.")
WRONG = noted("Name and password do not match an account.")
TOO_MANY = noted("Too many logins failed. Wait {wait}, then try again; this one was not looked at.")
NEXT = noted("The next one is looked at in {wait}.")
NO_ROLE = noted("This account has no role yet. Ask an admin for one.")
BACKEND = "django.contrib.auth.backends.ModelBackend"


def next_page(request: HttpRequest, wanted: str = "") -> str:
    """Where to go on, never to another site."""
    wanted = wanted or request.POST.get("next") or request.GET.get("next") or "/"
    return wanted if url_has_allowed_host_and_scheme(wanted, {request.get_host()}) else "/"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def login_page(request: HttpRequest) -> HttpResponse:
    how: How
    try:
        if request.method == "POST":
            user, how = by_password(request), "password"
        elif token := request.GET.get("token"):
            found = services.login_link_use(token=token)
            if found is None and request.user.is_authenticated:
                # The link is spent, but its holder is in: reloading the address must not throw them out.
                return HttpResponseRedirect(next_page(request))
            if found is None:
                record_seldom("login", how="link", why="no_such_link")
                raise LoginRefused(say(USED_LINK))
            user, how = found, "link"
        else:
            return page(request)
        enter(request, user, how)
    except LoginRefused as refused:
        return page(request, str(refused), wait=refused.wait)
    return HttpResponseRedirect(next_page(request))


class LoginRefused(Exception):
    """A sentence for who tried. ``wait``: for so many seconds it need not be tried again; 0: not known."""

    def __init__(self, message: str, *, wait: int = 0) -> None:
        super().__init__(message)
        self.wait = wait


def enter(request: HttpRequest, user: User, how: How) -> None:
    """Begins a session. Raises LoginRefused."""
    if role_of(user) is None:
        record_seldom("login", user=user, how=how, why="no_role")
        raise LoginRefused(say(NO_ROLE))
    with transaction.atomic():
        login(request, user, backend=BACKEND)
        session_begun(request, user, how)
        record("login", user=user, how=how)


def by_password(request: HttpRequest) -> User:
    """Raises LoginRefused."""
    # PostgreSQL refuses to look for a name with a zero byte.
    username = request.POST.get("username", "").replace("\0", "")
    known = User.objects.filter(username=username).first()
    try:
        attempt = throttle.begin(username=username, address=address_of(request))
    except throttle.TooMany as refused:
        record_seldom("login", target=known or "", how="password", why="too_many")
        raise LoginRefused(say(TOO_MANY, wait=duration(refused.wait)), wait=refused.wait) from None
    user = authenticate(request, username=username, password=request.POST.get("password", ""))
    if not isinstance(user, User):
        # A name that is no account's may be a password that was typed in the wrong place: it is not written down.
        why = "wrong" if known else "no_such_account"
        record("login", result="refused", target=known or "", how="password", why=why)
        wait = attempt.wait()
        more = say(NEXT, wait=duration(wait)) if wait else ""
        raise LoginRefused(one_after_another([say(WRONG), more]))
    attempt.succeeded()
    return user


def duration(seconds: int) -> str:
    if seconds <= 90:
        return counted("{count} second", "{count} seconds", seconds)
    return counted("{count} minute", "{count} minutes", math.ceil(seconds / 60))


def page(request: HttpRequest, problem: str = "", *, wait: int = 0) -> HttpResponse:
    provider = settings.ENVIRONMENT.openid
    context = {
        "problem": problem,
        "next": next_page(request),
        "username": request.POST.get("username", ""),
        "provider": "" if provider is None else provider.name,
    }
    status = http.HTTPStatus.UNAUTHORIZED if problem else http.HTTPStatus.OK
    if wait:
        status = http.HTTPStatus.TOO_MANY_REQUESTS
    answer = render(request, "accounts/login.html", context, status=status)
    if wait:
        answer["Retry-After"] = str(wait)
    return answer


@require_POST
def logout_page(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        record("logout")
    logout(request)
    return HttpResponseRedirect("/login")
