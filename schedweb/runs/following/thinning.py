"""A run that follows a cluster and grows past its bound loses its oldest part, and goes on (decision 0035).

First a checkpoint becomes the run's base, in one transaction under the lease's epoch: from then on nobody asks for what
was before. Then what was before is deleted, some rows at a time, each time under the epoch. Whoever is interrupted
there leaves rows that nobody reads; the next holder deletes them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from schedweb.engine.commands import SETTINGS
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import (
    Analysis,
    Attempt,
    AttemptChunk,
    Checkpoint,
    ClusterWrite,
    Decision,
    EvictionProposal,
    FeedItem,
    Followed,
    JournalEntry,
    NodeRecord,
    ObjectRecord,
    PodRecord,
    Preemption,
    RealPodRecord,
    Run,
    RunBase,
    StepChunk,
)
from schedweb.runs.records.analyses import OPEN
from schedweb.runs.records.thinned import base_moment
from schedweb.runs.storing.lease import Lease, LeaseLost, expiry, mine
from schedweb.runs.storing.patience import patiently
from schedweb.runs.storing.sizes import measure

log = logging.getLogger(__name__)
BEGINS: Final = 0.75
"""Of the bound: what comes until it is measured again, and while rows go, is to have room."""
ENDS: Final = 0.5
GROWN: Final = 1.1
"""What is left of a run whose cluster alone is larger than the bound has to grow by so much before more goes."""
AT_ONCE: Final = 200
"""Rows in one transaction: whoever stores a batch waits for no more."""
CLOCK: Final = "clock"


class Thinning:
    """Of a run that this worker holds; called when it was measured."""

    def __init__(self, lease: Lease) -> None:
        self.lease = lease
        self.left = 0
        """Bytes, after it was thinned last."""
        self.has_looked = False
        """For what an earlier holder left."""

    def when_over(self) -> None:
        try:
            self._when_over()
        except LeaseLost as error:
            log.info("%s", error)

    def _when_over(self) -> None:
        run = Run.objects.filter(pk=self.lease.run).defer("columns").first()
        known = Followed.objects.filter(run=self.lease.run).first()
        if run is None or known is None:
            return
        if not self.has_looked:
            forget(run, self.lease)
            self.has_looked = True
        size = run.stored_bytes
        if size < max(BEGINS * known.most_bytes, GROWN * self.left):
            return
        while size > ENDS * known.most_bytes and (where := next_base(run)) is not None:
            if not patiently(partial(rebase, run, self.lease, where)):
                break
            run.refresh_from_db(fields=["base_position", "base_clock", "position"])
            forget(run, self.lease)
            size = sum(measure(run.pk).values())
            log.info("%s: what was before step %d went, %d bytes are left", run, where, size)
        self.left = size


def held_by(lease: Lease) -> QuerySet[Run]:
    """The run, while the lease was neither lost nor given back."""
    return Run.objects.filter(mine(lease), lease_owner=lease.owner)


def bases(run: Run) -> QuerySet[Checkpoint]:
    """Checkpoints that can be one; an older version did not store when they were made."""
    return Checkpoint.objects.filter(run=run, engine_version=ENGINE_VERSION, clock__isnull=False)


def next_base(run: Run) -> int | None:
    """The first checkpoint in the newer half of what is kept, or else the newest. None where there is none."""
    half = (run.base_position + run.position) // 2
    found = bases(run).filter(position__gt=run.base_position)
    position: int | None = found.filter(position__gte=half).aggregate(first=Min("position"))["first"]
    return position if position is not None else found.aggregate(last=Max("position"))["last"]


def rebase(run: Run, lease: Lease, position: int) -> bool:
    """False where the checkpoint made room for another one meanwhile. Raises LeaseLost; then nothing has changed."""
    with transaction.atomic():
        checkpoint = bases(run).filter(position=position).first()
        if checkpoint is None:
            return False
        RunBase.objects.update_or_create(
            run=run,
            defaults={
                "digest": checkpoint.digest,
                "engine_version": ENGINE_VERSION,
                "created_at": timezone.now(),
                "data": checkpoint.data,
            },
        )
        before = held_by(lease).filter(base_position__lte=position)
        if not before.update(base_position=position, base_clock=checkpoint.clock, lease_expires=expiry()):
            raise LeaseLost(f"run {run.pk} has another holder")
    return True


def forget(run: Run, lease: Lease) -> None:
    """Deletes what was before the base, if the run has one. Raises LeaseLost."""
    if run.base_clock is None:
        return
    for rows in before_base(run, run.base_position, run.base_clock):
        while patiently(partial(forget_some, rows, lease)):
            pass


def forget_some(rows: QuerySet[Any], lease: Lease) -> bool:
    """Whether there were any. Raises LeaseLost; then nothing went."""
    with transaction.atomic():
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
        if not keys:
            return False
        rows.model._default_manager.filter(pk__in=keys).delete()
        if not held_by(lease).update(lease_expires=expiry()):
            raise LeaseLost(f"run {lease.run} has another holder")
    return True


def before_base(run: Run, position: int, clock: int) -> Iterator[QuerySet[Any]]:
    """What nothing after the base needs. Of pods that are there the last attempt and the decisions stay, and so does
    what is still open; and the newest entry of what is numbered, which the next number follows."""
    at = base_moment(clock)
    journal = JournalEntry.objects.filter(run=run).exclude(type__in=SETTINGS)
    journal = journal.exclude(status=JournalEntry.Status.PENDING).exclude(number=newest_number(JournalEntry, run))
    moves = Q(type=CLOCK, clock__lte=clock)
    yield journal.filter(~Q(type=CLOCK), position__lt=position)
    yield JournalEntry.objects.filter(moves, run=run, position__lt=position)
    yield journal.filter(position=None, number__isnull=False, created_at__lt=at)

    here = PodRecord.objects.filter(run=run).exclude(column=PodRecord.Column.DELETED)
    is_here = Exists(here.filter(uid=OuterRef("pod_uid")))
    later = Attempt.objects.filter(run=run, pod_uid=OuterRef("pod_uid"), number__gt=OuterRef("number"))
    yield Attempt.objects.filter(Exists(later) | ~is_here, run=run, position__lte=position, ended__lte=clock)
    yield AttemptChunk.objects.filter(run=run, first__lt=first_chunk(run, position))
    yield Decision.objects.filter(~is_here, run=run, at__lt=clock)
    yield EvictionProposal.objects.filter(run=run, is_open=False, since__lt=clock)
    yield Preemption.objects.filter(~Exists(here.filter(uid=OuterRef("uid"))), run=run, at__lt=clock)

    newest = newest_number(FeedItem, run)
    yield FeedItem.objects.filter(run=run, at__lt=clock).exclude(number=newest)
    last = StepChunk.objects.filter(run=run, first__lte=position).aggregate(last=Max("first"))["last"] or 0
    yield StepChunk.objects.filter(run=run, first__lt=last)
    yield Checkpoint.objects.filter(run=run, position__lte=position)
    yield Analysis.objects.filter(run=run, position__lt=position).exclude(status__in=OPEN)

    yield ClusterWrite.objects.filter(run=run, outcome__isnull=False, stored_at__lt=at)
    yield PodRecord.objects.filter(run=run, column=PodRecord.Column.DELETED, since__lt=clock)
    yield RealPodRecord.objects.filter(run=run, present=False, since__lt=clock)
    yield ObjectRecord.objects.filter(run=run, present=False)
    yield gone_nodes(run, position, clock)


def gone_nodes(run: Run, position: int, clock: int) -> QuerySet[NodeRecord]:
    """Nodes that went before the base and before every attempt that can still be explained, so that none of these names
    them, and that nothing else names which is kept."""
    explained = Attempt.objects.filter(run=run, number__gte=first_chunk(run, position))
    began: int | None = explained.aggregate(first=Min("at"))["first"]
    gone = NodeRecord.objects.filter(run=run, present=False, gone_by__lt=clock if began is None else min(began, clock))
    # What names a node of which there is another one by now leads to that one.
    again = NodeRecord.objects.filter(run=run, present=True, name=OuterRef("name"))
    pods = PodRecord.objects.filter(run=run).exclude(column=PodRecord.Column.DELETED)
    named = Q()
    for rows in (
        pods,
        Attempt.objects.filter(run=run),
        Decision.objects.filter(run=run),
        EvictionProposal.objects.filter(run=run),
        Preemption.objects.filter(run=run),
        RealPodRecord.objects.filter(run=run, present=True),
    ):
        named |= Q(name__in=rows.values("node"))
    return gone.filter(Exists(again) | ~named)


def newest_number(model: type[JournalEntry] | type[FeedItem], run: Run) -> int:
    newest: int | None = model._default_manager.filter(run=run).aggregate(newest=Max("number"))["newest"]
    return newest or 0


def first_chunk(run: Run, position: int) -> int:
    """The first chunk to keep: attempts after the base are explained from the last whole table before them."""
    after = Attempt.objects.filter(run=run, position__gt=position).aggregate(first=Min("number"))["first"]
    chunks = AttemptChunk.objects.filter(run=run).exclude(usage_base=None)
    if after is not None:
        chunks = chunks.filter(first__lte=after)
    return chunks.aggregate(last=Max("first"))["last"] or 0
