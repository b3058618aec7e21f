"""Building profiles: MultiPoint expansion, order, weights, and the errors that upstream's constructors give.

Rules: docs/semantics/configuration.md#multipoint, docs/semantics/configuration.md#extenders (their ignored resources).
Upstream stops at the first error; we note the first of each kind and profile, so that a form can mark them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from framework.configuration.catalogue import (
    CYCLE_ORDER,
    PLACEMENT_POINTS,
    WEIGHTED_POINTS,
    ExtensionPoint,
    PluginCatalogue,
    validate_args,
    validated_with_configuration,
)
from framework.configuration.defaults import default_multi_point, plugin_sets
from framework.configuration.effective import (
    DisabledPlugin,
    EffectiveConfiguration,
    EffectivePlugin,
    EffectivePoint,
    EffectiveProfile,
    Origin,
)
from framework.configuration.errors import ROOT, FieldError, FieldPath, aggregate, go_quote
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.configuration.types import (
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginConfig,
    Plugins,
    PluginSet,
)

_MAX_SCORE: Final = 100
_MAX_TOTAL: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ConstructionError:
    """``text`` is upstream's. ``where`` are the places to blame, each with what to say there."""

    text: str
    where: tuple[tuple[FieldPath, str], ...]


def order_at(own: PluginSet, multi_point: PluginSet, extends: Callable[[str], bool]) -> list[str]:
    """The plugins of one extension point, from merged sets (docs/semantics/configuration.md#multipoint).

    Overrides of MultiPoint in the order of the point's own list, then MultiPoint's others, then the rest of the list.
    """
    enabled = [plugin.name for plugin in own.enabled]
    disabled = {plugin.name for plugin in own.disabled}
    if "*" in disabled:
        return enabled
    expanded = [plugin.name for plugin in multi_point.enabled if plugin.name not in disabled and extends(plugin.name)]
    return [
        *(name for name in enabled if name in expanded),
        *(name for name in expanded if name not in enabled),
        *(name for name in enabled if name not in expanded),
    ]


@dataclass(slots=True)
class Expansion:
    effective: EffectiveConfiguration | None
    errors: list[ConstructionError] = field(default_factory=list)


class _Refused(Exception):
    """Internal: stops the construction of one profile."""

    def __init__(self, text: str, *where: tuple[FieldPath, str]) -> None:
        super().__init__(text)
        self.text = text
        self.where = where


def expand(
    configuration: KubeSchedulerConfiguration, catalogue: PluginCatalogue, gates: FeatureGates = DEFAULT_GATES
) -> Expansion:
    """From a defaulted, validated configuration."""
    errors: list[ConstructionError] = []
    for i, extender in enumerate(configuration.extenders):
        tls = extender.tls_config
        if tls is not None and tls.insecure and (tls.ca_file or tls.ca_data):  # upstream: client-go transport
            text = "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed"
            at = ROOT.child("extenders").index(i).child("tlsConfig")
            where = ((at, "insecure and a certificate authority exclude each other"),)
            return Expansion(None, [ConstructionError(text, where)])
    ignored = [
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    ]
    written: list[KubeSchedulerProfile] = []
    for i, profile in enumerate(configuration.profiles):
        try:
            path = ROOT.child("profiles").index(i)
            written.append(_with_ignored_resources(profile, ignored, path) if ignored else profile)
        except _Refused as refused:
            errors.append(ConstructionError(f"couldn't build extenders: {refused.text}", refused.where))
    if errors:
        return Expansion(None, errors)

    profiles: list[EffectiveProfile] = []
    queue_sort: tuple[str, Any] | None = None
    for i, profile in enumerate(written):
        path = ROOT.child("profiles").index(i)
        percentage = configuration.percentage_of_nodes_to_score or 0
        builder = _ProfileBuilder(profile, path, catalogue, percentage, gates)
        prefix = f"initializing profiles: creating profile for scheduler name {profile.scheduler_name}: "
        try:
            built = builder.build()
        except _Refused as refused:
            errors.append(ConstructionError(prefix + refused.text, refused.where))
            continue
        try:
            queue_sort = _same_queue_sort(built, queue_sort, path)
        except _Refused as refused:
            errors.append(ConstructionError(f"initializing profiles: {refused.text}", refused.where))
            continue
        profiles.append(built)
    if errors:
        return Expansion(None, errors)
    return Expansion(
        EffectiveConfiguration(
            profiles=tuple(profiles),
            parallelism=configuration.parallelism or 0,
            percentage_of_nodes_to_score=configuration.percentage_of_nodes_to_score or 0,
            pod_initial_backoff_seconds=configuration.pod_initial_backoff_seconds or 0,
            pod_max_backoff_seconds=configuration.pod_max_backoff_seconds or 0,
            extenders=order_extenders(configuration.extenders),
            feature_gates=gates,
        )
    )


