"""The effective configuration: what runs, and for every plugin why it is where it is.

Rules: docs/semantics/configuration.md#forms, docs/semantics/runs.md#configuration-in-effect.

``framework.configuration.expansion`` makes it; the framework's runtime builds profiles from it and the UI shows it.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.configuration.types import Extender

Origin = Literal["default", "weight changed", "moved", "added"]
DisabledOrigin = Literal["disabled by name", "disabled by *"]


class EffectivePlugin(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    origin: Origin = "default"
    """``added``: not in the default profile at this point; ``weight changed`` goes before ``moved``."""
    weight: int | None = None
    """At score points only."""
    default_weight: int | None = None
    moved: bool = False


class DisabledPlugin(msgspec.Struct, frozen=True, rename="camel"):
    """A plugin of the default profile that does not run at this point."""

    name: str
    origin: DisabledOrigin
    disabled_in: str
    """The set that says so: the point's own (``score``) or ``multiPoint``."""


class EffectivePoint(msgspec.Struct, frozen=True, rename="camel"):
    plugins: tuple[EffectivePlugin, ...] = ()
    disabled: tuple[DisabledPlugin, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(plugin.name for plugin in self.plugins)


_EMPTY = EffectivePoint()


class EffectiveProfile(msgspec.Struct, frozen=True, rename="camel"):
    scheduler_name: str
    percentage_of_nodes_to_score: int = 0
    """The profile's own, else the global value; 0 is adaptive."""
    points: dict[str, EffectivePoint] = {}
    """By the key of ``profiles[].plugins`` (``"preFilter"``), in the order of a cycle."""
    plugins: tuple[str, ...] = ()
    """Every plugin that is instantiated, in the registry's order."""
    args: dict[str, Any] = {}
    """Plugin → its args Struct, defaulted; a mapping as written for a plugin without one."""

    def point(self, name: str) -> EffectivePoint:
        return self.points.get(name, _EMPTY)

    @property
    def weights(self) -> dict[str, int]:
        return {plugin.name: plugin.weight for plugin in self.point("score").plugins if plugin.weight is not None}


class EffectiveConfiguration(msgspec.Struct, frozen=True, rename="camel"):
    profiles: tuple[EffectiveProfile, ...]
    parallelism: int = 16
    percentage_of_nodes_to_score: int = 0
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    extenders: tuple[Extender, ...] = ()
    """Ignorable ones last, otherwise as written."""
    feature_gates: FeatureGates = DEFAULT_GATES

    def profile(self, scheduler_name: str) -> EffectiveProfile | None:
        for profile in self.profiles:
            if profile.scheduler_name == scheduler_name:
                return profile
        return None
