"""The effective plugin set as the page shows it: plugin × extension point, per profile.

Rows stand in MultiPoint's order; a default plugin that a profile disables keeps its place, and plugins of single points
come last.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from framework.configuration.defaults import default_multi_point
from framework.configuration.effective import DisabledOrigin, EffectiveConfiguration, EffectiveProfile, Origin
from framework.configuration.types import KubeSchedulerConfiguration
from schedweb.configurations.catalogue import defaults_of, plain, registry, shown_point

State = Literal["default", "added", "disabled"]


class Cell(msgspec.Struct, frozen=True):
    state: State
    origin: Origin | DisabledOrigin
    position: int | None
    """From 0 in the order of the point; None when it does not run."""
    weight: int | None
    default_weight: int | None
    moved: bool
    disabled_in: str | None
    """The set that disables it, as files write it: ``score`` or ``multiPoint``."""


class PointPlugin(msgspec.Struct, frozen=True):
    name: str
    state: State
    origin: Origin | DisabledOrigin
    weight: int | None


class Row(msgspec.Struct, frozen=True):
    plugin: str
    origin: Literal["default", "added"]
    known: bool
    """False: no such plugin is installed."""
    off: bool
    changed: bool
    args_changed: bool
    has_args: bool
    cells: dict[str, Cell]


class Profile(msgspec.Struct, frozen=True):
    scheduler_name: str
    percentage_of_nodes_to_score: int
    plugins_count: int
    points: dict[str, list[PointPlugin]]
    rows: list[Row]
    args: dict[str, dict[str, Any]]


class Globals(msgspec.Struct, frozen=True):
    parallelism: int
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    extenders: int


class Effective(msgspec.Struct, frozen=True):
    globals: Globals
    feature_gates: dict[str, bool]
    """Those that are set, by name."""
    profiles: list[Profile]
    extenders: list[dict[str, Any]]
    """As a file has them, with their defaults."""


def show_effective(outlined: EffectiveConfiguration, defaulted: KubeSchedulerConfiguration) -> Effective:
    profiles = []
    default = tuple(plugin.name for plugin in default_multi_point(outlined.feature_gates))
    for profile, given in zip(outlined.profiles, defaulted.profiles, strict=True):
        multi_point = given.plugins.multi_point.enabled if given.plugins is not None else ()
        profiles.append(_show_profile(profile, [plugin.name for plugin in multi_point], default))
    return Effective(
        globals=Globals(
            parallelism=outlined.parallelism,
            percentage_of_nodes_to_score=outlined.percentage_of_nodes_to_score,
            pod_initial_backoff_seconds=outlined.pod_initial_backoff_seconds,
            pod_max_backoff_seconds=outlined.pod_max_backoff_seconds,
            extenders=len(outlined.extenders),
        ),
        feature_gates=outlined.feature_gates.given,
        profiles=profiles,
        extenders=msgspec.to_builtins(outlined.extenders),
    )


def _show_profile(profile: EffectiveProfile, multi_point: list[str], default: tuple[str, ...]) -> Profile:
    cells: dict[str, dict[str, Cell]] = {}
    points: dict[str, list[PointPlugin]] = {}
    for written, point in profile.points.items():
        shown = points.setdefault(shown_point(written), [])
        for position, plugin in enumerate(point.plugins):
            state: State = "added" if plugin.origin == "added" else "default"
            cells.setdefault(plugin.name, {})[shown_point(written)] = Cell(
                state, plugin.origin, position, plugin.weight, plugin.default_weight, plugin.moved, None
            )
            shown.append(PointPlugin(plugin.name, state, plugin.origin, plugin.weight))
        for off in point.disabled:
            cells.setdefault(off.name, {})[shown_point(written)] = Cell(
                "disabled", off.origin, None, None, None, False, off.disabled_in
            )
            shown.append(PointPlugin(off.name, "disabled", off.origin, None))
    args = {name: plain(given) if given else {} for name, given in profile.args.items()}
    order = _row_order(multi_point, list(cells), default)
    rows = [_row(name, cells.get(name, {}), args, by_default=name in default) for name in order]
    return Profile(
        scheduler_name=profile.scheduler_name,
        percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score,
        plugins_count=sum(1 for row in rows if not row.off),
        points=points,
        rows=rows,
        args=args,
    )


def _row_order(multi_point: list[str], met: list[str], default: tuple[str, ...]) -> list[str]:
    order = list(dict.fromkeys(multi_point))
    before = -1
    for name in default:
        if name not in order:
            order.insert(before + 1, name)
        before = order.index(name)
    return [*order, *(name for name in met if name not in order)]


def _row(name: str, cells: dict[str, Cell], args: dict[str, dict[str, Any]], *, by_default: bool) -> Row:
    entry = registry().get(name)
    running = [cell for cell in cells.values() if cell.state != "disabled"]
    origin: Literal["default", "added"] = "default" if by_default else "added"
    args_changed = entry is not None and name in args and args[name] != defaults_of(entry)
    return Row(
        plugin=name,
        origin=origin,
        known=entry is not None,
        off=not running and entry is not None,
        changed=args_changed or any(cell.origin not in ("default", origin) for cell in cells.values()),
        args_changed=args_changed,
        has_args=entry is not None and entry.args_type is not None,
        cells=cells,
    )
