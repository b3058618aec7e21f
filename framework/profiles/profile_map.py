"""The profiles of a configuration, and the order of the queue, which all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from framework.configuration.effective import EffectiveConfiguration
from framework.interface.plugin import QueueSortPlugin
from framework.profiles.build import PluginClasses, ProfileError, build_plugins
from framework.profiles.handle import ProfileHandle
from framework.profiles.profile import Profile
from framework.profiles.services import Services
from framework.profiles.verify import VerifiedProfile
from framework.queue.queued_pod import QueueOrder

ProfileMap = dict[str, Profile]
"""Scheduler name → profile, in configured order."""


def build_profiles(configuration: EffectiveConfiguration, registry: PluginClasses, services: Services) -> ProfileMap:
    """Raises ProfileError with upstream's text."""
    profiles: ProfileMap = {}
    profile_class = VerifiedProfile if services.verify_reuse else Profile
    for effective in configuration.profiles:
        handle = ProfileHandle(effective.scheduler_name, services, configuration.feature_gates)
        try:
            plugins = build_plugins(effective, registry, handle)
            profiles[effective.scheduler_name] = profile_class(effective, plugins, handle, services)
        except ProfileError as error:
            name = effective.scheduler_name
            raise ProfileError(f"initializing profiles: creating profile for scheduler name {name}: {error}") from error
    errors = []
    for profile in profiles.values():
        try:
            profile.ask_for_events()
        except ProfileError as error:
            errors.append(str(error))
    if errors:
        raise ProfileError("\n".join(errors))
    return profiles


def queue_order(profiles: Mapping[str, Profile]) -> QueueOrder:
    """All profiles have the same QueueSort plugin."""
    plugin = next(iter(profiles.values())).enabled.queue_sort
    # A subclass that has a ``less`` of its own does not sort by the key it inherits.
    owner = next(each for each in type(plugin).__mro__ if "less" in vars(each) or "sort_key" in vars(each))
    keyed = owner is not QueueSortPlugin and "sort_key" in vars(owner)
    return QueueOrder(cast(Any, plugin.less), cast(Any, plugin.sort_key) if keyed else None)
