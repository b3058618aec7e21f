"""Constructing the plugins of a profile, and asking them for the events they want.

Rules: docs/semantics/configuration.md#multipoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

from framework.configuration.effective import EffectiveProfile
from framework.interface import plugin as points
from framework.interface.events import ClusterEventWithHint
from framework.interface.handle import Handle
from framework.queue import default_registrations

P = TypeVar("P", bound=points.Plugin)
Registrations = tuple[tuple[str, tuple[ClusterEventWithHint, ...]], ...]
"""Plugin → what its EventsToRegister returned."""

_ASKED_FOR_EVENTS = (
    points.PreEnqueuePlugin,
    points.PreFilterPlugin,
    points.FilterPlugin,
    points.ColumnFilterPlugin,
    points.ReservePlugin,
    points.PermitPlugin,
)


class ProfileError(ValueError):
    """A profile that cannot be built; the text is upstream's."""


class PluginClasses(Protocol):
    """The registry: name → class. None for plugins that are not built yet; they are left out."""

    def plugin_class(self, name: str) -> type[points.Plugin] | None: ...


def construct(name: str, plugin: type[points.Plugin], args: Any, handle: Handle) -> points.Plugin:
    try:
        return plugin(args, handle)
    except ValueError as error:
        raise ProfileError(f'initializing plugin "{name}": {error}') from error


def build_plugins(effective: EffectiveProfile, registry: PluginClasses, handle: Handle) -> dict[str, points.Plugin]:
    """Name → plugin, in the registry's order (upstream: at random)."""
    plugins: dict[str, points.Plugin] = {}
    for name in effective.plugins:
        found = registry.plugin_class(name)
        if found is not None:
            plugins[name] = construct(name, found, effective.args.get(name), handle)
    return plugins


def ask_for_events(plugins: Mapping[str, points.Plugin]) -> Registrations:
    """Only plugins that can reject a pod are asked; one without EnqueueExtensions hears of everything.

    Raises ProfileError with the texts of the plugins that fail, one per line (upstream joins them so).
    """
    registrations: list[tuple[str, tuple[ClusterEventWithHint, ...]]] = []
    errors: list[str] = []
    for name, plugin in plugins.items():
        if not isinstance(plugin, _ASKED_FOR_EVENTS):
            continue
        events: Sequence[ClusterEventWithHint] = default_registrations()
        if isinstance(plugin, points.EnqueueExtensions):
            try:
                events = plugin.events_to_register()
            except Exception as error:  # noqa: BLE001 - whatever it is, the profile is refused with its text
                errors.append(str(error))
                continue
        registrations.append((name, tuple(events)))
    if errors:
        raise ProfileError("\n".join(errors))
    return tuple(registrations)


class EnabledPlugins:
    """The plugins of a profile by extension point, in configured order."""

    def __init__(self, effective: EffectiveProfile, plugins: Mapping[str, points.Plugin]) -> None:
        self._effective = effective
        self._plugins = plugins

    def listed(self, point: str) -> list[points.Plugin]:
        return [self._plugins[name] for name in self._effective.point(point).names if name in self._plugins]

    def of(self, point: str, kind: Callable[..., P]) -> list[P]:
        """``kind`` is the point's class; Callable because mypy takes no abstract class for ``type[P]``."""
        base = cast("type[P]", kind)
        chosen = []
        for plugin in self.listed(point):
            if not isinstance(plugin, base):
                raise ProfileError(f'plugin "{plugin.name}" does not extend {base.__name__} plugin')
            chosen.append(plugin)
        return chosen
