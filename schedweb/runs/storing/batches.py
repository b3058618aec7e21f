"""Storing a batch of the engine, in one transaction that only the newest epoch passes.

The run's own row comes last, so that it is locked only while the transaction is committed: whoever stands still, or
writes for long, in the middle of one keeps nobody from renewing or taking the lease.

A batch that was stored already (its writer died before it heard so) is made again by replay with the same keys, and
replay leaves it out: nothing is written twice. Browsers are told what is stored afterwards (telling.py).
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from framework.sentences import Content, Sentence, sentence
from schedweb.engine.commands import WriteOutcome, plain
from schedweb.engine.evictions import EvictionRow
from schedweb.engine.frames import (
    AttemptRow,
    Batch,
    Chunk,
    DecisionRow,
    Kept,
    NodeRow,
    ObjectRow,
    PodRow,
    PreemptionRow,
)
from schedweb.engine.shapes import FeedLine, NumberedFeedItem, QueueName, UntranslatedFeedItem, UntranslatedOutcome
from schedweb.engine.version import ENGINE_VERSION
from schedweb.runs.models import (
    Attempt,
    AttemptChunk,
    Checkpoint,
    Decision,
    EvictionProposal,
    FeedItem,
    JournalEntry,
    NodeRecord,
    ObjectRecord,
    PodRecord,
    Preemption,
    Run,
    RunMetrics,
    StepChunk,
)
from schedweb.runs.storing.dictionaries import keep_dictionary
from schedweb.runs.storing.heard import store_heard, store_moves
from schedweb.runs.storing.judgements import store_judgements
from schedweb.runs.storing.lease import Lease, LeaseLost, expiry, mine
from schedweb.runs.storing.patience import patiently
from schedweb.runs.storing.real_pods import store_real_pods
from schedweb.runs.storing.statements import RunRow, is_mine
from schedweb.runs.storing.upserts import identifier, upsert
from schedweb.runs.storing.writes import store_answers, store_other_schedulers, store_writes
from schedweb.sentence_field import stored

FEED_COLUMNS: Final = ("run", "number", "at", "kind", "subjects", "item")
SETTING: Final = ("set_configuration", "set_seed")
KEPT_CHECKPOINTS: Final = 8
"""The two newest for a takeover, the others spread over the run for those who look back."""


def columns_of(row: type[msgspec.Struct]) -> tuple[str, ...]:
    """Of a table whose rows the engine makes: the run, then the struct's fields in their order."""
    return ("run", *row.__struct_fields__)


@dataclass(frozen=True)
class Stored:
    """What telling a batch needs to know of its storing."""

    seq: int
    previous: int
    """The `seq` before it, which a delta stands on."""
    feed: list[NumberedFeedItem]
    outcomes: list[UntranslatedOutcome]
    """Of commands, with those that the batch left nobody to do."""
    state_changed: bool
    worker_since: datetime.datetime | None


