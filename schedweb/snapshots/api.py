"""`/api/v1/snapshots/` and `/api/v1/imports/`."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from framework.objects.selectors import SelectorError
from framework.reading.documents import JSON_LIMIT, Manifest
from schedweb.accounts.permissions import IsEditor, signed_in_user
from schedweb.api.errors import ApiError
from schedweb.api.idempotency import LONG_LEASE, idempotent
from schedweb.api.parsers import BoundedJSONParser
from schedweb.api.windows import WINDOW_PARAMETERS, window_answer, window_body, window_of, window_serializer
from schedweb.sentences import say, translated
from schedweb.snapshots import loads, selectors, services
from schedweb.snapshots.models import Import, Snapshot
from schedweb.snapshots.queue import offer, refuse_too_many
from schedweb.snapshots.serializers import (
    AddedEventsSerializer,
    EventsUploadSerializer,
    ImportCommitSerializer,
    ImportSerializer,
    ImportUploadSerializer,
    LoadUploadSerializer,
    ObjectSerializer,
    SnapshotSerializer,
)

_ROOM_FOR_FORM = 1024 * 1024
_STATUS_OF_CODE = {"too_large": 413, "conflict": 409, "invalid": 422}


def refuse_too_large(request: Request) -> None:
    """Before the body is read: an upload that is refused must not fill the disk first."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > JSON_LIMIT + _ROOM_FOR_FORM:
        mega = services.MEGABYTE
        raise ApiError(
            say(
                "The upload has {value:,.0f} MB; {most} MB are the most.",
                value=int(length) / mega,
                most=JSON_LIMIT // mega,
            ),
            code="too_large",
            status_code=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE,
        )


def refused(error: services.SnapshotError) -> ApiError:
    return ApiError(str(error), code=error.code, status_code=_STATUS_OF_CODE[error.code])


def selector_refused(error: SelectorError) -> ApiError:
    return ApiError(say("Label selector: {error}.", error=error), code="invalid", path="label_selector")


def snapshot_body(snapshot: Snapshot) -> dict[str, Any]:
    return dict(SnapshotSerializer(snapshot).data)


class SnapshotsView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="snapshots_list",
        description="The clusters that were imported or came with the product.",
        parameters=WINDOW_PARAMETERS,
        responses=window_serializer(SnapshotSerializer),
    )
    def get(self, request: Request) -> Response:
        return Response(window_answer(window_of(request), selectors.snapshot_list(), snapshot_body))


class SnapshotView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="snapshots_get",
        description="A cluster snapshot: what is in it, and what its export left open.",
        responses=SnapshotSerializer,
    )
    def get(self, request: Request, snapshot_id: uuid.UUID) -> Response:
        return Response(snapshot_body(selectors.snapshot_get(snapshot_id)))

    @extend_schema(
        operation_id="snapshots_delete",
        description="Deletes a snapshot of which there are no runs. It can be brought back (`deleted_restore`).",
        responses={204: None},
    )
    def delete(self, request: Request, snapshot_id: uuid.UUID) -> Response:
        try:
            services.snapshot_delete(snapshot=snapshot_id, user=signed_in_user(request))
        except services.SnapshotError as error:
            raise refused(error) from None
        return Response(status=status.HTTP_204_NO_CONTENT)


class SnapshotObjectsView(APIView):
    @extend_schema(
        operation_id="snapshots_objects",
        description="The objects of a snapshot.",
        parameters=[
            *WINDOW_PARAMETERS,
            OpenApiParameter("kind", str, description="Only objects of this kind"),
            OpenApiParameter("namespace", str, description="Only objects of this namespace"),
            OpenApiParameter("q", str, description="A part of the name"),
        ],
        responses=window_serializer(ObjectSerializer),
    )
    def get(self, request: Request, snapshot_id: uuid.UUID) -> Response:
        window = window_of(request)
        found = selectors.snapshot_objects(
            selectors.snapshot_get(snapshot_id),
            kind=request.query_params.get("kind", ""),
            namespace=request.query_params.get("namespace", ""),
            text=request.query_params.get("q", ""),
        )
        return Response(window_body(window, len(found), [object_body(each) for each in window.cut(found)]))


class SnapshotEventsView(APIView):
    permission_classes = (IsEditor,)
    parser_classes = (MultiPartParser, BoundedJSONParser)

    @extend_schema(
        operation_id="snapshots_events_add",
        description="Adds what the real cluster's scheduler said of its pods: Events of core/v1 or events.k8s.io/v1.",
        request={"multipart/form-data": EventsUploadSerializer, "application/json": EventsUploadSerializer},
        responses=AddedEventsSerializer,
    )
    @idempotent(whole=False, lease=LONG_LEASE, check=refuse_too_large)
    def post(self, request: Request, snapshot_id: uuid.UUID) -> Response:
        snapshot = selectors.snapshot_get(snapshot_id)
        try:
            return Response(services.events_add(snapshot=snapshot, upload=sent_file(request)))
        except services.SnapshotError as error:
            raise refused(error) from None


def object_body(manifest: Manifest) -> dict[str, Any]:
    metadata = manifest["metadata"]
    place = {"kind": manifest["kind"], "namespace": metadata.get("namespace", ""), "name": metadata["name"]}
    return {**place, "manifest": manifest}