def outline(
    configuration: KubeSchedulerConfiguration, catalogue: PluginCatalogue, gates: FeatureGates = DEFAULT_GATES
) -> EffectiveConfiguration:
    """As ``expand``, but nothing is refused: what a form shows while there are errors. The same where there are none.

    From a defaulted configuration, valid or not.
    """
    percentage = configuration.percentage_of_nodes_to_score or 0
    return EffectiveConfiguration(
        profiles=tuple(
            _ProfileBuilder(profile, ROOT.child("profiles").index(i), catalogue, percentage, gates).outline()
            for i, profile in enumerate(configuration.profiles)
        ),
        parallelism=configuration.parallelism or 0,
        percentage_of_nodes_to_score=percentage,
        pod_initial_backoff_seconds=configuration.pod_initial_backoff_seconds or 0,
        pod_max_backoff_seconds=configuration.pod_max_backoff_seconds or 0,
        extenders=order_extenders(configuration.extenders),
        feature_gates=gates,
    )


def order_extenders(extenders: Iterable[Extender]) -> tuple[Extender, ...]:
    return tuple(sorted(extenders, key=lambda extender: extender.ignorable))


def _with_ignored_resources(profile: KubeSchedulerProfile, ignored: list[str], path: FieldPath) -> KubeSchedulerProfile:
    """Resources that extenders manage replace NodeResourcesFit's own ``ignoredResources``."""
    config = list(profile.plugin_config)
    for i, entry in enumerate(config):
        if entry.name == "NodeResourcesFit" and isinstance(entry.args, msgspec.Struct):
            args = replace(entry.args, ignored_resources=tuple(ignored))
            config[i] = PluginConfig(name=entry.name, args=args)
            return replace(profile, plugin_config=tuple(config))
    raise _Refused(text := "can't find NodeResourcesFitArgs in plugin config", (path.child("pluginConfig"), text))


def _same_queue_sort(built: EffectiveProfile, first: tuple[str, Any] | None, path: FieldPath) -> tuple[str, Any]:
    name = built.point(ExtensionPoint.QUEUE_SORT.value).names[0]
    args = built.args.get(name)
    if first is None:
        return name, args
    at = path.child("plugins", "queueSort")
    profile = go_quote(built.scheduler_name)
    if name != first[0]:
        text = f"different queue sort plugins for profile {profile}: {go_quote(name)}, first: {go_quote(first[0])}"
        raise _Refused(text, (at, text))
    if args != first[1]:
        text = f"different queue sort plugin args for profile {profile}"
        raise _Refused(text, (at, text))
    return first


