"""Which plugins of other packages were found, from where, and why one was not taken.

What ``installed_registry`` refuses with its first problem is told here of every package, one by one.
"""

from __future__ import annotations

import difflib
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, distributions
from typing import Final, TextIO

from framework.configuration.catalogue import CatalogueEntry
from framework.plugins.registry import (
    ENTRY_POINT_GROUP,
    OPTIONAL,
    PluginRefused,
    built_in_registry,
    describe,
    plugin_of,
)

LIKE: Final = 0.8
"""How alike names are of which one was probably meant."""


@dataclass(frozen=True, slots=True)
class FoundPlugin:
    entry: str
    """``name = "module:Class"``, as the package says it."""
    package: str
    """Name and version; "" when the entry point belongs to none."""
    file: str = ""
    """Of the class; "" when it could not be loaded."""
    described: CatalogueEntry | None = None
    problem: str = ""
    """Why it was not taken; "" when it was."""


@dataclass(slots=True)
class Survey:
    plugins: list[FoundPlugin] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Of packages and groups, not of one plugin."""

    @property
    def is_well(self) -> bool:
        return not self.problems and not any(each.problem for each in self.plugins)


def survey(packages: Iterable[str] = (), found: Iterable[EntryPoint] | None = None) -> Survey:
    """``packages``: of which somebody expects plugins. ``found``: entry points of all groups, else those installed."""
    every = list(offered() if found is None else found)
    report = Survey()
    known = {entry.name: "the playground" for entry in built_in_registry().with_plugins(OPTIONAL).entries()}
    for entry_point in sorted((each for each in every if each.group == ENTRY_POINT_GROUP), key=lambda each: each.name):
        plugin = looked_at(entry_point, known)
        if plugin.described is not None and not plugin.problem:
            known[plugin.described.name] = plugin.package or plugin.entry
        report.plugins.append(plugin)
    for group in sorted({each.group for each in every} - {ENTRY_POINT_GROUP}):
        if difflib.SequenceMatcher(None, group.lower(), ENTRY_POINT_GROUP).ratio() >= LIKE:
            names = sorted({package_of(each) or each.value for each in every if each.group == group})
            problem = f"the group {group} is not {ENTRY_POINT_GROUP}, so nobody looks there."
            report.problems.append(f"{', '.join(names)}: {problem}")
    report.problems += [problem for package in packages if (problem := missing(package))]
    return report


def offered() -> Iterator[EntryPoint]:
    """Of all groups; of a package that is there twice those that Python takes."""
    known = set()
    for each in distributions():
        if each.name not in known:
            known.add(each.name)
            yield from each.entry_points


def run(packages: Iterable[str], output: TextIO) -> int:
    """0: all that was found was taken; 1: something was not."""
    found = survey(packages)
    for line in lines(found):
        print(line, file=output)
    return 0 if found.is_well else 1


def package_of(entry_point: EntryPoint) -> str:
    return "" if entry_point.dist is None else f"{entry_point.dist.name} {entry_point.dist.version}"


def looked_at(entry_point: EntryPoint, known: dict[str, str]) -> FoundPlugin:
    entry, package = f'{entry_point.name} = "{entry_point.value}"', package_of(entry_point)
    try:
        plugin = plugin_of(entry_point)
    except PluginRefused as error:
        return FoundPlugin(entry, package, problem=f"{error}.")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package does when it is imported
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return FoundPlugin(entry, package, problem=f"it cannot be loaded: {text}")
    file = getattr(sys.modules.get(plugin.__module__), "__file__", None) or plugin.__module__
    try:
        described = describe(plugin)
    except PluginRefused as error:
        return FoundPlugin(entry, package, file, problem=f"{error}.")
    if described.name in known:
        problem = f"its name is taken: there is a plugin {described.name} of {known[described.name]}."
        return FoundPlugin(entry, package, file, described, problem)
    return FoundPlugin(entry, package, file, described)


def missing(package: str) -> str:
    """Why a package that is expected to offer plugins offers none; "" when it does."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return f"{package}: not installed for {sys.executable}; install it with this interpreter's pip."
    if any(each.group == ENTRY_POINT_GROUP for each in found.entry_points):
        return ""
    return (
        f"{package} {found.version}: installed, but it offers no plugin: its pyproject.toml has no "
        f'[project.entry-points."{ENTRY_POINT_GROUP}"], or it was installed before it had one.'
    )


def lines(found: Survey) -> list[str]:
    """To print: one line per plugin, then what else is wrong."""
    printed = []
    for each in found.plugins:
        origin = ", ".join(part for part in (each.package, each.file) if part)
        if each.problem:
            printed.append(f"WRONG  plugin {each.entry} ({origin}): {each.problem}")
        elif each.described is not None:
            points = ", ".join(
                sorted(f"{point.value[0].upper()}{point.value[1:]}" for point in each.described.extension_points)
            )
            printed.append(f"ok     plugin {each.described.name} ({origin}): {points}")
    if not found.plugins:
        printed.append(f"ok     no plugin of another package (entry points of the group {ENTRY_POINT_GROUP})")
    return [*printed, *(f"WRONG  {problem}" for problem in found.problems)]
