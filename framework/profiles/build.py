"""Constructing the plugins of a profile, and asking them for the events they want.

Rules: docs/semantics/configuration.md#multipoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class EnabledPlugins:
    """The plugins of a profile by extension point, in configured order."""

    queue_sort: points.QueueSortPlugin
    pre_enqueue: tuple[points.PreEnqueuePlugin, ...]
    pre_filter: tuple[points.PreFilterPlugin, ...]
    filter: tuple[points.Plugin, ...]
    """FilterPlugin or ColumnFilterPlugin."""
    post_filter: tuple[points.PostFilterPlugin, ...]
    asks_before_evicting: tuple[points.EvictionAskingPlugin, ...]
    """Enabled at PostFilter, too, and asked by those that are run there."""
    pre_score: tuple[points.PreScorePlugin, ...]
    score: tuple[points.Plugin, ...]
    """ScorePlugin or ColumnScorePlugin."""
    weights: Mapping[str, int]
    """Of ``score``, by name."""
    reserve: tuple[points.ReservePlugin, ...]
    permit: tuple[points.PermitPlugin, ...]
    pre_bind: tuple[points.PreBindPlugin, ...]
    bind: tuple[points.BindPlugin, ...]
    post_bind: tuple[points.PostBindPlugin, ...]
    placement_generate: points.PlacementGeneratePlugin | None
    placement_score: tuple[tuple[points.PlacementScorePlugin, int], ...]
    """With their weights."""

    @cached_property
    def repeatable(self) -> bool:
        """Whether a failed attempt depends on nothing but snapshot, pod and objects."""
        return all(plugin.repeatable for plugin in (*self.pre_filter, *self.filter, *self.post_filter))

    @cached_property
    def asking(self) -> frozenset[str]:
        """Permit plugins that wait for a person."""
        return frozenset(plugin.name for plugin in self.permit if plugin.asks_a_person)


def enabled_plugins(effective: EffectiveProfile, plugins: Mapping[str, points.Plugin]) -> EnabledPlugins:
    """Raises ProfileError for a plugin that is enabled at a point it does not have."""

    def listed(point: str) -> tuple[points.Plugin, ...]:
        return tuple(plugins[name] for name in effective.point(point).names if name in plugins)

    def at(point: str, kind: Callable[..., P]) -> tuple[P, ...]:
        # Callable, because mypy takes no abstract class for ``type[P]``.
        base = cast("type[P]", kind)
        for plugin in (chosen := listed(point)):
            if not isinstance(plugin, base):
                raise ProfileError(f'plugin "{plugin.name}" does not extend {base.__name__} plugin')
        return cast("tuple[P, ...]", chosen)

    at_post_filter = at("postFilter", points.PostFilterPlugin)
    weights = {plugin.name: plugin.weight or 1 for plugin in effective.point("placementScore").plugins}
    return EnabledPlugins(
        queue_sort=at("queueSort", points.QueueSortPlugin)[0],
        pre_enqueue=at("preEnqueue", points.PreEnqueuePlugin),
        pre_filter=at("preFilter", points.PreFilterPlugin),
        filter=listed("filter"),
        post_filter=tuple(p for p in at_post_filter if not isinstance(p, points.EvictionAskingPlugin)),
        asks_before_evicting=tuple(p for p in at_post_filter if isinstance(p, points.EvictionAskingPlugin)),
        pre_score=at("preScore", points.PreScorePlugin),
        score=listed("score"),
        weights={plugin.name: effective.weights.get(plugin.name, 1) for plugin in listed("score")},
        reserve=at("reserve", points.ReservePlugin),
        permit=at("permit", points.PermitPlugin),
        pre_bind=at("preBind", points.PreBindPlugin),
        bind=at("bind", points.BindPlugin),
        post_bind=at("postBind", points.PostBindPlugin),
        placement_generate=next(iter(at("placementGenerate", points.PlacementGeneratePlugin)), None),
        placement_score=tuple((p, weights[p.name]) for p in at("placementScore", points.PlacementScorePlugin)),
    )
