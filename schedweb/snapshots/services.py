"""Making and removing snapshots: imports in two steps, traces."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import logging
import shutil
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.db import DatabaseError, transaction
from django.db.models import ProtectedError, Q
from django.db.models.functions import Now
from django.utils import timezone
from msgspec import structs

from framework.objects.decode import decode_manifest
from framework.reading.documents import JSON_LIMIT, YAML_LIMIT, Manifest
from framework.sentences import Sentence, sentence
from schedweb.accounts.audit.recording import record
from schedweb.database.clock import database_now
from schedweb.engine.payload import TimelineEntry, encode_one_by_one
from schedweb.observing.metrics import IMPORT_BYTES
from schedweb.processes.forks import FORKS
from schedweb.processes.plain import LOST, READER, Process
from schedweb.sentences import counted, say, translated
from schedweb.snapshots import reader
from schedweb.snapshots.cluster import Cluster, count_cluster
from schedweb.snapshots.configuration import configuration_take, configuration_text, problems_of
from schedweb.snapshots.models import Import, Snapshot, SnapshotEvents
from schedweb.snapshots.reader import Answer, Request
from schedweb.snapshots.redaction import redact
from schedweb.snapshots.scheduler_events import SchedulerEvent, count_events, decode_events, encode_events, merged
from schedweb.snapshots.selectors import no_such_snapshot
from schedweb.soft_delete import KEPT, deletion_of
from schedweb.stopping import STOPPING

log = logging.getLogger(__name__)
READER_SECONDS: Final = 180
#: How long a worker may not be heard of that reads, how often it is heard, and how long an import waits for a worker.
READING_LEASE: Final = datetime.timedelta(seconds=30)
RENEW_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 0.5
"""How often a reader is looked after."""
PATIENCE: Final = datetime.timedelta(seconds=60)
KEPT_IMPORTS: Final = datetime.timedelta(hours=24)
MEGABYTE: Final = 1024 * 1024
EVENTS_LIMIT: Final = 128 * MEGABYTE


class SnapshotError(Exception):
    """A sentence for the person who asked; ``code`` is for programs."""

    def __init__(self, message: str, code: str = "invalid") -> None:
        super().__init__(message)
        self.code = code


@transaction.atomic
def import_create(*, user: User, filename: str, upload: UploadedFile[bytes] | bytes) -> Import:
    """Streams the file to disk; reading it is a task of its own (tasks.py)."""
    size = len(upload) if isinstance(upload, bytes) else upload.size or 0
    limit = YAML_LIMIT if isinstance(upload, bytes) else JSON_LIMIT
    if size > limit:
        raise SnapshotError(
            say(
                "{filename} has {value:,.0f} MB; {most} MB are the most.",
                filename=filename,
                value=size / MEGABYTE,
                most=limit // MEGABYTE,
            ),
            code="too_large",
        )
    imports_expire()
    waits_until = database_now() + PATIENCE
    row = Import.objects.create(created_by=user, filename=filename[:255], size_bytes=size, waits_until=waits_until)
    IMPORT_BYTES.observe(size)
    row.upload.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        store_upload(upload, row.upload)
    except OSError:
        # What there was room for would stay for ever, on a disk that is full.
        row.upload.unlink(missing_ok=True)
        raise
    return row


def store_upload(upload: UploadedFile[bytes] | bytes, path: Path) -> None:
    if isinstance(upload, TemporaryUploadedFile):
        # It is on disk already, and may be as large as half a gigabyte.
        shutil.move(upload.temporary_file_path(), path)
        return
    with path.open("wb") as file:
        if isinstance(upload, bytes):
            file.write(upload)
        else:
            shutil.copyfileobj(upload, file)


def a_reader() -> Process:
    return FORKS.started(READER)


Start = Callable[[], Process]


def import_read(*, import_id: uuid.UUID, start: Start = a_reader) -> None:
    """Reads the upload in the reader's process and keeps its answer. Raises LeftToOthers.

    ``start``: a process that does the same with a cluster.
    """
    if STOPPING.is_set():
        raise LeftToOthers
    unread = Import.objects.filter(pk=import_id, state=Import.State.READING, lease_expires=None)
    if not unread.update(lease_expires=Now() + READING_LEASE):
        return
    row = Import.objects.get(pk=import_id)
    request = Request(
        task="read",
        source=str(row.upload),
        target=str(row.cluster),
        index=str(row.index),
        events=str(row.events),
        context=row.context,
        progress=str(row.progress) if row.context else "",
        asked=str(row.asked) if row.asked.exists() else "",
        granted=str(row.granted),
    )
    try:
        answer = run_reader(request, still_there=lambda: import_renew(row=row), leaving=STOPPING.is_set, start=start)
    except LeftToOthers:
        Import.objects.filter(pk=row.pk, state=Import.State.READING).update(lease_expires=None)
        raise
    row.upload.unlink(missing_ok=True)
    row.progress.unlink(missing_ok=True)
    row.size_bytes = answer.size_bytes or row.size_bytes
    row.state = Import.State.FAILED if answer.error else Import.State.READY
    row.error, row.seconds = answer.error, answer.seconds
    row.counts, row.warnings = answer.counts, msgspec.to_builtins(answer.warnings)
    row.notes = msgspec.to_builtins(answer.notes)
    row.problems, row.problem_count = msgspec.to_builtins(answer.problems), answer.problem_count
    if answer.configuration:
        row.configuration = configuration_text(answer.configuration)
        row.configuration_errors = msgspec.to_builtins(problems_of(row.configuration))
    # Not save(): a discarded import must stay discarded, and one that was given up must stay so.
    known = Import.objects.filter(pk=row.pk, state=Import.State.READING).update(
        state=row.state,
        error=row.error,
        size_bytes=row.size_bytes,
        seconds=row.seconds,
        counts=row.counts,
        warnings=row.warnings,
        notes=row.notes,
        configuration=row.configuration,
        configuration_errors=row.configuration_errors,
        problems=row.problems,
        problem_count=row.problem_count,
    )
    if not known:
        # What the reader wrote came after everything was removed.
        remove_files(row)


def import_renew(*, row: Import) -> None:
    """Says that its worker is still there."""
    try:
        Import.objects.filter(pk=row.pk).update(lease_expires=Now() + READING_LEASE)
    except DatabaseError as error:
        # The next try may succeed; when none does, the lease runs out.
        log.warning("the lease of import %s was not renewed: %s", row.pk, error)


def import_unread(*, row: Import, why: Sentence) -> None:
    """It has failed, unless it was read or taken up meanwhile."""
    row.state, row.error = Import.State.FAILED, why
    reading = Import.objects.filter(pk=row.pk, state=Import.State.READING, lease_expires=row.lease_expires)
    if reading.update(state=row.state, error=row.error):
        remove_files(row)


def imports_lost() -> None:
    """Gives up imports whose worker is gone, and those that no worker took: its message went with a broker or a
    process. Workers look for them, and so does who asks for an import, for there may be no worker at all."""
    # By the database's clock, as all of it was written: hosts' clocks differ and jump.
    untaken = Q(lease_expires=None, created_at__lt=Now() - PATIENCE) & (Q(waits_until=None) | Q(waits_until__lt=Now()))
    for row in Import.objects.filter(untaken | Q(lease_expires__lt=Now()), state=Import.State.READING):
        if row.lease_expires is None:
            seconds = round(PATIENCE.total_seconds())
            why = sentence("No worker took this file up within {seconds} seconds. Try again.", seconds=seconds)
        else:
            why = sentence("The worker that read this file was lost. Try again.")
        import_unread(row=row, why=why)


class LeftToOthers(Exception):
    """This process ends before the file is read."""


def run_reader(
    request: Request,
    still_there: Callable[[], None] = lambda: None,
    leaving: Callable[[], bool] = lambda: False,
    start: Start = a_reader,
) -> Answer:
    """The reader's answer; what went wrong with the process itself is an error in words, too.

    ``still_there`` is called every few seconds while it reads. Raises LeftToOthers when it is ``leaving``.
    """
    renewed = time.monotonic()
    process = start()
    until = time.monotonic() + READER_SECONDS
    hand_over(process, msgspec.json.encode(request))
    while True:
        try:
            answer, complaints = process.communicate(timeout=min(LOOK_SECONDS, RENEW_SECONDS))
            break
        except subprocess.TimeoutExpired:
            if time.monotonic() >= until:
                process.kill()
                process.communicate()
                return Answer(
                    error=sentence("Reading took longer than {reader_seconds} seconds.", reader_seconds=READER_SECONDS)
                )
            if leaving():
                process.kill()
                process.communicate()
                raise LeftToOthers from None
            if time.monotonic() - renewed >= RENEW_SECONDS:
                renewed = time.monotonic()
                still_there()
    if process.returncode == LOST:
        # It may have said all that it had to say.
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(answer, type=Answer)
    if process.returncode != 0:
        last = complaints.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        if "MemoryError" in last[0]:
            return Answer(error=reader.OUT_OF_MEMORY)
        status = "-" if process.returncode == LOST else process.returncode
        return Answer(error=sentence("The reader ended with status {status}: {why}", status=status, why=last[0]))
    return msgspec.json.decode(answer, type=Answer)


def hand_over(process: Process, request: bytes) -> None:
    """All of it at once: it fits into the pipe. ``communicate`` forgets what it could not write before its time-out."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin:
        process.stdin.write(request)
    process.stdin = None


