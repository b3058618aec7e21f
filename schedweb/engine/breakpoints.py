"""Breakpoints: after every operation, whether one of them is hit. They pause a run and never change what it decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from framework.objects import Pod
from framework.trace.attempt import AttemptTrace
from schedweb.engine.commands import BreakpointSet
from schedweb.engine.player import Happened, Player
from schedweb.engine.pod_filter import PodQuery, parse_query
from schedweb.engine.pod_view import PodView

WORDS: Final = {"in_flight": "in flight"}


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    text: str
    pod: str


class Breakpoints:
    """Part of the pace, so that a takeover knows them, and whether the run stands at one."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[BreakpointSet, PodQuery]] = {}
        self.hit: Hit | None = None

    def set(self, asked: BreakpointSet) -> None:
        self.known[asked.id] = (asked, parse_query(asked.filter))

    def remove(self, id_: str) -> None:
        self.known.pop(id_, None)

    def look(self, player: Player, happened: Happened) -> Hit | None:
        """The first that this operation hit, in the order in which they were set."""
        entered, player.projection.entered_now = player.projection.entered_now, []
        for asked, query in self.known.values():
            for view, text in self._happenings(asked, player, happened, entered):
                pod = player.world.cluster.get(Pod, view.namespace, view.name)
                if query.matches(view.namespace, view.name, {} if pod is None else pod.metadata.labels):
                    return Hit(asked.id, f"{view.key} {text}", view.key)
        return None

    def _happenings(
        self, asked: BreakpointSet, player: Player, happened: Happened, entered: list[tuple[PodView, str]]
    ) -> Iterator[tuple[PodView, str]]:
        """Pods that did what is asked for, and what that was."""
        if asked.on == "status":
            for view, column in entered:
                if column == asked.value:
                    yield view, f"is {WORDS.get(column, column)}"
            return
        trace = player.under_way if happened is Happened.POINT else None
        if trace is not None:
            tried = player.projection.views.get(trace.uid)
            if tried is None:
                return
            if asked.on == "point" and tried.point == asked.value:
                yield tried, f"reached {asked.value}"
            elif asked.on == "rejection" and tried.point == "Filter" and (node := rejected_node(trace, asked)):
                yield tried, f"was rejected by {asked.value} on {node}"
        elif asked.on == "rejection" and happened is Happened.CYCLE and not asked.node:
            for ended in player.traces[-1:]:
                early = ended.pre_filter_status
                refused = player.projection.views.get(ended.uid)
                if early is not None and early.plugin == asked.value and refused is not None:
                    yield refused, f"was rejected by {asked.value} on every node"


def rejected_node(trace: AttemptTrace, asked: BreakpointSet) -> str:
    """The first node that the plugin rejected; empty when there is none."""
    found = trace.filter
    if found is None:
        return ""
    guilty = {index for index, status in enumerate(found.verdicts) if index and status.plugin == asked.value}
    for name, index in zip(found.nodes, found.verdict.tolist(), strict=True):
        if index in guilty and asked.node in ("", name):
            return name
    return ""
