"""Defaulting: absent fields, the default plugins merged with a profile's own, and arguments for every enabled plugin.

Rules: docs/semantics/configuration.md#top-level-fields, docs/semantics/configuration.md#merging-plugins,
docs/semantics/configuration.md#defaults. Follows kube-scheduler's order: profiles first (plugins, then plugin
arguments), then the rest. The result is again a KubeSchedulerConfiguration, with every field given.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from framework.configuration.catalogue import PluginCatalogue, defaulted_args
from framework.configuration.durations import parse_duration
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.configuration.types import (
    DEFAULT_SCHEDULER_NAME,
    ClientConnectionConfiguration,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
)

_ALWAYS: Final = (
    Plugin(name="SchedulingGates"),
    Plugin(name="PrioritySort"),
    Plugin(name="NodeUnschedulable"),
    Plugin(name="NodeName"),
    Plugin(name="TaintToleration", weight=3),
    Plugin(name="NodeAffinity", weight=2),
    Plugin(name="NodePorts"),
    Plugin(name="NodeResourcesFit", weight=1),
    Plugin(name="VolumeRestrictions"),
    Plugin(name="NodeVolumeLimits"),
    Plugin(name="VolumeBinding"),
    Plugin(name="VolumeZone"),
    Plugin(name="PodTopologySpread", weight=2),
    Plugin(name="InterPodAffinity", weight=2),
    # Its gate is locked. Before DefaultPreemption: freeing an idle ResourceClaim is kinder than evicting a pod.
    Plugin(name="DynamicResources", weight=2),
    Plugin(name="DefaultPreemption"),
    Plugin(name="NodeResourcesBalancedAllocation", weight=1),
    Plugin(name="ImageLocality", weight=1),
    Plugin(name="DefaultBinder"),
)
_GATED: Final = (
    ("NodeDeclaredFeatures", Plugin(name="NodeDeclaredFeatures")),
    ("GangScheduling", Plugin(name="GangScheduling")),
    ("TopologyAwareWorkloadScheduling", Plugin(name="TopologyPlacementGenerator")),
    ("TopologyAwareWorkloadScheduling", Plugin(name="PodGroupPodsCount", weight=1)),
)


def default_multi_point(gates: FeatureGates) -> tuple[Plugin, ...]:
    """The default profile; it uses MultiPoint only (docs/semantics/configuration.md#defaults)."""
    return (*_ALWAYS, *(plugin for gate, plugin in _GATED if gates.enabled(gate)))


def default_plugins(gates: FeatureGates) -> Plugins:
    return Plugins(multi_point=PluginSet(enabled=default_multi_point(gates)))


DEFAULT_MULTI_POINT: Final = default_multi_point(DEFAULT_GATES)
"""With v1.36's default feature gates."""

_PLUGIN_SETS: Final = tuple(field.name for field in msgspec.structs.fields(Plugins))


def plugin_sets(plugins: Plugins) -> dict[str, PluginSet]:
    """Field name → set, MultiPoint included."""
    return {name: getattr(plugins, name) for name in _PLUGIN_SETS}


def default_configuration(
    written: KubeSchedulerConfiguration, catalogue: PluginCatalogue, gates: FeatureGates = DEFAULT_GATES
) -> KubeSchedulerConfiguration:
    profiles = written.profiles or (KubeSchedulerProfile(),)
    # Several profiles get no name by default: validation then asks for one.
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (replace(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    profiling = True if written.enable_profiling is None else written.enable_profiling
    contention = written.enable_contention_profiling
    return replace(
        written,
        parallelism=16 if written.parallelism is None else written.parallelism,
        leader_election=_default_leader_election(written.leader_election),
        client_connection=_default_client_connection(written.client_connection),
        enable_profiling=profiling,
        enable_contention_profiling=profiling if contention is None else contention,
        percentage_of_nodes_to_score=written.percentage_of_nodes_to_score or 0,
        pod_initial_backoff_seconds=_given(written.pod_initial_backoff_seconds, 1),
        pod_max_backoff_seconds=_given(written.pod_max_backoff_seconds, 10),
        profiles=tuple(_default_profile(profile, catalogue, gates) for profile in profiles),
    )


def _given(value: int | None, default: int) -> int:
    return default if value is None else value


def _default_leader_election(written: LeaderElectionConfiguration) -> LeaderElectionConfiguration:
    def duration(value: str, default: str) -> str:
        return value if parse_duration(value) else default

    return LeaderElectionConfiguration(
        leader_elect=True if written.leader_elect is None else written.leader_elect,
        lease_duration=duration(written.lease_duration, "15s"),
        renew_deadline=duration(written.renew_deadline, "10s"),
        retry_period=duration(written.retry_period, "2s"),
        resource_lock=written.resource_lock or "leases",
        resource_name=written.resource_name or "kube-scheduler",
        resource_namespace=written.resource_namespace or "kube-system",
    )


def _default_client_connection(written: ClientConnectionConfiguration) -> ClientConnectionConfiguration:
    return replace(
        written,
        content_type=written.content_type or "application/vnd.kubernetes.protobuf",
        qps=written.qps or 50.0,
        burst=written.burst or 100,
    )


def _default_profile(
    written: KubeSchedulerProfile, catalogue: PluginCatalogue, gates: FeatureGates
) -> KubeSchedulerProfile:
    plugins = merge_plugins(default_plugins(gates), written.plugins)
    config = [
        replace(entry, args=defaulted_args(entry.args, gates)) if isinstance(entry.args, msgspec.Struct) else entry
        for entry in written.plugin_config
    ]
    configured = {entry.name for entry in config}
    enabled = {plugin.name for plugin_set in plugin_sets(plugins).values() for plugin in plugin_set.enabled}
    for name in sorted(enabled - configured):
        entry = catalogue.get(name)
        if entry is not None and entry.args_type is not None:
            config.append(PluginConfig(name=name, args=defaulted_args(entry.args_type(), gates)))
    return replace(written, plugins=plugins, plugin_config=tuple(config))


def merge_plugins(default: Plugins, custom: Plugins | None) -> Plugins:
    if custom is None:
        return default
    customs = plugin_sets(custom)
    return Plugins(
        **{name: merge_plugin_set(plugin_set, customs[name]) for name, plugin_set in plugin_sets(default).items()}
    )


def merge_plugin_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """A default plugin that is both disabled and enabled is removed here and re-added last.

    Rules: docs/semantics/configuration.md#merging-plugins.
    """
    disabled = [Plugin(name=plugin.name) for plugin in (*custom.disabled, *default.disabled)]
    names = {plugin.name for plugin in disabled}
    # Of a plugin enabled twice the last entry replaces the default; the other stays and is refused later.
    replacing = {plugin.name: i for i, plugin in enumerate(custom.enabled)}
    used: set[int] = set()
    enabled: list[Plugin] = []
    if "*" not in names:
        for plugin in default.enabled:
            if plugin.name in names:
                continue
            i = replacing.get(plugin.name)
            if i is None:
                enabled.append(plugin)
            else:
                enabled.append(custom.enabled[i])
                used.add(i)
    enabled += [plugin for i, plugin in enumerate(custom.enabled) if i not in used]
    return PluginSet(enabled=tuple(enabled), disabled=tuple(disabled))