def import_commit(
    *,
    row: Import,
    user: User | None,
    name: str,
    exclude_namespaces: Sequence[str],
    label_selector: str,
    take_configuration: bool = True,
    leave_out_problems: bool = False,
) -> Snapshot:
    """Makes the snapshot and forgets the import; on an error both stay as they were.

    ``leave_out_problems``: objects that could not be taken are known to be missing.

    ``take_configuration``: the file's own configuration, if it has a usable one, becomes one of ours that runs on the
    snapshot begin with.
    """
    if row.state != Import.State.READY:
        why = row.error or sentence("it is still being read")
        raise SnapshotError(
            say("{filename} cannot be imported: {why}", filename=row.filename, why=translated(why)), "conflict"
        )
    if row.problem_count and not leave_out_problems:
        raise SnapshotError(
            counted(
                "{count} object of {filename} cannot be taken. Leave it out (leave_out_problems), or mend the file.",
                "{count} objects of {filename} cannot be taken. Leave them out (leave_out_problems), or mend the file.",
                row.problem_count,
                filename=row.filename,
            )
        )
    chosen = row.cluster.with_suffix(f".chosen-{uuid.uuid4().hex}")
    chosen_events = chosen.with_suffix(f"{chosen.suffix}-events")
    try:
        request = Request(
            task="choose",
            source=str(row.cluster),
            target=str(chosen),
            index=str(row.index),
            events=str(row.events),
            events_target=str(chosen_events),
            load=str(row.load_file) if row.load else "",
            exclude_namespaces=list(exclude_namespaces),
            label_selector=label_selector,
        )
        # A copy of what was read needs no process of its own.
        answer = reader.answer(request) if reader.keeps_all(request) else run_reader(request)
        if answer.error:
            raise SnapshotError(translated(answer.error))
        payload, events = chosen.read_bytes(), chosen_events.read_bytes()
        event_count = len(decode_events(events))
    except FileNotFoundError:
        raise SnapshotError(say("The imported file is no longer here. Choose it again."), "conflict") from None
    finally:
        chosen.unlink(missing_ok=True)
        chosen_events.unlink(missing_ok=True)
    with transaction.atomic():
        if not Import.objects.select_for_update().filter(pk=row.pk).exists():
            raise SnapshotError(
                say("{filename} was imported or discarded meanwhile.", filename=row.filename), "conflict"
            )
        snapshot = _store(
            name=name or (row.filename if row.context else Path(row.filename).stem or "cluster"),
            source=Snapshot.Source.IMPORT,
            user=user,
            payload=payload,
            counts={**answer.counts, "arrivals": 0, "departures": 0},
            bars=answer.bars,
            taken_at=answer.taken_at,
            event_count=event_count,
            context=row.context,
        )
        if snapshot.event_count:
            SnapshotEvents.objects.create(snapshot=snapshot, payload=events)
        if row.configuration and not row.configuration_errors and take_configuration and user is not None:
            configuration_take(snapshot=snapshot, text=row.configuration, user=user)
        Import.objects.filter(pk=row.pk).delete()
        record(
            "snapshot.import",
            target=snapshot.name,
            target_id=snapshot.pk,
            file="" if row.context else row.filename,
            context=row.context,
            bytes=row.size_bytes,
            counts=snapshot.counts,
        )
    remove_files(row)
    return snapshot


