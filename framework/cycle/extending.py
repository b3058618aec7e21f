"""Extenders in a cycle: asking them, and what their answers change.

Rules: docs/semantics/extenders.md. A cycle that asks stands still: it yields ``ASKS``, which is no extension point,
until all its requests are answered.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

import numpy as np

from framework.columns import Snapshot
from framework.columns.usage import wrap
from framework.configuration.errors import go_quote
from framework.cycle.core import Asked, SchedulingCore
from framework.cycle.diagnosis import NodeToStatus
from framework.extenders import Answer, Entry, Extender, ExtenderError, Filtered, Prioritized, Request
from framework.extenders.extender import SCALE
from framework.interface.plugin import Candidate
from framework.interface.status import SUCCESS, Status
from framework.objects import Pod
from framework.profiles import FeasibleNodes
from framework.profiles.scoring import Scored
from framework.trace.attempt import MOST_LEFT_OUT, AttemptTrace, ExtenderCall, ExtenderPoints, ScoreTrace

ASKS: Final = "asks an extender"
Asking = Generator[str, None, tuple[Answer, ...]]


def ask(core: SchedulingCore, requests: Sequence[Request]) -> Asking:
    """The answers, in the requests' order."""
    if core.answerer is not None:
        return tuple(core.answerer(requests))
    asked = core.asked = Asked(tuple(requests))
    while asked.answers is None:
        yield ASKS
    core.asked = None
    return asked.answers


def interested(core: SchedulingCore, pod: Pod) -> list[Extender]:
    return [each for each in core.extenders if each.is_interested(pod)]


# --- Filter -----------------------------------------------------------------------------------------------------------


class ExtenderFilter:
    """The filter extenders of one attempt, one after the other: each gets what the one before left."""

    def __init__(self, core: SchedulingCore, pod: Pod, trace: AttemptTrace) -> None:
        self._core = core
        self._pod = pod
        self._trace = trace
        self.statuses: NodeToStatus | None = None
        """The attempt's; set when PreFilter has passed."""
        self._guests: list[int] = []

    def run(self, nodes: FeasibleNodes) -> Generator[str, None, FeasibleNodes | Status]:
        """What is left of ``nodes``, or the error that ends the search."""
        core, snapshot = self._core, self._core.snapshot
        sent = rows = nodes.rows.tolist()
        for extender in core.extenders:
            if not rows:
                break
            if not extender.filters or not extender.is_interested(self._pod):
                continue
            entries = entries_of(snapshot, rows)
            request = extender.filter_request(self._pod, entries)
            (answer,) = yield from ask(core, (request,))
            try:
                found = extender.read_filter(request, answer, entries)
            except ExtenderError as error:
                note(self._trace, failed_call(extender, "filter", len(entries), error))
                if extender.ignorable:
                    core.observer.logged(f"Skipping extender {extender.name} in filter: {error}")
                    continue
                return Status.as_error(str(error))
            self._take_statuses(found)
            rows = list(found.rows) if found.nodes is None else self._admit(found)
            self._note(extender, entries, found, rows)
        if rows == sent:
            return nodes
        return FeasibleNodes(nodes.pod_class, snapshot.order, nodes.first, np.array(rows, dtype=np.intp))

    def _admit(self, found: Filtered) -> list[int]:
        assert found.nodes is not None
        rows = self._core.snapshot.admit_guests(found.nodes)
        self._guests += rows
        return rows

    def dismiss(self) -> None:
        """Node objects of extenders are no part of the snapshot that others see."""
        if self._guests:
            self._core.snapshot.dismiss_guests(self._guests)
            self._guests = []

    def _take_statuses(self, found: Filtered) -> None:
        """Of any names: an extender may speak of nodes that plugins have refused, or that do not exist."""
        said = {name: Status.unresolvable(text) for name, text in found.failed_and_unresolvable.items()}
        for name, text in found.failed.items():
            if name not in said:
                said[name] = Status.unschedulable(text)
        assert self.statuses is not None
        self.statuses.named.update(said)
        told = dict(self._trace.extender_statuses) | said
        self._trace.extender_statuses = tuple(sorted(told.items()))

    def _note(self, extender: Extender, entries: Sequence[Entry], found: Filtered, rows: Sequence[int]) -> None:
        left = {self._core.snapshot.name_of_row(row) for row in rows}
        out = [entry.node.metadata.name for entry in entries if entry.node.metadata.name not in left]
        reasons = {**found.failed, **found.failed_and_unresolvable}
        failed = tuple(sorted(reasons.items())[:MOST_LEFT_OUT])
        call = ExtenderCall(extender.name, "filter", len(entries), len(rows), "", False, tuple(out[:MOST_LEFT_OUT]))
        note(self._trace, call._replace(failed=failed, new_objects=found.nodes is not None))


def entries_of(snapshot: Snapshot, rows: Sequence[int]) -> list[Entry]:
    entries = []
    for row in rows:
        info = snapshot.info_of_row(row)
        assert info is not None
        assert info.node is not None
        entries.append(Entry(row, info.node))
    return entries


def positions_of(core: SchedulingCore, nodes: FeasibleNodes, trace: AttemptTrace) -> list[int]:
    """Of what extenders left, in the attempt's node list; names that only an extender knows come behind it."""
    assert trace.filter is not None
    snapshot = core.snapshot
    places: dict[str, int] = {}
    positions: list[int] = []
    for row in nodes.rows.tolist():
        position = int(snapshot.position_of_row[row])
        if position < 0:
            name = snapshot.name_of_row(row)
            if snapshot.get(name) is not None:
                position = int(snapshot.position_of_row[snapshot.row(name)])
            else:
                position = places.setdefault(name, len(trace.filter.nodes) + len(places))
        positions.append(position)
    if places:
        trace.filter.append_names(tuple(places))
    return positions


