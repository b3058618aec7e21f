"""Login and logout as plain pages: they work before the UI is loaded, and without it."""

from __future__ import annotations

from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from schedweb.accounts import services
from schedweb.accounts.roles import role_of
from schedweb.sentences import noted, say

USED_LINK = noted("This link was used already or has expired. `manage.py login_link` prints another.")
WRONG = noted("Name and password do not match an account.")
NO_ROLE = noted("This account has no role yet. Ask for viewer, operator or editor.")
BACKEND = "django.contrib.auth.backends.ModelBackend"


def next_page(request: HttpRequest) -> str:
    """Where to go on, never to another site."""
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    return wanted if url_has_allowed_host_and_scheme(wanted, {request.get_host()}) else "/"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def login_page(request: HttpRequest) -> HttpResponse:
    problem = ""
    user: User | None = None
    if request.method == "POST":
        # PostgreSQL refuses to look for a name with a zero byte.
        username = request.POST.get("username", "").replace("\0", "")
        found = authenticate(request, username=username, password=request.POST.get("password", ""))
        user = found if isinstance(found, User) else None
        problem = say(WRONG)
    elif token := request.GET.get("token"):
        user = services.login_link_use(token=token)
        if user is None and request.user.is_authenticated:
            # The link is spent, but its holder is in: reloading the address must not throw them out.
            return HttpResponseRedirect(next_page(request))
        problem = say(USED_LINK)
    if user is not None and role_of(user) is None:
        user, problem = None, say(NO_ROLE)
    if user is not None:
        login(request, user, backend=BACKEND)
        return HttpResponseRedirect(next_page(request))
    context = {"problem": problem, "next": next_page(request), "username": request.POST.get("username", "")}
    return render(request, "accounts/login.html", context, status=401 if problem else 200)


@require_POST
def logout_page(request: HttpRequest) -> HttpResponse:
    logout(request)
    return HttpResponseRedirect("/login")
