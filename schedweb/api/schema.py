"""Conventions of the OpenAPI file: every operation names its errors, bodies and windows the same way."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema

from schedweb.api.errors import ErrorSerializer


class Schema(AutoSchema):
    def get_tags(self) -> list[str]:
        path = self.path.removeprefix("/api/v1/").split("/")
        return [path[0] or "api"]

    def _get_response_bodies(self, direction: str = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        for code, text in (("401", "Not logged in"), ("403", "Not allowed to"), ("default", "Refused with a sentence")):
            if code not in bodies:
                described = self._get_response_for_code(ErrorSerializer, code, ["application/json"], direction)
                bodies[code] = {**described, "description": text}
        return bodies
