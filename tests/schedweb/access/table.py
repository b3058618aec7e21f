"""Reads matrix.md: who may do what, one line per operation, page and message."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("matrix.md")


@dataclass(frozen=True)
class Part:
    callers: tuple[str, ...]
    rows: dict[str, dict[str, str]]
    """What is asked for → caller → what comes of it."""


@cache
def parts() -> dict[str, Part]:
    """By the part's heading."""
    found: dict[str, Part] = {}
    heading, part = "", None
    for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            heading, part = line.lstrip("# "), None
        elif line.startswith("|"):
            name, *cells = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
            if part is None:
                part = found[heading] = Part(tuple(cells), {})
            elif set(name) != {"-"}:
                assert len(cells) == len(part.callers), f"{FILE.name}:{number} has {len(cells)} cells"
                assert name not in part.rows, f"{FILE.name}:{number}: {name} is there twice"
                part.rows[name] = dict(zip(part.callers, cells, strict=True))
    return found
