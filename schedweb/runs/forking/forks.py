"""Forks: a new run that begins where another one was, with some changes. The other one is only read.

A fork's journal begins with its parent's, so it leads to the same machine by the same replay as every run, needs the
parent no more, and may be taken over, rewound and forked itself. The changes follow as commands of its own.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import msgspec
from django.db.models import Q

from schedweb.api.errors import ApiError, conflict
from schedweb.engine.commands import PACING, SETTINGS, of_operation, plain
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.forking.arrivals import UNFOLLOW, arrivals_insert, refuse_without_arrivals, rest_insert
from schedweb.runs.forking.fork_changes import fork_changes
from schedweb.runs.models import Checkpoint, JournalEntry, Run, RunBase
from schedweb.runs.playing.commands import checked, command_insert, completed
from schedweb.runs.playing.limits import refuse_too_many
from schedweb.runs.playing.manifests import refused
from schedweb.runs.playing.playable import playable_version
from schedweb.runs.playing.services import run_insert
from schedweb.runs.records.analyses import checked_position
from schedweb.runs.records.moments import configuration_at
from schedweb.runs.storing.stored import NotKept, base_of, refuse_of_another_version
from schedweb.sentences import say, translated

CLOCK: Final = "clock"
ANSWERS: Final = "extender_answers"
MOST_CHANGES: Final = 500


def change_of(given: object) -> dict[str, Any]:
    """An operation of a remedy (`verb`, `manifest`), or a command; checked and complete."""
    if not isinstance(given, dict):
        raise refused(say("A change is an object: an operation with a verb, or a command with a type."), "changes")
    if "verb" in given:
        return plain(checked(of_operation(given["verb"], given.get("manifest"))))
    command = checked(completed(given))
    if isinstance(command, PACING):
        raise refused(
            say("{type} changes nothing in the cluster; play the fork when it is there.", type=given["type"]), "changes"
        )
    return plain(command)


def inherited_journal(parent: Run, fork: Run, position: int) -> list[JournalEntry]:
    """What the parent was told before the position. How it was paced is its own business."""
    pacing = [command.__struct_config__.tag for command in PACING]
    rows = JournalEntry.objects.filter(run=parent, position__lt=position).exclude(type__in=pacing)
    if parent.base_position:
        after = Q(position__gte=parent.base_position) | Q(type=CLOCK, clock__gt=parent.base_clock)
        rows = rows.filter(after | Q(type__in=SETTINGS))
    copies: list[JournalEntry] = []
    for row in rows.order_by("position", "number"):
        if row.type == CLOCK:
            moves = [move for move in row.command["moves"] if move[0] < position]
            row.command = {**row.command, "moves": moves}
        copies.append(
            JournalEntry(
                run=fork,
                number=len(copies) + 1,
                type=row.type,
                command=row.command,
                author_id=row.author_id,
                author_name=row.author_name,
                reason=row.reason,
                status=row.status,
                position=row.position,
                clock=row.clock,
                text=row.text,
                result=row.result,
            )
        )
    return copies


def digest_at(parent: Run, position: int) -> str:
    """Empty when none is stored there."""
    if position == parent.position:
        return parent.digest
    known = Checkpoint.objects.filter(run=parent, position=position, engine_version=ENGINE_VERSION)
    return known.values_list("digest", flat=True).first() or ""


def known_base(parent: Run) -> RunBase | None:
    """What a fork of a run begins with whose oldest part went. Raises ApiError."""
    if not parent.base_position:
        return None
    base = RunBase.objects.get(run=parent)
    try:
        refuse_of_another_version(base)
    except NotKept as error:
        raise conflict(translated(error.words), code="other_version") from None
    return base


def run_fork(
    *,
    parent: Run,
    user: Any,
    position: int | None = None,
    changes: list[Any] | None = None,
    configuration_version: UUID | None = None,
    played: bool = False,
    arrivals: bool = False,
) -> Run:
    """Paused where the parent was, or `played` as fast as it can be. Why a change is refused stands in its journal.
    ``arrivals``: what came to the parent's cluster afterwards comes to the fork."""
    where = checked_position(parent, position)
    if arrivals:
        refuse_without_arrivals(parent, where)
    commands = [change_of(change) for change in changes or ()]
    if len(commands) > MOST_CHANGES:
        raise ApiError(
            say("At most {most_changes} changes at once.", most_changes=MOST_CHANGES), code="too_many", path="changes"
        )
    if configuration_version is not None:
        version = playable_version(configuration_version)
        commands.insert(0, {"type": "set_configuration", "version": str(version.pk), "text": version.text})

    described = fork_changes(parent, commands)
    if played:
        refuse_too_many(user.pk, user.get_username())
        commands.append({"type": "play", "speed": "max"})

    base = known_base(parent)

    def fill(fork: Run) -> None:
        inherited = inherited_journal(parent, fork, where)
        JournalEntry.objects.bulk_create(inherited)
        if base is not None:
            RunBase.objects.create(
                run=fork,
                digest=base.digest,
                engine_version=base.engine_version,
                created_at=base.created_at,
                data=base.data,
            )
        if any(entry.type == UNFOLLOW for entry in inherited):
            rest_insert(parent, fork, user, where)
            Run.objects.filter(pk=fork.pk).update(later_arrivals=parent.later_arrivals)
        elif arrivals:
            leaves = command_insert(run=fork, user=user, content={"type": UNFOLLOW, "arrivals": True})
            came = arrivals_insert(parent, fork, user, where)
            told = {**leaves.command, "expects": came.changes}
            JournalEntry.objects.filter(pk=leaves.pk).update(command=told)
            line = {"workload": "", "text": msgspec.to_builtins(came.words())}
            Run.objects.filter(pk=fork.pk).update(later_arrivals=came.stored(), fork_changes=[line, *described])
        elif parent.began_observing:
            command_insert(run=fork, user=user, content={"type": UNFOLLOW})
        for command in commands:
            command_insert(run=fork, user=user, content=command)
        if base_of(parent) != parent.base_position:
            # Of what was copied some may have gone before it was read.
            raise conflict(say("{run} lost its oldest part just now. Try again.", run=parent), code="thinned")

    return run_insert(
        fill,
        snapshot=parent.snapshot,
        configuration_version_id=configuration_at(parent, where),
        first_configuration_version_id=parent.first_configuration_version_id,
        parent=parent,
        parent_name=str(parent),
        parent_position=where,
        parent_digest=digest_at(parent, where),
        fork_changes=described,
        started_by=user,
        started_by_name=user.get_username(),
        seed=parent.seed,
        ties=parent.ties,
        approvals=parent.approvals,
        # Its own scheduler decides, as fast as it is played: what a real cluster told has its times already.
        clock_mode=Run.ClockMode.VIRTUAL if parent.began_observing else parent.clock_mode,
        began_observing=parent.began_observing,
        scheduling=parent.scheduling,
        own_world=parent.own_world,
        clock_start=parent.clock_start,
        clock=parent.clock_start,
        speed=parent.speed,
        first_speed=parent.speed,
        state=Run.State.PAUSED,
        position=parent.base_position,
        digest="" if base is None else base.digest,
        base_position=parent.base_position,
        base_clock=parent.base_clock,
    )
