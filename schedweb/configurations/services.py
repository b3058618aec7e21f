"""Making, changing and removing configurations. A text with errors is never stored; a version never changes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from framework.configuration.document import apply_edits, to_json, to_yaml
from framework.configuration.edits import Edit
from framework.configuration.presets import PRESETS, preset
from framework.configuration.source import MAX_DEPTH, SourceError
from framework.configuration.surgery import CannotEdit
from schedweb.accounts.audit.recording import record
from schedweb.configurations.builtins import BUILTINS, Builtin
from schedweb.configurations.catalogue import registry
from schedweb.configurations.comparison import Meanwhile, compare_saved
from schedweb.configurations.examination import Problem, TooLarge, examine, refuse_too_large
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.configurations.selectors import no_such_configuration, with_told_comments
from schedweb.sentences import counted, noted, say, translated
from schedweb.soft_delete import KEPT, deletion_of

MAX_EDITS: Final = 200
MAX_EDITED_CHARACTERS: Final = 2_000_000
"""Text × edits: every edit reads the text again."""

Code = Literal["invalid", "invalid_configuration", "too_large", "builtin", "in_use", "name_taken", "unchanged"]


class ConfigurationRefused(Exception):
    """A sentence for the person who asked; ``code`` is for programs."""

    def __init__(
        self, message: str, code: Code = "invalid", *, path: str | None = None, errors: Sequence[Problem] = ()
    ) -> None:
        super().__init__(message)
        self.code: Code = code
        self.path = path
        self.errors = list(errors)


class UnreadableText(Exception):
    """The form has nothing to work on: the text is no YAML or JSON."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(say("The text cannot be read: {message}.", message=translated(error.words)))
        self.line = error.line
        self.column = error.column


class SavedMeanwhile(Exception):
    """Somebody saved after this draft was begun; nothing was stored."""

    def __init__(self, meanwhile: Meanwhile) -> None:
        self.meanwhile = meanwhile
        who = meanwhile.who or "Somebody"
        super().__init__(
            say("{who} saved version {number} after you began. Your text is kept.", who=who, number=meanwhile.number)
        )


# Built-in ones --------------------------------------------------------------------------------------------------------


def builtins_load() -> list[ConfigurationVersion]:
    """Every built-in configuration in its newest text; returns what had to be made. Called at every start."""
    try:
        return _builtins_load()
    except IntegrityError:
        # Two processes start at once; what the other has made is there now.
        return _builtins_load()


@transaction.atomic
def _builtins_load() -> list[ConfigurationVersion]:
    made = [_builtin_load(each) for each in BUILTINS]
    return [version for version in made if version is not None]


def _builtin_load(wanted: Builtin) -> ConfigurationVersion | None:
    row = Configuration.objects.select_for_update().filter(slug=wanted.slug).first()
    if row is None:
        row = Configuration(slug=wanted.slug, builtin=True)
    latest = row.versions.first() if not row._state.adding else None
    if latest is None or (row.name, row.description) != (wanted.name, wanted.description):
        row.name, row.description = _free_name(wanted.name, row), wanted.description
        row.save()
    if latest is not None and latest.text == wanted.text:
        return None
    number = 1 if latest is None else latest.number + 1
    return ConfigurationVersion.objects.create(configuration=row, number=number, text=wanted.text)


def _free_name(name: str, row: Configuration) -> str:
    """A built-in that is new in this version of the product must not fail because somebody took its name."""
    taken = Configuration.objects.filter(name__iexact=name).exclude(pk=row.pk).exists()
    return f"{name} (built-in)" if taken else name


# Configurations -------------------------------------------------------------------------------------------------------


def configuration_create(
    *,
    user: User,
    name: str,
    text: str = "",
    preset_name: str = "",
    description: str = "",
    comment: str = "",
    what_if: bool = False,
) -> ConfigurationVersion:
    """From a text (an imported file, a copy) or from a preset."""
    if bool(text) == bool(preset_name):
        raise ConfigurationRefused(say("Give either a text or a preset."), path="text")
    if preset_name:
        found = preset(preset_name)
        if found is None:
            known = ", ".join(each.id for each in PRESETS)
            raise ConfigurationRefused(
                say("There is no preset {preset_name}; there are {known}.", preset_name=preset_name, known=known),
                path="preset",
            )
        text = with_told_comments(found.text)
    _refuse_errors(text)
    _refuse_taken(name)
    try:
        with transaction.atomic():
            row = Configuration.objects.create(name=name, description=description, what_if=what_if)
            record("configuration.create", target=name, target_id=row.pk)
            return _store(row, 1, text, comment, user)
    except IntegrityError:
        raise _name_taken(name) from None


