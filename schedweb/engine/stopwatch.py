"""How long cycles took, per extension point and per plugin: a side channel, no part of decisions or the digest.

Every cycle's time is taken. Points and plugins are timed in some cycles only, as kube-scheduler samples its
plugin_execution_duration_seconds: there the interpreter's profile function sees the calls of plugins, which slows these
cycles down and costs the others nothing. A kernel counts for the plugin that made its plan and for the point that ends
next; what the framework does between the calls is in the point's time alone.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, Final

import msgspec

from framework.interface import Plugin
from framework.interface.columns import Plan
from framework.interface.methods import POINT_OF_METHOD

#: At full speed the first cycles are watched and then one of so many: a watched one takes about twice as long, so a
#: hundredth of the throughput is lost. A prime, so that workloads that take turns are all watched in time.
FIRST_WATCHED: Final = 10
WATCH_EVERY: Final = 97


class Parts(msgspec.Struct, frozen=True):
    """Of a cycle in which plugins were timed; microseconds."""

    points: dict[str, int]
    """Extension point → from the end of the point before to its end."""
    plugins: list[tuple[str, str, int]]
    """Extension point, plugin, time in its code; calls for several nodes are added up."""


class Timing(msgspec.Struct, frozen=True):
    total: int
    """Microseconds."""
    parts: Parts | None


class Stopwatch:
    """One cycle at a time: ``begin``, then ``running`` around every operation of it and ``reached`` at every point."""

    def __init__(self) -> None:
        self._is_watching = False
        self._begun = 0
        self._spent = 0
        self._points: dict[str, int] = defaultdict(int)
        self._calls = _Calls()

    def begin(self, *, always: bool = True) -> bool:
        """Whether this cycle is watched: then every point of it has to be told. Not ``always``: now and then."""
        self._spent = 0
        self._begun += 1
        self._is_watching = always or self._begun <= FIRST_WATCHED or self._begun % WATCH_EVERY == 0
        if self._is_watching:
            self._points.clear()
            self._calls.begin()
        return self._is_watching

    @contextmanager
    def running(self) -> Iterator[None]:
        if self._is_watching:
            sys.setprofile(self._calls)
        began = time.perf_counter_ns()
        try:
            yield
        finally:
            self._spent += time.perf_counter_ns() - began
            if self._is_watching:
                sys.setprofile(None)

    def reached(self, point: str) -> None:
        if self._is_watching:
            self._points[point] += self._spent - sum(self._points.values())
            self._calls.at_end_of(point)

    def ended(self) -> Timing:
        if not self._is_watching:
            return Timing(_us(self._spent), None)
        points = {point: _us(spent) for point, spent in self._points.items()}
        plugins = [(point, plugin, _us(spent)) for (point, plugin), spent in self._calls.spent.items()]
        return Timing(_us(self._spent), Parts(points, plugins))


def _us(nanoseconds: int) -> int:
    return round(nanoseconds / 1000)


class _Calls:
    """The profile function: time from a call of a plugin's method, or of a kernel of its plans, to its return."""

    def __init__(self) -> None:
        self.spent: dict[tuple[str, str], int] = defaultdict(int)
        self._kernels: dict[CodeType, str] = {}
        """Code of a kernel → the plugin whose plan has it. Kept, because plans outlive the cycle that made them."""
        self._pending: dict[str, int] = defaultdict(int)
        """Plugin → time in its kernels since the last extension point."""
        self._frame: FrameType | None = None
        """The outermost frame of a plugin."""
        self._entered = 0
        self._point = ""
        self._name = ""

    def begin(self) -> None:
        self.spent.clear()
        self._pending.clear()
        self._frame = None

    def at_end_of(self, point: str) -> None:
        for plugin, spent in self._pending.items():
            self.spent[point, plugin] += spent
        self._pending.clear()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            if self._frame is None and self._is_of_plugin(frame):
                self._frame = frame
                self._entered = time.perf_counter_ns()
        elif event == "return" and frame is self._frame:
            spent = time.perf_counter_ns() - self._entered
            self._frame = None
            if self._point:
                self.spent[self._point, self._name] += spent
            else:
                self._pending[self._name] += spent
            code = getattr(argument.kernel, "__code__", None) if isinstance(argument, Plan) else None
            if code is not None:
                self._kernels[code] = self._name

    def _is_of_plugin(self, frame: FrameType) -> bool:
        code = frame.f_code
        if code in self._kernels:
            self._point, self._name = "", self._kernels[code]
            return True
        point = POINT_OF_METHOD.get(code.co_name)
        if point is None:
            return False
        itself = frame.f_locals.get("self")
        if not isinstance(itself, Plugin):
            return False
        self._point, self._name = point, itself.name
        return True
