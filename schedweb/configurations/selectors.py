"""Reading configurations, their versions, plugins and presets for the API."""

from __future__ import annotations

import re
import uuid
from typing import Any, Final

from django.db.models import Case, Count, IntegerField, OuterRef, Prefetch, Q, QuerySet, Subquery, Value, When

from framework.configuration.presets import PRESETS
from schedweb.api.errors import ApiError, not_found, was_deleted
from schedweb.configurations.builtins import BUILTINS
from schedweb.configurations.comparison import Comparison, Meanwhile, compare, compare_saved, wall
from schedweb.configurations.credentials import text_for
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.sentences import say, say_noted
from schedweb.soft_delete import deleted_sentence

RUNS: Final = Count("runs", filter=Q(runs__deleted_at=None))
_COMMENT: Final = re.compile(r"^( *# )(.*)$", re.MULTILINE)
_PLACES: Final = [When(slug=each.slug, then=Value(place + 1)) for place, each in enumerate(BUILTINS)]


def configuration_list() -> QuerySet[Configuration]:
    """People's own by name, then the built-in ones in their order; each with its newest version and their number."""
    newest = (
        ConfigurationVersion.objects.filter(configuration=OuterRef("configuration"))
        .order_by("-number")
        .values("number")[:1]
    )
    versions = ConfigurationVersion.objects.filter(number=Subquery(newest)).defer("text")
    return (
        Configuration.objects.annotate(
            place=Case(*_PLACES, default=Value(0), output_field=IntegerField()),
            versions_count=Count("versions"),
        )
        .prefetch_related(Prefetch("versions", queryset=versions, to_attr="newest"))
        .order_by("place", "name")
    )


def configurations_offered() -> QuerySet[Configuration]:
    """Without those that were only made for exact runs."""
    return configuration_list().filter(what_if=False)


def configuration_get(configuration_id: uuid.UUID) -> Configuration:
    found = configuration_list().filter(pk=configuration_id).first()
    if found is None:
        raise no_such_configuration(configuration_id)
    return found


def no_such_configuration(configuration_id: uuid.UUID) -> ApiError:
    deleted = Configuration.every.filter(pk=configuration_id).first()
    if deleted is None or deleted.deleted_at is None:
        return not_found(say("There is no such configuration; it may have been deleted."))
    return was_deleted(deleted_sentence(deleted.name, deleted))


def configuration_body(row: Any) -> dict[str, Any]:
    """Of a row of ``configuration_list``."""
    return {
        "id": row.pk,
        "name": row.name,
        "description": say(row.description) if row.builtin and row.description else row.description,
        "builtin": row.builtin,
        "slug": row.slug,
        "what_if": row.what_if,
        "latest": version_place(row.newest[0]),
        "versions_count": row.versions_count,
    }


def version_list(configuration: Configuration) -> QuerySet[ConfigurationVersion]:
    """Newest first, each with the number of its runs."""
    return configuration.versions.defer("text").annotate(runs_count=RUNS).order_by("-number")


def version_get(configuration: Configuration, number: int) -> ConfigurationVersion:
    found = configuration.versions.annotate(runs_count=RUNS).filter(number=number).first()
    if found is None:
        raise not_found(say("{name} has no version {number}.", name=configuration.name, number=number))
    return found


def version_for(user: Any, configuration: Configuration, number: int) -> ConfigurationVersion:
    """To be shown to this person (``text_for``), and not to be saved."""
    found = version_get(configuration, number)
    found.text = text_for(user, found.text)
    return found


def version_place(row: ConfigurationVersion) -> dict[str, Any]:
    return {
        "id": row.pk,
        "number": row.number,
        "created_at": wall(row.created_at),
        "author": row.created_by_name,
        "comment": row.comment,
    }


def version_body(row: Any) -> dict[str, Any]:
    """Of a row of ``version_list``."""
    return {**version_place(row), "runs": row.runs_count}


def draft_compared(
    user: Any, configuration: Configuration, base_version: int, text: str
) -> tuple[Comparison, Meanwhile | None]:
    """A draft beside the version it began with, and what was saved since."""
    base = version_for(user, configuration, base_version)
    latest = configuration.versions.order_by("-number")[0]
    latest.text = text_for(user, latest.text)
    meanwhile = None if latest.number == base.number else compare_saved(base=base, latest=latest, mine=text)
    return compare(base.text, text), meanwhile


def preset_list() -> list[dict[str, str]]:
    return [
        {
            "name": each.id,
            "title": say_noted(each.name),
            "description": say_noted(each.description),
            "text": with_told_comments(each.text),
        }
        for each in PRESETS
    ]


def text_of(version: ConfigurationVersion) -> str:
    """What came with the product has its comments in the reader's language; people's texts are as they wrote them."""
    return with_told_comments(version.text) if version.configuration.builtin else version.text


def with_told_comments(text: str) -> str:
    """A preset with its comments in the reader's language; every line stays where it is."""
    return _COMMENT.sub(lambda line: line[1] + say_noted(line[2]), text)
