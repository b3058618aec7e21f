"""Taking a command: it is checked, completed and stored as a journal row; only then is anybody woken.

Storing it waits for nobody but other commands of the run: not for its worker, which may be writing or standing still.
"""

from __future__ import annotations

import contextlib
import logging
import time
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.utils import timezone
from msgspec import structs

from framework.objects import Node, Pod
from schedweb.accounts.audit.recording import Action, Result, entry_of
from schedweb.accounts.models import AuditEntry
from schedweb.accounts.scheduling import refuse_who_may_not_schedule
from schedweb.api.errors import ApiError, conflict
from schedweb.engine import commands as types
from schedweb.engine.commands import AnyCommand, command_from, plain
from schedweb.engine.pod_filter import FilterError, parse_query
from schedweb.observing.metrics import COMMANDS
from schedweb.observing.trace_context import current_traceparent
from schedweb.runs.models import Followed, JournalEntry, Run
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.playing.limits import refuse_too_many
from schedweb.runs.playing.manifests import change_content, refused, typed_manifest
from schedweb.runs.playing.playable import playable_version
from schedweb.runs.records.runs import no_such_run
from schedweb.runs.storing.upserts import inserted
from schedweb.runs.wire.messages import RunResync, RunsChanged
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, run_group
from schedweb.sentences import noted, say
from schedweb.snapshots.redaction import redact

log = logging.getLogger(__name__)
FIELD = "command"
CONTENDED_SECONDS = 10.0
"""For so long a number is looked for that no other command takes at the same moment."""
DECISIONS: Final[dict[str, Action]] = {
    "approve": "decision.approve",
    "reject": "decision.reject",
    "override": "decision.override",
}
OF_FOLLOWED: Final = (types.Stop, types.SetConfiguration, types.TryAgain)
"""What a run takes that follows a real cluster: all else would be no picture of it."""
OF_SCHEDULING: Final = (types.Stop, types.Decide, types.DecideEviction, types.TryAgain)
"""What a run takes that schedules a real cluster."""
OF_OWN_WORLD: Final = (*OF_SCHEDULING, types.SetConfiguration)
"""What a run takes that decides beside a real cluster."""
MOST_NAMED: Final = 20
"""Pods in one entry of the audit log."""


def completed(body: dict[str, Any]) -> dict[str, Any]:
    """The command with everything that it needs from outside."""
    type_ = body.get("type")
    content = {key: value for key, value in body.items() if key != "client_id" and value is not None}
    if isinstance(content.get("speed"), int) and not isinstance(content["speed"], bool):
        content["speed"] = str(content["speed"])
    if type_ in ("pod_add", "node_add"):
        content["manifest"] = typed_manifest(body.get("manifest"), Pod if type_ == "pod_add" else Node)
    if type_ == "change":
        content = change_content(content)
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
    if isinstance(command, types.ExtenderAnswers):
        raise refused(say("Answers of extenders come from whoever asked them."), "type")
    if isinstance(command, types.ClusterChanges | types.WriteOutcomes | types.Unfollow | types.Arrivals):
        raise refused(say("What a real cluster tells comes from whoever reads it."), "type")
    if isinstance(command, types.Change):
        # As an import keeps it, and `typed_manifest`: the journal is read by whoever may see the run.
        command = structs.replace(command, manifest=redact(command.manifest))
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
    if isinstance(command, types.DecideEviction) and command.decision == "reject" and not command.reason.strip():
        raise refused(say("Reject needs a reason."), "reason")
    return command


def uuid_of(value: object, path: str) -> UUID:
    try:
        return UUID(str(value))
    except ValueError:
        raise refused(say("{path} must be a UUID, not {value!r}.", path=path, value=value), path) from None


def taken_by(run: Run) -> tuple[type[Any], ...]:
    """Types of commands that a run takes which follows a real cluster."""
    if run.own_world:
        return OF_OWN_WORLD
    return OF_FOLLOWED if run.scheduling is None else OF_SCHEDULING


