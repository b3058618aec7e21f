"""What becomes of each part of an older file: a sentence, where it stood, and whether it was kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from framework.configuration.errors import FieldPath, PathPart
from framework.configuration.source import Node, SourceError
from framework.sentences import Words

Outcome = Literal["carried", "changed", "dropped"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("carried", "changed", "dropped")

Path = tuple[PathPart, ...]


class NotOlder(SourceError):
    """The text is nothing that can be converted; ``words`` says what it is, or what was expected."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """``carried``: means the same in the v1 text; ``changed``: means something near it, or is written another way;

    ``dropped``: is not in the v1 text.
    """

    outcome: Outcome
    what: str
    """The name of the thing: a field, a plugin, a predicate, a flag."""
    path: str
    """In the old text; "" for what it leaves to the defaults of its version."""
    line: int | None
    """From 1, in the text that was given; None where nothing was written or the text has no lines of its own."""
    sentence: Words


class Findings:
    """Collects them for one text, whose nodes know their lines. ``shift``: lines before the text in what was given."""

    def __init__(self, root: Node | None, shift: int | None = 0, within: Path = ()) -> None:
        self._root = root
        self._shift = shift
        self._within = within
        self.found: list[Finding] = []

    def carried(self, what: str, at: Sequence[PathPart], words: Words) -> None:
        self._add("carried", what, at, words)

    def changed(self, what: str, at: Sequence[PathPart], words: Words) -> None:
        self._add("changed", what, at, words)

    def dropped(self, what: str, at: Sequence[PathPart], words: Words) -> None:
        self._add("dropped", what, at, words)

    def dropped_where(self, node: Node, at: Sequence[PathPart], words: Words) -> None:
        """In the line of ``node``, where its path alone would lead to another one."""
        path = str(FieldPath((*self._within, *at)))
        what, line = str(at[-1]), self.line_of(node)
        self.found.append(Finding(outcome="dropped", what=what, path=path, line=line, sentence=words))

    def line_of(self, node: Node) -> int | None:
        """In the text that was given; None where it has no lines of its own."""
        return None if node.line is None or self._shift is None else node.line + self._shift

    def _add(self, outcome: Outcome, what: str, at: Sequence[PathPart], words: Words) -> None:
        path = str(FieldPath((*self._within, *at))) if at else ""
        finding = Finding(outcome=outcome, what=what, path=path, line=self._line(at), sentence=words)
        if finding not in self.found:
            self.found.append(finding)

    def _line(self, at: Sequence[PathPart]) -> int | None:
        if self._root is None or self._shift is None or not at:
            return None
        node, line = self._root, None
        for part in at:
            found: Node | None = None
            if isinstance(part, int):
                found = node.items[part] if node.kind == "sequence" and part < len(node.items) else None
                line = line if found is None else found.line
            else:
                for name, key, value in node.pairs():
                    if name == part:
                        found, line = value, key.line
            if found is None:
                break
            node = found
        return None if line is None else line + self._shift