def import_discard(*, row: Import) -> None:
    Import.objects.filter(pk=row.pk).delete()
    remove_files(row)


def imports_expire() -> None:
    """Imports that nobody committed or discarded do not stay for ever."""
    for old in Import.objects.filter(created_at__lt=timezone.now() - KEPT_IMPORTS):
        import_discard(row=old)


def remove_files(row: Import) -> None:
    for path in (row.upload, row.cluster, row.index, row.events, row.progress, row.asked, row.granted, row.load_file):
        path.unlink(missing_ok=True)


def events_add(*, snapshot: Snapshot, upload: UploadedFile[bytes] | bytes) -> dict[str, Any]:
    """Adds what schedulers said in a file to what is known; answers its counts and how many of them were new."""
    size = len(upload) if isinstance(upload, bytes) else upload.size or 0
    if size > EVENTS_LIMIT:
        raise SnapshotError(
            say(
                "The file has {value:,.0f} MB; events may have {most} MB.",
                value=size / MEGABYTE,
                most=EVENTS_LIMIT // MEGABYTE,
            ),
            code="too_large",
        )
    directory = Path(settings.UPLOAD_DIR)
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    source = directory / f"{uuid.uuid4()}.upload"
    target = source.with_suffix(".events")
    try:
        store_upload(upload, source)
        answer = run_reader(Request(task="events", source=str(source), target=str(target)))
        if answer.error:
            raise SnapshotError(translated(answer.error))
        found = decode_events(target.read_bytes())
    finally:
        source.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
    return {**answer.counts, "added": _events_store(snapshot, found)}


