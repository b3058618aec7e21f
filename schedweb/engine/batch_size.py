"""How often there is a batch, and how much is in it: as the last ones took to make and to store."""

from __future__ import annotations

FRAME_SECONDS = 0.1
#: Where a batch is much work it is made less often: it may take a sixteenth of the engine's time, and a fifth of the
#: supervisor's, which stores and tells it; but neither makes it later than this.
BATCH_SHARE, STORING_SHARE = 16, 5
LATEST_FRAME_SECONDS, LATEST_STORED_SECONDS = 0.5, 1.0
#: While a batch is not acknowledged the engine goes on, until this much is gathered.
BACKLOG = 20_000
#: A command waits for the batch that is on its way and for what is gathered. So no more is gathered than is stored in
#: this time, as the last batches took; but this much at least.
STORED_SECONDS = 0.1
LEAST_GATHERED = 500


def frame_after(spent: float, stored: float) -> float:
    """Seconds between two batches, if it takes that long to make one, and to have it stored."""
    for_making = min(BATCH_SHARE * spent, LATEST_FRAME_SECONDS)
    return max(FRAME_SECONDS, for_making, min(STORING_SHARE * stored, LATEST_STORED_SECONDS))


def room_after(room: float, size: int, stored: float) -> float:
    """How much is gathered for a batch, after one of that size took that many seconds to store."""
    if stored > STORED_SECONDS:
        return max(LEAST_GATHERED, room * max(0.5, STORED_SECONDS / stored))
    # Of one that was far from full nothing is learnt.
    return min(BACKLOG, room * 1.25) if 2 * size >= room else room
