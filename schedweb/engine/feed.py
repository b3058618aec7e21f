"""The activity feed: what happened, one line each; equal happenings of one workload in one batch become one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from schedweb.engine.pod_view import PodView
from schedweb.runs.times import iso

#: More lines than this in one batch (ten batches a second) nobody can read; what is left out is counted.
MOST: Final = 40
SHOWN_PODS: Final = 20
Part = dict[str, str]


def text(words: str) -> Part:
    return {"t": "text", "v": words}


def pod(view: PodView) -> Part:
    return {"t": "pod", "v": view.key}


def node(name: str) -> Part:
    return {"t": "node", "v": name}


def number(amount: object) -> Part:
    return {"t": "num", "v": str(amount)}


@dataclass(slots=True)
class Line:
    """`parts` follow the pod (or "n × workload"); lines with one signature are told together."""

    at: int
    kind: str
    state: str
    parts: list[Part]
    signature: tuple[object, ...]
    views: list[PodView] = field(default_factory=list)
    nodes: tuple[str, ...] = ()
    highlight: bool = False


class Feed:
    def __init__(self) -> None:
        self.lines: dict[tuple[object, ...], Line] = {}
        self.left_out = 0
        self.serial = 0

    def pod_line(
        self,
        at: int,
        kind: str,
        view: PodView,
        parts: Sequence[Part],
        *,
        state: str = "",
        nodes: tuple[str, ...] = (),
        alone: bool = False,
        highlight: bool = False,
    ) -> None:
        """`alone`: never told together with others."""
        self.serial += 1
        said = tuple(part["v"] for part in parts if part["t"] != "node")
        unique = (self.serial,) if alone else ()
        signature = (kind, state, view.namespace, view.workload, said, *unique)
        line = self.lines.get(signature)
        if line is None:
            line = Line(at, kind, state, list(parts), signature, nodes=nodes, highlight=highlight)
            if not self._keep(line):
                return
        elif nodes and len(line.nodes) < SHOWN_PODS:
            line.nodes = (*line.nodes, *nodes)
        line.at = at
        line.views.append(view)

    def line(
        self,
        at: int,
        kind: str,
        parts: Sequence[Part],
        *,
        state: str = "",
        nodes: tuple[str, ...] = (),
        views: Sequence[PodView] = (),
    ) -> None:
        self.serial += 1
        line = Line(at, kind, state, list(parts), (self.serial,), views=list(views), nodes=nodes)
        # What a person did, and what became of the worker, is never left out.
        self.lines[line.signature] = line

    def _keep(self, line: Line) -> bool:
        if len(self.lines) >= MOST:
            self.left_out += 1
            return False
        self.lines[line.signature] = line
        return True

    def clear(self) -> None:
        self.lines, self.left_out = {}, 0

    def take(self, now: int) -> list[dict[str, Any]]:
        """Items without ids, oldest first; the one who stores them numbers them."""
        items = [item_of(line) for line in self.lines.values()]
        if self.left_out:
            words = [number(self.left_out), text(" more happenings in this moment")]
            items.append(item_of(Line(now, "engine", "", words, ("more",))))
        self.clear()
        return items


def without_nodes(parts: Sequence[Part]) -> list[Part]:
    """What is told of several pods at once names no node: " bound to ", node, "." becomes " bound", "."."""
    kept: list[Part] = []
    for part in parts:
        if part["t"] != "node":
            kept.append(part)
        elif kept:
            kept[-1] = {**kept[-1], "v": kept[-1]["v"].removesuffix(" to ")}
    return kept


def item_of(line: Line) -> dict[str, Any]:
    views = line.views
    parts = line.parts
    if line.signature[0] == line.kind and views:
        if len(views) == 1:
            subject = [pod(views[0])]
        else:
            subject = [number(f"{len(views)} × "), text(views[0].workload)]
            parts = without_nodes(parts)
        parts = [*subject, *parts]
    item: dict[str, Any] = {
        "at": iso(line.at),
        "kind": line.kind,
        "state": line.state or None,
        "pods": [view.ref() for view in views[:SHOWN_PODS]],
        "count": max(1, len(views)),
        "parts": parts,
        # For the filter by pod and by node; taken out again before the item is stored.
        "subjects": [*(view.key for view in views[:SHOWN_PODS]), *line.nodes],
        "at_ns": line.at,
    }
    if line.highlight:
        item["highlight"] = True
    return item
