"""Edits of a YAML or JSON text that change only what they must: every other line stays as it is, byte for byte.

``set_value`` compares what is there with what is wanted and changes the difference, entry by entry. After each step the
text is read again and must mean what was asked for; where the layout defeats the scalpel (an alias, a merge, two dashes
on a line), the smallest collection around the place is written anew.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from framework.configuration.errors import FieldPath, PathPart
from framework.configuration.source import Node, SourceError, read_source
from framework.configuration.writing import write_block, write_entry, write_flow, write_json
from framework.sentences import SentenceError, counted_sentence, sentence

_COMMENT_LINE: Final = re.compile(r"[ \t]*#")
Path = tuple[PathPart, ...]


class CannotEdit(SentenceError, ValueError):
    """The document has no such place, or not of that kind."""


class TextEditor:
    def __init__(self, text: str) -> None:
        self.text = text
        self._going: tuple[int, int] | None = None
        """What ``delete`` is about: comments in there go with it, those in collections that it empties stay."""
        self._read()

    def _read(self) -> None:
        source = read_source(self.text)
        self.root = source.root
        self.json = source.format == "json"
        self._sequence_offset = _sequence_offset(self.root)

    # What callers ask for ---------------------------------------------------------------------------------------------

    def value(self, path: Path = ()) -> Any:
        """The plain value at ``path``; KeyError when there is none."""
        return _plain(self.root.to_value(), path)

    def has(self, path: Path) -> bool:
        try:
            self.value(path)
        except KeyError:
            return False
        return True

    def set_value(self, path: Path, value: Any) -> None:
        """Puts ``value`` at ``path``; missing mappings and lists on the way are made."""
        known = len(path)
        while not self.has(path[:known]):
            known -= 1
        # From the place on, not from the root: a profile under a new name is the same profile.
        self._transform(path[:known], _with_value(self.value(path[:known]), path[known:], value))

    def delete(self, path: Path) -> None:
        """Takes the entry or item at ``path`` away; mappings and lists that this empties go too (but not the root)."""
        if not self.has(path):
            raise CannotEdit(sentence("there is no {place}", place=str(FieldPath(path))))
        target = self._node(path)
        self._going = None if target is None else (target.start, self._end(target))
        while len(path) > 1 and len(self.value(path[:-1])) == 1:
            path = path[:-1]
        self._step(path[:-1], _without(self.value(path[:-1]), path[-1]), ("delete", path[-1]))
        self._going = None

    # Differences ------------------------------------------------------------------------------------------------------

    def _transform(self, path: Path, wanted: Any) -> None:
        """Makes the value at ``path`` equal to ``wanted`` with small changes."""
        there = self.value(path)
        if _same(there, wanted):
            return
        if isinstance(there, dict) and isinstance(wanted, dict) and there and wanted:
            # What comes first, so that nothing is ever empty in between.
            for key, item in wanted.items():
                now = self.value(path)
                if key not in now:
                    self._step(path, {**now, key: item}, ("insert", key))
                else:
                    self._transform((*path, key), item)
            for gone in [key for key in there if key not in wanted]:
                now = self.value(path)
                self._step(path, {key: item for key, item in now.items() if key != gone}, ("delete", gone))
        elif isinstance(there, list) and isinstance(wanted, list) and there and wanted:
            self._transform_list(path, there, wanted)
        elif path:
            holder = _with_value(self.value(path[:-1]), path[-1:], wanted)
            self._step(path[:-1], holder, ("replace", path[-1]))
        else:
            self._step((), wanted, ("replace", ""))

    def _transform_list(self, path: Path, there: list[Any], wanted: list[Any]) -> None:
        """Items that are the same at both ends stay; of the rest equal ones are kept in order where possible."""
        for i, j, action in _list_changes(there, wanted):
            now = self.value(path)
            if action == "delete":
                self._step(path, [*now[:i], *now[i + 1 :]], ("delete", i))
            elif action == "insert":
                self._step(path, [*now[:i], wanted[j], *now[i:]], ("insert", i))
            else:
                self._transform((*path, i), wanted[j])

    def _step(self, path: Path, wanted: Any, change: tuple[str, PathPart]) -> None:
        """One change of the collection at ``path``, checked; else the collection, or one around it, is rewritten."""
        expected = _with_value(self.root.to_value(), path, wanted) if path else wanted
        before = self.text
        node = self._node(path)
        # A root that is replaced as a whole has nothing around it to operate on.
        candidate = None if node is None or change == ("replace", "") else self._operate(node, change, wanted)
        if candidate is not None and self._accept(candidate, expected):
            return
        for length in range(len(path), -1, -1):
            self.text = before
            self._read()
            around = path[:length]
            rewritten = self._rewrite(around, _plain(expected, around))
            if rewritten is not None and self._accept(rewritten, expected):
                return
        self.text = before
        self._read()
        raise CannotEdit(sentence("{place} cannot be changed in this text", place=str(FieldPath((*path, change[1])))))

    def _accept(self, text: str, expected: Any) -> bool:
        before = self.text
        try:
            self.text = text
            self._read()
        except SourceError:
            self.text = before
            self._read()
            return False
        if _same(self.root.to_value(), expected):
            return True
        self.text = before
        self._read()
        return False

    # Text -------------------------------------------------------------------------------------------------------------

    def _node(self, path: Path) -> Node | None:
        """The node at ``path`` if it is written there, and not by way of an alias or a merge."""
        node = self.root
        for part in path:
            if node.alias:
                return None
            if isinstance(part, int):
                node = node.items[part]
            else:
                own = [value for key, value in node.entries if str(key.value) == part]
                if len(own) != 1:
                    return None
                node = own[0]
        return None if node.alias else node

    def _operate(self, node: Node, change: tuple[str, PathPart], wanted: Any) -> str | None:
        action, part = change
        if action == "replace":
            return self._replace(node, part, wanted)
        if node.kind == "mapping" and isinstance(part, str):
            if action == "insert":
                return self._insert_entry(node, part, wanted[part])
            return self._delete_entry(node, part)
        if node.kind == "sequence" and isinstance(part, int):
            return self._insert_item(node, part, wanted[part]) if action == "insert" else self._delete_item(node, part)
        return None

    def _replace(self, holder: Node, part: PathPart, wanted: Any) -> str | None:
        """Another value for one entry or item of ``holder``."""
        value = wanted[part]
        whole = isinstance(value, dict | list) and bool(value)
        if isinstance(part, int):
            node = holder.items[part]
            if holder.flow:
                return self._splice(node.start, node.end, self._flow(value, node.start))
            if node.kind == "scalar" and not whole and node.end > node.start:
                return self._splice(node.start, self._end(node), write_flow(value))
            return self._replace_item(holder, part, value)
        found = [(k, v) for k, v in holder.entries if str(k.value) == part]
        if len(found) != 1:
            return None
        key, node = found[0]
        if holder.flow:
            return self._splice(node.start, node.end, self._flow(value, node.start))
        on_line = node.kind == "scalar" or node.flow or node.alias
        if on_line and not whole:
            end = self._end(node)
            return self._splice(node.start, end, write_flow(value) if end > node.start else f" {write_flow(value)}")
        return self._replace_block(key, node, value, on_line=on_line)

    def _replace_block(self, key: Node, node: Node, value: Any, *, on_line: bool) -> str | None:
        """A block collection comes, or goes: comments on the key's line stay there, those below it too."""
        colon = self.text.index(":", key.end) + 1
        end, line_end = self._end(node), self._line_end(colon)
        if on_line:
            if self._line_end(end) != line_end:
                return None
            head = self.text[:colon] + self.text[end:line_end].rstrip()
            tail = self.text[line_end:]
        else:
            head = self.text[:line_end]
            if not value or not isinstance(value, dict | list):
                head = f"{self.text[:colon]} {write_flow(value)}{self.text[colon:line_end]}"
            between = self.text[line_end + 1 : node.start].split("\n")[:-1]
            head += "".join(f"\n{line}" for line in between if _COMMENT_LINE.match(line))
            tail = self.text[self._line_end(end) :]
        if not (isinstance(value, dict | list) and value):
            return head + tail
        lines = write_entry("x", value, self._column(key), self._sequence_offset)[1:]
        return head + "\n" + "\n".join(lines) + tail

    def _rewrite(self, path: Path, value: Any) -> str | None:
        """The whole collection at ``path`` anew."""
        if not path:
            if self.json:
                return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
            lines = self.text.split("\n")
            comments = itertools.takewhile(lambda line: not line.strip() or _COMMENT_LINE.match(line), lines[:-1])
            body = write_block(value, 0, self._sequence_offset) if value else [write_flow(value)]
            return "\n".join([*comments, *body]) + "\n"
        holder = self._node(path[:-1])
        if holder is None:
            return None
        part = path[-1]
        return self._replace(holder, part, {part: value} if isinstance(part, str) else _At(value))

    def _replace_item(self, holder: Node, i: int, value: Any) -> str | None:
        """A whole item of a block sequence anew, its dash included."""
        dash = self._dash(holder, i)
        if dash is None:
            return None
        lines = write_block([value], dash - self._line_start(dash), self._sequence_offset)
        end = max(self._end(holder.items[i]), dash + 1)
        return self.text[:dash] + "\n".join(lines).lstrip() + self.text[self._line_end(end) :]

    def _insert_entry(self, node: Node, key: str, value: Any) -> str | None:
        if node.flow:
            written = f"{write_flow(key, as_json=self.json)}: "
            spans = [(k.start, v.end) for k, v in node.entries]
            return self._insert_flow(node, spans, len(spans), value, written)
        if not node.entries:
            return None
        indent = self._column(node.entries[0][0])
        lines = write_entry(key, value, indent, self._sequence_offset)
        return self._insert_lines(self._line_end(self._end(node)), lines)

    def _insert_item(self, node: Node, i: int, value: Any) -> str | None:
        if node.flow:
            return self._insert_flow(node, [(item.start, item.end) for item in node.items], i, value, "")
        dash = self._dash(node, 0)
        if dash is None:
            return None
        lines = write_block([value], dash - self._line_start(dash), self._sequence_offset)
        if i == len(node.items):
            return self._insert_lines(self._line_end(self._end(node)), lines)
        before = self._dash(node, i)
        if before is None:
            return None
        at = self._line_start(before)
        while at > 0 and _COMMENT_LINE.match(self.text[self._line_start(at - 1) : at]):
            at = self._line_start(at - 1)  # comments right above an item are about it
        return self.text[:at] + "\n".join(lines) + "\n" + self.text[at:]

    def _delete_entry(self, node: Node, name: str) -> str | None:
        spans = [(key.start, max(key.end, value.end)) for key, value in node.entries]
        names = [str(key.value) for key, _ in node.entries]
        if names.count(name) != 1:
            return None
        i = names.index(name)
        if node.flow:
            return self._delete_flow(spans, i)
        key, value = node.entries[i]
        start = self._line_start(key.start)
        if self.text[start : key.start].strip():
            # On the line of a dash: the next key takes the place.
            return self._splice(key.start, node.entries[i + 1][0].start, "") if i + 1 < len(names) else None
        end = self._end(value) if value.end > value.start else self.text.index(":", key.end) + 1
        return self._delete_lines(start, end)

    def _delete_item(self, node: Node, i: int) -> str | None:
        if node.flow:
            return self._delete_flow([(item.start, item.end) for item in node.items], i)
        dash = self._dash(node, i)
        if dash is None or self.text[self._line_start(dash) : dash].strip():
            return None
        return self._delete_lines(self._line_start(dash), max(self._end(node.items[i]), dash + 1))

    # Flow style -------------------------------------------------------------------------------------------------------

    def _flow(self, value: Any, at: int) -> str:
        if not self.json:
            return write_flow(value)
        line = self.text[self._line_start(at) : at]
        if isinstance(value, dict | list) and value and "\n" in self.text.strip():
            return write_json(value, len(line) - len(line.lstrip()))
        return write_flow(value, as_json=True)

    def _insert_flow(self, node: Node, spans: list[tuple[int, int]], i: int, value: Any, head: str) -> str:
        if not spans:
            return self._splice(node.start + 1, node.end - 1, head + self._flow(value, node.start))
        if i < len(spans):
            at, lead = spans[i][0], self._lead(node, spans, i)
            return self._splice(at, at, f"{head}{self._flow(value, at)},{lead or ' '}")
        start, end = spans[-1]
        lead = self._lead(node, spans, len(spans) - 1)
        if len(spans) == 1 and "\n" not in lead:
            lead = " "
        return self._splice(end, end, f",{lead}{head}{self._flow(value, start)}")

    def _lead(self, node: Node, spans: list[tuple[int, int]], i: int) -> str:
        """The white space before item ``i``, behind the comma or the bracket."""
        start = spans[i - 1][1] if i else node.start + 1
        between = self.text[start : spans[i][0]]
        return between[len(between.rstrip()) :]

    def _delete_flow(self, spans: list[tuple[int, int]], i: int) -> str | None:
        if len(spans) == 1:
            return self._splice(*spans[0], "")
        if i + 1 < len(spans):
            return self._splice(spans[i][0], spans[i + 1][0], "")
        return self._splice(spans[i - 1][1], spans[i][1], "")

    # Places -----------------------------------------------------------------------------------------------------------

    def _splice(self, start: int, end: int, text: str) -> str:
        return self.text[:start] + text + self.text[end:]

    def _end(self, node: Node) -> int:
        """Where the node's text ends, without the blank lines that a block scalar or the parser counts in."""
        start = max(node.start, 0)
        return start + len(self.text[start : node.end].rstrip())

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _column(self, node: Node) -> int:
        return node.start - self._line_start(node.start)

    def _dash(self, node: Node, i: int) -> int | None:
        """The position of the dash before item ``i`` of a block sequence, when it is on the item's line."""
        item = node.items[i]
        start = self._line_start(item.start)
        found = self.text.rfind("-", start, item.start)
        if found < 0 or self.text[found + 1 : item.start].strip(" \t"):
            return None
        return found

    def _insert_lines(self, at: int, lines: Sequence[str]) -> str:
        """New lines behind the line that ends at ``at``."""
        return self.text[:at] + "\n" + "\n".join(lines) + (self.text[at:] or "\n")

    def _delete_lines(self, start: int, end: int) -> str:
        stop = self._line_end(end)
        kept, at = "", start
        going = self._going
        for line in self.text[start:stop].split("\n"):
            if going is not None and _COMMENT_LINE.match(line) and not going[0] <= at <= going[1]:
                kept += f"{line}\n"
            at += len(line) + 1
        return self.text[:start] + kept + self.text[stop + 1 :]