class BatchWriter:
    """One per lease: knows what was stored last, so that a delta can say what it stands on."""

    def __init__(self, lease: Lease, run: Run) -> None:
        self.lease = lease
        self.run = run
        self.run_key = identifier(Run, run.pk)
        self.run_row = RunRow(lease)
        self.seq = run.seq
        stored = msgspec.json.decode(run.columns, type=dict[QueueName, msgspec.Raw])
        self.columns = {name: bytes(raw).decode() for name, raw in stored.items()}
        newest = FeedItem.objects.filter(run=run).aggregate(newest=Max("number"))["newest"]
        self.feed_number: int = newest or 0
        self.state = run.state
        self.obeying = run.obeying
        self.worker_since = run.worker_since

    def store(self, batch: Batch, told: Sequence[WriteOutcome] = ()) -> Stored:
        """With what became of writes that the run does not wait for. Raises LeaseLost; then nothing was stored. A batch
        that is stored already (the answer to its commit was lost) is not stored twice."""
        previous, before = self.seq, self.state
        obeying = self.is_obeying(batch)
        columns = {**self.columns, **batch.columns_json}
        feed = [numbered(line.item, index) for index, line in enumerate(batch.feed, start=self.feed_number + 1)]
        tries = 0
        refused: list[UntranslatedOutcome] = []
        """Of the last try: also of one whose commit was not answered."""

        def store() -> None:
            nonlocal tries
            tries += 1
            if tries == 1 or not self.has_stored(previous + 1):
                refused.clear()
                self.store_once(batch, columns, feed, refused, told, obeying=obeying)

        if (new := batch.dictionary) is not None:
            patiently(lambda: keep_dictionary(new.number, new.data))
        patiently(store)
        self.seq, self.columns, self.state = previous + 1, columns, batch.state
        self.obeying = obeying
        self.feed_number += len(feed)
        return Stored(
            seq=self.seq,
            previous=previous,
            feed=feed,
            outcomes=[*batch.outcomes, *refused],
            state_changed=batch.state != before,
            worker_since=self.worker_since,
        )

    def has_stored(self, seq: int) -> bool:
        """Whether an earlier try was committed; nobody else counts on in our epoch."""
        return Run.objects.filter(mine(self.lease), seq=seq).exists()

    def store_once(
        self,
        batch: Batch,
        columns: dict[QueueName, str],
        feed: list[NumberedFeedItem],
        refused: list[UntranslatedOutcome],
        told: Sequence[WriteOutcome],
        *,
        obeying: bool,
    ) -> None:
        """`refused` is filled with the commands that the batch leaves nobody to do."""
        with transaction.atomic():
            if not is_mine(self.lease):
                raise LeaseLost(f"run {self.run.pk} has another holder")
            self.store_rows(batch)
            self.store_feed(batch.feed, feed)
            if batch.checkpoint is not None:
                self.store_checkpoint(Kept(batch.position, batch.digest, batch.clock, batch.checkpoint))
            if self.run.follows:
                store_heard(self.run, batch.heard)
                store_answers(self.run, [*told, *(each for row in batch.heard for each in row.outcomes)])
            settings = self.store_journal(batch)
            if batch.state == "stopped":
                refused += refuse_pending(self.run, stopped(self.run))
            self.store_run(batch, columns, settings, obeying=obeying)

    def is_obeying(self, batch: Batch) -> bool:
        """Whether a command that the journal has as applied is still to be done after this batch."""
        if batch.place is not None:
            return True
        # The first batch of another engine comes after it replayed the journal, this command with it.
        return self.obeying and not batch.outcomes and batch.number != 1

    def store_run(
        self, batch: Batch, columns: dict[QueueName, str], settings: dict[str, Any], *, obeying: bool
    ) -> None:
        """Raises LeaseLost: what was written before it in this transaction is then not stored either."""
        if batch.dictionary is not None:
            settings["dictionary"] = batch.dictionary.number
        if batch.state == "stopped":
            # Here, as the worker may die before it gives the run back.
            settings["wanted"] = False
        updated = self.run_row.update(
            state=batch.state,
            speed=batch.speed,
            position=batch.position,
            clock=batch.shown_clock,
            points=batch.points,
            attempts=batch.attempts,
            digest=batch.digest,
            seq=self.seq + 1,
            counts=batch.counts,
            columns="{" + ",".join(f'"{name}":{text}' for name, text in columns.items()) + "}",
            cycle=msgspec.json.decode(batch.cycle_json),
            node_count=batch.node_count,
            pod_count=batch.pod_count,
            unwritten=batch.unwritten,
            obeying=obeying,
            arrivals_left=batch.arrivals_left,
            arrivals_total=batch.arrivals_total,
            next_arrival=batch.next_arrival,
            resources=batch.resources,
            breakpoints=[plain(each) for each in batch.breakpoints],
            hit=None if batch.hit is None else msgspec.to_builtins(batch.hit),
            used_at=timezone.now(),
            taking_over=False,
            **settings,
        )
        if not updated:
            raise LeaseLost(f"run {self.run.pk} has another holder")

    def store_rows(self, batch: Batch) -> None:
        run = self.run_key
        upsert(
            PodRecord,
            columns_of(PodRow),
            ("run", "uid"),
            [(run, *msgspec.structs.astuple(row)) for row in batch.pods],
            keep=("manifest",),
        )
        upsert(
            NodeRecord,
            (*columns_of(NodeRow), "gone_by"),
            ("run", "row"),
            [(run, *msgspec.structs.astuple(row), None if row.present else batch.clock) for row in batch.nodes],
            keep=("manifest",),
        )
        if batch.chunk is not None:
            chunk = batch.chunk
            upsert(
                AttemptChunk,
                columns_of(Chunk),
                ("run", "first"),
                [(run, *msgspec.structs.astuple(chunk))],
            )
        if batch.steps is not None:
            upsert(StepChunk, ("run", "first", "steps"), ("run", "first"), [(run, *batch.steps)])
        if batch.metrics is not None:
            upsert(RunMetrics, ("run", "position", "text"), ("run",), [(run, batch.position, batch.metrics)])
        upsert(
            Attempt,
            columns_of(AttemptRow),
            ("run", "number"),
            [(run, *msgspec.structs.astuple(row)) for row in batch.attempt_rows],
            keep=("duration_us", "timing", "score", "position"),
        )
        self.store_decisions(batch)
        upsert(
            Preemption,
            columns_of(PreemptionRow),
            ("run", "number", "place"),
            [(run, *msgspec.structs.astuple(row)) for row in batch.preemptions],
        )
        upsert(
            EvictionProposal,
            columns_of(EvictionRow),
            ("run", "number"),
            [(run, *msgspec.structs.astuple(row)) for row in batch.evictions],
        )
        upsert(
            ObjectRecord,
            columns_of(ObjectRow),
            ("run", "kind", "group", "namespace", "name"),
            [(run, *msgspec.structs.astuple(row)) for row in batch.objects],
            keep=("manifest",),
        )
        store_judgements(run, batch.judgements)
        store_real_pods(run, batch.real_pods)
        if self.run.follows:
            store_writes(run, batch.writes)
            store_other_schedulers(run, batch.others)

    def store_decisions(self, batch: Batch) -> None:
        if not batch.decisions:
            return
        entries = {row.entry for row in batch.decisions if row.entry}
        authors = {
            str(pk): author
            for pk, author in JournalEntry.objects.filter(run=self.run, pk__in=entries).values_list("pk", "author")
        }
        """Of entries that are there: a long wait may end when the entry went with the run's past."""
        now = timezone.now()
        rows = []
        for row in batch.decisions:
            number, entry, *facts = msgspec.structs.astuple(
                msgspec.structs.replace(row, by=stored(row.by), outcome=stored(row.outcome))
            )
            known = identifier(JournalEntry, UUID(entry)) if entry in authors else None
            rows.append((self.run_key, number, known, *facts, authors.get(entry), now))
        upsert(
            Decision,
            (*columns_of(DecisionRow), "author", "created_at"),
            ("run", "number"),
            rows,
            keep=("author",),
            fixed=("created_at",),
        )

    def store_feed(self, lines: list[FeedLine], items: list[NumberedFeedItem]) -> None:
        upsert(
            FeedItem,
            FEED_COLUMNS,
            ("run", "number"),
            [
                (
                    self.run_key,
                    item.id,
                    line.at,
                    item.kind,
                    f" {' '.join(line.subjects)} " if line.subjects else "",
                    msgspec.json.encode(item).decode(),
                )
                for line, item in zip(lines, items, strict=True)
            ],
        )

    def store_journal(self, batch: Batch) -> dict[str, Any]:
        """Answers what the commands change of the run's own row."""
        settings: dict[str, Any] = {}
        entries = JournalEntry.objects.filter(run=self.run)
        for outcome in batch.outcomes:
            if outcome.status == "refused":
                entries.filter(pk=outcome.id).update(status=JournalEntry.Status.REFUSED, text=outcome.text)
            else:
                result = None if outcome.result is None else msgspec.to_builtins(outcome.result)
                entries.filter(pk=outcome.id).update(result=result)
                # What clusters and extenders say is long, and changes nothing of this.
                of_people = entries.filter(pk=outcome.id, type__in=SETTING)
                settings |= settings_of(of_people.values_list("command", flat=True).first() or {})
        if batch.clock_moves:
            store_moves(self.run, batch.clock_moves)
        if batch.place is not None:
            placed = entries.filter(pk=batch.place.id, status=JournalEntry.Status.PENDING)
            placed.update(status=JournalEntry.Status.APPLIED, position=batch.place.position, clock=batch.place.clock)
        return settings

    def store_checkpoint(self, kept: Kept) -> None:
        """Others make room for it."""
        run, of_run = self.run, Checkpoint.objects.filter(run=self.run)
        Checkpoint.objects.update_or_create(
            run=run,
            position=kept.position,
            defaults={
                "digest": kept.digest,
                "clock": kept.clock,
                "engine_version": ENGINE_VERSION,
                "data": kept.data,
            },
        )
        positions = list(of_run.order_by("position").values_list("position", flat=True))
        of_run.filter(position__in=too_close(positions)).delete()

    def keep(self, kept: Kept) -> None:
        """A checkpoint of a position whose batch is stored. Raises LeaseLost; then nothing was stored."""
        patiently(lambda: self.keep_once(kept))

    def keep_once(self, kept: Kept) -> None:
        with transaction.atomic():
            self.store_checkpoint(kept)
            if not Run.objects.filter(mine(self.lease)).update(lease_expires=expiry()):
                raise LeaseLost(f"run {self.run.pk} has another holder")

    def refuse(self, entry: str, text: Content) -> None:
        """Raises LeaseLost."""
        patiently(lambda: self.refuse_once(entry, text))

    def refuse_once(self, entry: str, text: Content) -> None:
        with transaction.atomic():
            JournalEntry.objects.filter(pk=entry).update(status=JournalEntry.Status.REFUSED, text=text)
            if not Run.objects.filter(mine(self.lease)).update(taking_over=False):
                raise LeaseLost(f"run {self.run.pk} has another holder")


