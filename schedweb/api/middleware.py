"""What no address of ours holds is refused before anybody looks it up."""

from __future__ import annotations

import http
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.decorators import sync_only_middleware

from schedweb.sentences import say

View = Callable[[HttpRequest], HttpResponseBase]


@sync_only_middleware
def no_zero_bytes(get_response: View) -> View:
    """SQLite finds nothing by such a name, PostgreSQL refuses to look."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            error = {"code": "invalid", "message": say("An address holds no zero byte.")}
            return JsonResponse({"error": error}, status=http.HTTPStatus.BAD_REQUEST)
        return get_response(request)

    return answer
