"""Beginning to follow a real cluster: a snapshot is taken, and a run goes on from it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from framework.sentences import sentence
from schedweb.accounts.audit.recording import record
from schedweb.api.errors import ApiError, conflict, not_found
from schedweb.clusters.services import cluster_snapshot, context_offered
from schedweb.configurations.models import ConfigurationVersion
from schedweb.engine.live import Scheduling
from schedweb.engine.times import nanoseconds
from schedweb.runs.following.ends import stops_of
from schedweb.runs.following.terms import refuse_terms, refuse_unasked, rules_of
from schedweb.runs.models import Followed, Run
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.playing.dispatch import run_dispatch
from schedweb.runs.playing.limits import refuse_too_many
from schedweb.runs.playing.playable import extenders_of, playable_version
from schedweb.runs.playing.services import run_insert
from schedweb.sentences import say, translated
from schedweb.snapshots.models import Import, Snapshot
from schedweb.snapshots.services import import_commit

DEFAULT: Final = "default"
"""kube-scheduler's own configuration, by its slug."""
LEAST_MEGABYTES: Final = 1
MOST_MEGABYTES: Final = 100_000
"""How much may be kept of a run."""
MOST_MINUTES: Final = 366 * 24 * 60
"""For so long a run may be begun that ends by itself."""
MEGABYTE: Final = 1_000_000
ALERT_BELOW: Final = 90
"""Percent of agreement, until somebody sets another threshold."""


def follow_read(
    *,
    name: str,
    user: User,
    configuration_version: UUID | None = None,
    shadow: bool = False,
    own_world: bool = False,
    terms: Scheduling | None = None,
) -> Import:
    """Begins to read the snapshot that the run will begin with; what ``follow_begin`` would refuse of the configuration
    is refused before. With ``terms`` nothing is read where the credentials may not schedule. Raises ClusterProblem and
    ApiError."""
    version = follow_version(configuration_version, shadow=shadow)
    if terms is not None:
        refuse_terms(version, terms)
    refuse_too_many(user.pk, user.get_username())
    return cluster_snapshot(name=name, user=user, rules=() if terms is None else rules_of(terms))


def import_of(*, name: str, import_id: UUID, user: User) -> Import:
    row = Import.objects.filter(pk=import_id, context=name, created_by=user).first()
    if row is None:
        raise not_found(say("There is no such reading of {context}. Begin again.", context=name))
    return row


def follow_begin(
    *,
    row: Import,
    user: User,
    configuration_version: UUID | None = None,
    megabytes: int = 0,
    minutes: float = 0,
    shadow: bool = False,
    own_world: bool = False,
    terms: Scheduling | None = None,
    in_place_of: Run | None = None,
) -> Run:
    """Of a cluster that was read whole: its snapshot is stored, and the run begins. Objects that cannot be taken are
    left out, as they are of what the cluster tells. ``shadow``: the configuration decides as well, about what the
    cluster's scheduler decides, or in a world of its own. ``minutes``: after which it ends by itself; 0: never.
    ``in_place_of``: a dry run, which stops when this one begins. Raises ClusterProblem, ApiError and SnapshotError."""
    context_offered(row.context)
    if row.state != Import.State.READY:
        raise conflict(
            say("{context} was not read: {why}", context=row.context, why=translated(row.error)), code="not_read"
        )
    version = follow_version(configuration_version, shadow=shadow)
    if terms is not None:
        refuse_terms(version, terms)
        refuse_unasked(row, terms)
    refuse_too_many(user.pk, user.get_username())
    snapshot = import_commit(
        row=row, user=user, name="", exclude_namespaces=(), label_selector="", leave_out_problems=True
    )
    return run_follow(
        snapshot=snapshot,
        user=user,
        version=version,
        megabytes=megabytes or settings.FOLLOW_MEGABYTES,
        ends_at=timezone.now().replace(microsecond=0) + timedelta(minutes=minutes) if minutes else None,
        shadow=shadow,
        own_world=shadow and own_world,
        terms=terms,
        beside=None if in_place_of is None else partial(dry_run_end, in_place_of, user),
    )


def dry_run_end(dry: Run, user: User, real: Run) -> None:
    """In the transaction in which the real run begins. One that was stopped before stays as it is."""
    row = Followed.objects.select_for_update().get(run=dry)
    is_stopped = Run.objects.filter(pk=dry.pk, state=Run.State.STOPPED).exists()
    if is_stopped or stops_of(dry).exists():
        return
    command_insert(run=dry, user=user, content={"type": "stop"})
    row.ended = sentence("{context} is scheduled for real by {new} now.", context=dry.follows, new=str(real))
    row.save(update_fields=["ended"])
    run_dispatch(dry.pk)


