"""The profile that a run played with at a position."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from framework.configuration import EffectiveConfiguration, EffectiveProfile, load
from framework.plugins.registry import installed_registry
from schedweb.api.errors import ApiError
from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import Run
from schedweb.runs.records.moments import configuration_at
from schedweb.sentences import say

SCORE: Final = "score"
FILTER: Final = "filter"


@lru_cache(maxsize=32)
def effective(text: str) -> EffectiveConfiguration:
    """Of a version that was played, so it can be read."""
    loaded = load(text, installed_registry())
    if loaded.effective is None:
        raise ApiError(loaded.config_error, code="configuration", status_code=422)
    return loaded.effective


def version_at(run: Run, position: int) -> ConfigurationVersion:
    return ConfigurationVersion.objects.select_related("configuration").get(pk=configuration_at(run, position))


def profile_at(run: Run, position: int, name: str) -> EffectiveProfile:
    """Raises an ApiError `no_profile`."""
    version = version_at(run, position)
    profile = effective(version.text).profile(name)
    if profile is None:
        raise ApiError(
            say("{version} has no profile {name!r}.", version=version, name=name),
            code="no_profile",
            status_code=422,
            path="profile",
        )
    return profile
