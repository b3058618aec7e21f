"""A run as it was at a position: the rows of a moment in the shapes of the database's, found as the database does.

A moment is made by a worker when it is first asked for (schedweb/engine/moments.py) and kept; who asks meanwhile is
told so and asks again. What only grows (attempts, preemptions, decisions, feed) is read from the run's own tables, up
to there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import msgspec

from schedweb.accounts.audit.asking import author_here
from schedweb.api.errors import ApiError, TooMany
from schedweb.database.clock import database_now
from schedweb.engine.moment_view import MomentUnreadable, MomentView, unpacked
from schedweb.engine.questions import MOMENT, Look
from schedweb.runs.models import Analysis, JournalEntry, NodeRecord, ObjectRecord, PodRecord, Run
from schedweb.runs.records.analyses import analysis_ask, checked_position
from schedweb.runs.records.converters import MomentRef
from schedweb.runs.records.pod_query import query_of
from schedweb.runs.records.thinned import refuse_before_base
from schedweb.sentences import say, translated

HELD: Final = 4
"""Moments that a process holds unpacked."""


class Moment:
    def __init__(self, view: MomentView) -> None:
        self.view = view
        self.pods = [pod_record(place, row) for place, row in enumerate(view.pods, start=1)]
        self.nodes = [node_record(place, row) for place, row in enumerate(view.nodes, start=1)]
        objects = [ObjectRecord(**msgspec.structs.asdict(row)) for row in view.objects]
        self.objects: list[ObjectRecord] = in_order(objects, ("kind", "group", "namespace", "name"))

    def pod(self, namespace: str, name: str) -> PodRecord | None:
        return next((each for each in self.pods if each.name == name and each.namespace == namespace), None)

    def node(self, name: str) -> NodeRecord | None:
        return next((each for each in self.nodes if each.name == name), None)

    def pods_by(self, *, query: str = "", **wanted: str) -> list[PodRecord]:
        """`wanted`: field=value, of which empty ones ask for nothing."""
        asked = {field: value for field, value in wanted.items() if value}
        found = [each for each in self.pods if all(getattr(each, field) == value for field, value in asked.items())]
        if not query:
            return found
        matches = query_of(query).matches
        return [each for each in found if matches(each.namespace, each.name, each.labels)]

    def objects_by(self, wanted: Mapping[str, str], part: str = "") -> list[ObjectRecord]:
        """In order; `wanted`: field=value; `part`: of the name."""
        found = [each for each in self.objects if all(getattr(each, field) == value for field, value in wanted.items())]
        return [each for each in found if part.lower() in each.name.lower()]


def in_order(rows: Iterable[Any], fields: Iterable[str]) -> list[Any]:
    """As `order_by`: fields with - in front go downwards. Sorting is stable, so the last field goes first."""
    ordered = list(rows)
    for field in reversed(list(fields)):
        ordered.sort(key=attrgetter(field.removeprefix("-")), reverse=field.startswith("-"))
    return ordered


def pod_record(place: int, row: Any) -> PodRecord:
    facts = msgspec.structs.asdict(row)
    for field in ("labels", "card", "detail"):
        facts[field] = msgspec.json.decode(facts[field])
    return PodRecord(pk=place, **facts)


def node_record(place: int, row: Any) -> NodeRecord:
    facts = msgspec.structs.asdict(row)
    for field in ("allocatable", "requested", "reserved", "pods"):
        facts[field] = msgspec.json.decode(facts[field])
    return NodeRecord(pk=place, **facts)


@lru_cache(maxsize=HELD)
def moment_read(analysis: UUID) -> Moment:
    blob = Analysis.objects.values_list("blob", flat=True).get(pk=analysis)
    return Moment(unpacked(bytes(blob or b"")))


def moment_of(run: Run, position: int) -> Moment:
    """Raises an ApiError `being_made` as long as it is, and one with the reason when it cannot be.

    What failed is tried again after a while: perhaps no worker could be reached.
    """
    refuse_before_base(run, position)
    known = Analysis.objects.filter(run=run, position=position, name=MOMENT).defer("blob").first()
    if known is not None and known.status == Analysis.Status.FAILED and known.expires > database_now():
        raise ApiError(translated(known.error), code="no_moment", status_code=422, path="position")
    if known is not None and known.status == Analysis.Status.DONE:
        try:
            return moment_read(known.pk)
        except MomentUnreadable:
            known.delete()
    # Who has too much under way already asks again, as everybody does until it is made.
    with contextlib.suppress(TooMany):
        analysis_ask(
            run=run, asked_by=author_here().username, question=Look(), position=checked_position(run, position)
        )
    # No failure: a browser writes those into its console.
    raise ApiError(
        say("Step {position:,} of {run} is being made.", position=position, run=run), code="being_made", status_code=202
    )


def configuration_at(run: Run, position: int) -> UUID:
    """The version that the run played with there."""
    switched = JournalEntry.objects.filter(
        run=run, type="set_configuration", status=JournalEntry.Status.APPLIED, position__lt=position
    )
    newest = switched.order_by("-position", "-number").values_list("command", flat=True).first()
    return run.first_configuration_version_id if newest is None else UUID(newest["version"])


def as_of(run: Run, ref: MomentRef) -> Run:
    """The run with everything that it was there; it is never saved."""
    moment = moment_of(run, ref.position)
    view = moment.view
    version = configuration_at(run, ref.position)
    if version != run.configuration_version_id:
        run.configuration_version_id = version
    run.last_position = run.position
    run.moment = moment
    run.position, run.clock, run.points, run.attempts = ref.position, view.clock, view.points, view.attempts
    run.digest, run.counts, run.resources = view.digest, view.counts, view.resources
    run.columns = "{" + ",".join(f'"{name}":{text}' for name, text in view.columns_json.items()) + "}"
    run.cycle = msgspec.json.decode(view.cycle_json)
    run.node_count, run.pod_count = len(moment.nodes), len(moment.pods)
    run.arrivals_left, run.next_arrival = view.arrivals_left, view.next_arrival
    run.state, run.error, run.seq = Run.State.PAUSED, "", 0
    run.lease_owner, run.wanted, run.taking_over = "", False, False
    return run
