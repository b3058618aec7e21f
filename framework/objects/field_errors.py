"""Complaints about a field of an object, worded as the API server words them (upstream: util/validation/field)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MOST_ERRORS: Final = 1000
"""Of an object; nobody reads more, and each takes many times what is wrong in memory."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """``path`` as upstream writes it (``spec.containers[0].name``), ``detail`` all that follows the colon."""

    path: str
    detail: str

    @property
    def text(self) -> str:
        return f"{self.path}: {self.detail}"

    def __str__(self) -> str:
        return self.text


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(path, _body("Required value", detail))


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(path, _body("Forbidden", detail))


def invalid(path: str, value: object, detail: str) -> FieldError:
    return FieldError(path, _body(f"Invalid value: {_shown(value)}", detail))


def duplicate(path: str, value: object) -> FieldError:
    return FieldError(path, f"Duplicate value: {_shown(value)}")


def not_supported(path: str, value: str, supported: Iterable[str]) -> FieldError:
    listed = ", ".join(_shown(s) for s in supported)
    return FieldError(path, _body(f"Unsupported value: {_shown(value)}", f"supported values: {listed}"))


def aggregate(errors: Iterable[FieldError]) -> str:
    """One error bare, several as a list; the same text only once."""
    texts = list(dict.fromkeys(error.text for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _body(kind: str, detail: str) -> str:
    return f"{kind}: {detail}" if detail else kind
