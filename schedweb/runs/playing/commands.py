"""Taking a command: it is checked, completed and stored as a journal row; only then is anybody woken."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import msgspec
from django.db import IntegrityError, transaction
from django.db.models import Max

from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.errors import ObjectError
from framework.reading.documents import FileRefused, read_documents
from framework.reading.unknown_fields import Sightings, unknown_fields
from schedweb.api.errors import ApiError, conflict, not_found
from schedweb.engine import commands as types
from schedweb.engine.commands import AnyCommand, command_from, plain
from schedweb.engine.pod_filter import FilterError, parse_query
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.playing.playable import playable_version
from schedweb.sentences import noted, say, told
from schedweb.snapshots.redaction import redact

MAX_MANIFEST = 1_500_000
FIELD = "command"
TRIES = 5


def refused(message: str, path: str = "") -> ApiError:
    return ApiError(message, code="invalid_command", path=path or None)


def manifest_error(message: str, line: int | None = None, column: int | None = None) -> ApiError:
    return ApiError(message, code="invalid_manifest", status_code=422, path="manifest", line=line, column=column)


def read_manifest(text: str) -> dict[str, Any]:
    """One object from YAML or JSON text, read as an import reads it."""
    if len(text) > MAX_MANIFEST:
        raise manifest_error(say("The manifest is larger than {max_manifest:,} characters.", max_manifest=MAX_MANIFEST))
    try:
        documents = list(read_documents(text.encode()))
    except FileRefused as error:
        raise manifest_error(told(error.words), error.line, error.column) from None
    if len(documents) != 1:
        raise manifest_error(say("One object is expected, not {documents}.", documents=len(documents)))
    return documents[0]


def warnings_of(body: object) -> list[str]:
    """Of a command that was taken: fields of the object that it adds which no API server knows."""
    given = body.get("manifest") if isinstance(body, dict) else None
    if not isinstance(given, str):
        return []
    try:
        manifest = read_manifest(given)
    except ApiError:
        return []  # Taken was the command that came with this client_id before, not this text.
    metadata = manifest.get("metadata") or {}
    sightings = Sightings()
    name = metadata.get("name") or metadata.get("generateName", "")
    sightings.take(manifest.get("kind", ""), name, unknown_fields(manifest))
    return [told(sentence) for sentence in sightings.sentences()]


def typed_manifest(given: object, kind: type[Pod] | type[Node]) -> dict[str, Any]:
    """The manifest as plain JSON, of the kind that the command adds. The engine admits it later, in its cluster."""
    if not isinstance(given, str):
        raise refused(say("manifest must be the text of one object."), "manifest")
    try:
        decoded = decode_manifest(read_manifest(given))
    except ObjectError as error:
        raise manifest_error(str(error)) from None
    if not isinstance(decoded, kind):
        raise manifest_error(say("A {expected} is expected, not a {given}.", expected=kind.kind, given=decoded.kind))
    if not decoded.metadata.name and not decoded.metadata.generate_name:
        raise manifest_error(say("The {kind} needs a name: metadata.name is missing.", kind=kind.kind))
    return redact(to_manifest(decoded))


def completed(body: dict[str, Any]) -> dict[str, Any]:
    """The command with everything that it needs from outside."""
    type_ = body.get("type")
    content = {key: value for key, value in body.items() if key != "client_id" and value is not None}
    if isinstance(content.get("speed"), int) and not isinstance(content["speed"], bool):
        content["speed"] = str(content["speed"])
    if type_ in ("pod_add", "node_add"):
        content["manifest"] = typed_manifest(body.get("manifest"), Pod if type_ == "pod_add" else Node)
    if type_ == "set_configuration":
        version = playable_version(uuid_of(body.get("version"), "version"))
        content["text"] = version.text
    return content


def checked(content: object) -> AnyCommand:
    try:
        command = command_from(content)
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `$")
        path = where.rstrip("`").lstrip(".")
        raise refused(f"{path or FIELD}: {text}", path) from None
    if isinstance(command, types.PodAdd | types.NodeAdd | types.Change):
        # As an import keeps it: the journal is read by whoever may see the run.
        redact(command.manifest)
    if isinstance(command, types.BreakpointSet):
        try:
            parse_query(command.filter)
        except FilterError as error:
            raise refused(str(error), "filter") from None
    if isinstance(command, types.Decide):
        if command.decision in ("reject", "override") and not command.reason.strip():
            text = (
                noted("Reject needs a reason.") if command.decision == "reject" else noted("Override needs a reason.")
            )
            raise refused(say(text), "reason")
        if command.decision == "override" and not command.plugin:
            raise refused(say("Override names the plugin that is not waited for."), "plugin")
    return command


def uuid_of(value: object, path: str) -> UUID:
    try:
        return UUID(str(value))
    except ValueError:
        raise refused(say("{path} must be a UUID, not {value!r}.", path=path, value=value), path) from None


def gone() -> ApiError:
    return not_found(say("There is no such run; it may have been deleted."))


def refuse_by_state(run: Run, command: AnyCommand) -> None:
    if run.state == Run.State.FAILED:
        raise conflict(
            say("{run} has failed and takes no commands: {why}", run=run, why=told(run.error)), code="failed"
        )
    if run.state == Run.State.STOPPED:
        raise conflict(say("{run} was stopped and takes no commands.", run=run), code="stopped")
    if isinstance(command, types.SetSeed) and run.points > 0:
        raise conflict(say("The seed can be set only before the first step."), code="started")


def command_insert(*, run: Run, user: Any, content: dict[str, Any], client_id: UUID | None = None) -> JournalEntry:
    """The journal row itself. The run's row is locked, so that numbers have no gaps and no twins."""
    Run.objects.select_for_update().only("pk").get(pk=run.pk)
    newest = JournalEntry.objects.filter(run=run).aggregate(newest=Max("number"))["newest"] or 0
    entry = JournalEntry.objects.create(
        run=run,
        number=newest + 1,
        client_id=client_id or uuid4(),
        type=content["type"],
        command=content,
        author=user,
        author_name=user.get_username(),
        reason=content.get("reason", ""),
    )
    Run.objects.filter(pk=run.pk).update(wanted=True)
    return entry


def command_append(*, run_id: UUID, user: Any, body: object) -> JournalEntry:
    """Stored when this returns; the same client_id gives the same entry again."""
    if not isinstance(body, dict):
        raise refused(say("A command is an object with a type."))
    run = Run.objects.defer("columns").filter(pk=run_id).first()
    if run is None:
        raise gone()
    client_id = uuid_of(body["client_id"], "client_id") if body.get("client_id") is not None else None
    if client_id is not None:
        known = JournalEntry.objects.filter(run=run, client_id=client_id).first()
        if known is not None:
            return known
    command = checked(completed(body))
    try:
        with transaction.atomic():
            # Locked: a run that ends either refuses this with the pending commands, or has ended when it is looked at.
            locked = Run.objects.select_for_update().defer("columns").filter(pk=run.pk).first()
            if locked is None:
                raise gone()
            refuse_by_state(locked, command)
            entry = command_insert(run=run, user=user, content=plain(command), client_id=client_id)
            run_dispatch(run.pk)
    except IntegrityError:
        # The same client_id twice at once: the other one was first.
        assert client_id is not None, "without one it is new, and numbers are given under a lock"
        return JournalEntry.objects.get(run=run, client_id=client_id)
    return entry