def configuration_rename(*, configuration: Configuration, name: str | None, description: str | None) -> None:
    """Whoever touches one that was made for an exact run keeps it."""
    _refuse_builtin(configuration, noted("{name} is built in and cannot be renamed. Save a copy under another name."))
    before = configuration.name
    if name is not None:
        _refuse_taken(name, besides=configuration)
        configuration.name = name
    if description is not None:
        configuration.description = description
    configuration.what_if = False
    try:
        with transaction.atomic():
            configuration.save(update_fields=["name", "description", "what_if"])
            record("configuration.rename", target=configuration.name, target_id=configuration.pk, before=before)
    except IntegrityError:
        raise _name_taken(configuration.name) from None


@transaction.atomic
def configuration_delete(*, configuration: uuid.UUID, user: User) -> None:
    """Deleting twice is no mistake. Runs with it that are deleted themselves are no hindrance."""
    found = Configuration.every.select_for_update().filter(pk=configuration).first()
    if found is None:
        raise no_such_configuration(configuration)
    if found.deleted_at is not None:
        return
    _refuse_builtin(found, noted("{name} is built in and cannot be deleted. Save a copy under another name."))
    if count := runs_using(found):
        text = counted(
            "A run uses {name}; delete it first.",
            "{count} runs use {name}; delete them first.",
            count,
            name=found.name,
        )
        raise ConfigurationRefused(text, "in_use")
    record("configuration.delete", target=found.name, target_id=found.pk)
    Configuration.every.filter(pk=configuration).update(**deletion_of(user))


def runs_using(configuration: Configuration) -> int:
    """How many that are not deleted play with one of its versions, or began with it."""
    runs = configuration.versions.filter(runs__deleted_at=None).values_list("runs", flat=True)
    begun = configuration.versions.filter(begun_runs__deleted_at=None).values_list("begun_runs", flat=True)
    return len({*runs, *begun} - {None})


@transaction.atomic
def configuration_restore(*, configuration: Configuration) -> str:
    """The name that it has now: its own may have been taken meanwhile. One that is not deleted stays as it is."""
    locked = Configuration.every.select_for_update().get(pk=configuration.pk)
    if locked.deleted_at is None:
        return locked.name
    name, number = locked.name, 2
    while Configuration.objects.filter(name__iexact=name).exists():
        name, number = f"{locked.name[:190]} ({number})", number + 1
    Configuration.every.filter(pk=locked.pk).update(**KEPT, name=name)
    return name


def configuration_remove(*, configuration: Configuration) -> bool:
    """For good. False where runs with it, which are deleted, can still be brought back."""
    try:
        configuration.delete()
    except ProtectedError:
        return False
    return True


def version_create(
    *, configuration: Configuration, user: User, text: str, base_version: int, comment: str = ""
) -> ConfigurationVersion:
    """The next version. Raises SavedMeanwhile when ``base_version``, which the draft began with, is not the newest."""
    _refuse_builtin(configuration, noted("{name} is built in and cannot be changed. Save a copy under another name."))
    _refuse_errors(text)
    try:
        with transaction.atomic():
            Configuration.objects.select_for_update().get(pk=configuration.pk)
            latest = configuration.versions.select_related(None).get(number=_newest(configuration))
            if base_version != latest.number:
                raise _saved_meanwhile(configuration, base_version, latest, text)
            if text == latest.text:
                raise ConfigurationRefused(
                    say("Nothing changed since version {number}.", number=latest.number), "unchanged", path="text"
                )
            Configuration.objects.filter(pk=configuration.pk).update(what_if=False)
            made = _store(configuration, latest.number + 1, text, comment, user)
            record("configuration.change", target=configuration.name, target_id=configuration.pk, version=made.number)
            return made
    except IntegrityError:
        # Where rows cannot be locked (SQLite) the constraint decides who was first.
        latest = configuration.versions.get(number=_newest(configuration))
        raise _saved_meanwhile(configuration, base_version, latest, text) from None


