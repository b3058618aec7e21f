"""Conventions of the OpenAPI file: every operation names its errors, bodies and windows the same way."""

from __future__ import annotations

from typing import Any, Literal

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema

from schedweb.api.errors import ErrorSerializer


class Schema(AutoSchema):
    def get_tags(self) -> list[str]:
        path = self.path.removeprefix("/api/v1/").split("/")
        return [path[0] or "api"]

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
    target_class = "schedweb.runs.visiting.VisitorAuthentication"
    name = "share_link"

    def get_security_requirement(self, auto_schema: Any) -> Any:
        """Only of what is shared."""
        return {self.name: []} if getattr(auto_schema.view, "shared", ()) else None