def settings_of(command: dict[str, Any]) -> dict[str, Any]:
    """Of a command that changes what the run's page says about the run itself: fields of Run."""
    if command.get("type") == "set_configuration":
        return {"configuration_version": command["version"]}
    return {"seed": command["seed"]} if command.get("type") == "set_seed" else {}


def stopped(run: Run) -> Sentence:
    return sentence("{run} was stopped and takes no commands.", run=str(run))


def deleted(run: Run) -> Sentence:
    return sentence("{run} was deleted before this was done.", run=str(run))


def refuse_pending(run: Run, text: Content) -> list[UntranslatedOutcome]:
    """Answers what nobody will do any more, in the transaction that ends the run. Commands are stored beside it without
    waiting for it: one that is not seen here is refused by the next sweep (schedweb/runs/playing/dispatch.py)."""
    pending = JournalEntry.objects.filter(run=run, status=JournalEntry.Status.PENDING)
    refused = [UntranslatedOutcome(str(pk), "refused", text) for pk in pending.values_list("pk", flat=True)]
    pending.update(status=JournalEntry.Status.REFUSED, text=text)
    return refused


def too_close(positions: list[int]) -> list[int]:
    """Which checkpoints to drop, of positions in order: those whose neighbours before and after are nearest."""
    left, dropped = list(positions), []
    while len(left) > KEPT_CHECKPOINTS:
        gaps = [after - before for before, after in zip([0, *left], left[1:-1], strict=False)]
        dropped.append(left.pop(gaps.index(min(gaps))))
    return dropped


def numbered(item: UntranslatedFeedItem, number: int) -> NumberedFeedItem:
    return NumberedFeedItem(id=number, **msgspec.structs.asdict(item))
