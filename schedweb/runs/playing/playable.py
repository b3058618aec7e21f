"""Which configuration versions a run can be played with."""

from __future__ import annotations

from functools import lru_cache
from uuid import UUID

from framework.configuration import load
from framework.plugins.registry import installed_registry
from framework.reading.addresses import without_credentials
from framework.sentences import Words
from schedweb.api.errors import ApiError, not_found, was_deleted
from schedweb.calling import refused_extender
from schedweb.configurations.models import ConfigurationVersion
from schedweb.sentences import say, translated
from schedweb.soft_delete import deleted_sentence


@lru_cache(maxsize=32)
def configuration_problem(text: str) -> Words | None:
    """Why a configuration cannot be played, or None."""
    loaded = load(text, installed_registry())
    if loaded.effective is None:
        return loaded.config_error
    return refused_extender(loaded.effective) or None


def extenders_of(text: str, *, binding: bool = False) -> list[str]:
    """Addresses without credentials, of a configuration that can be played. ``binding``: of those that bind pods."""
    effective = load(text, installed_registry()).effective
    known = () if effective is None else effective.extenders
    return [without_credentials(each.url_prefix) for each in known if each.bind_verb or not binding]


def playable_version(version_id: UUID) -> ConfigurationVersion:
    version = ConfigurationVersion.objects.select_related("configuration").filter(pk=version_id).first()
    if version is None:
        raise not_found(say("There is no such configuration version."))
    if version.configuration.deleted_at is not None:
        raise was_deleted(deleted_sentence(version.configuration.name, version.configuration))
    problem = configuration_problem(version.text)
    if problem is not None:
        raise ApiError(
            say(
                "{name}, version {number}, cannot be played. {problem}",
                name=version.configuration.name,
                number=version.number,
                problem=translated(problem),
            ),
            code="configuration",
            status_code=422,
            path="configuration_version",
        )
    return version
