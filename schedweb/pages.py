"""Pages outside the API: the UI's single page, the answer to unknown API addresses, and a sign of life."""

from __future__ import annotations

import http

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, ensure_csrf_cookie
from django.views.decorators.http import require_safe

from schedweb.sentences import noted, say

NOT_BUILT = noted("The UI is not built yet: run `make setup`. The API below /api/v1/ works without it.")
#: Stands in index.html for the nonce of the answer's Content-Security-Policy (frontend/src/app/styleNonce.ts).
NONCE = b"__CSP_NONCE__"


@require_safe
@never_cache
@ensure_csrf_cookie
def index(request: HttpRequest) -> HttpResponse:
    """The UI routes by itself, so every address that is nothing else answers with its page."""
    page = settings.FRONTEND_DIST / "index.html"
    try:
        content = page.read_bytes().replace(NONCE, str(request.csp_nonce).encode())  # type: ignore[attr-defined]  # set by csp.middleware
        return HttpResponse(content, content_type="text/html; charset=utf-8")
    except FileNotFoundError:
        return HttpResponse(say(NOT_BUILT), status=503, content_type="text/plain; charset=utf-8")


@csrf_exempt
def api_not_found(request: HttpRequest, *args: object, **kwargs: object) -> JsonResponse:
    error = {"code": "not_found", "message": say("There is nothing at {path}.", path=request.path)}
    return JsonResponse({"error": error}, status=http.HTTPStatus.NOT_FOUND)


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answers when the web process can reach its database; says nothing about what is in it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok"})
