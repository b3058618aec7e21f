"""What changed between two configurations, in words: per plugin, from the effective sets and not from the lines.

``NodeResourcesFit``: ``weight 1 → 5``, ``scoringStrategy.type LeastAllocated → MostAllocated``.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from framework.configuration.feature_gates import FeatureGates
from schedweb.configurations.grid import Effective, Globals, Profile, Row
from schedweb.sentences import say

_GLOBALS: Final = {
    "parallelism": "parallelism",
    "percentage_of_nodes_to_score": "percentageOfNodesToScore",
    "pod_initial_backoff_seconds": "podInitialBackoffSeconds",
    "pod_max_backoff_seconds": "podMaxBackoffSeconds",
    "extenders": "extenders",
}
_SHOWN_CHARACTERS: Final = 80


class EffectiveChange(msgspec.Struct, frozen=True):
    profile: str | None
    """Its scheduler name; None for what concerns all profiles."""
    plugin: str | None
    what: list[str]
    """Short phrases; a person reads them joined by commas."""


def changes_between(old: Effective | None, new: Effective | None) -> list[EffectiveChange]:
    """Empty when the two mean the same, or when one of them cannot be read."""
    if old is None or new is None:
        return []
    found: list[EffectiveChange] = []
    if whole := _globals(old.globals, new.globals) + _feature_gates(old.feature_gates, new.feature_gates):
        found.append(EffectiveChange(None, None, whole))
    before = {profile.scheduler_name: profile for profile in old.profiles}
    after = {profile.scheduler_name: profile for profile in new.profiles}
    for name, profile in after.items():
        if name in before:
            found += _profile(before[name], profile)
        else:
            found.append(EffectiveChange(name, None, [say("profile added")]))
    found += [EffectiveChange(name, None, [say("profile removed")]) for name in before if name not in after]
    return found


def _globals(old: Globals, new: Globals) -> list[str]:
    return [
        f"{shown} {getattr(old, name)} → {getattr(new, name)}"
        for name, shown in _GLOBALS.items()
        if getattr(old, name) != getattr(new, name)
    ]


def _feature_gates(old: dict[str, bool], new: dict[str, bool]) -> list[str]:
    """``GangScheduling on``; a gate that is only named, with the value that it has anyway, is no change."""
    was, now = FeatureGates(old), FeatureGates(new)
    return [
        say("{gate} on", gate=name) if now.enabled(name) else say("{gate} off", gate=name)
        for name in sorted({**old, **new})
        if was.enabled(name) != now.enabled(name)
    ]


def _profile(old: Profile, new: Profile) -> list[EffectiveChange]:
    found: list[EffectiveChange] = []
    name = new.scheduler_name
    if old.percentage_of_nodes_to_score != new.percentage_of_nodes_to_score:
        percentage = f"{old.percentage_of_nodes_to_score} → {new.percentage_of_nodes_to_score}"
        found.append(EffectiveChange(name, None, [f"percentageOfNodesToScore {percentage}"]))
    before = {row.plugin: row for row in old.rows}
    after = {row.plugin: row for row in new.rows}
    moved = _moved(old, new)
    for plugin in dict.fromkeys([*after, *before]):
        what = _plugin(before.get(plugin), after.get(plugin), moved.get(plugin, []))
        if plugin in old.args and plugin in new.args:
            what += leaf_changes(old.args[plugin], new.args[plugin])
        if what:
            found.append(EffectiveChange(name, plugin, what))
    return found


def _plugin(old: Row | None, new: Row | None, moved: list[str]) -> list[str]:
    was = _running(old)
    now = _running(new)
    if not was and now:
        return [say("added at {points}", points=", ".join(now))]
    if was and not now:
        return [say("no longer runs")]
    what: list[str] = []
    if gained := [point for point in now if point not in was]:
        what.append(say("added at {points}", points=", ".join(gained)))
    if lost := [point for point in was if point not in now]:
        scores = lost == ["Score"]
        what.append(say("no longer scores") if scores else say("no longer at {points}", points=", ".join(lost)))
    for point in now:
        if point in was and was[point] != now[point]:
            weights = {"old": was[point], "new": now[point]}
            what.append(
                say("weight {old} → {new}", **weights)
                if point == "Score"
                else say("weight {old} → {new} at {point}", **weights, point=point)
            )
    if moved:
        what.append(say("moved at {points}", points=", ".join(moved)))
    return what


def _running(row: Row | None) -> dict[str, int | None]:
    cells = row.cells if row is not None else {}
    return {point: cell.weight for point, cell in cells.items() if cell.state != "disabled"}


def _moved(old: Profile, new: Profile) -> dict[str, list[str]]:
    """Plugin → the points where it overtook another; of two that changed places both are named."""
    found: dict[str, list[str]] = {}
    for point, plugins in new.points.items():
        before = [plugin.name for plugin in old.points.get(point, []) if plugin.state != "disabled"]
        after = [plugin.name for plugin in plugins if plugin.state != "disabled"]
        was = [name for name in before if name in set(after)]
        now = [name for name in after if name in set(before)]
        for name in _out_of_order(was, now):
            found.setdefault(name, []).append(point)
    return found


def _out_of_order(was: list[str], now: list[str]) -> list[str]:
    """The fewest names that explain a new order: all but a longest run that kept its order."""
    place = {name: index for index, name in enumerate(was)}
    chains: list[list[str]] = []
    for name in now:
        longest: list[str] = []
        for chain in chains:
            if place[chain[-1]] < place[name] and len(chain) > len(longest):
                longest = chain
        chains.append([*longest, name])
    kept: list[str] = max(chains, key=lambda chain: len(chain), default=[])
    return [name for name in now if name not in kept]


def leaf_changes(old: Any, new: Any, path: str = "") -> list[str]:
    """``scoringStrategy.type LeastAllocated → MostAllocated``; lists of another length as a whole."""
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        found: list[str] = []
        for key in dict.fromkeys([*old, *new]):
            found += leaf_changes(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        return found
    if isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        return [
            change
            for index, (one, other) in enumerate(zip(old, new, strict=True))
            for change in leaf_changes(one, other, f"{path}[{index}]")
        ]
    return [f"{path} {_shown(old)} → {_shown(new)}"]


def _shown(value: Any) -> str:
    if value is None:
        return say("not given")
    text = (value or '""') if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"
