"""A run's pods with kube-scheduler-simulator's annotations, as a file that is written while it is read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Final
from uuid import UUID

import msgspec
from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from framework.reading.yaml_text import yaml_text
from schedweb.api.errors import ApiError
from schedweb.runs.exporting.annotated_pods import annotated_pods
from schedweb.runs.records.pod_query import query_of
from schedweb.runs.records.runs import run_get
from schedweb.sentences import say

FORMATS: Final = {"json": "application/json", "yaml": "application/yaml"}
PARAMETERS: Final = [
    OpenApiParameter("as", str, required=True, description="json: a List; yaml: several documents"),
    OpenApiParameter("q", str, description="text, !inverse, -l key=value"),
    OpenApiParameter("namespace", str, description="Only pods of this namespace"),
    OpenApiParameter("pod", str, description="only this namespace/name"),
]


def as_json(batches: Iterator[list[dict[str, Any]]]) -> Iterator[bytes]:
    yield b'{"apiVersion":"v1","kind":"List","metadata":{},"items":['
    between = b"\n"
    for pods in batches:
        yield between + b",\n".join(msgspec.json.encode(pod) for pod in pods)
        between = b",\n"
    yield b"\n]}\n"


def as_yaml(batches: Iterator[list[dict[str, Any]]]) -> Iterator[bytes]:
    for pods in batches:
        for pod in pods:
            yield f"---\n{yaml_text(pod)}".encode()


async def as_they_come(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """An iterator that is not asynchronous would be read to its end before the first byte is sent."""

    def following() -> bytes | None:
        return next(parts, None)

    while (part := await sync_to_async(following)()) is not None:
        yield part


class AnnotatedPodsApi(APIView):
    of_run = ("run",)
    shared = ("run",)

    @extend_schema(
        operation_id="runs_annotations",
        description="Pods that were tried, with the simulator's annotations of their newest attempts.",
        parameters=PARAMETERS,
        responses={(200, media): OpenApiTypes.OBJECT for media in FORMATS.values()},
    )
    def get(self, request: Request, run: UUID) -> StreamingHttpResponse:
        wanted = {name: request.query_params.get(name, "") for name in ("namespace", "pod")}
        query, kind = request.query_params.get("q", ""), request.query_params.get("as", "")
        if kind not in FORMATS:
            raise ApiError(say("as must be json or yaml, not {kind!r}.", kind=kind), code="invalid", path="as")
        # Refused now: once the file has begun, no error can be told any more.
        query_of(query)
        found = run_get(run)
        batches = annotated_pods(found, query=query, **wanted)
        parts = as_json(batches) if kind == "json" else as_yaml(batches)
        answer = StreamingHttpResponse(as_they_come(parts), content_type=FORMATS[kind])
        answer["Content-Disposition"] = f'attachment; filename="{found}-annotated-pods.{kind}"'
        return answer
