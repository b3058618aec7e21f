"""Which checkpoints of a run are kept: the newest, and some spread over all of it."""

from __future__ import annotations

import pytest

from schedweb.runs.models import AttemptChunk, Checkpoint, StepChunk
from schedweb.runs.storing.batches import KEPT_CHECKPOINTS, too_close
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
def test_the_size_of_a_run_is_that_of_what_is_kept(played: Game) -> None:
    for _ in range(KEPT_CHECKPOINTS + 2):
        played.command("node_cordon", name="a")
        played.play()
    kept = [bytes(each) for each in Checkpoint.objects.values_list("data", flat=True)]
    assert len(kept) == KEPT_CHECKPOINTS
    chunks = AttemptChunk.objects.values_list("traces", "usage", "usage_base")
    want = sum(map(len, kept)) + sum(len(bytes(part or b"")) for chunk in chunks for part in chunk)
    want += sum(len(bytes(steps)) for steps in StepChunk.objects.values_list("steps", flat=True))
    assert played.run.stored_bytes == want


def test_few_checkpoints_are_all_kept() -> None:
    assert too_close([5, 6, 7]) == []
