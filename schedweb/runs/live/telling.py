"""Telling browsers what was stored of a run: only what is stored is told, so all of it comes after the transaction."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from django.utils import timezone

from framework.sentences import Content
from schedweb.engine.frames import Batch
from schedweb.engine.shapes import Arrivals, Clock, QueueCounts, UntranslatedOutcome, Worker
from schedweb.engine.times import iso, iso_or_none, wall
from schedweb.runs.models import Analysis, Run
from schedweb.runs.playing.selectors import SPEEDS
from schedweb.runs.storing.batches import Stored
from schedweb.runs.storing.patience import patiently
from schedweb.runs.waiting.selectors import waiting_count
from schedweb.runs.wire import messages
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, run_group, share_group


def tell_batch(run: Run, batch: Batch, stored: Stored) -> None:
    """To those who follow the run; what lists show, to everyone."""
    PUBLISHER.publish(run_group(run.pk), delta_of(run, batch, stored))
    if batch.judgements:
        PUBLISHER.publish(run_group(run.pk), messages.ShadowJudged(run=str(run.pk), count=len(batch.judgements)))
    if stored.state_changed:
        PUBLISHER.publish(EVERYONE, messages.RunsChanged(run=str(run.pk)))
    if batch.waiting_changed:
        PUBLISHER.publish(EVERYONE, messages.WaitingCount(**patiently(waiting_count)))


def delta_of(run: Run, batch: Batch, stored: Stored) -> messages.UntranslatedDelta:
    arrivals = None
    if batch.arrivals_total:
        arrivals = Arrivals(batch.arrivals_left, batch.arrivals_total, iso_or_none(batch.next_arrival))
    return messages.UntranslatedDelta(
        run=str(run.pk),
        seq=stored.seq,
        previous=stored.previous,
        at=wall(timezone.now()),
        state=batch.state,
        clock=Clock(
            mode="real" if run.clock_mode == Run.ClockMode.REAL else "virtual",
            now=iso(batch.shown_clock),
            start=iso(run.clock_start),
            speed=SPEEDS[batch.speed],
        ),
        counts=QueueCounts(**batch.counts),
        attempts=batch.attempts,
        points=batch.points,
        position=batch.position,
        worker=Worker("live", None if stored.worker_since is None else wall(stored.worker_since)),
        cycle=msgspec.Raw(batch.cycle_json.encode()),
        columns={name: msgspec.Raw(text.encode()) for name, text in batch.columns_json.items()},
        nodes=msgspec.Raw(batch.nodes_json.encode()),
        feed=stored.feed,
        outcomes=stored.outcomes,
        arrivals=arrivals,
        topology=batch.topology,
        rate=batch.rate,
        breakpoints=batch.breakpoints,
        hit=batch.hit,
        unwritten=batch.unwritten,
    )


def tell_notice(run: Run) -> None:
    """Browsers fetch the board: no difference between two batches tells of it."""
    PUBLISHER.publish(run_group(run.pk), messages.RunResync(run=str(run.pk)))


def tell_refusal(run: Run, entry: str, text: Content) -> None:
    """Of a command that got no place: nothing else changed, so no delta tells of it."""
    tell_outcome(run, UntranslatedOutcome(entry, "refused", text))


def tell_outcome(run: Run, outcome: UntranslatedOutcome) -> None:
    PUBLISHER.publish(run_group(run.pk), messages.UntranslatedSettled(run=str(run.pk), outcome=outcome))


def tell_parked(run: Run) -> None:
    PUBLISHER.publish(run_group(run.pk), messages.RunResync(run=str(run.pk)))
    PUBLISHER.publish(EVERYONE, messages.RunsChanged(run=str(run.pk)))


def tell_deletion(run: Run, refused: Iterable[UntranslatedOutcome]) -> None:
    """Of a run that was deleted or brought back: lists change, who looks at it asks anew, visitors leave."""
    for outcome in refused:
        tell_outcome(run, outcome)
    PUBLISHER.publish(run_group(run.pk), messages.RunResync(run=str(run.pk)))
    PUBLISHER.publish(EVERYONE, messages.RunsChanged(run=str(run.pk)))
    for link in run.share_links.values_list("pk", flat=True):
        PUBLISHER.send(share_group(link), {"type": "share.ended"})
    PUBLISHER.publish(EVERYONE, messages.WaitingCount(**waiting_count()))


def tell_analysis(analysis: Analysis, status: str) -> None:
    run = str(analysis.run_id)
    message = messages.AnalysisChanged(run=run, id=str(analysis.pk), name=analysis.name, status=status)
    PUBLISHER.publish(run_group(run), message)
