"""Values as YAML or JSON text: for what an edit inserts into a document."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from framework.configuration.source import resolve_scalar

# Certain to mean the same unquoted, to every YAML parser, also inside [ ] and { }.
_PLAIN: Final = re.compile(r"[A-Za-z_/.][A-Za-z0-9_/.+@ -]*(:[A-Za-z0-9_/.+@-]+)*", re.ASCII)
_NUMERIC: Final = re.compile(r"[0-9]+[a-zA-Z][A-Za-z0-9]*", re.ASCII)


def write_scalar(value: Any, *, as_json: bool = False) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    text = str(value)
    if as_json or not _is_plain(text):
        quoted = json.dumps(text, ensure_ascii=False)
        return quoted if quoted.isprintable() else _escaped(quoted, as_json=as_json)
    return text


def _escaped(quoted: str, *, as_json: bool) -> str:
    """Characters that YAML does not allow as they are, or that nobody sees."""
    return "".join(
        char
        if char.isprintable()
        else json.dumps(char)[1:-1]
        if as_json or ord(char) < 0x10000
        else f"\\U{ord(char):08x}"
        for char in quoted
    )


def _is_plain(text: str) -> bool:
    if resolve_scalar(text) != text or text != text.strip():
        return False
    # 15s and 100Mi are texts to everybody; 1e5 and 0x1f are not.
    return bool(_PLAIN.fullmatch(text)) or (bool(_NUMERIC.fullmatch(text)) and not re.match(r"0|\d+[eE]", text))


def write_flow(value: Any, *, as_json: bool = False) -> str:
    """On one line: ``{name: NodeName}`` or JSON."""
    match value:
        case dict():
            if not value:
                return "{}"
            pairs = (
                f"{write_scalar(key, as_json=as_json)}: {write_flow(item, as_json=as_json)}"
                for key, item in value.items()
            )
            return f"{{{', '.join(pairs)}}}"
        case list() | tuple():
            return f"[{', '.join(write_flow(item, as_json=as_json) for item in value)}]"
        case _:
            return write_scalar(value, as_json=as_json)


def write_json(value: Any, indent: int) -> str:
    """Over several lines, the first without, the others with ``indent`` spaces before them."""
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + " " * indent)


def write_block(value: Any, indent: int, sequence_offset: int) -> list[str]:
    """The lines of a non-empty mapping or list in block style, each indented."""
    pad = " " * indent
    lines: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            lines += write_entry(str(key), item, indent, sequence_offset)
        return lines
    for item in value:
        if isinstance(item, dict | list | tuple) and item:
            inner = write_block(item, indent + 2, sequence_offset)
            lines.append(f"{pad}- {inner[0].lstrip()}")
            lines += inner[1:]
        else:
            lines.append(f"{pad}- {write_flow(item)}")
    return lines


def write_entry(key: str, value: Any, indent: int, sequence_offset: int) -> list[str]:
    """``key: value`` in block style, over as many lines as it takes."""
    head = f"{' ' * indent}{write_scalar(key)}:"
    if not (isinstance(value, dict | list | tuple) and value):
        return [f"{head} {write_flow(value)}"]
    deeper = indent + 2 if isinstance(value, dict) else indent + sequence_offset
    return [head, *write_block(value, deeper, sequence_offset)]
