"""The activity feed: what happened, one line each; equal happenings of one workload in one batch become one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import UNSET

from framework.sentences import Part, Sentence, counted_sentence
from schedweb.engine.pod_view import PodView
from schedweb.engine.shapes import FeedKind, FeedLine, QueueName, UntranslatedFeedItem
from schedweb.engine.times import iso

#: More lines than this in one batch (ten batches a second) nobody can read; what is left out is counted.
MOST: Final = 40
SHOWN_PODS: Final = 20


def pod(view: PodView) -> Part:
    return {"t": "pod", "v": view.key}


def node(name: str) -> Part:
    return {"t": "node", "v": name}


def number(amount: object) -> Part:
    return {"t": "num", "v": str(amount)}


def workload(name: str) -> Part:
    """The pods of one controller, told together."""
    return {"t": "workload", "v": name}


@dataclass(slots=True)
class Line:
    """`said` of {pod}: the pod, or "n × workload" when lines with one signature are told together."""

    at: int
    kind: FeedKind
    state: QueueName | Literal[""]
    text: Sentence
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
        kind: FeedKind,
        view: PodView,
        words: Sentence,
        *,
        together: Sentence | None = None,
        state: QueueName | Literal[""] = "",
        nodes: tuple[str, ...] = (),
        alone: bool = False,
        highlight: bool = False,
    ) -> None:
        """`words`: of {pod}. `together`: the same of several pods, where it differs; `alone`: never of several."""
        self.serial += 1
        unique = (self.serial,) if alone else ()
        signature = (kind, state, view.namespace, view.workload, together or words, *unique)
        line = self.lines.get(signature)
        if line is None:
            line = Line(at, kind, state, words, signature, nodes=nodes, highlight=highlight)
            if not self._keep(line):
                return
        else:
            line.text = together or words
            if nodes and len(line.nodes) < SHOWN_PODS:
                line.nodes = (*line.nodes, *nodes)
        line.at = at
        line.views.append(view)

    def line(
        self,
        at: int,
        kind: FeedKind,
        words: Sentence,
        *,
        state: QueueName | Literal[""] = "",
        nodes: tuple[str, ...] = (),
        views: Sequence[PodView] = (),
    ) -> None:
        self.serial += 1
        line = Line(at, kind, state, words, (self.serial,), views=list(views), nodes=nodes)
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

    def take(self, now: int) -> list[FeedLine]:
        """Oldest first."""
        items = [item_of(line) for line in self.lines.values()]
        if self.left_out:
            items.append(item_of(Line(now, "engine", "", left_out(self.left_out), ("more",))))
        self.clear()
        return items


def left_out(count: int) -> Sentence:
    return counted_sentence(
        "{number} more happening in this moment",
        "{number} more happenings in this moment",
        count,
        number=number(count),
    )


def item_of(line: Line) -> FeedLine:
    """`parts` is a sentence; schedweb/sentences.py makes parts of it for a reader."""
    views = line.views
    words = line.text
    if line.signature[0] == line.kind and views:
        of = {"number": number(f"{len(views)} × "), "workload": workload(views[0].workload)}
        several = Sentence("{number}{workload}", of)
        words = Sentence(words.text, {"pod": pod(views[0]) if len(views) == 1 else several, **words.values})
    shown = views[:SHOWN_PODS]
    item = UntranslatedFeedItem(
        at=iso(line.at),
        kind=line.kind,
        state=line.state or None,
        pods=[view.ref() for view in shown],
        count=max(1, len(views)),
        parts=words,
        highlight=line.highlight or UNSET,
    )
    return FeedLine(item, [*(view.key for view in shown), *line.nodes], line.at)
