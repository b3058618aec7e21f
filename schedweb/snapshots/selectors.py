"""Reading snapshots and imports for the API."""

from __future__ import annotations

import uuid
from functools import lru_cache
from typing import Any

import msgspec
from django.db.models import Case, IntegerField, QuerySet, Value, When

from framework.reading.documents import Manifest
from schedweb.api.errors import ApiError, not_found, was_deleted
from schedweb.engine.payload import decode_manifests
from schedweb.sentences import say
from schedweb.snapshots.models import Import, Snapshot
from schedweb.snapshots.reader import make_filter, read_index
from schedweb.snapshots.redaction import shown
from schedweb.snapshots.samples import SAMPLES
from schedweb.soft_delete import deleted_sentence

_WITHOUT_PAYLOAD = ("payload",)


def snapshot_list() -> QuerySet[Snapshot]:
    """Imports and traces, newest first, then the samples in their own order."""
    order = [When(sample_slug=sample.slug, then=Value(i + 1)) for i, sample in enumerate(SAMPLES)]
    return (
        Snapshot.objects.defer(*_WITHOUT_PAYLOAD)
        .annotate(place=Case(*order, default=Value(0), output_field=IntegerField()))
        .order_by("place", "-created_at")
    )


def snapshot_get(snapshot_id: uuid.UUID) -> Snapshot:
    found = Snapshot.objects.defer(*_WITHOUT_PAYLOAD).filter(pk=snapshot_id).first()
    if found is None:
        raise no_such_snapshot(snapshot_id)
    return found


def no_such_snapshot(snapshot_id: uuid.UUID) -> ApiError:
    deleted = Snapshot.every.defer(*_WITHOUT_PAYLOAD).filter(pk=snapshot_id).first()
    if deleted is None or deleted.deleted_at is None:
        return not_found(say("There is no such snapshot; it may have been deleted."))
    return was_deleted(deleted_sentence(deleted.name, deleted))


@lru_cache(maxsize=1)
def snapshot_manifests(snapshot: uuid.UUID) -> list[Manifest]:
    """Kept of the snapshot that was looked at last: snapshots never change, and one page asks several times."""
    payload = bytes(Snapshot.objects.values_list("payload", flat=True).get(pk=snapshot))
    # An older version may have stored more than is kept now.
    return [shown(each) for each in decode_manifests(payload)]


def snapshot_objects(snapshot: Snapshot, *, kind: str, namespace: str, text: str) -> list[Manifest]:
    """The objects that match all that is given; ``text`` is a part of the name."""
    return [
        each
        for each in snapshot_manifests(snapshot.pk)
        if (not kind or each.get("kind") == kind)
        and (not namespace or each["metadata"].get("namespace") == namespace)
        and (not text or text.lower() in each["metadata"]["name"].lower())
    ]


def import_get(import_id: uuid.UUID) -> Import:
    found = Import.objects.filter(pk=import_id).first()
    if found is None:
        raise not_found(say("There is no such import; it was committed, discarded or has expired."))
    return found


class Progress(msgspec.Struct):
    """Of a cluster that is read (schedweb/clusters/reading/whole.py writes it)."""

    kind: str = ""
    done: int = 0
    of: int = 0
    objects: int = 0


def import_progress(row: Import) -> dict[str, Any] | None:
    """None where nothing is told of it: a file is read at once."""
    if not row.context or row.state != Import.State.READING:
        return None
    try:
        found = msgspec.json.decode(row.progress.read_bytes(), type=Progress)
    except (OSError, msgspec.DecodeError):
        return None
    return {"kind": found.kind, "done": found.done, "of": found.of, "objects": found.objects}


def import_filtered(row: Import, *, exclude_namespaces: list[str], label_selector: str) -> dict[str, Any] | None:
    """What the filter would leave; None while the file is not read. Raises SelectorError."""
    if row.state != Import.State.READY:
        return None
    chosen = make_filter(exclude_namespaces, label_selector)
    pods = pending = made = unnamed = 0
    try:
        index = read_index(row.index)
    except FileNotFoundError:
        raise ApiError(
            say("The imported file is no longer here. Choose it again."), code="gone", status_code=404
        ) from None
    for pod in index:
        if chosen.keeps(pod.namespace, pod.labels):
            pods += 1
            pending += pod.pending
            made += bool(pod.maker)
        else:
            unnamed += pod.placed
    return {
        "nodes": row.counts.get("nodes", 0),
        "pods": pods,
        "pending": pending,
        "made_pods": made,
        "unnamed_usage_pods": unnamed,
    }
