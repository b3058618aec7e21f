"""``bench``: what was asked for, measured and printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TextIO

from framework.cli.bench.measure import Measured, Options, as_json, measure, measured_apart
from framework.cli.bench.plot import growth_plot
from framework.cli.bench.profiling import profiled
from framework.cli.bench.tables import HEADER, growth, line, machine, row
from framework.cli.bench.workloads import BY_NAME, CATALOGUE, GROWTH_NODES, WORKLOADS, Workload
from framework.cli.errors import InputError

ALL: Final = "all"
PLUGINS: Final = "plugins"
GROWING: Final = ("SchedulingBasic", "PreferredTopologySpreading", "AllDistinct")
"""Workloads of the growth table and plot."""


@dataclass(frozen=True, slots=True)
class Request:
    workloads: Sequence[str] = ()
    """Names; none or ``all`` for every one but ``plugins``: those with one more plugin each."""
    nodes: int | None = None
    init_pods: int | None = None
    pods: int | None = None
    options: Options = field(default_factory=Options)
    form: str = "lines"
    """``lines``, ``json`` (one object a line) or ``markdown``."""
    profile: bool = False
    growth: bool = False
    """Also the growth table (with ``markdown``)."""
    plot: Path | None = None
    inside: bool = False
    """Measured in this process."""


def run(asked: Request, output: TextIO, notes: TextIO) -> int:
    chosen = [each.resized(asked.nodes, asked.init_pods, asked.pods) for each in named(asked.workloads)]
    for workload in chosen:
        check(workload, asked.options)
    if asked.profile:
        for workload in chosen:
            output.write("\n".join(profiled(workload, asked.options)) + "\n\n")
        return 0
    if asked.form == "markdown":
        output.write(f"{machine()}\n\n{HEADER}\n")
    for workload in chosen:
        found = measure(workload, asked.options) if asked.inside else measured_apart(workload, asked.options)
        written = {"json": as_json, "markdown": row, "lines": line}[asked.form]
        output.write(written(found) + "\n")
        output.flush()
    if asked.growth:
        _growth(asked, output, notes)
    return 0


def named(names: Iterable[str]) -> list[Workload]:
    """Raises InputError for one that does not exist."""
    wanted = list(names)
    if not wanted or ALL in wanted:
        return list(WORKLOADS)
    if PLUGINS in wanted:
        return [BY_NAME["SchedulingBasic"], *CATALOGUE]
    unknown = [name for name in wanted if name not in BY_NAME]
    if unknown:
        raise InputError("bench", f"no workload is named {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    return [BY_NAME[name] for name in wanted]


def check(workload: Workload, options: Options) -> None:
    """Raises InputError for numbers that make no benchmark."""
    if not 0 <= options.percentage <= 100:
        raise InputError("--percentage", f"{options.percentage} is not between 0 and 100")
    for flag, number, least in (
        ("--nodes", workload.nodes, 1),
        ("--init-pods", workload.init_pods, 0),
        ("--pods", workload.pods, 1),
    ):
        if number < least:
            raise InputError(flag, f"{number} is less than {least}")


def _growth(asked: Request, output: TextIO, notes: TextIO) -> None:
    series: dict[str, list[tuple[int, float]]] = {}
    for name in GROWING:
        measured: list[Measured] = []
        for nodes in GROWTH_NODES:
            workload = BY_NAME[name].resized(nodes, asked.init_pods, asked.pods)
            measured.append(measured_apart(workload, asked.options))
        series[name] = [(each.nodes, 1e6 / each.pods_per_second) for each in measured]
        output.write(f"\n{name}\n\n{growth(measured)}\n")
        output.flush()
    if asked.plot is not None:
        asked.plot.write_text(growth_plot(series))
        notes.write(f"wrote {asked.plot}\n")
