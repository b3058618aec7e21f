"""From a plugin's answer to the framework's: upstream's texts for errors, and what an exception of a plugin becomes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from framework.interface.cycle_state import StateKeyNotFound
from framework.interface.status import SUCCESS, Code, Status

MOST_USUAL: Final = 64
O = TypeVar("O")  # noqa: E741

NIL_ERROR: Final = "%!w(<nil>)"
"""What Go prints for the missing error of a code that has none: Success, Wait, Skip
(docs/semantics/framework.md#extension-points)."""


def error_text(status: Status) -> str:
    """Upstream ``Status.AsError`` printed with %w."""
    if status.code in (Code.SUCCESS, Code.WAIT, Code.SKIP):
        return NIL_ERROR
    return status.error if status.error is not None else ", ".join(status.reasons)


class SharedOutcomes(Generic[O]):
    """What plugins said at one point. Attempts that were told the same share a tuple, encoded once."""

    __slots__ = ("_last", "_usual")

    def __init__(self) -> None:
        self._last: tuple[O, ...] = ()
        self._usual: dict[tuple[int, ...], tuple[O, ...]] = {}
        """By the ids of outcomes, which are thereby kept: usual ones are made once."""

    def shared(self, outcomes: Iterable[O]) -> tuple[O, ...]:
        given = tuple(outcomes)
        if given == self._last:
            return self._last
        if len(self._usual) >= MOST_USUAL:
            self._usual.clear()
        self._last = self._usual.setdefault(tuple(map(id, given)), given)
        return self._last


def answer(status: Status | None) -> Status:
    return SUCCESS if status is None else status


def raised(error: Exception) -> Status:
    """Upstream's process would die of a panic; here the attempt fails and says why.

    RuntimeError and a missing state key carry a text that is upstream's error; anything else is a bug and is named.
    """
    if isinstance(error, RuntimeError | StateKeyNotFound) and str(error):
        return Status.as_error(str(error))
    return Status.as_error(f"{type(error).__name__}: {error}")
