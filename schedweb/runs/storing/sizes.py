"""What a run uses of the database: what would be free if it went.

A row counts with what its columns hold as they are stored, once for the table and once for every index that has them,
and with what the database adds to a row and to an entry of an index. So the sum over all runs is near the size of the
tables with their indexes (tests/schedweb/keeping/test_sizes.py compares both).
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection, models
from django.db.models import BigIntegerField, Count, Sum
from django.db.models.expressions import RawSQL
from django.utils import timezone

from schedweb.runs.models import (
    Analysis,
    Attempt,
    AttemptChunk,
    Checkpoint,
    ClusterWrite,
    Decision,
    EvictionProposal,
    FeedItem,
    JournalEntry,
    NodeRecord,
    ObjectRecord,
    PodRecord,
    Preemption,
    RealPodRecord,
    Run,
    RunBase,
    RunMetrics,
    ShadowJudgement,
    ShareLink,
    StepChunk,
)
from schedweb.runs.storing.lease import close_own_connection

log = logging.getLogger(__name__)
TABLES: Final[Mapping[str, tuple[type[models.Model], ...]]] = {
    "pods": (PodRecord, RealPodRecord),
    "nodes": (NodeRecord,),
    "objects": (ObjectRecord,),
    "attempts": (Attempt,),
    "breakdowns": (AttemptChunk,),
    "steps": (StepChunk, RunMetrics),
    "feed": (FeedItem,),
    "decisions": (Decision, EvictionProposal, Preemption, ShadowJudgement),
    "journal": (JournalEntry, RunBase, ClusterWrite, ShareLink),
    "checkpoints": (Checkpoint,),
    "answers": (Analysis,),
}
"""Kind of what is stored → where it is."""
KINDS: Final = tuple(TABLES)
MADE_AGAIN: Final = ("breakdowns", "checkpoints", "answers")
"""Kinds that follow from the journal and the cluster: replay makes them again."""
ROW: Final = {"sqlite": 12, "postgresql": 36}
ENTRY: Final = {"sqlite": 8, "postgresql": 24}
"""Bytes that a row and an entry of an index have beside their columns."""
LENGTH: Final = {
    "sqlite": "COALESCE(LENGTH(CAST({} AS BLOB)), 0) * {}",
    "postgresql": "COALESCE(pg_column_size({}), 0) * {}",
}
"""Of a column, so many times."""
FILLED: Final = 0.87
"""How much of its pages a table or an index fills."""
EVERY_SECONDS: Final = 60.0
SHARE: Final = 40
"""While a run plays, measuring it may take a fortieth of the time."""


def indexes_of(model: type[models.Model]) -> list[tuple[str, ...]]:
    """The fields of each. Partial ones have next to no rows."""
    fields = model._meta.concrete_fields
    found: list[tuple[str, ...]] = [(field.name,) for field in fields if getattr(field, "db_index", False)]
    found += [(field.name,) for field in fields if field.unique]
    found += [tuple(each.fields) for each in model._meta.constraints if isinstance(each, models.UniqueConstraint)]
    return found + [tuple(each.fields) for each in model._meta.indexes if each.condition is None]


def times_stored(model: type[models.Model]) -> Counter[str]:
    """Name of a field → once for the table, once for every index that has it."""
    count = Counter(field.name for field in model._meta.concrete_fields)
    for fields in indexes_of(model):
        count.update(name.removeprefix("-") for name in fields)
    return count


@cache
def length_of_row(model: type[models.Model], vendor: str) -> str:
    """In SQL, which Django took a tenth of a second to write anew for all tables of a run: how long its values are as
    they are stored, compressed where PostgreSQL does that."""
    table, quote, times = model._meta.db_table, connection.ops.quote_name, times_stored(model)
    columns = {field.name: f"{quote(table)}.{quote(str(field.column))}" for field in model._meta.concrete_fields}
    return " + ".join(LENGTH[vendor].format(columns[name], number) for name, number in times.items())


def bytes_in(rows: models.QuerySet[Any]) -> int:
    """Of all these rows together."""
    model: type[models.Model] = rows.model
    vendor = connection.vendor
    length = RawSQL(length_of_row(model, vendor), (), output_field=BigIntegerField())
    found = rows.order_by().aggregate(rows=Count("pk"), bytes=Sum(length))
    beside = ROW[vendor] + ENTRY[vendor] * len(indexes_of(model))
    return int(((found["bytes"] or 0) + found["rows"] * beside) / FILLED)


def sizes_of(run: UUID) -> dict[str, int]:
    """Kind → bytes, deleted or not."""
    sizes = {kind: sum(bytes_in(table._default_manager.filter(run=run)) for table in TABLES[kind]) for kind in KINDS}
    return {**sizes, "run": bytes_in(Run.every.filter(pk=run))}


def measure(run: UUID) -> dict[str, int]:
    """What is found is stored with the run."""
    sizes = sizes_of(run)
    Run.every.filter(pk=run).update(stored=sizes, stored_bytes=sum(sizes.values()), measured_at=timezone.now())
    return sizes


def nothing() -> None:
    pass


class Measuring:
    """Of a run that is played: when it comes to rest, and now and then before. Then in a thread of its own, as commands
    would wait for it."""

    def __init__(self, run: UUID, then: Callable[[], None] = nothing) -> None:
        """`then`: what follows from the size while it is played, in the thread that measured."""
        self.run = run
        self.then = then
        self.next_at = 0.0
        self._beside: threading.Thread | None = None

    def now(self) -> None:
        """Where the database is away, later."""
        if self._beside is not None:
            self._beside.join()
        self._measure()

    def when_due(self) -> None:
        if time.monotonic() < self.next_at or (self._beside is not None and self._beside.is_alive()):
            return
        self._beside = threading.Thread(target=self._measure_beside, name=f"measure-{self.run}", daemon=True)
        self._beside.start()

    def _measure(self) -> None:
        began = time.monotonic()
        try:
            measure(self.run)
        except (DatabaseError, InterfaceError) as error:
            log.warning("run %s could not be measured: %s", self.run, error)
        ended = time.monotonic()
        self.next_at = ended + max(EVERY_SECONDS, SHARE * (ended - began))

    def _measure_beside(self) -> None:
        try:
            self._measure()
            self.then()
        finally:
            close_own_connection()
