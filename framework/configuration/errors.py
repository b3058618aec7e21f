"""What can be wrong with a configuration, as values: field errors in upstream's words, with the place in the text.

``FieldError`` is apimachinery's ``field.Error``: its text is ``<path>: <kind>: <value>: <detail>``. A
``ConfigurationError`` adds the line and column a person wrote it at. Validation (also that of plugin arguments) yields
FieldErrors; ``framework.configuration.load`` finds their places.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from framework.sentences import Words, sentence

PathPart = str | int


@dataclass(frozen=True, slots=True)
class FieldPath:
    """``profiles[0].plugins.score.enabled[1].weight``; the empty path is upstream's nil path."""

    parts: tuple[PathPart, ...] = ()
    suffix: str = ""
    """A map key in brackets (``path.Key``), which names no place of its own."""

    def child(self, *names: str) -> FieldPath:
        return FieldPath((*self.parts, *names))

    def index(self, i: int) -> FieldPath:
        return FieldPath((*self.parts, i))

    def key(self, key: str) -> FieldPath:
        return FieldPath(self.parts, f"[{key}]")

    def __str__(self) -> str:
        text = ""
        for part in self.parts:
            if isinstance(part, int):
                text += f"[{part}]"
            else:
                text += f".{part}" if text else part
        return text + self.suffix


ROOT = FieldPath()

FieldErrorKind = Literal["Invalid value", "Required value", "Duplicate value", "Unsupported value", "Forbidden"]


@dataclass(frozen=True, slots=True)
class FieldError:
    kind: FieldErrorKind
    path: FieldPath
    value: object = ""
    detail: str = ""
    text: str = ""
    """The whole text, where upstream's is not that of a field error."""

    @property
    def message(self) -> str:
        """The text without the path."""
        if self.text:
            return self.text
        shown: str = self.kind
        if self.kind not in ("Required value", "Forbidden"):
            shown += f": {go_value(self.value)}"
        return f"{shown}: {self.detail}" if self.detail else shown

    def __str__(self) -> str:
        return self.text or f"{self.path}: {self.message}"


def invalid(path: FieldPath, value: object, detail: str) -> FieldError:
    return FieldError("Invalid value", path, value, detail)


def required(path: FieldPath, detail: str = "") -> FieldError:
    return FieldError("Required value", path, "", detail)


def duplicate(path: FieldPath, value: object) -> FieldError:
    return FieldError("Duplicate value", path, value)


def not_supported(path: FieldPath, value: object, supported: Iterable[str]) -> FieldError:
    return FieldError(
        "Unsupported value", path, value, "supported values: " + ", ".join(go_quote(name) for name in supported)
    )


def forbidden(path: FieldPath, detail: str) -> FieldError:
    return FieldError("Forbidden", path, "", detail)


class ConfigurationError(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that is wrong. ``text`` is upstream's whole sentence, ``message`` what to show beside the field.

    A message of ours is a sentence, put into words for whoever reads it; where upstream says nothing, ``text`` is the
    same in English.
    """

    stage: Literal["syntax", "decoding", "validation", "construction"]
    path: str
    message: Words
    text: str
    line: int | None = None
    """From 1; None when the configuration did not come from a text, or nothing in it is to blame."""
    column: int | None = None
    hint: Words = ""
    """A sentence that upstream does not have."""


def did_you_mean(name: str, known: Sequence[str]) -> Words:
    """The known name that is closest to a misspelt one, or ""."""
    close = difflib.get_close_matches(name, known, 1)
    return sentence("Did you mean {name}?", name=close[0]) if close else ""


def aggregate(texts: Iterable[str]) -> str:
    """Upstream's ``Aggregate``: equal texts once, several in brackets."""
    unique = list(dict.fromkeys(texts))
    return unique[0] if len(unique) == 1 else f"[{', '.join(unique)}]"


def go_quote(text: str) -> str:
    """Go's ``%q``."""
    out = ['"']
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif char.isprintable():
            out.append(char)
        elif (code := ord(char)) < 0x80:
            out.append(f"\\x{code:02x}")
        else:
            out.append(f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")
    out.append('"')
    return "".join(out)


_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def go_value(value: object) -> str:
    """How ``field.Error`` prints a value: strings quoted, numbers bare, everything else as JSON."""
    match value:
        case str():
            return go_quote(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case tuple() if not value:
            return "null"  # a Go slice that was never given is nil; pass a list for one that was
        case _:
            return msgspec.json.encode(value).decode()