def import_body(row: Import, exclude_namespaces: list[str], label_selector: str) -> dict[str, Any]:
    try:
        filtered = selectors.import_filtered(row, exclude_namespaces=exclude_namespaces, label_selector=label_selector)
    except SelectorError as error:
        raise selector_refused(error) from None
    return {
        "id": row.pk,
        "filename": row.filename,
        "size_bytes": row.size_bytes,
        "state": row.state,
        "error": translated(row.error),
        "seconds": row.seconds,
        "context": row.context,
        "progress": selectors.import_progress(row),
        "counts": row.counts or None,
        "warnings": [translated(each) for each in row.warnings],
        "notes": [translated(each) for each in row.notes],
        "filtered": filtered,
        "configuration": row.configuration,
        "configuration_errors": [translated(each) for each in row.configuration_errors],
        "problems": [{**each, "words": translated(each["words"])} for each in row.problems],
        "problem_count": row.problem_count,
        "load": {**row.load, "notes": [translated(each) for each in row.load["notes"]]} if row.load else None,
    }


class ImportsView(APIView):
    permission_classes = (IsEditor,)
    parser_classes = (MultiPartParser, BoundedJSONParser)

    @extend_schema(
        operation_id="imports_create",
        description="Begins to read an export of a cluster, a file or a text. Ask until it is read, then commit it.",
        request={"multipart/form-data": ImportUploadSerializer, "application/json": ImportUploadSerializer},
        responses={201: ImportSerializer},
    )
    @idempotent(whole=False, lease=LONG_LEASE, check=refuse_too_large)
    def post(self, request: Request) -> Response:
        # With a key the body was read to know whether it came before; who sends it again is not to be refused.
        refuse_too_many(signed_in_user(request))
        upload = sent_file(request)
        filename = say("pasted text") if isinstance(upload, bytes) else upload.name or "upload"
        try:
            row = services.import_create(user=signed_in_user(request), filename=filename, upload=upload)
        except services.SnapshotError as error:
            raise refused(error) from None
        offer(row)
        return Response(import_body(row, [], ""), status=status.HTTP_201_CREATED)


def sent_file(request: Request) -> UploadedFile[bytes] | bytes:
    """What came as a file, or as text."""
    refuse_too_large(request)
    upload: UploadedFile[bytes] | None = request.FILES.get("file")
    if upload is not None:
        return upload
    text = request.data.get("text") if isinstance(request.data, dict) else None
    if not isinstance(text, str):
        raise ApiError(say("Send a file, or the text of one."), code="invalid", path="file")
    return text.encode()


class ImportView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="imports_get",
        description="How far an import is, and, once it is read, what is in it and what is wrong with it.",
        parameters=[
            OpenApiParameter("exclude_namespaces", str, description="Comma-separated"),
            OpenApiParameter("label_selector", str, description="As kubectl --selector takes it: only pods that match"),
        ],
        responses=ImportSerializer,
    )
    def get(self, request: Request, import_id: uuid.UUID) -> Response:
        excluded = [name for name in request.query_params.get("exclude_namespaces", "").split(",") if name]
        selector = request.query_params.get("label_selector", "")
        services.imports_lost()
        return Response(import_body(selectors.import_get(import_id), excluded, selector))

    @extend_schema(
        operation_id="imports_discard", description="Forgets an import that was not committed.", responses={204: None}
    )
    def delete(self, request: Request, import_id: uuid.UUID) -> Response:
        services.import_discard(row=selectors.import_get(import_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ImportLoadView(APIView):
    permission_classes = (IsEditor,)
    parser_classes = (MultiPartParser, BoundedJSONParser)

    @extend_schema(
        operation_id="imports_load",
        description="Brings the load of nodes beside an import that was read: a file, a text, or a seed from which it "
        "is made up. Files add to each other; the snapshot keeps it.",
        request={"multipart/form-data": LoadUploadSerializer, "application/json": LoadUploadSerializer},
        responses=ImportSerializer,
    )
    @idempotent(whole=False, lease=LONG_LEASE, check=refuse_too_large)
    def post(self, request: Request, import_id: uuid.UUID) -> Response:
        row = selectors.import_get(import_id)
        wanted = LoadUploadSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        seed: int | None = wanted.validated_data.get("seed")
        try:
            if seed is not None:
                loads.load_make(row=row, seed=seed)
            else:
                upload = sent_file(request)
                loads.load_add(row=row, upload=upload, resource=wanted.validated_data["resource"])
        except services.SnapshotError as error:
            raise refused(error) from None
        return Response(import_body(row, [], ""))

    @extend_schema(
        operation_id="imports_load_discard",
        description="Forgets the load that was brought beside an import.",
        responses=ImportSerializer,
    )
    def delete(self, request: Request, import_id: uuid.UUID) -> Response:
        row = selectors.import_get(import_id)
        loads.load_discard(row=row)
        return Response(import_body(row, [], ""))


class ImportCommitView(APIView):
    permission_classes = (IsEditor,)

    @extend_schema(
        operation_id="imports_commit",
        description="Makes a cluster snapshot of an import that was read.",
        request=ImportCommitSerializer,
        responses={201: SnapshotSerializer},
    )
    @idempotent(whole=False, lease=LONG_LEASE)
    def post(self, request: Request, import_id: uuid.UUID) -> Response:
        wanted = ImportCommitSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            snapshot = services.import_commit(
                row=selectors.import_get(import_id), user=signed_in_user(request), **wanted.validated_data
            )
        except services.SnapshotError as error:
            raise refused(error) from None
        return Response(snapshot_body(snapshot), status=status.HTTP_201_CREATED)