class _At:
    """Answers every index with one value."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, _: PathPart) -> Any:
        return self._value


def _sequence_offset(root: Node) -> int:
    """How far lists are indented below their key in this document: 0 or 2."""
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        for key, value in node.entries:
            if value.kind == "sequence" and not value.flow and not value.alias and key.column and value.column:
                return max(0, min(value.column - key.column, 4))
        waiting += [value for _, value in node.entries if not value.alias]
        waiting += [item for item in node.items if not item.alias]
    return 2


def _list_changes(there: list[Any], wanted: list[Any]) -> list[tuple[int, int, str]]:
    """(index now, index in wanted, action) to apply in order. Equal items are kept; then changed in place by name."""
    changes: list[tuple[int, int, str]] = []
    # Longest common subsequence by identity of the item: its name, or itself.
    old, new = [_identity(item) for item in there], [_identity(item) for item in wanted]
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            table[i][j] = table[i + 1][j + 1] + 1 if old[i] == new[j] else max(table[i + 1][j], table[i][j + 1])
    i = j = at = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            changes.append((at, j, "change"))
            i, j, at = i + 1, j + 1, at + 1
        elif j < len(new) and (i == len(old) or table[i][j + 1] >= table[i + 1][j]):
            changes.append((at, j, "insert"))
            j, at = j + 1, at + 1
        else:
            changes.append((at, j, "delete"))
            i += 1
    return changes


def _identity(item: Any) -> str:
    if isinstance(item, dict):
        for field in ("name", "schedulerName"):
            if isinstance(item.get(field), str):
                return f"{field}={item[field]}"
    return json.dumps(item, sort_keys=True, default=str)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, so that 1 and true differ."""
    return json.dumps(one, sort_keys=True, default=str) == json.dumps(other, sort_keys=True, default=str)


