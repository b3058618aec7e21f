"""The profiles of a configuration."""

from __future__ import annotations

from framework.configuration.effective import EffectiveConfiguration
from framework.profiles.build import PluginClasses, ProfileError, build_plugins
from framework.profiles.handle import ProfileHandle
from framework.profiles.profile import Profile
from framework.profiles.services import Services
from framework.profiles.verify import VerifiedProfile

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