class _ProfileBuilder:
    def __init__(
        self,
        profile: KubeSchedulerProfile,
        path: FieldPath,
        catalogue: PluginCatalogue,
        percentage: int,
        gates: FeatureGates,
    ) -> None:
        self._default = default_multi_point(gates)
        self._default_weights = {plugin.name: plugin.weight for plugin in self._default if plugin.weight is not None}
        self._places_pod_groups = gates.enabled("TopologyAwareWorkloadScheduling")
        self._profile = profile
        self._path = path
        self._catalogue = catalogue
        own = profile.percentage_of_nodes_to_score
        self._percentage = percentage if own is None else own
        self._plugins = profile.plugins or Plugins()
        self._sets = {point: getattr(self._plugins, point.field) for point in ExtensionPoint}
        self._multi_point: PluginSet = self._plugins.multi_point

    def build(self) -> EffectiveProfile:
        self._refuse_repeated_config()
        args = {entry.name: entry.args for entry in self._profile.plugin_config}
        needed = self._needed()
        self._construct(needed, args)
        for point in ExtensionPoint:
            self._refuse_specific(point)
        names = {point: self._expand(point) for point in ExtensionPoint}
        self._refuse_incomplete(names)
        weights = {point: self._weights(point) for point in ExtensionPoint if point in WEIGHTED_POINTS}
        return self._built(names, weights, needed, args)

    def outline(self) -> EffectiveProfile:
        """Repeated and unknown plugins once, at the place where they are written."""
        names: dict[ExtensionPoint, list[str]] = {}
        weights: dict[ExtensionPoint, dict[str, int]] = {}
        for point in ExtensionPoint:
            found = order_at(self._sets[point], self._multi_point, partial(self._extends, point=point))
            names[point] = list(dict.fromkeys(found))
            if point in WEIGHTED_POINTS:
                given: dict[str, int] = {}
                for plugin in (*self._sets[point].enabled, *self._multi_point.enabled):
                    given.setdefault(plugin.name, plugin.weight or 1)
                weights[point] = given
        args = {entry.name: entry.args for entry in reversed(self._profile.plugin_config)}
        return self._built(names, weights, self._needed(), args)

    def _needed(self) -> tuple[str, ...]:
        enabled = {plugin.name for each in plugin_sets(self._plugins).values() for plugin in each.enabled}
        return tuple(name for name in self._catalogue.names() if name in enabled)

    def _built(
        self,
        names: dict[ExtensionPoint, list[str]],
        weights: dict[ExtensionPoint, dict[str, int]],
        needed: tuple[str, ...],
        args: dict[str, Any],
    ) -> EffectiveProfile:
        return EffectiveProfile(
            scheduler_name=self._profile.scheduler_name or "",
            percentage_of_nodes_to_score=self._percentage,
            points={
                point.value: self._describe(point, names[point], weights.get(point))
                for point in CYCLE_ORDER
                # Without the gate nobody asks these points: shown when the person wrote them.
                if point not in PLACEMENT_POINTS or self._places_pod_groups or self._sets[point].enabled
            },
            plugins=needed,
            args={name: args[name] for name in needed if args.get(name) is not None},
        )

    # What a constructor refuses ---------------------------------------------------------------------------------------

    def _refuse_repeated_config(self) -> None:
        seen: set[str] = set()
        for i, entry in enumerate(self._profile.plugin_config):
            if entry.name in seen:
                text = f"repeated config for plugin {entry.name}"
                raise _Refused(text, (self._path.child("pluginConfig").index(i), text))
            seen.add(entry.name)

    def _construct(self, needed: tuple[str, ...], args: dict[str, Any]) -> None:
        """Upstream calls the constructors in random order; we take the registry's."""
        for name in needed:
            value = args.get(name)
            if not isinstance(value, msgspec.Struct) or validated_with_configuration(value):
                continue
            errors = validate_args(value, ROOT)
            if errors:
                before = getattr(value, "REFUSED_WITH", "")
                text = f"initializing plugin {go_quote(name)}: {before}{aggregate(str(error) for error in errors)}"
                raise _Refused(text, *(self._in_args(name, error) for error in errors))

    def _in_args(self, name: str, error: FieldError) -> tuple[FieldPath, str]:
        at = self._path.child("pluginConfig")
        for i, entry in enumerate(self._profile.plugin_config):
            if entry.name == name:
                at = at.index(i).child("args")
                break
        return FieldPath((*at.parts, *error.path.parts), error.path.suffix), error.message

    def _refuse_specific(self, point: ExtensionPoint) -> None:
        seen: set[str] = set()
        for i, plugin in enumerate(self._sets[point].enabled):
            at = self._path.child("plugins", point.value, "enabled").index(i)
            entry = self._catalogue.get(plugin.name)
            if entry is None:
                text = f"{point.interface_name} {go_quote(plugin.name)} does not exist"
            elif point not in entry.extension_points:
                text = f"plugin {go_quote(plugin.name)} does not extend {point.interface_name} plugin"
            elif plugin.name in seen:
                text = f"plugin {go_quote(plugin.name)} already registered as {go_quote(point.interface_name)}"
            else:
                seen.add(plugin.name)
                continue
            raise _Refused(text, (at, text))

    def _refuse_incomplete(self, names: dict[ExtensionPoint, list[str]]) -> None:
        profile = go_quote(self._profile.scheduler_name or "")
        plugins = self._path.child("plugins")
        sorts = len(names[ExtensionPoint.QUEUE_SORT])
        if sorts != 1:
            text = f"only one queue sort plugin required for profile with scheduler name {profile}, but got {sorts}"
            raise _Refused(text, (plugins.child("queueSort"), text))
        if not names[ExtensionPoint.BIND]:
            text = f"at least one bind plugin is needed for profile with scheduler name {profile}"
            raise _Refused(text, (plugins.child("bind"), text))
        if len(names[ExtensionPoint.PLACEMENT_GENERATE]) > 1:
            text = f"at most one placement generate plugin is allowed for profile with scheduler name {profile}"
            raise _Refused(text, (plugins.child("placementGenerate"), text))

    # Order and weights ------------------------------------------------------------------------------------------------

    def _expand(self, point: ExtensionPoint) -> list[str]:
        own: PluginSet = self._sets[point]
        if all(plugin.name != "*" for plugin in own.disabled):
            self._refuse_multi_point(point)
        return order_at(own, self._multi_point, lambda name: self._extends(name, point))

    def _extends(self, name: str, point: ExtensionPoint) -> bool:
        entry = self._catalogue.get(name)
        return entry is not None and point in entry.extension_points

    def _refuse_multi_point(self, point: ExtensionPoint) -> None:
        settled = {plugin.name for plugin in (*self._sets[point].enabled, *self._sets[point].disabled)}
        seen: set[str] = set()
        for i, plugin in enumerate(self._multi_point.enabled):
            name = plugin.name
            if self._catalogue.get(name) is None:
                text = f"{point.interface_name} {go_quote(name)} does not exist"
            elif name in seen and name not in settled and self._extends(name, point):
                text = f"plugin {go_quote(name)} already registered as {go_quote(point.interface_name)}"
            else:
                seen.add(name)
                continue
            raise _Refused(text, (self._path.child("plugins", "multiPoint", "enabled").index(i), text))

    def _weights(self, point: ExtensionPoint) -> dict[str, int]:
        """The point's own entry counts, also when it gives no weight (then 1); else MultiPoint's."""
        weights: dict[str, int] = {}
        total = 0
        for plugin in (*self._sets[point].enabled, *self._multi_point.enabled):
            entry = self._catalogue.get(plugin.name)
            if entry is None or point not in entry.extension_points or plugin.name in weights:
                continue
            weight = plugin.weight or 1
            weights[plugin.name] = weight
            # Below zero Go's int64 wraps around in this very comparison (``getValidScoreWeights``).
            if total < 0 or weight * _MAX_SCORE > _MAX_TOTAL - total:
                kind = "score plugins: " if point is ExtensionPoint.SCORE else "placement score plugins: "
                # Kubernetes 1.35 knows of no other kind.
                text = f"{'' if self._is_older() else kind}total score of Score plugins could overflow"
                raise _Refused(text, (self._path.child("plugins", point.value), text))
            total += weight * _MAX_SCORE
        return weights

    def _is_older(self) -> bool:
        """Whether the scheduler that these plugins are in is that of scheduler-plugins."""
        enabled = [*self._multi_point.enabled, *(each for plugins in self._sets.values() for each in plugins.enabled)]
        found = [self._catalogue.get(each.name) for each in enabled]
        return any(entry is not None and entry.origin == "scheduler-plugins" for entry in found)

    # What it looks like -----------------------------------------------------------------------------------------------

    def _default_names(self, point: ExtensionPoint) -> list[str]:
        return [
            plugin.name
            for plugin in self._default
            if (entry := self._catalogue.get(plugin.name)) and point in entry.extension_points
        ]

    def _describe(self, point: ExtensionPoint, names: list[str], weights: dict[str, int] | None) -> EffectivePoint:
        default = self._default_names(point)
        present = set(names)
        kept = [name for name in default if name in present]
        now = [name for name in names if name in set(default)]
        mentioned = {plugin.name for plugin in self._sets[point].enabled} | self._set_by_hand()
        moved = {name for name, other in zip(now, kept, strict=True) if name != other and name in mentioned}
        return EffectivePoint(
            plugins=tuple(self._plugin(name, name in default, name in moved, weights) for name in names),
            disabled=tuple(self._disabled(name, point) for name in default if name not in present),
        )

    def _set_by_hand(self) -> set[str]:
        """Names in MultiPoint that do not stand where the default has them."""
        default = [plugin.name for plugin in self._default]
        enabled = [plugin.name for plugin in self._multi_point.enabled]
        kept = [name for name in default if name in set(enabled)]
        now = [name for name in enabled if name in set(default)]
        return {name for name, other in zip(now, kept, strict=False) if name != other}

    def _plugin(self, name: str, by_default: bool, moved: bool, weights: dict[str, int] | None) -> EffectivePlugin:
        weight = None if weights is None else weights[name]
        default_weight = self._default_weights.get(name, 1) if by_default and weights is not None else None
        origin: Origin = "default"
        if not by_default:
            origin = "added"
        elif weight != default_weight:
            origin = "weight changed"
        elif moved:
            origin = "moved"
        return EffectivePlugin(
            name=name,
            origin=origin,
            weight=weight,
            default_weight=default_weight,
            moved=moved,
        )

    def _disabled(self, name: str, point: ExtensionPoint) -> DisabledPlugin:
        for where, plugin_set in ((point.value, self._sets[point]), ("multiPoint", self._multi_point)):
            disabled = {plugin.name for plugin in plugin_set.disabled}
            if name in disabled:
                return DisabledPlugin(name, "disabled by name", where)
            if "*" in disabled:
                return DisabledPlugin(name, "disabled by *", where)
        raise AssertionError(f"{name} left {point.value} without being disabled")
