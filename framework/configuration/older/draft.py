"""The v1 text while it is made: edited in place, so that comments and order survive where they can."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from framework.configuration.catalogue import PluginCatalogue
from framework.configuration.document import Document
from framework.configuration.edits import Edit, RemoveField, SetField
from framework.configuration.errors import PathPart
from framework.configuration.feature_gates import has_gates_line
from framework.configuration.source import Node, SourceError, read_source
from framework.configuration.surgery import CannotEdit
from framework.configuration.writing import write_block

_COMMENT: Final = re.compile(r"(?:^|(?<=[ \t\n]))#[^\r\n]*")


class Draft:
    def __init__(self, text: str, catalogue: PluginCatalogue) -> None:
        self._catalogue = catalogue
        if read_source(text).format == "json":
            text = as_yaml(read_source(text).root.to_value())
        self._document = Document(text, catalogue)

    @property
    def text(self) -> str:
        return self._document.text

    def edit(self, edit: Edit) -> None:
        """Where the text's form has no room for it (aliases, odd indentation), all of it is written anew."""
        before = self.text
        try:
            self._document.apply(edit)
        except CannotEdit:
            plain = as_yaml(read_source(before).root.to_value())
            if plain == before:
                raise
            self._document = Document(plain, self._catalogue)
            self._document.apply(edit)

    def get(self, path: Sequence[PathPart]) -> Any:
        """The value there; None for nothing."""
        value: Any = self._document.value
        for part in path:
            if isinstance(part, int):
                value = value[part] if isinstance(value, list) and part < len(value) else None
            else:
                value = value.get(part) if isinstance(value, dict) else None
        return value

    def set(self, path: Sequence[PathPart], value: Any) -> None:
        self.edit(SetField(path=tuple(path), value=value))

    def remove(self, path: Sequence[PathPart]) -> None:
        self.edit(RemoveField(path=tuple(path)))

    def names(self, path: Sequence[PathPart]) -> list[str]:
        """Of the entries of a list of plugins or of their arguments."""
        found = self.get(path)
        return [str(each.get("name", "")) if isinstance(each, dict) else "" for each in found or ()]


def as_yaml(value: Any) -> str:
    return "\n".join(write_block(value, 0, 2)) + "\n"


def comments_of(text: str) -> list[str]:
    """Every comment of a YAML text, in its order; none of what is no YAML."""
    if text.lstrip().startswith("{"):
        return []
    try:
        root = read_source(text).root
    except SourceError:
        return []
    spans = sorted(_spans(root))
    found = []
    for comment in _COMMENT.finditer(text):
        if not any(start <= comment.start() < end for start, end in spans):
            found.append(comment.group().rstrip())
    return found


def _spans(node: Node) -> Iterator[tuple[int, int]]:
    """Of the scalars, in which a # is no comment."""
    if node.alias:
        return
    if node.kind == "scalar" and node.end > node.start:
        yield node.start, node.end
    for key, value in node.entries:
        yield from _spans(key)
        yield from _spans(value)
    for item in node.items:
        yield from _spans(item)


def with_lost_comments(old: str, new: str) -> str:
    """The new text with the comments of the old one that have no place in it any more at its head."""
    kept = comments_of(new)
    lost = []
    for comment in comments_of(old):
        if comment in kept:
            kept.remove(comment)
        elif comment.strip("# \t") and not has_gates_line(comment):
            lost.append(comment)
    return "".join(f"{comment}\n" for comment in lost) + new
