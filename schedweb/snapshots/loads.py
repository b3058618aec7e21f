"""The load of nodes that is brought beside an import, before it is committed."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import msgspec
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from framework.reading.loads import LIMIT
from schedweb.sentences import say, translated
from schedweb.snapshots.models import Import
from schedweb.snapshots.reader import Request
from schedweb.snapshots.services import MEGABYTE, SnapshotError, run_reader


def load_add(*, row: Import, upload: UploadedFile[bytes] | bytes, resource: str) -> None:
    """Adds a file to the load that is there; on an error that stays as it was. Raises SnapshotError."""
    size = len(upload) if isinstance(upload, bytes) else upload.size or 0
    if size > LIMIT:
        raise SnapshotError(
            say(
                "The file has {value:,.0f} MB; load may have {most} MB.", value=size / MEGABYTE, most=LIMIT // MEGABYTE
            ),
            code="too_large",
        )
    path = Path(settings.UPLOAD_DIR) / f"{uuid.uuid4()}.upload"
    try:
        with path.open("wb") as file:
            if isinstance(upload, bytes):
                file.write(upload)
            else:
                shutil.copyfileobj(upload, file)
        _read(row, target=str(path), resource=resource)
    finally:
        path.unlink(missing_ok=True)


def load_make(*, row: Import, seed: int) -> None:
    """In place of the load that is there. Raises SnapshotError."""
    _read(row, target="", seed=seed)


def load_discard(*, row: Import) -> None:
    row.load = {}
    Import.objects.filter(pk=row.pk).update(load=row.load)
    row.load_file.unlink(missing_ok=True)


def _read(row: Import, *, target: str, resource: str = "", seed: int | None = None) -> None:
    if row.state != Import.State.READY:
        raise SnapshotError(say("{filename} is not read yet.", filename=row.filename), "conflict")
    if not row.cluster.exists():
        raise SnapshotError(say("The imported file is no longer here. Choose it again."), "conflict")
    answer = run_reader(
        Request(
            task="load",
            source=str(row.cluster),
            index=str(row.index),
            target=target,
            load=str(row.load_file),
            resource=resource,
            seed=seed,
        )
    )
    if answer.error:
        raise SnapshotError(translated(answer.error))
    row.load = {**answer.counts, "notes": msgspec.to_builtins(answer.notes)}
    if not Import.objects.filter(pk=row.pk).update(load=row.load):
        row.load_file.unlink(missing_ok=True)
        raise SnapshotError(say("{filename} was imported or discarded meanwhile.", filename=row.filename), "conflict")