def note(trace: AttemptTrace, call: ExtenderCall) -> None:
    trace.extender_calls = (*trace.extender_calls, call)


def failed_call(extender: Extender, verb: str, sent: int, error: ExtenderError) -> ExtenderCall:
    ignored = verb == "prioritize" or extender.ignorable
    return ExtenderCall(extender.name, verb, sent, 0, str(error), ignored)


# --- Score ------------------------------------------------------------------------------------------------------------


def prioritize(
    core: SchedulingCore, pod: Pod, nodes: FeasibleNodes, trace: AttemptTrace
) -> Generator[str, None, list[tuple[Extender, Prioritized]]]:
    """What every interested extender says, all asked at once; one that fails says nothing."""
    asked = interested(core, pod)
    entries = entries_of(core.snapshot, nodes.rows.tolist()) if asked else []
    requests = [each.prioritize_request(pod, entries) for each in asked if each.prioritizes]
    answers = list((yield from ask(core, requests))) if requests else []
    found: list[tuple[Extender, Prioritized]] = []
    for extender in asked:
        if not extender.prioritizes:
            found.append((extender, Prioritized(tuple((entry.node.metadata.name, 0) for entry in entries), 0)))
            continue
        try:
            said = extender.read_prioritize(requests.pop(0), answers.pop(0))
        except ExtenderError as error:
            note(trace, failed_call(extender, "prioritize", len(entries), error))
            core.observer.logged(f"Failed to run the priority function of extender {extender.name}: {error}")
            continue
        hosts = {host for host, _ in said.scores}
        note(trace, ExtenderCall(extender.name, "prioritize", len(entries), len(hosts)))
        found.append((extender, said))
    return found


def add_points(
    scored: Scored, names: Sequence[str], positions: Sequence[int], said: Sequence[tuple[Extender, Prioritized]]
) -> tuple[ScoreTrace, tuple[ExtenderPoints, ...], list[bool]]:
    """(the scores with the extenders', each extender's part, whether a node has an entry of some extender).

    As Go adds int64, so what is too large wraps.
    """
    plain = scored.trace.whole()
    total = plain.total.copy()
    has_entry = [False] * len(names)
    parts = []
    for extender, prioritized in said:
        by_host: dict[str, int] = {}
        for host, score in prioritized.scores:
            by_host[host] = wrap(by_host.get(host, 0) + wrap(wrap(score * prioritized.weight) * SCALE))
        points = [by_host.get(name) for name in names]
        has_entry = [before or name in by_host for before, name in zip(has_entry, names, strict=True)]
        total += np.array([each or 0 for each in points], dtype=np.int64)
        parts.append(ExtenderPoints(extender.name, prioritized.weight, tuple(points)))
    where = np.array(positions, dtype=np.intp)
    return ScoreTrace(where, plain.plugins, total, where[total == total.max()]), tuple(parts), has_entry


# --- PostFilter -------------------------------------------------------------------------------------------------------


class Preemption:
    """Lets extenders say which candidates are left, and with which victims."""

    def __init__(self, core: SchedulingCore, trace: AttemptTrace) -> None:
        self._core = core
        self._trace = trace

    def review(self, pod: Pod, candidates: Sequence[Candidate]) -> Generator[str, None, Sequence[Candidate] | Status]:
        core = self._core
        for extender in core.extenders:
            if not extender.preempts or not extender.is_interested(pod):
                continue
            request = extender.preempt_request(pod, candidates)
            (answer,) = yield from ask(core, (request,))
            try:
                left = extender.read_preempt(request, answer, core.snapshot.get)
                left = self._with_victims(extender, left)
            except ExtenderError as error:
                note(self._trace, failed_call(extender, "preempt", len(candidates), error))
                if extender.ignorable:
                    core.observer.logged(f"Skipped extender {extender.name} in preemption: {error}")
                    continue
                return Status.as_error(str(error))
            out = tuple(each.node for each in candidates if each.node not in left)[:MOST_LEFT_OUT]
            call = ExtenderCall(extender.name, "preempt", len(candidates), len(left))
            note(self._trace, call._replace(left_out=out))
            candidates = list(left.values())
            if not candidates:
                break
        return candidates

    @staticmethod
    def _with_victims(extender: Extender, left: dict[str, Candidate]) -> dict[str, Candidate]:
        """Raises ExtenderError for a node where nobody would have to go."""
        empty = [node for node, candidate in left.items() if not candidate.victims]
        if empty and not extender.ignorable:
            raise ExtenderError(f"expected at least one victim pod on node {go_quote(empty[0])}")
        return {node: candidate for node, candidate in left.items() if candidate.victims}


# --- Bind -------------------------------------------------------------------------------------------------------------


def binding_of(
    core: SchedulingCore, extender: Extender, request: Request, answer: Answer, pod: Pod, node: str, trace: AttemptTrace
) -> Status | None:
    """SUCCESS, or the error that fails the binding; None for one that is ignored, so that others may bind.

    An extender that says that it has bound the pod has told the API server, which is played here.
    """
    trace.bound_by = extender.name
    try:
        extender.read_bind(request, answer)
    except ExtenderError as error:
        note(trace, failed_call(extender, "bind", 1, error))
        if extender.ignorable:
            core.observer.logged(f"Skipping extender {extender.name} in bind: {error}")
            trace.bound_by = ""
            return None
        return Status.as_error(str(error))
    note(trace, ExtenderCall(extender.name, "bind", 1, 1))
    refused = core.api.bind(pod, node)
    if refused is not None:
        core.observer.logged(f"The binding of extender {extender.name} is not there: {refused}")
    return SUCCESS
