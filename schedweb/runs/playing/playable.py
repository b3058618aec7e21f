"""Which configuration versions a run can be played with."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from framework.configuration import load
from framework.plugins.registry import installed_registry
from framework.said import Words
from schedweb.api.errors import ApiError, not_found
from schedweb.configurations.examination import NO_EXTENDERS
from schedweb.configurations.models import ConfigurationVersion
from schedweb.sentences import say, told


@lru_cache(maxsize=32)
def configuration_problem(text: str) -> Words | None:
    """Why a configuration cannot be played, or None."""
    loaded = load(text, installed_registry())
    if loaded.effective is None:
        return loaded.config_error
    if loaded.effective.extenders:
        return NO_EXTENDERS
    return None


def playable_version(version_id: UUID) -> ConfigurationVersion:
    version = ConfigurationVersion.objects.select_related("configuration").filter(pk=version_id).first()
    if version is None:
        raise not_found(say("There is no such configuration version."))
    problem = configuration_problem(version.text)
    if problem is not None:
        raise ApiError(
            say(
                "{name}, version {number}, cannot be played. {problem}",
                name=version.configuration.name,
                number=version.number,
                problem=told(problem),
            ),
            code="configuration",
            status_code=422,
            path="configuration_version",
        )
    return version