def refuse_by_state(run: Run, command: AnyCommand) -> None:
    if run.state == Run.State.STOPPED:
        raise conflict(say("{run} was stopped and takes no commands.", run=run), code="stopped")
    if isinstance(command, types.SetSeed) and run.points > 0:
        raise conflict(say("The seed can be set only before the first step."), code="started")
    if run.follows and not isinstance(command, taken_by(run)):
        raise conflict(
            say("{run} follows {context} as it is. Fork it to try something.", run=run, context=run.follows),
            code="follows",
        )
    if isinstance(command, types.SetConfiguration) and Followed.objects.filter(run=run, shadow=True).exists():
        raise conflict(
            say("{run} is the shadow of one configuration. Begin another one for another configuration.", run=run),
            code="shadow",
        )
    if isinstance(command, types.TryAgain) and run.state != Run.State.PARKED:
        raise not_parked(run)


def command_insert(
    *, run: Run, user: Any, content: dict[str, Any], client_id: UUID | None = None, command: AnyCommand | None = None
) -> JournalEntry:
    """The journal row itself, with the number after the newest, and the audit log's entry of ``command``. Raises
    IntegrityError where another command of the run took that number at the same moment, the client_id is known, or the
    run is gone.

    One statement: nobody can stand still between finding the number and taking it, and whoever finds the next one sees
    this row. So numbers follow the order in which commands came, without any lock, and no command that the audit log is
    to know of is stored without its entry. SQLite takes one INSERT in a statement; there a transaction does, for other
    processes do not write to it."""
    entry = JournalEntry(
        run=run,
        client_id=client_id or uuid4(),
        type=content["type"],
        command=content,
        author=user,
        author_name=user.get_username(),
        reason=content.get("reason", ""),
        created_at=timezone.now(),
        # Done when it is stored, and without a position: replay is not to know of it.
        status=JournalEntry.Status.APPLIED if content["type"] == "try_again" else JournalEntry.Status.PENDING,
        traceparent=current_traceparent(),
    )
    noted = None if command is None else audit_entry(run, entry, command)
    columns, places, values = inserted(entry, "number")
    quote = connection.ops.quote_name
    table, number = quote(JournalEntry._meta.db_table), quote("number")
    statement = (
        f"INSERT INTO {table} ({columns}, {number}) "
        f"SELECT {places}, COALESCE(MAX({number}), 0) + 1 FROM {table} WHERE {quote('run_id')} = %s RETURNING {number}"
    )
    values.append(JournalEntry._meta.get_field("run").get_db_prep_save(run.pk, connection))
    with contextlib.ExitStack() as stack:
        if noted is not None and connection.vendor == "postgresql":
            columns, places, more = inserted(noted, "id")
            audit = quote(AuditEntry._meta.db_table)
            statement = (
                f"WITH entry AS ({statement}), noted AS (INSERT INTO {audit} ({columns}) SELECT {places} FROM entry) "
                f"SELECT {number} FROM entry"
            )
            values += more
        elif noted is not None:
            stack.enter_context(transaction.atomic())
        cursor = stack.enter_context(connection.cursor())
        cursor.execute(statement, values)
        ((entry.number,),) = cursor.fetchall()
        if noted is not None and connection.vendor != "postgresql":
            noted.save(force_insert=True)
    return entry


def command_store(*, run: Run, user: Any, command: AnyCommand, client_id: UUID | None) -> tuple[JournalEntry, bool]:
    """(the journal row, whether it is new): the same client_id gives the same row."""
    content = plain(command)
    until = time.monotonic() + CONTENDED_SECONDS
    while True:
        try:
            entry = command_insert(run=run, user=user, content=content, client_id=client_id, command=command)
            return entry, True
        except IntegrityError:
            known = JournalEntry.objects.filter(run=run, client_id=client_id).first() if client_id else None
            if known is not None:
                return known, False
            if not Run.objects.filter(pk=run.pk).exists():
                raise no_such_run(run.pk) from None
            if time.monotonic() > until:
                raise


def unpark(run: Run, entry: JournalEntry) -> None:
    """It is again what it was, and wanted. Raises ApiError: somebody else had it tried again meanwhile."""
    state = (run.parked or {}).get("state", Run.State.PAUSED)
    parked = Run.objects.filter(pk=run.pk, state=Run.State.PARKED)
    if not parked.update(state=state, parked=None, error="", wanted=True):
        entry.delete()
        raise not_parked(run)
    tell_changed(run.pk)


