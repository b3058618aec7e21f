"""What came to a real cluster after a moment of the run beside it, for a fork that leaves the run there.

It is the run's journal from there on, as inputs of the fork's own (schedweb/engine/unfollowed.py). What the run itself
wrote, and what became of that, is none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from framework.sentences import Sentence, counted_sentence, forms
from schedweb.api.errors import ApiError, conflict
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.playing.commands import command_insert
from schedweb.runs.records.thinned import base_moment
from schedweb.sentences import say

OBSERVED: Final = "cluster_changes"
EXPECTED: Final = "arrivals"
"""Of a run that is a fork itself: what was still to come to it."""
UNFOLLOW: Final = "unfollow"
IN_ONE: Final = 500
"""Changes in one entry, or few more."""
MOST: Final = 100_000
"""Changes that one fork takes: they are copied while somebody waits."""
TAKES: Final = forms(
    "takes what came to {cluster} afterwards: {count} change from {first} to {last}",
    "takes what came to {cluster} afterwards: {count} changes from {first} to {last}",
)


@dataclass(frozen=True, slots=True)
class Came:
    cluster: str
    changes: int
    first: int
    """Nanoseconds since 1970, as the next."""
    last: int

    def words(self) -> Sentence:
        times = {name: f"{base_moment(at):%Y-%m-%d %H:%M:%S} UTC" for name, at in self.times}
        return counted_sentence(*TAKES, self.changes, cluster=self.cluster, **times)

    @property
    def times(self) -> tuple[tuple[str, int], ...]:
        return (("first", self.first), ("last", self.last))

    def stored(self) -> dict[str, Any]:
        return {"cluster": self.cluster, "changes": self.changes, **dict(self.times)}


def refuse_without_arrivals(parent: Run, position: int) -> None:
    """Raises ApiError where no cluster's changes come to the run there."""
    if not parent.began_observing:
        raise conflict(
            say("{run} is not beside a real cluster: nothing came to one afterwards.", run=parent),
            code="no_arrivals",
            path="arrivals",
        )
    if JournalEntry.objects.filter(run=parent, type=UNFOLLOW, position__lt=position).exists():
        raise conflict(
            say(
                "{run} has left its cluster before step {position:,}. What is still to come to it comes to its forks "
                "as well.",
                run=parent,
                position=position,
            ),
            code="no_arrivals",
            path="arrivals",
        )


def arrivals_insert(parent: Run, fork: Run, user: Any, position: int) -> Came:
    """As commands of the fork, behind the one that leaves the cluster. Raises ApiError where there are none, or too
    many."""
    cluster = parent.snapshot.context
    count = first = last = 0
    bundle: list[dict[str, Any]] = []
    size = 0
    for at, changes in came_after(parent, position):
        count += len(changes)
        if count > MOST:
            raise ApiError(
                say(
                    "More than {most:,} changes came to {cluster} after step {position:,} of {run}, and a fork takes "
                    "no more. Choose a later step.",
                    most=MOST,
                    cluster=cluster,
                    position=position,
                    run=parent,
                ),
                code="too_many",
                status_code=422,
                path="arrivals",
            )
        first, last = first or at, max(last, at)
        bundle.append({"at": at, "changes": changes})
        size += len(changes)
        if size >= IN_ONE:
            command_insert(run=fork, user=user, content={"type": EXPECTED, "told": bundle})
            bundle, size = [], 0
    if bundle:
        command_insert(run=fork, user=user, content={"type": EXPECTED, "told": bundle})
    if not count:
        raise conflict(
            say(
                "Nothing came to {cluster} after step {position:,} of {run}. Choose an earlier step.",
                cluster=cluster,
                position=position,
                run=parent,
            ),
            code="no_arrivals",
            path="arrivals",
        )
    return Came(cluster, count, first, last)


def rest_insert(parent: Run, fork: Run, user: Any, position: int) -> None:
    """Of a parent that left its cluster before: entries of what is still to come that stand behind the step. All of
    them belong to the moment at which it left, and the step may be in their middle."""
    rows = JournalEntry.objects.filter(run=parent, type=EXPECTED, position__gte=position)
    for content in rows.filter(status=JournalEntry.Status.APPLIED).order_by("number").values_list("command", flat=True):
        command_insert(run=fork, user=user, content=content)


def came_after(parent: Run, position: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """(when, what), in the order in which it came."""
    known = JournalEntry.objects.filter(run=parent, type__in=(OBSERVED, EXPECTED), position__gte=position)
    rows = (
        known.filter(status=JournalEntry.Status.APPLIED).order_by("position", "number").values_list("type", "command")
    )
    for type_, command in rows.iterator(chunk_size=100):
        for each in (command,) if type_ == OBSERVED else command["told"]:
            yield each["at"], each["changes"]
