"""Which checkpoints of a run are kept: the newest, and some spread over all of it."""

from __future__ import annotations

import pytest

from schedweb.engine.frames import Kept
from schedweb.runs.models import Checkpoint
from schedweb.runs.storing.batches import KEPT_CHECKPOINTS, BatchWriter, too_close
from schedweb.runs.storing.lease import Lease, LeaseLost
from tests.schedweb.runs.conftest import Game


def test_kept_checkpoints_are_spread_over_the_run_and_the_newest_two_stay() -> None:
    kept: list[int] = []
    for position in range(10, 5000, 10):
        kept.append(position)
        for dropped in too_close(kept):
            kept.remove(dropped)
        assert kept[-2:] == [each for each in (position - 10, position) if each > 0]
        assert len(kept) <= KEPT_CHECKPOINTS
    gaps = [after - before for before, after in zip([0, *kept], kept[:-1], strict=False)]
    assert max(gaps) <= 2 * 4990 // (KEPT_CHECKPOINTS - 2), kept


@pytest.mark.django_db(transaction=True)
def test_of_many_checkpoints_some_are_kept(played: Game) -> None:
    for _ in range(KEPT_CHECKPOINTS + 2):
        played.command("node_cordon", name="a")
        played.play()
    assert Checkpoint.objects.count() == KEPT_CHECKPOINTS


def test_few_checkpoints_are_all_kept() -> None:
    assert too_close([5, 6, 7]) == []


@pytest.mark.django_db(transaction=True)
def test_who_lost_the_lease_keeps_no_checkpoint(played: Game) -> None:
    run = played.run
    before = set(Checkpoint.objects.values_list("position", flat=True))
    writer = BatchWriter(Lease(run.pk, run.epoch - 1, "gone", taken_over=False, lost_at=None), run)
    with pytest.raises(LeaseLost):
        writer.keep(Kept(run.position - 1, "digest", run.clock, b"checkpoint"))
    assert set(Checkpoint.objects.values_list("position", flat=True)) == before
    BatchWriter(Lease(run.pk, run.epoch, "here", taken_over=False, lost_at=None), run).keep(
        Kept(run.position - 1, "digest", run.clock, b"checkpoint")
    )
    assert set(Checkpoint.objects.values_list("position", flat=True)) == {*before, run.position - 1}
