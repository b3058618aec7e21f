"""What the answers rest on that a class of pods got before nodes were looked at, and what was written with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from framework.interface.columns import Input
from framework.interface.cycle_state import CycleState, StateData


class Grounds:
    """What answers rest on that were given before nodes were looked at."""

    __slots__ = ("_feasible", "_inputs", "objects")

    def __init__(self, objects: int, inputs: Sequence[Input], feasible: object = None) -> None:
        """``feasible``: something that is another object when other nodes are feasible; None if they do not matter."""
        self.objects = objects
        """Revision of the objects that are neither pods nor nodes."""
        self._inputs = tuple([(each, each.version) for each in inputs])
        self._feasible = feasible

    def stand(self, objects: int, feasible: object = None) -> bool:
        if self.objects != objects or (self._feasible is not None and self._feasible is not feasible):
            return False
        for given, version in self._inputs:  # noqa: SIM110 (the hot path: a generator costs three times as much)
            if given.version != version:
                return False
        return True


class Written:
    """What plugins wrote to the state of one attempt, to be written to another's."""

    __slots__ = ("_constant", "_data")

    def __init__(self, data: Mapping[str, StateData]) -> None:
        self._data = data
        self._constant: Mapping[str, StateData] | None = None
        """Values that are their own clones."""

    def restore(self, state: CycleState) -> None:
        if self._constant is None:
            self._constant = {key: value for key, value in self._data.items() if value.clone() is value}
            self._data = {key: value for key, value in self._data.items() if key not in self._constant}
        state.restore(self._constant, self._data)
