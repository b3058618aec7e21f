"""Status codes: the outcome of every plugin call (docs/semantics/framework.md#status-codes)."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Code(enum.IntEnum):
    """Kubernetes' seven status codes; ``name_`` is the spelling that messages and traces use."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def name_(self) -> str:
        return _NAMES[self]

    @classmethod
    def parse(cls, name: str) -> Code:
        """The code spelled ``name`` (``"UnschedulableAndUnresolvable"``, ...); ValueError when there is none."""
        try:
            return _BY_NAME[name]
        except KeyError:
            raise ValueError(f"unknown status code {name!r}") from None


_NAMES = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}
_BY_NAME = {name: code for code, name in _NAMES.items()}
_REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING})


@dataclass(frozen=True, slots=True)
class Status:
    """An expected outcome as a value. ``error`` is the text of the wrapped error of an ERROR status.

    ``plugin`` is set by the framework, not by plugins, where upstream does so.
    """

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    error: str | None = None

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_rejected(self) -> bool:
        """Unschedulable, UnschedulableAndUnresolvable or Pending: an answer about the pod, not a failure."""
        return self.code in _REJECTED

    @property
    def all_reasons(self) -> tuple[str, ...]:
        """The wrapped error's text first, then the reasons (upstream ``Status.Reasons``)."""
        return self.reasons if self.error is None else (self.error, *self.reasons)

    @property
    def message(self) -> str:
        return ", ".join(self.all_reasons)

    def with_plugin(self, plugin: str) -> Status:
        return Status(self.code, self.reasons, plugin, self.error)

    @staticmethod
    def as_error(text: str, plugin: str = "") -> Status:
        return Status(Code.ERROR, (), plugin, text)

    @staticmethod
    def unschedulable(*reasons: str) -> Status:
        return Status(Code.UNSCHEDULABLE, reasons)

    @staticmethod
    def unresolvable(*reasons: str) -> Status:
        return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


SUCCESS = Status()
SKIP = Status(Code.SKIP)
