"""Where the time of a workload goes: per extension point, per plugin at each point, per part of the framework.

Extension points are timed from boundary to boundary without a profiler. Plugins and parts come from a second play under
cProfile, which slows everything down, small functions most: read these as shares.
"""

from __future__ import annotations

import cProfile
import gc
import pstats
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from framework.cli.bench.measure import Options, World
from framework.cli.bench.workloads import Workload
from framework.interface.methods import POINT_OF_METHOD
from framework.scheduler import PointReached
from framework.scheduler.collector import settle

ROOT: Final = Path(__file__).resolve().parent.parent.parent
FUNCTIONS_SHOWN: Final = 60
Function = tuple[str, int, str]
Times = dict[str, float]
"""What → seconds."""


def profiled(workload: Workload, options: Options) -> list[str]:
    """Lines to print; microseconds per pod."""
    points = _points(World(workload, options))
    stats = _profiled(World(workload, options))
    count = max(1, workload.pods)
    lines = [f"{workload.name}, microseconds per pod", "", "until the end of (no profiler)"]
    lines += _rows(points, count)
    inside, parts, functions = _attributed(stats)
    lines += ["", "plugin and extension point (cProfile)", *_rows(inside, count)]
    lines += ["", "part, its own time (cProfile)", *_rows(parts, count)]
    lines += ["", "function, its own time with built-ins it calls (cProfile)"]
    return lines + _rows(functions, count)[:FUNCTIONS_SHOWN]


def _rows(seconds: Times, count: int) -> list[str]:
    ordered = sorted(seconds.items(), key=lambda each: -each[1])
    return [f"  {spent / count * 1e6:10.1f}  {name}" for name, spent in ordered]


def _play(world: World, on_point: Callable[[str], None]) -> None:
    scheduler, recorder = world.scheduler, world.recorder
    if not world.workload.one_by_one:
        world.create(world.pods)
    gc.collect()
    settle()
    on_point("")
    for each in world.pods:
        if world.workload.one_by_one:
            world.create([each])
            on_point("creation")
        while (reached := scheduler.step_point()) is not None:
            if isinstance(reached, PointReached):
                on_point(reached.point)
                continue
            on_point("end of the cycle")
            if not world.workload.one_by_one:
                break
        if recorder.has_chunk:
            recorder.write()
            on_point("chunks")
    recorder.write()
    on_point("chunks")


def _points(world: World) -> Times:
    spent: Times = defaultdict(float)
    last = time.perf_counter()

    def passed(point: str) -> None:
        nonlocal last
        now = time.perf_counter()
        if point:
            spent[point] += now - last
        last = time.perf_counter()

    _play(world, passed)
    return spent


def _profiled(world: World) -> pstats.Stats:
    profiler = cProfile.Profile()

    def begin(point: str) -> None:
        if not point:
            profiler.enable()

    _play(world, begin)
    profiler.disable()
    return pstats.Stats(profiler)


def _part(filename: str) -> str:
    """``plugins/<name>``, another folder of the framework, or "" for what is not ours."""
    path = Path(filename)
    if not path.is_relative_to(ROOT):
        return ""
    inside = path.relative_to(ROOT).with_suffix("").parts
    return "/".join(inside[:2]) if inside[0] == "plugins" else inside[0]


def _point_of(name: str, caller: Function) -> str:
    """A kernel is called where its plan is used."""
    if name in POINT_OF_METHOD:
        return POINT_OF_METHOD[name]
    if "score" in caller[0]:
        return "Score"
    return "Filter" if "filter" in caller[0] else "other"


def _attributed(stats: pstats.Stats) -> tuple[Times, Times, Times]:
    """(plugin at a point, part, function) → seconds; what is not ours counts for whom of ours it was called by."""
    inside: Times = defaultdict(float)
    parts: Times = defaultdict(float)
    functions: Times = defaultdict(float)
    everything: dict[Function, Any] = stats.stats  # type: ignore[attr-defined]
    for function, (_, _, own, _, callers) in everything.items():
        part = _part(function[0])
        if part:
            parts[part] += own
            functions[_shown(function)] += own
            for caller, (_, _, _, cumulative) in callers.items():
                if part.startswith("plugins/") and not _part(caller[0]).startswith("plugins/"):
                    inside[f"{part.removeprefix('plugins/')}: {_point_of(function[2], caller)}"] += cumulative
            continue
        for caller, (_, _, spent, _) in callers.items():
            parts[_part(caller[0]) or "libraries"] += spent
            if _part(caller[0]):
                functions[_shown(caller)] += spent
    return inside, parts, functions


def _shown(function: Function) -> str:
    filename, line, name = function
    return f"{Path(filename).relative_to(ROOT).as_posix()}:{line} {name}"
