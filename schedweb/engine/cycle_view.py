"""The cycle under way: which extension points are done, where it stands, who was filtered and the scores so far."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from msgspec import UNSET, UnsetType

from framework.configuration.catalogue import POD_POINTS
from framework.interface.status import Code, Status
from framework.sentences import Words, counted_sentence, sentence
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace
from framework.trace.extended import after_extenders
from schedweb.engine.asked import asked_by
from schedweb.engine.outcomes import score_words, victims_words
from schedweb.engine.player import Player
from schedweb.engine.shapes import (
    CycleAsking,
    CycleFiltered,
    CycleGroup,
    CyclePoint,
    CycleScored,
    CycleScorer,
    CycleScoreRow,
    UntranslatedCycle,
)
from schedweb.engine.times import iso

POINTS: Final = tuple(point.label for point in POD_POINTS)
NAMED: Final = 8
ROWS: Final = 8


def cycle_of(player: Player, asked_since: int | None = None) -> UntranslatedCycle | None:
    """None between two cycles. ``asked_since``: nanoseconds of wall time since which extenders are asked, who may be
    asked by a binding cycle; None where nobody asks them."""
    asking = asking_of(player, asked_since)
    binding = asking is not UNSET and asking.verb == "bind"
    trace = player.scheduler.core.binders[0].trace if binding else player.under_way
    if trace is None:
        return None
    view = player.projection.views.get(trace.uid)
    if view is None:
        return None
    reached = "Bind" if binding else view.point or "QueueSort"
    at = POINTS.index(reached) if reached in POINTS else 1
    return UntranslatedCycle(
        pod=view.ref(),
        attempt=trace.attempt,
        points=[
            CyclePoint(point, state_of(point, trace) if place < at else "current" if place == at else "next")
            for place, point in enumerate(POINTS)
        ],
        note=note_of(reached, trace),
        filtered=filtered(trace, filters_of(player, trace)),
        scored=scored(trace),
        asking=asking,
    )


def asking_of(player: Player, since: int | None) -> CycleAsking | UnsetType:
    asked = None if since is None else asked_by(player)
    if asked is None or since is None:
        return UNSET
    requests = [each.request for each in asked.requests]
    return CycleAsking(
        extenders=[each.name for each in requests],
        verb=requests[0].verb,
        since=iso(since),
        timeout=max(each.timeout for each in requests) / 1e9,
    )


def state_of(point: str, trace: AttemptTrace) -> Literal["done", "skipped"]:
    """Of a point that the cycle has behind it: ``skipped`` when no plugin had anything to say there."""
    if point == "PostFilter":
        return "done" if trace.post_filter else "skipped"
    if point in ("PreScore", "Score"):
        return "skipped" if trace.scores is None else "done"
    statuses = {
        "PreFilter": [each.status for each in trace.pre_filter],
        "Reserve": [each.status for each in trace.reserve],
        "Permit": [each.status for each in trace.permit],
        "PreBind": [each.status for each in trace.pre_bind],
    }.get(point)
    return "skipped" if statuses is not None and all(each.code is Code.SKIP for each in statuses) else "done"


def filters_of(player: Player, trace: AttemptTrace) -> list[str]:
    """The Filter plugins of the attempt's profile, in the order in which a node is asked about."""
    profile = player.scheduler.profiles.get(trace.profile)
    return [] if profile is None else [plugin.name for plugin in profile.enabled.filter]


def filtered(trace: AttemptTrace, filters: list[str]) -> CycleFiltered | None:
    """Nodes by who refused them first: PreFilter, then the filters in their order. None before Filter."""
    found = after_extenders(trace)
    if found is None or not trace.nodes_total:
        return None
    verdict = found.verdict
    left = np.flatnonzero(verdict == FEASIBLE)
    numbers = [number for number in np.unique(verdict).tolist() if number > FEASIBLE]
    groups = []
    for number in numbers:
        nodes, status = np.flatnonzero(verdict == number), found.verdicts[number]
        groups.append(group(status, len(nodes), [found.nodes[each] for each in nodes[:NAMED]]))
    place = {name: number for number, name in enumerate(filters)}
    absent = np.flatnonzero(verdict == NOT_EVALUATED)
    if len(absent) and trace.absent_status is not None:
        groups.append(group(trace.absent_status, len(absent), [found.nodes[each] for each in absent[:NAMED]]))
    return CycleFiltered(
        of=trace.nodes_total,
        left=len(left),
        named=[found.nodes[each] for each in left[:NAMED]],
        unseen=len(absent) if trace.absent_status is None else 0,
        nominated=trace.nominated_node_used,
        batched_with=trace.batched_with or UNSET,
        groups=sorted(groups, key=lambda each: (place.get(each.plugin, -1), -each.nodes)),
    )


def group(status: Status, nodes: int, named: list[str]) -> CycleGroup:
    return CycleGroup(status.plugin, status.code.name_, list(status.all_reasons), nodes, named)


def scored(trace: AttemptTrace) -> CycleScored | None:
    """The best nodes, plugin by plugin. None before Score, and where nothing was scored."""
    scores = trace.scores
    if scores is None or trace.filter is None:
        return None
    names, positions, total, plugins = trace.filter.nodes, scores.positions, scores.total, scores.plugins
    best = np.argsort(-total, kind="stable")[:ROWS].tolist()
    return CycleScored(
        nodes=len(total),
        tied=scores.ties,
        plugins=[CycleScorer(each.plugin, each.weight) for each in plugins],
        rows=[
            CycleScoreRow(
                node=names[positions[place]],
                raw=[int(each.raw[place]) for each in plugins],
                normalized=[int(each.normalized[place]) for each in plugins],
                total=int(total[place]),
            )
            for place in best
        ],
    )


def note_of(reached: str, trace: AttemptTrace) -> Words:
    if reached == "QueueSort":
        return sentence("taken from the head of Active")
    if reached == "PreFilter":
        skipped = sum(1 for each in trace.pre_filter if each.status.code.name == "SKIP")
        return sentence(
            "{looking}, {skipped}",
            looking=counted_sentence(
                "{count} plugin looks at it", "{count} plugins look at it", len(trace.pre_filter) - skipped
            ),
            skipped=counted_sentence("{count} has nothing to say", "{count} have nothing to say", skipped),
        )
    if reached == "Filter" and trace.filter is not None:
        found = after_extenders(trace)
        left = 0 if found is None else int(np.count_nonzero(found.verdict == FEASIBLE))
        return counted_sentence(
            "{left} of {count} node left", "{left} of {count} nodes left", trace.nodes_total, left=left
        )
    if reached == "PostFilter":
        return victims_words(trace)
    if reached == "Score":
        return score_words(trace)
    if trace.selected:
        return sentence("on {node}", node=trace.selected)
    return ""
