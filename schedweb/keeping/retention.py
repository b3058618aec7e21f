"""What goes by itself to make room: first what the plugins said in the attempts of old runs, then old runs (decision
0022).

kept → without breakdowns (and checkpoints and answers, which replay makes again) → under Recently deleted, for
KEEP_PRUNED_DAYS → gone. Runs go when they were not played for so many days, and where all that is kept is more than the
limit, those first that were played longest ago.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from framework.sentences import Sentence, counted_sentence, sentence
from schedweb.accounts.audit.recording import record
from schedweb.runs.deleting.services import AT_ONCE, mark_deleted
from schedweb.runs.models import Analysis, AttemptChunk, Checkpoint, Run, ShareLink
from schedweb.runs.records.analyses import OPEN
from schedweb.runs.storing.dictionaries import forget_unused
from schedweb.runs.storing.lease import has_commands, held
from schedweb.runs.storing.sizes import MADE_AGAIN, measure
from schedweb.sentences import amount

log = logging.getLogger(__name__)
What = Literal["breakdowns", "run"]
Why = Literal["age", "size"]
Needed = Literal["starred", "shared", "live", "unfinished", ""]
NEEDED: Final[tuple[Needed, ...]] = ("starred", "shared", "live", "unfinished", "")
ENDED: Final = (Run.State.FINISHED, Run.State.STOPPED)
MOVING: Final = (Run.State.PLAYING, Run.State.WAITING_FOR_PERSON)
FACTS: Final = (
    *("number", "state", "stored", "stored_bytes", "used_at", "starred_at", "breakdowns_gone_at"),
    *("wanted", "obeying", "unwritten", "started_by_name"),
)


@dataclass(frozen=True)
class Step:
    """Of a run, what goes next, and why."""

    run: Any
    """A row of ``runs_looked_at``."""
    what: What
    why: Why
    bytes: int
    """That are free afterwards; of a run, once its time under Recently deleted is over."""


@dataclass(frozen=True)
class Plan:
    steps: list[Step]
    kept_bytes: int
    """Of all runs that are not deleted."""
    over_bytes: int
    """By how much the limit is still passed afterwards: what is left is needed."""

    @property
    def bytes(self) -> int:
        return sum(step.bytes for step in self.steps)


def open_links() -> QuerySet[ShareLink]:
    return ShareLink.objects.filter(revoked_at=None).filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))


def runs_looked_at(rows: QuerySet[Run] | None = None) -> QuerySet[Any]:
    """Played longest ago first, with what `needed` asks for."""
    kept = (Run.objects.all() if rows is None else rows).only(*FACTS)
    shared = Exists(open_links().filter(run=OuterRef("pk")))
    return kept.annotate(is_shared=shared, is_told=has_commands(), is_held=held()).order_by("used_at", "number")


def needed(run: Any) -> Needed:
    """Why nothing of the run goes; `unfinished`: why its journal does not. "": nobody needs it."""
    if run.starred_at is not None:
        return "starred"
    if run.is_shared:
        return "shared"
    if run.is_held or run.obeying or run.unwritten or run.is_told or run.state in MOVING:
        return "live"
    # 0.2.0 left it with runs that were stopped.
    if run.wanted and run.state != Run.State.STOPPED:
        return "live"
    return "" if run.state in ENDED else "unfinished"


def made_again(run: Any) -> int:
    """Bytes of what replay makes again."""
    return sum(run.stored.get(kind, 0) for kind in MADE_AGAIN)


def may_lose_breakdowns(run: Any) -> bool:
    """Also once more: it may have been played or looked back at since, or removing was interrupted."""
    return needed(run) in ("", "unfinished") and made_again(run) > 0


def older_than(run: Any, days: int, now: datetime.datetime) -> bool:
    return bool(days) and run.used_at <= now - datetime.timedelta(days=days)


def planned() -> Plan:
    """What would go now. Runs that go come after those that lose their breakdowns."""
    rows, now = list(runs_looked_at()), timezone.now()
    kept = sum(row.stored_bytes for row in rows)
    gone = {
        row.pk: Step(row, "run", "age", row.stored_bytes)
        for row in rows
        if not needed(row) and older_than(row, settings.KEEP_RUNS_DAYS, now)
    }
    stripped = {
        row.pk: Step(row, "breakdowns", "age", made_again(row))
        for row in rows
        if row.pk not in gone and may_lose_breakdowns(row) and older_than(row, settings.KEEP_BREAKDOWNS_DAYS, now)
    }
    limit = settings.KEEP_TOTAL_BYTES
    left = kept - sum(step.bytes for step in (*gone.values(), *stripped.values()))
    if limit and left > limit:
        left = make_room(rows, left - limit, gone, stripped) + limit
    steps = sorted((*stripped.values(), *gone.values()), key=lambda step: step.what)
    return Plan(steps, kept, max(left - limit, 0) if limit else 0)


def make_room(rows: Sequence[Any], over: int, gone: dict[Any, Step], stripped: dict[Any, Step]) -> int:
    """Adds to what goes until nothing is over; answers by how much it still is (below 0: there is room)."""
    for row in rows:
        if over > 0 and row.pk not in gone and row.pk not in stripped and may_lose_breakdowns(row):
            stripped[row.pk] = Step(row, "breakdowns", "size", made_again(row))
            over -= made_again(row)
    for row in rows:
        if over > 0 and row.pk not in gone and not needed(row):
            earlier = stripped.pop(row.pk, None)
            gone[row.pk] = Step(row, "run", "size", row.stored_bytes)
            over -= row.stored_bytes - (0 if earlier is None else earlier.bytes)
    return over


def pruned() -> Plan:
    """Does what is planned; a run that somebody began to need meanwhile stays as it is."""
    plan = planned()
    done = [step for step in plan.steps if (strip(step) if step.what == "breakdowns" else retire(step))]
    for step in done:
        log.info("%s: %s went (%s), %s", step.run, step.what, step.why, amount(step.bytes))
    forget_unused()
    return Plan(done, plan.kept_bytes, plan.over_bytes)


def still(step: Step, wanted: Iterable[Needed]) -> Run | None:
    """The run, if it is needed for no more than that and was not played since. In a transaction."""
    found = runs_looked_at(Run.objects.filter(pk=step.run.pk, used_at=step.run.used_at)).first()
    return found if found is not None and needed(found) in wanted else None


def strip(step: Step) -> bool:
    """Whether it could be."""
    with transaction.atomic():
        found = still(step, ("", "unfinished"))
        if found is None:
            return False
        Run.objects.filter(pk=found.pk).update(breakdowns_gone_at=timezone.now(), breakdowns_gone_why=reason(step))
        record("run.prune", target=found, target_id=found.pk, what=step.what, why=step.why, bytes=step.bytes)
    remove_made_again(found)
    return True


def remove_made_again(run: Run) -> None:
    """What a worker writes meanwhile, who plays the run again, stays: it is named before any of it goes."""
    answered = Analysis.objects.filter(run=run).exclude(status__in=OPEN)
    for rows in (AttemptChunk.objects.filter(run=run), Checkpoint.objects.filter(run=run), answered):
        keys = list(rows.order_by().values_list("pk", flat=True))
        for some in cut(keys, AT_ONCE):
            rows.filter(pk__in=some).delete()
    measure(run.pk)


def cut(keys: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


@transaction.atomic
def retire(step: Step) -> bool:
    """Whether it could be moved to Recently deleted."""
    found = still(step, ("",))
    if found is None:
        return False
    record("run.prune", target=found, target_id=found.pk, what=step.what, why=step.why, bytes=step.bytes)
    mark_deleted(found, None)
    return True


def reason(step: Step) -> Sentence:
    if step.why == "size":
        return sentence(
            "All runs together used more than the {limit} that are kept.", limit=amount(settings.KEEP_TOTAL_BYTES)
        )
    return counted_sentence(
        "It had not been played for {count} day.",
        "It had not been played for {count} days.",
        settings.KEEP_BREAKDOWNS_DAYS,
    )


def measure_others() -> int:
    """How many runs were measured that an earlier version left, or whose measuring was interrupted."""
    keys = list(Run.every.filter(measured_at=None).order_by("number").values_list("pk", flat=True))
    for key in keys:
        measure(key)
    return len(keys)
