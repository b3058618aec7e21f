"""What reusable plugins said to a class of pods before any node was looked at, and on what grounds.

A memo holds while no object but pods and nodes has changed, and nothing that a plugin named to ``CycleState.rests_on``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from framework.interface.columns import Input
from framework.interface.cycle_state import StateData
from framework.interface.plugin import PreFilterExtensions, PreFilterResult
from framework.interface.status import Status
from framework.profiles.filter_entry import FilterEntry
from framework.profiles.score_part import ScorePart
from framework.trace.attempt import PluginOutcome, PreFilterOutcome


class PreFilterAnswer:
    __slots__ = ("limiting", "result", "status")

    def __init__(self, result: PreFilterResult, status: Status, limiting: set[str]) -> None:
        self.result = result
        self.status = status
        self.limiting = limiting
        """Plugins that returned a node list: rejectors if the pod ends unschedulable (framework.md additions 1)."""

    def copy(self) -> PreFilterAnswer:
        """Who asks may add to ``limiting``."""
        return PreFilterAnswer(self.result, self.status, set(self.limiting))


@dataclass(slots=True)
class Grounds:
    objects: int
    """Revision of the objects that are neither pods nor nodes."""
    inputs: tuple[tuple[Input, int], ...] = ()
    feasible: object = None
    """The feasible nodes, if that was named: something that is another object when they are others."""

    def stand(self, objects: int, feasible: object = None) -> bool:
        if self.objects != objects or (self.feasible is not None and self.feasible is not feasible):
            return False
        for given, version in self.inputs:  # noqa: SIM110 (the hot path: a generator costs three times as much)
            if given.version != version:
                return False
        return True


@dataclass(slots=True)
class FilterMemo:
    grounds: Grounds
    answer: PreFilterAnswer
    outcomes: list[PreFilterOutcome]
    skipped: frozenset[str]
    written: dict[str, StateData]
    entries: tuple[FilterEntry, ...] | None = None
    """None until Filter was reached."""
    extensions: tuple[tuple[str, PreFilterExtensions], ...] = ()


@dataclass(slots=True)
class ScoreMemo:
    grounds: Grounds
    outcomes: list[PluginOutcome]
    skipped: frozenset[str]
    written: dict[str, StateData]
    parts: list[ScorePart] | None = field(default=None)
