"""The board's columns, made of pod views when they are asked for: at most 50 cards each, the rest as a number."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from msgspec import UNSET

from schedweb.engine.pod_view import PodView, permit_wait
from schedweb.engine.shapes import QUEUES, Card, Column, Gang, PodColumn, QueueName
from schedweb.engine.times import iso, iso_or_none

CARDS: Final = 50
#: Pods looked at for a column of groups: enough for 50 cards unless almost all pods are alike.
LOOKED_AT: Final = 400
TAILS: Final = 10


class Board:
    def __init__(self) -> None:
        self.pods: dict[str, dict[str, PodView]] = {column: {} for column in QUEUES}
        self.groups: dict[str, dict[str, dict[str, PodView]]] = {column: {} for column in QUEUES}
        """column → group_key → uid → view."""
        self.active: dict[int, dict[str, PodView]] = {}
        """Priority → uid → view of those in Active, in the order of entry."""

    def enter(self, view: PodView, column: PodColumn) -> None:
        """`column` may be none of the board's: the pod is deleted or completed."""
        self.leave(view)
        view.column = column
        if column in self.pods:
            self.pods[column][view.uid] = view
        if column == "active":
            self.active.setdefault(view.priority, {})[view.uid] = view
        self.regroup(view)

    def put_bound(self, views: Iterable[PodView]) -> None:
        """``enter`` for views that were nowhere yet; bound pods are in no group."""
        bound = self.pods["bound"]
        for view in views:
            view.column = "bound"
            bound[view.uid] = view

    def leave(self, view: PodView) -> None:
        if view.column in self.pods:
            self.pods[view.column].pop(view.uid, None)
        if view.column == "active":
            alike = self.active[view.priority]
            del alike[view.uid]
            if not alike:
                del self.active[view.priority]
        self._ungroup(view)

    def regroup(self, view: PodView) -> None:
        """After a change of what its card shows."""
        key = view.group()
        if key == view.group_key:
            return
        self._ungroup(view)
        view.group_key = key
        if key:
            self.groups[view.column].setdefault(key, {})[view.uid] = view

    def _ungroup(self, view: PodView) -> None:
        if view.group_key:
            groups = self.groups[view.column]
            members = groups[view.group_key]
            del members[view.uid]
            if not members:
                del groups[view.group_key]
        view.group_key = ""

    def counts(self) -> dict[str, int]:
        return {column: len(pods) for column, pods in self.pods.items()}

    def numbers(self) -> tuple[int, ...]:
        """The counts in the order of ``QUEUES``."""
        return tuple(map(len, self.pods.values()))

    def column(
        self,
        name: QueueName,
        *,
        gang_of: Callable[[PodView], Gang | None],
        next_flush: int | None = None,
        active_order: Iterable[str] | None = None,
    ) -> Column:
        """`active_order`: uids in the order of the queue's sort, when it is not priority and age."""
        pods = self.pods[name]
        shown = self._first(name, active_order)
        cards, covered = self._cards(name, shown, gang_of)
        column = Column(count=len(pods), cards=cards, more=len(pods) - covered)
        if name == "backoff" and column.more:
            column.latest = iso(max(view.until for view in pods.values()))
        if name == "unschedulable":
            column.next_flush_at = iso_or_none(next_flush)
        return column

    def _first(self, name: str, active_order: Iterable[str] | None) -> list[PodView]:
        pods = self.pods[name]
        if name == "bound":
            return list(islice(reversed(pods.values()), CARDS))
        if name == "active":
            if active_order is not None:
                return [pods[uid] for uid in islice(active_order, LOOKED_AT) if uid in pods]
            ordered = (
                view for priority in sorted(self.active, reverse=True) for view in self.active[priority].values()
            )
            return list(islice(ordered, LOOKED_AT))
        if name in ("backoff", "waiting"):
            return heapq.nsmallest(LOOKED_AT, pods.values(), key=lambda view: (view.place, view.entered))
        if name == "in_flight":
            return list(islice(pods.values(), CARDS))
        # The columns of groups: one pod per group suffices, and groups are far fewer than pods.
        return [next(iter(members.values())) for members in islice(self.groups[name].values(), CARDS)]

    def _cards(
        self, name: str, shown: list[PodView], gang_of: Callable[[PodView], Gang | None]
    ) -> tuple[list[Card], int]:
        cards: list[Card] = []
        seen: set[str] = set()
        covered = 0
        for position, view in enumerate(shown, start=1):
            if len(cards) == CARDS:
                break
            members = self.groups[name].get(view.group_key)
            if members is None or len(members) == 1:
                card = view.card(gang_of(view))
                covered += 1
            elif view.group_key in seen:
                continue
            else:
                seen.add(view.group_key)
                card = group_card(view, list(members.values()), gang_of(view))
                covered += len(members)
            if name == "active":
                card.position = position
            cards.append(card)
        return cards, covered


def group_card(first: PodView, members: list[PodView], gang: Gang | None) -> Card:
    card = first.card(gang)
    card.kind, card.key, card.uid = "group", first.group_key, UNSET
    card.count = len(members)
    card.since = iso_or_none(min(view.since for view in members))
    card.attempts = max(view.attempts for view in members)
    card.pods = [view.tail or view.name for view in members[:TAILS]]
    if first.column == "waiting":
        # The group's countdown is that of the member whose time is up first.
        soonest = min(members, key=lambda view: view.deadline)
        card.waiting = [permit_wait(wait) for wait in soonest.waits]
        nodes = {view.node for view in members}
        card.node = first.node if len(nodes) == 1 else None
        card.score = None
    return card
