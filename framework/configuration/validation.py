"""Validation of a defaulted configuration: upstream's checks in upstream's order, as FieldErrors.

Rules: docs/semantics/configuration.md#top-level-fields, docs/semantics/configuration.md#profiles,
docs/semantics/configuration.md#extenders.

``NodeResourcesFit``'s arguments are not among them: upstream's table of validators has the key ``NodeResourcesFitArgs``
where the plugin's name belongs, so only the constructor looks at them (``PluginArgs.VALIDATED_BY``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from framework.configuration.catalogue import POD_POINTS, PluginCatalogue, validate_args, validated_with_configuration
from framework.configuration.defaults import plugin_sets
from framework.configuration.durations import format_duration, parse_duration
from framework.configuration.errors import ROOT, FieldError, FieldPath, duplicate, invalid, required
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates
from framework.configuration.names import is_extended_resource_name, label_key_errors
from framework.configuration.types import (
    API_VERSION,
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    PluginConfig,
    PluginSet,
)

_REMOVED_PLUGINS: Final = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
# The version that upstream says first is core's, not the configuration's (upstream: apis/config/validation).
_REMOVED: Final = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'


def validate(
    configuration: KubeSchedulerConfiguration, catalogue: PluginCatalogue, gates: FeatureGates = DEFAULT_GATES
) -> list[FieldError]:
    return list(_validate(configuration, catalogue, gates))


def _validate(cc: KubeSchedulerConfiguration, catalogue: PluginCatalogue, gates: FeatureGates) -> Iterator[FieldError]:
    burst = cc.client_connection.burst
    if burst < 0:
        yield invalid(ROOT.child("clientConnection", "burst"), burst, "must be non-negative")
    yield from _validate_leader_election(cc.leader_election, ROOT.child("leaderElection"))
    parallelism = cc.parallelism or 0
    if parallelism <= 0:
        yield invalid(ROOT.child("parallelism"), parallelism, "should be an integer value greater than zero")
    yield from _validate_profiles(cc.profiles, ROOT.child("profiles"), gates)
    yield from _validate_percentage(cc.percentage_of_nodes_to_score, ROOT.child("percentageOfNodesToScore"))
    initial, longest = cc.pod_initial_backoff_seconds or 0, cc.pod_max_backoff_seconds or 0
    if initial <= 0:
        yield invalid(ROOT.child("podInitialBackoffSeconds"), initial, "must be greater than 0")
    if longest < initial:
        yield invalid(
            ROOT.child("podMaxBackoffSeconds"), longest, "must be greater than or equal to PodInitialBackoffSeconds"
        )
    yield from _validate_extenders(cc.extenders, ROOT.child("extenders"))


def _validate_leader_election(leader: LeaderElectionConfiguration, path: FieldPath) -> Iterator[FieldError]:
    if not leader.leader_elect:
        return
    durations = {
        "leaseDuration": parse_duration(leader.lease_duration),
        "renewDeadline": parse_duration(leader.renew_deadline),
        "retryPeriod": parse_duration(leader.retry_period),
    }
    for name, duration in durations.items():
        if duration <= 0:
            yield invalid(path.child(name), format_duration(duration), "must be greater than zero")
    if durations["leaseDuration"] <= durations["renewDeadline"]:
        # The path is the lease's, the value printed the deadline's.
        printed = format_duration(durations["renewDeadline"])
        yield invalid(path.child("leaseDuration"), printed, "must be greater than `RenewDeadline`")
    for name, text in (
        ("resourceLock", leader.resource_lock),
        ("resourceNamespace", leader.resource_namespace),
        ("resourceName", leader.resource_name),
    ):
        if not text:
            yield required(path.child(name))
    if leader.resource_lock != "leases":
        yield invalid(path.child("resourceLock"), leader.resource_lock, 'resourceLock value must be "leases"')


def _validate_percentage(value: int | None, path: FieldPath) -> Iterator[FieldError]:
    if value is not None and not 0 <= value <= 100:
        yield invalid(path, value, "not in valid range [0-100]")


def _validate_profiles(
    profiles: tuple[KubeSchedulerProfile, ...], path: FieldPath, gates: FeatureGates
) -> Iterator[FieldError]:
    if not profiles:
        yield required(path)
        return
    first_with: set[str] = set()
    for i, profile in enumerate(profiles):
        at = path.index(i)
        name = profile.scheduler_name or ""
        if not name:
            yield required(at.child("schedulerName"))
        yield from _validate_percentage(profile.percentage_of_nodes_to_score, at.child("percentageOfNodesToScore"))
        yield from _validate_plugins(profile, at)
        yield from _validate_plugin_config(profile.plugin_config, at.child("pluginConfig"), gates)
        if name in first_with:
            # Upstream passes the earlier path as the value; as JSON that object is empty.
            yield duplicate(at.child("schedulerName"), {})
        first_with.add(name)
    yield from _validate_common_queue_sort(profiles, path)


def _validate_plugins(profile: KubeSchedulerProfile, path: FieldPath) -> Iterator[FieldError]:
    if profile.plugins is None:
        return
    sets = plugin_sets(profile.plugins)
    # Upstream walks a Go map here; we keep the order of the cycle. Sets that it leaves out stay out.
    for point in POD_POINTS:
        for i, plugin in enumerate(sets[point.field].enabled):
            if plugin.name in _REMOVED_PLUGINS:
                yield invalid(path.child("plugins", point.value, "enabled").index(i), plugin.name, _REMOVED)


def _validate_plugin_config(
    config: tuple[PluginConfig, ...], path: FieldPath, gates: FeatureGates
) -> Iterator[FieldError]:
    seen: set[str] = set()
    for i, entry in enumerate(config):
        at = path.index(i)
        if entry.name in seen:
            yield duplicate(at, entry.name)
        seen.add(entry.name)
        if entry.name in _REMOVED_PLUGINS:
            yield invalid(at, entry.name, _REMOVED)
        elif isinstance(entry.args, msgspec.Struct) and validated_with_configuration(entry.args):
            yield from validate_args(entry.args, at.child("args"), gates)


def _validate_common_queue_sort(profiles: tuple[KubeSchedulerProfile, ...], path: FieldPath) -> Iterator[FieldError]:
    """Compares the merged but unexpanded queueSort sets; MultiPoint does not count here."""
    canon = _queue_sort(profiles[0])
    name = canon.enabled[0].name if canon.enabled else ""
    if len(canon.enabled) > 1:
        at = path.index(0).child("plugins", "queueSort", "Enabled")
        yield invalid(at, len(canon.enabled), "only one queue sort plugin can be enabled")
    args = next((entry.args for entry in reversed(profiles[0].plugin_config) if name and entry.name == name), None)
    for i, profile in enumerate(profiles[1:], start=1):
        current = _queue_sort(profile)
        if current != canon:
            yield invalid(
                path.index(i).child("plugins", "queueSort"), _as_go(current), "must be the same for all profiles"
            )
        for entry in profile.plugin_config:
            if entry.name == name and entry.args != args:
                shown = msgspec.to_builtins(entry.args)
                at = path.index(i).child("pluginConfig", "args")
                yield invalid(at, shown, "queueSort must be the same for all profiles")


def _queue_sort(profile: KubeSchedulerProfile) -> PluginSet:
    written = profile.plugins.queue_sort if profile.plugins else PluginSet()
    # A weight that is not given and one of 0 are the same in Go's internal type.
    return PluginSet(
        enabled=tuple(msgspec.structs.replace(plugin, weight=plugin.weight or 0) for plugin in written.enabled),
        disabled=tuple(msgspec.structs.replace(plugin, weight=plugin.weight or 0) for plugin in written.disabled),
    )


def _as_go(plugin_set: PluginSet) -> dict[str, Any]:
    return {
        written: [{"Name": plugin.name, "Weight": plugin.weight or 0} for plugin in plugins] or None
        for written, plugins in (("Enabled", plugin_set.enabled), ("Disabled", plugin_set.disabled))
    }


def _validate_extenders(extenders: tuple[Extender, ...], path: FieldPath) -> Iterator[FieldError]:
    binders = 0
    managed: set[str] = set()
    for i, extender in enumerate(extenders):
        at = path.index(i)
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(at.child("weight"), extender.weight, "must have a positive weight applied to it")
        binders += bool(extender.bind_verb)
        for j, resource in enumerate(extender.managed_resources):
            name_path = at.child("managedResources").index(j).child("name")
            wrong = label_key_errors(resource.name)
            yield from (invalid(name_path, resource.name, text) for text in wrong)
            if not wrong and not is_extended_resource_name(resource.name):
                yield invalid(name_path, resource.name, "is an invalid extended resource name")
            if resource.name in managed:
                yield invalid(name_path, resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    if binders > 1:
        yield invalid(path, f"found {binders} extenders implementing bind", "only one extender can implement bind")
