"""Exact runs: what an estimate says of other weights, played for real from the run's start, in a run of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from framework.advice import OFF
from framework.configuration.edits import DisablePlugin, Edit, SetWeight
from schedweb.api.errors import ApiError
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.configurations.services import ConfigurationRefused, configuration_create, text_edit
from schedweb.engine.commands import PACING
from schedweb.runs.forking.forks import ANSWERS, CLOCK, run_fork
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.records.profiles import FILTER, SCORE, effective
from schedweb.sentences import say, translated

LONGEST_NAME: Final = 180
NOT_REPEATED: Final = (*(command.__struct_config__.tag for command in PACING), CLOCK, ANSWERS)


@dataclass(frozen=True, slots=True)
class ExactRun:
    run: Run
    is_new: bool
    not_repeated: int
    """Commands of people in the run: they answered what happened there, so the exact run goes without them."""


def exact_run(
    *, run: Run, user: Any, profile: str, weights: Mapping[str, int], filters_off: Sequence[str] = ()
) -> ExactRun:
    """A fork from the very beginning, played as fast as it can be. The same question leads to the same run."""
    version = version_with(run.first_configuration_version, user, profile, weights, filters_off)
    known = known_run(run, version)
    made = known or run_fork(parent=run, user=user, position=0, configuration_version=version.pk, played=True)
    commands = JournalEntry.objects.filter(run=run, status=JournalEntry.Status.APPLIED).exclude(type__in=NOT_REPEATED)
    return ExactRun(made, known is None, commands.count())


def known_run(run: Run, version: ConfigurationVersion) -> Run | None:
    """One that was told nothing else meanwhile."""
    for fork in Run.objects.filter(parent=run, parent_position=0).exclude(state=Run.State.PARKED).order_by("-number"):
        commands = JournalEntry.objects.filter(run=fork).exclude(type__in=NOT_REPEATED).values_list("type", "command")
        if [(type_, command.get("version")) for type_, command in commands] == [("set_configuration", str(version.pk))]:
            return fork
    return None


def version_with(
    base: ConfigurationVersion, user: Any, profile: str, weights: Mapping[str, int], filters_off: Sequence[str]
) -> ConfigurationVersion:
    edits, words = changes(base, profile, weights, filters_off)
    try:
        text = text_edit(text=base.text, edits=edits, format_=None)
        kept = ConfigurationVersion.objects.filter(configuration__deleted_at=None)
        known = kept.filter(text=text).order_by("created_at").first()
        if known is not None:
            return known
        return configuration_create(
            user=user,
            name=free_name(say("What if: {changes}", changes=translated(words))),
            text=text,
            description=say("{version}, changed", version=base),
            what_if=True,
        )
    except ConfigurationRefused as error:
        raise ApiError(str(error), code=error.code, status_code=422, path=error.path) from None


def changes(
    base: ConfigurationVersion, profile: str, weights: Mapping[str, int], filters_off: Sequence[str]
) -> tuple[list[Edit], list[str]]:
    """The edits of the text, and each in words."""
    profiles = effective(base.text).profiles
    index = next((i for i, each in enumerate(profiles) if each.scheduler_name == profile), None)
    if index is None:
        raise ApiError(
            say("{version} has no profile {name!r}.", version=base, name=profile),
            code="no_profile",
            status_code=422,
            path="profile",
        )
    known, filters = profiles[index].weights, profiles[index].point(FILTER).names
    edits: list[Edit] = []
    words: list[str] = []
    for plugin, weight in weights.items():
        if plugin not in known:
            raise ApiError(
                say("{plugin} does not score in {profile}.", plugin=plugin, profile=profile),
                code="invalid",
                path=f"weights.{plugin}",
            )
        if weight == OFF:
            edits.append(DisablePlugin(profile=index, point=SCORE, name=plugin))
            words.append(say("{plugin} off", plugin=plugin))
        elif weight != known[plugin]:
            edits.append(SetWeight(profile=index, point=SCORE, name=plugin, weight=weight))
            words.append(f"{plugin} × {weight}")
    for plugin in filters_off:
        if plugin not in filters:
            raise ApiError(
                say("{plugin} does not filter in {profile}.", plugin=plugin, profile=profile),
                code="invalid",
                path="filters_off",
            )
        edits.append(DisablePlugin(profile=index, point=FILTER, name=plugin))
        words.append(say("{plugin} does not filter", plugin=plugin))
    if not edits:
        raise ApiError(say("Nothing is changed: an exact run would be the same."), code="unchanged", path="weights")
    return edits, words


def free_name(wanted: str) -> str:
    """Names are one of a kind, and two configurations may differ from their origins in the same words."""
    short = wanted if len(wanted) <= LONGEST_NAME else f"{wanted[: LONGEST_NAME - 1]}…"
    candidates = (short if number == 1 else f"{short} ({number})" for number in count(1))
    return next(name for name in candidates if not Configuration.objects.filter(name__iexact=name).exists())
