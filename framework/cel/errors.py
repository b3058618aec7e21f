"""What goes wrong in a CEL selector."""

from __future__ import annotations


class CelError(Exception):
    """The selector does not compile or could not be evaluated; the text is upstream's."""


class EvaluationError(CelError):
    """A CEL error value. ``&&``, ``||`` and ``exists`` absorb it as cel-go does (interpreter/interpretable.go)."""


class CostExceeded(CelError):
    """Unlike an error value nothing absorbs it (cel-go: interpreter/runtimecost.go)."""


def no_such_overload() -> EvaluationError:
    return EvaluationError("no such overload")