def not_parked(run: Run) -> ApiError:
    return conflict(say("{run} is not parked: there is nothing to try again.", run=run), code="not_parked")


def is_kept(entry: JournalEntry) -> bool:
    """Whether its run is parked: it is done when somebody tries again."""
    pending = entry.status == JournalEntry.Status.PENDING
    return pending and Run.objects.filter(pk=entry.run_id, state=Run.State.PARKED).exists()


def tell_changed(run: UUID) -> None:
    """No batch of an engine will."""
    PUBLISHER.publish(run_group(run), RunResync(run=str(run)))
    PUBLISHER.publish(EVERYONE, RunsChanged(run=str(run)))


def note(entry: JournalEntry) -> None:
    COMMANDS.labels(entry.type).inc()
    log.info("command %s accepted", entry.type, extra={"run": str(entry.run_id), "command": str(entry.pk)})


def audit_entry(run: Run, entry: JournalEntry, command: AnyCommand, result: Result = "done") -> AuditEntry | None:
    """That it was taken; what came of it is in the run's journal, with the reason that was given."""
    known: dict[str, Any] = {"result": result, "target": run, "target_id": run.pk, "command": str(entry.pk)}
    match command:
        case types.Decide(decision=decision, pods=pods, plugin=plugin):
            named = [f"{pod.namespace}/{pod.name}" for pod in pods[:MOST_NAMED]]
            return entry_of(DECISIONS[decision], **known, pods=named, count=len(pods), plugin=plugin)
        case types.DecideEviction(decision=decision, evictions=evictions):
            named = [f"{each.namespace}/{each.name}" for each in evictions[:MOST_NAMED]]
            return entry_of(DECISIONS[decision], **known, evictions_for=named, count=len(evictions))
        case types.SetConfiguration(version=version):
            return entry_of("run.configuration", **known, version=str(version))
    return None


def command_append(*, run_id: UUID, user: Any, body: object, known_as: UUID | None = None) -> JournalEntry:
    """Stored when this returns; the same client_id gives the same entry again. ``known_as``: where it names none."""
    if not isinstance(body, dict):
        raise refused(say("A command is an object with a type."))
    run = Run.objects.defer("columns").filter(pk=run_id).first()
    if run is None:
        raise no_such_run(run_id)
    client_id = uuid_of(body["client_id"], "client_id") if body.get("client_id") is not None else known_as
    if client_id is not None:
        known = JournalEntry.objects.filter(run=run, client_id=client_id).first()
        if known is not None:
            return known
    command = checked(completed(body))
    if isinstance(command, types.Play) and run.state in (Run.State.CREATED, Run.State.PAUSED):
        refuse_too_many(run.started_by_id, run.started_by_name)
    refuse_by_state(run, command)
    if isinstance(command, types.TryAgain) and run.follows and run.scheduling is not None:
        refuse_who_may_not_schedule(user)  # it writes to the cluster again
    entry, is_new = command_store(run=run, user=user, command=command, client_id=client_id)
    if is_new:
        if isinstance(command, types.TryAgain):
            unpark(run, entry)
        else:
            withdraw_if_ended(entry, command)
        note(entry)
        run_dispatch(run.pk)
    return entry


def withdraw_if_ended(entry: JournalEntry, command: AnyCommand) -> None:
    """Raises ApiError: the run ended or was deleted while the command was checked, and whoever did that may not have
    seen it. Where the end is not to be seen here yet, the next sweep refuses it."""
    over = Q(state=Run.State.STOPPED) | Q(deleted_at__isnull=False)
    run = Run.every.defer("columns").filter(over, pk=entry.run_id).first()
    if run is None:
        return
    if JournalEntry.objects.filter(pk=entry.pk, status=JournalEntry.Status.PENDING).delete()[0]:
        if (noted := audit_entry(run, entry, command, "refused")) is not None:
            noted.save(force_insert=True)
        if run.deleted_at is not None:
            raise no_such_run(run.pk)
        refuse_by_state(run, command_from(entry.command))
