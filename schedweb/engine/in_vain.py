"""What an attempt may do in vain for ever on a virtual clock, where for ever is at once (docs/semantics/runs.md)."""

from __future__ import annotations

from typing import Final

from framework.scheduler.stillness import WAITS_IN_VAIN, is_endless
from framework.sentences import Sentence, sentence
from framework.trace.attempt import AttemptTrace

#: A controller may bring a victim back to where it was, before the pod that preempted it is tried again: for ever.
PREEMPTIONS_IN_VAIN: Final = 20


def made_room(counts: dict[str, int], trace: AttemptTrace) -> Sentence | None:
    """``counts``: uid → how often it made room for itself, and has no node yet. A sentence when that was too often."""
    if not trace.nomination:
        if trace.result == "bound":
            counts.pop(trace.uid, None)
        return None
    count = counts[trace.uid] = counts.get(trace.uid, 0) + 1
    if count < PREEMPTIONS_IN_VAIN:
        return None
    counts.clear()
    return sentence(
        "{pod} made room on {node} {count} times in vain: who was evicted came back before it was tried again. "
        "The run is paused.",
        pod=trace.pod,
        node=trace.nomination,
        count=count,
    )


def lost_again(counts: dict[str, int], trace: AttemptTrace) -> Sentence | None:
    """``counts``: uid → how often it had a node and lost it, with no pod bound and nothing from outside in between. A
    sentence when that was too often. Errors are counted elsewhere."""
    if trace.result != "failed":
        counts.clear()
        return None
    if not trace.selected or is_endless(trace):
        return None
    count = counts[trace.uid] = counts.get(trace.uid, 0) + 1
    if count < WAITS_IN_VAIN:
        return None
    counts.clear()
    return sentence(
        "{pod} had a node {count} times, {node} the last time, and lost it each time before it was bound, and no pod "
        "was bound in between. The run is paused.",
        pod=trace.pod,
        node=trace.selected,
        count=count,
    )
