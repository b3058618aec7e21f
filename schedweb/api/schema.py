"""Conventions of the OpenAPI file: every operation names its errors, bodies and windows the same way."""

from __future__ import annotations

from typing import Any, Final, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework.permissions import SAFE_METHODS

from schedweb.accounts.roles import Role
from schedweb.api.errors import ErrorSerializer
from schedweb.api.idempotency import DESCRIPTION, HEADER

OF_PATHS: Final = {
    "account": "An account's id",
    "analysis": "An analysis' id",
    "configuration_id": "A configuration's id",
    "entry": "A journal entry's id",
    "import_id": "An import's id",
    "link": "A share link's id",
    "name": "The name of the pod or node",
    "namespace": "The pod's namespace",
    "number": "The number of an attempt, or of a configuration's version",
    "other": "The one that is laid beside it: another run's id, or another attempt's number",
    "position": "A step of the run",
    "run": "A run's id",
    "session": "A session's id",
    "snapshot_id": "A cluster snapshot's id",
    "token": "A bearer token's id",
}
"""What stands in addresses; a converter may know better (PATH_CONVERTER_OVERRIDES in settings.py)."""


class Schema(AutoSchema):
    def get_tags(self) -> list[str]:
        path = self.path.removeprefix("/api/v1/").split("/")
        return [path[0] or "api"]

    def get_override_parameters(self) -> Any:
        """With the key of requests that may be sent again."""
        given = super().get_override_parameters()
        method = getattr(self.view, self.method.lower(), None)
        if not getattr(method, "takes_key", False):
            return given
        return [*given, OpenApiParameter(HEADER, str, OpenApiParameter.HEADER, description=DESCRIPTION)]

    def _resolve_path_parameters(self, variables: Any) -> Any:
        parameters = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]  # untyped
        for parameter in parameters:
            parameter.setdefault("description", OF_PATHS[parameter["name"]])
        return parameters

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """With the role that it needs; a visitor of a run may ask for what is shared with a link to it."""
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            needs = "reads" if self.method in SAFE_METHODS else "writes"
            role: Role = getattr(self.view.permission_classes[0], needs, Role.VIEWER)
            operation["x-role"] = role.group
            operation["x-shared"] = bool(getattr(self.view, "shared", ())) and self.method in SAFE_METHODS
        return operation

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        for code, text in (("401", "Not logged in"), ("403", "Not allowed to"), ("default", "Refused with a sentence")):
            if code not in bodies:
                described = self._get_response_for_code(  # type: ignore[no-untyped-call]
                    ErrorSerializer, code, ["application/json"], direction
                )
                bodies[code] = {**described, "description": text}
        return bodies


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its registry is untyped
    target_class = "schedweb.accounts.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its registry is untyped
    target_class = "schedweb.accounts.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer"}


class VisitorScheme(SessionScheme):  # type: ignore[no-untyped-call]  # its registry is untyped
    target_class = "schedweb.runs.sharing.visiting.VisitorAuthentication"
    name = "share_link"

    def get_security_requirement(self, auto_schema: Any) -> Any:
        """Only of what is shared."""
        return {self.name: []} if getattr(auto_schema.view, "shared", ()) else None
