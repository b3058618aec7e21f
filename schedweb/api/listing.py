"""`/api/v1/`: what there is, for whoever comes with a token and no manual."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from django.conf import settings
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from schedweb.accounts.roles import BY_GROUP

METHODS: Final = ("get", "post", "put", "patch", "delete")


class ParameterListedSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    required = serializers.BooleanField()  # type: ignore[assignment]  # a field's name, not the option of fields
    description = serializers.CharField()


class MethodListedSerializer(serializers.Serializer[Any]):
    method = serializers.ChoiceField([method.upper() for method in METHODS])
    name = serializers.CharField(help_text="its operationId in the OpenAPI description")
    description = serializers.CharField()
    role = serializers.ChoiceField(list(BY_GROUP), help_text="the least that may")
    parameters = ParameterListedSerializer(many=True, help_text="of the query")


class EndpointSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="with {names} where values go")
    methods = MethodListedSerializer(many=True)


class ListingSerializer(serializers.Serializer[Any]):
    version = serializers.CharField()
    openapi = serializers.CharField(help_text="where the whole description is, as YAML or, with ?format=json, JSON")
    docs = serializers.CharField(help_text="the same to read in a browser")
    endpoints = EndpointSerializer(many=True)


@cache
def endpoints() -> list[dict[str, Any]]:
    """From the OpenAPI description, which is made once per process: nothing can be in one and not in the other."""
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]  # untyped
    return [
        {"path": path, "methods": [method_listed(name, operations[name]) for name in METHODS if name in operations]}
        for path, operations in schema["paths"].items()
    ]


def method_listed(method: str, operation: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": method.upper(),
        "name": operation["operationId"],
        "description": operation["description"],
        "role": operation["x-role"],
        "parameters": [
            {"name": each["name"], "required": each.get("required", False), "description": each["description"]}
            for each in operation.get("parameters", ())
            if each["in"] == "query"
        ],
    }


class ListingView(APIView):
    @extend_schema(
        operation_id="listing",
        description="Every address of the API with what it is for, whom it lets in and what it may be asked.",
        responses=ListingSerializer,
    )
    def get(self, request: Request) -> Response:
        return Response(
            {
                "version": settings.VERSION,
                "openapi": "/api/schema/",
                "docs": "/api/docs/",
                "endpoints": endpoints(),
            }
        )