def follow_version(wanted: UUID | None, *, shadow: bool) -> ConfigurationVersion:
    """kube-scheduler's own, where none is wanted. Raises ApiError: an extender that binds would bind real pods."""
    version = playable_version(wanted or default_version())
    if not shadow:
        return version
    if names := extenders_of(version.text, binding=True):
        raise conflict(
            say(
                "{name} names extenders that bind pods ({extenders}), which a shadow must not. Choose a configuration "
                "without their bindVerb.",
                name=version.configuration.name,
                extenders=", ".join(names),
            ),
            code="extenders",
        )
    return version


def run_follow(
    *,
    snapshot: Snapshot,
    user: User,
    version: ConfigurationVersion,
    megabytes: int,
    ends_at: datetime | None = None,
    shadow: bool = False,
    own_world: bool = False,
    terms: Scheduling | None = None,
    beside: Callable[[Run], None] | None = None,
) -> Run:
    """It plays at once: what differs from the snapshot comes as changes, however old it is. ``terms``: it is the
    cluster's scheduler. ``beside``: what is done in the same transaction."""
    begin = nanoseconds(snapshot.taken_at)

    def fill(run: Run) -> None:
        Followed.objects.create(
            run=run,
            most_bytes=megabytes * MEGABYTE,
            ends_at=ends_at,
            shadow=shadow,
            alert_below=ALERT_BELOW if shadow and not own_world else None,
        )
        command_insert(run=run, user=user, content={"type": "play"})
        if beside is not None:
            beside(run)
        if terms is None:
            until = None if ends_at is None else ends_at.isoformat()
            record("cluster.follow", target=snapshot.context, run=str(run), until=until)
        else:
            told = {
                "schedulers": ", ".join(terms.schedulers),
                "namespaces": ", ".join(terms.namespaces),
                "bindings_per_minute": terms.bindings_per_minute,
                "nodes": ",".join(f"{key}={value}" for key, value in terms.node_selector.items()),
                "dry_run": terms.dry_run,
            }
            record("cluster.schedule", target=snapshot.context, run=str(run), **told)

    return run_insert(
        fill,
        snapshot=snapshot,
        configuration_version=version,
        first_configuration_version=version,
        started_by=user,
        started_by_name=user.get_username(),
        clock_mode=Run.ClockMode.REAL,
        clock_start=begin,
        clock=begin,
        speed="max",
        first_speed="max",
        follows=snapshot.context,
        began_observing=True,
        scheduling=None if terms is None else msgspec.to_builtins(terms),
        own_world=own_world,
    )


def follow_change(*, run: Run, megabytes: int | None, until: datetime | None, sets_until: bool) -> None:
    """How much is kept, where ``megabytes`` says so, and when the run ends by itself, where ``sets_until``: both or
    neither. Raises ApiError of a run that follows no cluster, or follows it no more."""
    with transaction.atomic():
        row = Followed.objects.select_for_update().filter(run=run).first()
        if row is None:
            raise not_found(say("{run} follows no cluster.", run=run))
        if megabytes is not None:
            keep_at_most(run, row, megabytes)
        if sets_until:
            end_at(run, row, until)


def keep_at_most(run: Run, row: Followed, megabytes: int) -> None:
    """From now on."""
    if run.state == Run.State.STOPPED:
        raise conflict(
            say("{run} was stopped: nothing comes to it any more, and nothing of it goes.", run=run), code="stopped"
        )
    before, row.most_bytes = row.most_bytes, megabytes * MEGABYTE
    row.save(update_fields=["most_bytes"])
    record("run.keep", target=run, target_id=run.pk, megabytes=megabytes, before=before // MEGABYTE)


def end_at(run: Run, row: Followed, until: datetime | None) -> None:
    """Then, and not by itself where that is None. Who stops it (ends.py) locks the same row."""
    if run.scheduling is not None:
        raise conflict(say("{run} schedules a cluster: it ends when somebody stops it.", run=run), code="schedules")
    if run.state == Run.State.STOPPED or stops_of(run).exists():
        raise conflict(say("{run} was stopped, and cannot go on.", run=run), code="stopped")
    if until is not None and until <= timezone.now():
        raise ApiError(say("That time has passed. Stop it instead."), code="passed", path="until")
    before, row.ends_at = row.ends_at, until
    row.save(update_fields=["ends_at"])
    told = [None if each is None else each.isoformat() for each in (until, before)]
    record("run.until", target=run, target_id=run.pk, until=told[0] or "no end", before=told[1] or "no end")


def default_version() -> UUID:
    newest = ConfigurationVersion.objects.filter(configuration__slug=DEFAULT, configuration__builtin=True)
    found = newest.order_by("-number").values_list("pk", flat=True).first()
    if found is None:
        raise ApiError(say("There is no configuration to follow it with; name one."), code="configuration")
    return found
