"""`/api/v1/configurations/`, `/api/v1/plugins/` and `/api/v1/presets/`."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from framework.configuration.document import to_json, to_yaml
from framework.configuration.source import SourceError
from framework.configuration.surgery import CannotEdit
from schedweb.accounts.permissions import IsEditor, signed_in_user
from schedweb.api.errors import ApiError, ErrorSerializer
from schedweb.api.idempotency import idempotent
from schedweb.api.windows import WINDOW_PARAMETERS, integer_parameter, window_answer, window_of, window_serializer
from schedweb.configurations import selectors, services
from schedweb.configurations.catalogue import plugin_catalogue, translated_description, translated_schema, written_point
from schedweb.configurations.comparison import compare
from schedweb.configurations.conversion import convert_text
from schedweb.configurations.examination import Problem, TooLarge, examine
from schedweb.configurations.parsers import body_of
from schedweb.configurations.serializers import (
    FORMATS,
    CheckResultSerializer,
    CheckSerializer,
    ComparisonSerializer,
    ConfigurationChangeSerializer,
    ConfigurationCreateSerializer,
    ConfigurationErrorsSerializer,
    ConfigurationSerializer,
    ConversionSerializer,
    ConvertSerializer,
    PluginSerializer,
    PresetSerializer,
    SavedMeanwhileSerializer,
    VersionCreateSerializer,
    VersionDetailSerializer,
    VersionSerializer,
)
from schedweb.sentences import say, say_noted, translated

_STATUS_OF_CODE: dict[services.Code, int] = {
    "invalid": 400,
    "invalid_configuration": 422,
    "too_large": 413,
    "builtin": 409,
    "in_use": 409,
    "name_taken": 409,
    "unchanged": 409,
}


def refused(error: services.ConfigurationRefused) -> ApiError:
    first = error.errors[0] if error.errors else None
    return ApiError(
        str(error),
        code=error.code,
        status_code=_STATUS_OF_CODE[error.code],
        path=first.path if first is not None else error.path,
        line=first.line if first is not None else None,
        column=first.column if first is not None else None,
        extra={"errors": translated_problems(error.errors)} if error.errors else None,
    )


def saved_meanwhile(error: services.SavedMeanwhile) -> ApiError:
    return ApiError(str(error), code="conflict", status_code=status.HTTP_409_CONFLICT, extra=fields_of(error.meanwhile))


def unreadable(error: services.UnreadableText) -> ApiError:
    return ApiError(str(error), code="unreadable", status_code=422, path="text", line=error.line, column=error.column)


def fields_of(struct: msgspec.Struct) -> dict[str, Any]:
    """For the renderer, which writes Structs inside as they are."""
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def examined(text: str) -> dict[str, Any]:
    try:
        found = examine(text)
    except TooLarge as error:
        raise ApiError(translated(error.words), code="too_large", status_code=413, path="text") from None
    gates = [msgspec.structs.replace(gate, description=say_noted(gate.description)) for gate in found.feature_gates]
    form = found.form and msgspec.structs.replace(found.form, schemas=translated_schema(found.form.schemas))
    return {
        **fields_of(found),
        "errors": translated_problems(found.errors),
        "warnings": translated_problems(found.warnings),
        "unknown_fields": [msgspec.structs.replace(each, hint=translated(each.hint)) for each in found.unknown_fields],
        "why": translated(found.why),
        "feature_gates": gates,
        "form": form,
    }


def translated_problems(problems: Iterable[Problem]) -> list[Problem]:
    return [
        msgspec.structs.replace(
            each, message=translated(each.message), text=translated(each.text), hint=translated(each.hint)
        )
        for each in problems
    ]


def version_detail(user: Any, configuration_id: uuid.UUID, number: int) -> dict[str, Any]:
    configuration = selectors.configuration_get(configuration_id)
    version = selectors.version_for(user, configuration, number)
    return {
        **selectors.version_body(version),
        "configuration": selectors.configuration_body(configuration),
        "text": selectors.text_of(version),
        **examined(version.text),
    }


class ConfigurationsView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="configurations_list",
        description="Configurations with their newest version: people's own by name, then the built-in ones.",
        parameters=WINDOW_PARAMETERS,
        responses=window_serializer(ConfigurationSerializer),
    )
    def get(self, request: Request) -> Response:
        return Response(
            window_answer(window_of(request), selectors.configurations_offered(), selectors.configuration_body)
        )

    @extend_schema(
        operation_id="configurations_create",
        description="A configuration from a KubeSchedulerConfiguration or a preset. An error refuses it; all are told.",
        request=ConfigurationCreateSerializer,
        responses={201: ConfigurationSerializer, 422: ConfigurationErrorsSerializer},
    )
    @idempotent(check=body_of)
    def post(self, request: Request) -> Response:
        wanted = ConfigurationCreateSerializer(data=body_of(request))
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        try:
            version = services.configuration_create(
                user=signed_in_user(request),
                name=given["name"],
                text=given["text"],
                preset_name=given["preset"],
                description=given["description"],
                comment=given["comment"],
            )
        except services.ConfigurationRefused as error:
            raise refused(error) from None
        made = selectors.configuration_get(version.configuration_id)
        return Response(selectors.configuration_body(made), status=status.HTTP_201_CREATED)


class ConfigurationView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="configurations_get",
        description="A configuration with its newest version.",
        responses=ConfigurationSerializer,
    )
    def get(self, request: Request, configuration_id: uuid.UUID) -> Response:
        return Response(selectors.configuration_body(selectors.configuration_get(configuration_id)))

    @extend_schema(
        operation_id="configurations_rename",
        description="Another name or description.",
        request=ConfigurationChangeSerializer,
        responses=ConfigurationSerializer,
    )
    def patch(self, request: Request, configuration_id: uuid.UUID) -> Response:
        wanted = ConfigurationChangeSerializer(data=body_of(request))
        wanted.is_valid(raise_exception=True)
        configuration = selectors.configuration_get(configuration_id)
        try:
            services.configuration_rename(
                configuration=configuration,
                name=wanted.validated_data.get("name"),
                description=wanted.validated_data.get("description"),
            )
        except services.ConfigurationRefused as error:
            raise refused(error) from None
        return Response(selectors.configuration_body(configuration))

    @extend_schema(
        operation_id="configurations_delete",
        description="Deletes a configuration that no run uses. It can be brought back (`deleted_restore`).",
        responses={204: None},
    )
    def delete(self, request: Request, configuration_id: uuid.UUID) -> Response:
        try:
            services.configuration_delete(configuration=configuration_id, user=signed_in_user(request))
        except services.ConfigurationRefused as error:
            raise refused(error) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


class VersionsView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="configurations_versions",
        description="The versions of a configuration, newest first, with the number of runs that use each.",
        parameters=WINDOW_PARAMETERS,
        responses=window_serializer(VersionSerializer, "ConfigurationVersionWindow"),
    )
    def get(self, request: Request, configuration_id: uuid.UUID) -> Response:
        rows = selectors.version_list(selectors.configuration_get(configuration_id))
        return Response(window_answer(window_of(request), rows, selectors.version_body))

    @extend_schema(
        operation_id="configurations_save",
        description="The next version. Refused with 409 and both differences when somebody saved since `base_version`.",
        request=VersionCreateSerializer,
        responses={
            201: VersionDetailSerializer,
            409: SavedMeanwhileSerializer,
            422: ConfigurationErrorsSerializer,
        },
    )
    @idempotent(check=body_of)
    def post(self, request: Request, configuration_id: uuid.UUID) -> Response:
        wanted = VersionCreateSerializer(data=body_of(request))
        wanted.is_valid(raise_exception=True)
        try:
            version = services.version_create(
                configuration=selectors.configuration_get(configuration_id),
                user=signed_in_user(request),
                **wanted.validated_data,
            )
        except services.ConfigurationRefused as error:
            raise refused(error) from None
        except services.SavedMeanwhile as error:
            raise saved_meanwhile(error) from None
        return Response(version_detail(request.user, configuration_id, version.number), status=status.HTTP_201_CREATED)


class VersionView(APIView):
    @extend_schema(
        operation_id="configurations_version",
        description="A version: its text, what is wrong or surprising in it, and the configuration that takes effect.",
        responses=VersionDetailSerializer,
    )
    def get(self, request: Request, configuration_id: uuid.UUID, number: int) -> Response:
        return Response(version_detail(request.user, configuration_id, number))


class VersionDiffView(APIView):
    @extend_schema(
        operation_id="configurations_version_diff",
        description="What a version changed of the one before it: in words, and line by line.",
        parameters=[OpenApiParameter("base", int, description="Compare with this version; by default the one before")],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, configuration_id: uuid.UUID, number: int) -> Response:
        configuration = selectors.configuration_get(configuration_id)
        version = selectors.version_for(request.user, configuration, number)
        base = integer_parameter(request, "base", number - 1)
        old = selectors.version_for(request.user, configuration, base).text if base else ""
        return Response(fields_of(compare(old, version.text)))


class AnyFormat(BaseContentNegotiation):
    """`?format=` names the format of the file here, not of the answer."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(  # type: ignore[override]  # the base class takes any
        self, request: Request, renderers: Sequence[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


class VersionExportView(APIView):
    content_negotiation_class = AnyFormat

    @extend_schema(
        operation_id="configurations_export",
        description="The file of a version, as it was written or in another format.",
        parameters=[
            OpenApiParameter("format", str, enum=FORMATS, description="By default the file as it was written"),
        ],
        responses={
            (200, "application/yaml"): OpenApiResponse(OpenApiTypes.OBJECT, "The file"),
            (200, "application/json"): OpenApiResponse(OpenApiTypes.OBJECT, "The file"),
        },
    )
    def get(self, request: Request, configuration_id: uuid.UUID, number: int) -> HttpResponse:
        configuration = selectors.configuration_get(configuration_id)
        version = selectors.version_for(request.user, configuration, number)
        wanted = request.query_params.get("format") or examine(version.text).format
        if wanted not in FORMATS:
            raise ApiError(
                say("A configuration is exported as yaml or json, not {wanted}.", wanted=wanted),
                code="invalid",
                path="format",
            )
        try:
            text = selectors.text_of(version)
            text = to_yaml(text) if wanted == "yaml" else to_json(text)
        except CannotEdit as error:
            raise ApiError(
                say("{error} Export it as YAML.", error=services.sentence(error)), code="invalid", path="format"
            ) from None
        name = slugify(configuration.name) or "configuration"
        answer = HttpResponse(text, content_type=f"application/{wanted}; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="{name}-v{number}.{wanted}"'
        return answer


class CheckView(APIView):
    """For everybody who may read: nothing is stored."""

    @extend_schema(operation_id="configurations_check", request=CheckSerializer, responses=CheckResultSerializer)
    def post(self, request: Request) -> Response:
        wanted = CheckSerializer(data=body_of(request))
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        try:
            edits = services.edits_decode([with_written_point(edit) for edit in given["edits"]])
            text = services.text_edit(text=given["text"], edits=edits, format_=given["format"])
        except services.ConfigurationRefused as error:
            raise refused(error) from None
        except services.UnreadableText as error:
            raise unreadable(error) from None
        found = examined(text)
        comparison = meanwhile = None
        if given["configuration"] is not None:
            configuration = selectors.configuration_get(given["configuration"])
            base = given["base_version"] or configuration_latest(configuration)
            comparison, meanwhile = selectors.draft_compared(request.user, configuration, base, text)
        return Response({**found, "text": text, "comparison": comparison, "saved_meanwhile": meanwhile})


def with_written_point(edit: Any) -> Any:
    """The answers call a point `PreFilter`, files `preFilter`; an edit may say either."""
    if isinstance(edit, dict) and isinstance(edit.get("point"), str):
        return {**edit, "point": written_point(edit["point"])}
    return edit


def configuration_latest(row: Any) -> int:
    """Of a row of ``configuration_list``."""
    number: int = row.newest[0].number
    return number


class ConvertView(APIView):
    """For everybody who may read: nothing is stored."""

    @extend_schema(
        operation_id="configurations_convert",
        description="A v1 text of an older file or of flags, a sentence for each change, and the lines that differ.",
        request=ConvertSerializer,
        responses={200: ConversionSerializer, 422: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        wanted = ConvertSerializer(data=body_of(request))
        wanted.is_valid(raise_exception=True)
        try:
            made = convert_text(**wanted.validated_data)
        except TooLarge as error:
            raise ApiError(translated(error.words), code="too_large", status_code=413, path="text") from None
        except SourceError as error:
            raise ApiError(
                translated(error.words),
                code="unreadable",
                status_code=422,
                path="text",
                line=error.line,
                column=error.column,
            ) from None
        findings = [msgspec.structs.replace(each, sentence=translated(each.sentence)) for each in made.findings]
        return Response({**fields_of(made), "findings": findings, "errors": translated_problems(made.errors)})


class PluginsView(APIView):
    @extend_schema(
        operation_id="plugins",
        description="The scheduler plugins that are installed: their extension points, weights and arguments.",
        responses=PluginSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response([translated_description(each) for each in plugin_catalogue()])


class PresetsView(APIView):
    @extend_schema(
        operation_id="presets",
        description="The configurations that a new one can begin with.",
        responses=PresetSerializer(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.preset_list())
