"""Breakpoints: after every operation, whether one of them is hit. They pause a run and never change what it decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from framework.objects import Pod
from framework.sentences import Sentence, noted
from framework.trace.attempt import AttemptTrace
from schedweb.engine.commands import BreakpointSet
from schedweb.engine.player import Happened, Player
from schedweb.engine.pod_filter import PodQuery, parse_query
from schedweb.engine.pod_view import PodView

IS_IN: Final = {
    "gated": noted("{pod} is gated"),
    "active": noted("{pod} is active"),
    "backoff": noted("{pod} is backoff"),
    "unschedulable": noted("{pod} is unschedulable"),
    "in_flight": noted("{pod} is in flight"),
    "waiting": noted("{pod} is waiting"),
    "bound": noted("{pod} is bound"),
    "deleted": noted("{pod} is deleted"),
    "completed": noted("{pod} is completed"),
}


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    text: Sentence
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
            for view, text, about in self._happenings(asked, player, happened, entered):
                pod = player.world.cluster.get(Pod, view.namespace, view.name)
                if query.matches(view.namespace, view.name, {} if pod is None else pod.metadata.labels):
                    return Hit(asked.id, Sentence(text, {"pod": view.key, **about}), view.key)
        return None

    def _happenings(
        self, asked: BreakpointSet, player: Player, happened: Happened, entered: list[tuple[PodView, str]]
    ) -> Iterator[tuple[PodView, str, dict[str, str]]]:
        """Pods that did what is asked for, what that was of {pod}, and what else it is about."""
        if asked.on == "status":
            for view, column in entered:
                if column == asked.value:
                    yield view, IS_IN[column], {}
            return
        trace = player.under_way if happened is Happened.POINT else None
        if trace is not None:
            tried = player.projection.views.get(trace.uid)
            if tried is None:
                return
            if asked.on == "point" and tried.point == asked.value:
                yield tried, noted("{pod} reached {point}"), {"point": asked.value}
            elif asked.on == "rejection" and tried.point == "Filter" and (node := rejected_node(trace, asked)):
                yield tried, noted("{pod} was rejected by {plugin} on {node}"), {"plugin": asked.value, "node": node}
        elif asked.on == "rejection" and happened is Happened.CYCLE and not asked.node:
            for ended in player.traces[-1:]:
                early = ended.pre_filter_status
                refused = player.projection.views.get(ended.uid)
                if early is not None and early.plugin == asked.value and refused is not None:
                    yield refused, noted("{pod} was rejected by {plugin} on every node"), {"plugin": asked.value}


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
