"""Plugins that follow the cluster by themselves, and those with work to do every so often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from framework.cycle.core import Listeners
from framework.interface.plugin import ObjectListener, PeriodicPlugin, Plugin
from framework.plugins.reservation.plugin import ReservationPlugin
from framework.profiles import ProfileMap

P = TypeVar("P", bound=Plugin)


def _all(profiles: ProfileMap, kind: type[P]) -> Iterator[P]:
    for profile in profiles.values():
        for plugin in profile.plugins.values():
            if isinstance(plugin, kind):
                yield plugin


def listeners_of(profiles: ProfileMap) -> Listeners:
    """Kind → plugins, in the order of profiles and of the registry."""
    listeners: dict[type, list[ObjectListener]] = {}
    for plugin in _all(profiles, ObjectListener):  # type: ignore[type-abstract]
        for kind in plugin.listens_to:
            listeners.setdefault(kind, []).append(plugin)
    return listeners


def follows_kubelets(profiles: ProfileMap) -> bool:
    return any(plugin.follows_kubelets for plugin in _all(profiles, ObjectListener))  # type: ignore[type-abstract]


def reserving(profiles: ProfileMap) -> dict[str, int]:
    """Profile that keeps reservations → how long one holds that does not say so, in nanoseconds."""
    return {
        profile.name: plugin.default_ttl
        for profile in profiles.values()
        for plugin in profile.plugins.values()
        if isinstance(plugin, ReservationPlugin)
    }


class Tickers:
    """When which plugin is due."""

    def __init__(self, profiles: ProfileMap, now: int) -> None:
        plugins = [plugin for plugin in _all(profiles, PeriodicPlugin) if plugin.period]  # type: ignore[type-abstract]
        self._due = [(now + plugin.period, plugin) for plugin in plugins]

    def next_due(self) -> int | None:
        return min((due for due, _ in self._due), default=None)

    def fire(self, now: int) -> None:
        for i, (due, plugin) in enumerate(self._due):
            if due <= now:
                plugin.tick()
                self._due[i] = (now + plugin.period, plugin)

    def all_at_once(self) -> None:
        """As if every plugin were due."""
        for _, plugin in self._due:
            plugin.tick()
