"""`/livez`, `/readyz` and `/metrics`, as Kubernetes' own components have them."""

from __future__ import annotations

import hmac
import http
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest

from schedweb.accounts.roles import Role, role_of
from schedweb.operation.collector import StoredState
from schedweb.operation.readiness import CHECKS, problems
from schedweb.sentences import noted, say

STORED: Final = CollectorRegistry()
STORED.register(StoredState())
NOT_FOR_YOU: Final = noted(
    "Metrics are for editors who are signed in, and for requests with the server's {variable} as their bearer token."
)


@require_safe
@never_cache
def livez(request: HttpRequest) -> JsonResponse:
    """This process answers. It asks nobody else: a database that is gone is no reason to end it."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """503 when something that this process needs does not answer. `?exclude=workers` leaves a check out."""
    excluded = frozenset(request.GET.getlist("exclude"))
    if unknown := sorted(excluded - set(CHECKS)):
        text = say("There is no check {unknown}; there are {known}.", unknown=unknown[0], known=", ".join(CHECKS))
        error = {"code": "invalid", "message": text}
        return JsonResponse({"error": error}, status=http.HTTPStatus.BAD_REQUEST)
    found = problems(excluded)
    is_ready = not any(found.values())
    checks = {name: problem or "ok" for name, problem in found.items()}
    return JsonResponse(
        {"status": "ok" if is_ready else "failed", "checks": checks},
        status=http.HTTPStatus.OK if is_ready else http.HTTPStatus.SERVICE_UNAVAILABLE,
    )


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """What this process counted, and what the database knows. Workers tell theirs on METRICS_PORT."""
    if not may_read_metrics(request):
        return HttpResponse(
            say(NOT_FOR_YOU, variable="METRICS_TOKEN"),
            status=http.HTTPStatus.FORBIDDEN,
            content_type="text/plain; charset=utf-8",
        )
    return HttpResponse(generate_latest(REGISTRY) + generate_latest(STORED), content_type=CONTENT_TYPE_LATEST)


def may_read_metrics(request: HttpRequest) -> bool:
    expected = settings.ENVIRONMENT.metrics_token
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if expected and scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), expected.encode()):
        return True
    role = role_of(request.user)
    return role is not None and role >= Role.EDITOR