@transaction.atomic
def _events_store(snapshot: Snapshot, found: Sequence[SchedulerEvent]) -> int:
    """How many of ``found`` were new."""
    locked = Snapshot.objects.select_for_update().defer("payload").get(pk=snapshot.pk)
    row = SnapshotEvents.objects.filter(snapshot=locked).first()
    known = [] if row is None else decode_events(bytes(row.payload))
    together = merged([*known, *found])
    SnapshotEvents.objects.update_or_create(snapshot=locked, defaults={"payload": encode_events(together)})
    counts = {**locked.counts, "events": count_events(together, 0)}
    Snapshot.objects.filter(pk=locked.pk).update(event_count=len(together), counts=counts)
    added = len(together) - len(known)
    record("snapshot.events", target=locked.name, target_id=locked.pk, added=added)
    return added


@transaction.atomic
def snapshot_delete(*, snapshot: uuid.UUID, user: User) -> None:
    """Deleting twice is no mistake. Runs on it that are deleted themselves are no hindrance."""
    found = Snapshot.every.select_for_update().defer("payload").filter(pk=snapshot).first()
    if found is None:
        raise no_such_snapshot(snapshot)
    if found.deleted_at is not None:
        return
    if count := found.runs.count():
        raise SnapshotError(
            counted(
                "{count} run plays on {name}; delete it first.",
                "{count} runs play on {name}; delete them first.",
                count,
                name=found.name,
            ),
            code="conflict",
        )
    record("snapshot.delete", target=found.name, target_id=found.pk)
    Snapshot.every.filter(pk=snapshot).update(**deletion_of(user))


def snapshot_restore(*, snapshot: Snapshot) -> None:
    """One that is not deleted stays as it is."""
    Snapshot.every.filter(pk=snapshot.pk).update(**KEPT)


def snapshot_remove(*, snapshot: Snapshot) -> bool:
    """For good. False where runs on it, which are deleted, can still be brought back."""
    try:
        snapshot.delete()
    except ProtectedError:
        return False
    return True


def snapshot_from_manifests(
    *,
    name: str,
    description: str,
    source: Snapshot.Source,
    objects: Iterable[Manifest],
    timeline: Iterable[TimelineEntry],
    taken_at: int,
    user: User | None = None,
    **more: Any,
) -> Snapshot:
    """For clusters of our own making and traces: every object is decoded and counted, and none of them kept here."""
    cluster = Cluster()
    leaving: Counter[bool] = Counter()

    def decoded() -> Iterator[Manifest]:
        for manifest in map(redact, objects):
            cluster.count(str(manifest["kind"]), decode_manifest(manifest))
            yield manifest

    def played() -> Iterator[TimelineEntry]:
        for entry in timeline:
            leaving[entry.delete] += 1
            yield structs.replace(entry, manifest=redact(entry.manifest))

    payload = encode_one_by_one(decoded(), played())
    return _store(
        name=name,
        description=description,
        source=source,
        user=user,
        payload=payload,
        counts={**count_cluster(cluster), "arrivals": leaving[False], "departures": leaving[True]},
        bars=cluster.facts.bars(),
        taken_at=taken_at,
        **more,
    )


def _store(*, payload: bytes, taken_at: int, user: User | None, **fields: Any) -> Snapshot:
    moment = datetime.datetime.fromtimestamp(taken_at / 1e9, tz=datetime.UTC) if taken_at else timezone.now()
    return Snapshot.objects.create(
        payload=payload,
        digest=hashlib.sha256(payload).hexdigest(),
        size_bytes=len(payload),
        taken_at=moment,
        created_by=user,
        **fields,
    )