def _plain(value: Any, path: Path) -> Any:
    for part in path:
        in_list = isinstance(part, int) and isinstance(value, list) and 0 <= part < len(value)
        in_mapping = isinstance(part, str) and isinstance(value, dict) and part in value
        if not (in_list or in_mapping):
            raise KeyError(part)
        value = value[part]
    return value


def _with_value(root: Any, path: Path, value: Any) -> Any:
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        items = list(root) if isinstance(root, list) else []
        if root is not None and not isinstance(root, list):
            raise CannotEdit(sentence("{part} is asked of something that is no list", part=f"[{part}]"))
        if part > len(items):
            raise CannotEdit(
                counted_sentence("the list has only {count} item", "the list has only {count} items", len(items))
            )
        below = items[part] if part < len(items) else None
        return [*items[:part], _with_value(below, rest, value), *items[part + 1 :]]
    if root is not None and not isinstance(root, dict):
        raise CannotEdit(sentence("{part} is asked of something that is no mapping", part=part))
    fields = dict(root) if isinstance(root, dict) else {}
    fields[part] = _with_value(fields.get(part), rest, value)
    return fields


def _without(holder: Any, part: PathPart) -> Any:
    if isinstance(holder, dict):
        return {key: item for key, item in holder.items() if key != part}
    return [item for i, item in enumerate(holder) if i != part]