def _newest(configuration: Configuration) -> int:
    return configuration.versions.order_by("-number").values_list("number", flat=True)[0]


def _saved_meanwhile(
    configuration: Configuration, base_version: int, latest: ConfigurationVersion, text: str
) -> Exception:
    base = configuration.versions.filter(number=base_version).first()
    if base is None:
        return ConfigurationRefused(
            say(
                "{name} has no version {base_version}; the newest is {number}.",
                name=configuration.name,
                base_version=base_version,
                number=latest.number,
            ),
            path="base_version",
        )
    return SavedMeanwhile(compare_saved(base=base, latest=latest, mine=text))


def _store(row: Configuration, number: int, text: str, comment: str, user: User) -> ConfigurationVersion:
    return ConfigurationVersion.objects.create(
        configuration=row,
        number=number,
        text=text,
        comment=comment,
        created_by=user,
        created_by_name=user.get_username(),
    )


# What is refused ------------------------------------------------------------------------------------------------------


def _refuse_builtin(configuration: Configuration, text: str) -> None:
    if configuration.builtin:
        raise ConfigurationRefused(
            say(text, name=configuration.name),
            "builtin",
        )


def _refuse_errors(text: str) -> None:
    try:
        examination = examine(text)
    except TooLarge as error:
        raise ConfigurationRefused(translated(error.words), "too_large", path="text") from None
    if examination.errors:
        count = len(examination.errors)
        raise ConfigurationRefused(
            counted(
                "The configuration has an error; nothing was saved.",
                "The configuration has {count} errors; nothing was saved.",
                count,
            ),
            "invalid_configuration",
            errors=examination.errors,
        )


def _refuse_taken(name: str, besides: Configuration | None = None) -> None:
    others = Configuration.objects.filter(name__iexact=name)
    if besides is not None:
        others = others.exclude(pk=besides.pk)
    if others.exists():
        raise _name_taken(name)


def _name_taken(name: str) -> ConfigurationRefused:
    return ConfigurationRefused(
        say("There is a configuration named {name} already.", name=name), "name_taken", path="name"
    )


# Edits ----------------------------------------------------------------------------------------------------------------


def edits_decode(raw: Sequence[Mapping[str, Any]]) -> list[Edit]:
    """Raises ConfigurationRefused with the place of what is wrong."""
    if len(raw) > MAX_EDITS:
        raise ConfigurationRefused(
            say("{raw} edits at once; {max_edits} are the most.", raw=len(raw), max_edits=MAX_EDITS),
            "too_large",
            path="edits",
        )
    try:
        edits = msgspec.convert(raw, list[Edit])
        # What is nested too deeply to be answered is refused here.
        msgspec.json.encode(edits)
        if any(len(getattr(edit, "path", ())) > MAX_DEPTH for edit in edits):
            raise RecursionError
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        raise ConfigurationRefused(message + ".", path=f"edits{where.rstrip('`')}") from None
    except RecursionError:
        raise ConfigurationRefused(say("The edits are nested too deeply."), path="edits") from None
    return edits


def sentence(error: CannotEdit) -> str:
    words = translated(error.words)
    return say("{sentence}.", sentence=f"{words[:1].upper()}{words[1:]}")


def text_edit(*, text: str, edits: Sequence[Edit], format_: Literal["yaml", "json"] | None) -> str:
    """The text after the edits, then in the format that is asked for. Raises UnreadableText."""
    try:
        refuse_too_large(text)
    except TooLarge as error:
        raise ConfigurationRefused(translated(error.words), "too_large", path="text") from None
    if len(edits) * len(text) > MAX_EDITED_CHARACTERS:
        raise ConfigurationRefused(say("Too many edits at once for a text of this size."), "too_large", path="edits")
    if not edits and format_ is None:
        return text
    try:
        edited = apply_edits(text, edits, registry()) if edits else text
        return {"yaml": to_yaml, "json": to_json}[format_](edited) if format_ is not None else edited
    except SourceError as error:
        raise UnreadableText(error) from None
    except CannotEdit as error:
        raise ConfigurationRefused(sentence(error), path="edits") from None
    except RecursionError:
        raise ConfigurationRefused(say("The edits are nested too deeply."), path="edits") from None
