"""``convert``: an older file of kube-scheduler as v1, and what became of each part of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TextIO

import msgspec

from framework.cli.errors import InputError
from framework.cli.manifests import read_text
from framework.configuration.older import OUTCOMES, Conversion, Finding, convert
from framework.configuration.source import SourceError
from framework.plugins.registry import installed_registry

WIDTH: Final = 120
DROPPED: Final = 1
DOES_NOT_LOAD: Final = 2


@dataclass(frozen=True, slots=True)
class Request:
    file: str | None
    """``-`` is standard input; None for flags alone."""
    flags: str = ""
    json: bool = False


def run(asked: Request, output: TextIO, notes: TextIO) -> int:
    """0, 1 something could not be carried over, 2 the v1 text would be refused. Raises InputError."""
    name, text, flags = _given(asked)
    try:
        made = convert(text, installed_registry(), flags)
    except SourceError as error:
        place = f"{error.line}:{error.column or 1}: " if error.line is not None else ""
        raise InputError(name, f"{place}{error.words}") from error
    status = DOES_NOT_LOAD if made.errors else DROPPED if made.dropped else 0
    if asked.json:
        output.write(msgspec.json.encode(_answer(made, status)).decode() + "\n")
        return status
    output.write(made.text)
    for line in _lines(made):
        notes.write(line + "\n")
    return status


def _given(asked: Request) -> tuple[str, str, str]:
    if asked.file is not None:
        return asked.file, read_text(asked.file), asked.flags
    if not asked.flags.strip():
        raise InputError("", "name a file to convert, or give --flags")
    # Flags alone may be given without the program's name.
    return "--flags", asked.flags, ""


def _lines(made: Conversion) -> Iterator[str]:
    for outcome in OUTCOMES:
        found = [each for each in made.findings if each.outcome == outcome]
        if found:
            yield f"{outcome}:"
        for each in found:
            yield from textwrap.wrap(
                f"{_place(each)}{each.sentence}", WIDTH, initial_indent="  ", subsequent_indent="    "
            )
    for error in made.errors:
        yield f"refused: {error.path + ': ' if error.path else ''}{error.message}"


def _place(finding: Finding) -> str:
    return f"line {finding.line}: " if finding.line is not None else ""


def _answer(made: Conversion, status: int) -> dict[str, Any]:
    """The shape is told in docs/command-line.md."""
    return {
        "status": status,
        "text": made.text,
        "findings": [
            {
                "outcome": each.outcome,
                "what": each.what,
                "path": each.path,
                "line": each.line,
                "sentence": str(each.sentence),
            }
            for each in made.findings
        ],
        "errors": [{"path": each.path, "message": str(each.message), "line": each.line} for each in made.errors],
    }
