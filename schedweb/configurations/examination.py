"""What can be said of a configuration's text: errors with their places, the effective set, and what a form needs.

The judge is the framework's loader, with kube-scheduler's rules and texts. While there are errors the effective set is
shown as far as it can be told; only a text that cannot be read at all has none, and no form.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from framework.configuration import ConfigurationError, Loaded, load
from framework.configuration.defaults import default_configuration
from framework.configuration.effective import EffectiveProfile
from framework.configuration.expansion import outline
from framework.configuration.feature_gates import TABLE, FeatureGatesError, gates_line, parse_flag
from framework.configuration.older import is_older
from framework.configuration.source import SourceError, read_source
from framework.configuration.types import KubeSchedulerConfiguration
from framework.sentences import SentenceError, Words, counted_sentence, sentence
from schedweb.calling import refused_extender
from schedweb.configurations.catalogue import defaults_of, registry, schema_of, shown_point
from schedweb.configurations.grid import Effective, show_effective

MAX_CHARACTERS: Final = 262_144
MAX_PROFILES: Final = 50
_PART: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\[([^\]]*)\]")
_ARGS_ENVELOPE: Final = ("apiVersion", "kind")
_GLOBALS: Final = {
    "parallelism": "parallelism",
    "percentage_of_nodes_to_score": "percentageOfNodesToScore",
    "pod_initial_backoff_seconds": "podInitialBackoffSeconds",
    "pod_max_backoff_seconds": "podMaxBackoffSeconds",
}


class TooLarge(SentenceError, ValueError):
    """Larger than is read here."""


class Problem(msgspec.Struct, frozen=True):
    stage: Literal["syntax", "decoding", "validation", "construction"]
    path: str
    message: Words
    text: Words
    line: int | None
    column: int | None
    hint: Words
    profile: int | None
    """Index of the profile it is in."""
    plugin: str | None
    point: str | None
    field: list[str | int]
    """The place inside the plugin's arguments; empty for what is not about arguments."""


class UnknownField(msgspec.Struct, frozen=True):
    path: str
    line: int | None
    column: int | None
    hint: Words


class FormArgs(msgspec.Struct, frozen=True):
    kind: str
    written: dict[str, Any] | None
    """As the text has them; None when it has none."""
    value: dict[str, Any]
    """What a form starts with: the arguments in effect, and of broken ones what was written."""
    defaults: dict[str, Any]


class FormProfile(msgspec.Struct, frozen=True):
    scheduler_name: str | None
    percentage_of_nodes_to_score: int | None
    args: dict[str, FormArgs]


class FormNumber(msgspec.Struct, frozen=True):
    written: Any
    value: int
    default: int


class Form(msgspec.Struct, frozen=True):
    globals: dict[str, FormNumber]
    profiles: list[FormProfile]
    schemas: dict[str, dict[str, Any]]


class ShownGate(msgspec.Struct, frozen=True):
    """A feature gate that changes something here."""

    name: str
    stage: Literal["alpha", "beta", "GA"]
    default: bool
    enabled: bool
    written: bool
    """Whether the text names it."""
    description: str
    depends_on: list[str]


class Examination(msgspec.Struct, frozen=True):
    format: Literal["yaml", "json"]
    errors: list[Problem]
    warnings: list[Problem]
    config_error: str
    """What kube-scheduler would print; empty when it would start."""
    unknown_fields: list[UnknownField]
    effective: Effective | None
    form: Form | None
    feature_gates: list[ShownGate]
    runnable: bool
    why: Words
    older: bool
    """It is a Policy, an older version or a command line, of which ``conversion.convert_text`` makes a v1 text."""


def effective_profiles(text: str) -> tuple[EffectiveProfile, ...]:
    """What runs in a configuration that was stored; none when it has errors."""
    loaded = load(text, registry())
    defaulted = outlined_from(loaded)
    return () if defaulted is None else outline(defaulted, registry(), loaded.feature_gates).profiles


@lru_cache(maxsize=64)
def examine(text: str) -> Examination:
    """Raises TooLarge. What is returned is shared: do not change it."""
    value, form_of_text = _read(text)
    loaded = load(text, registry())
    errors = [_problem(error, value) for error in loaded.errors]
    defaulted = outlined_from(loaded)
    outlined = None if defaulted is None else outline(defaulted, registry(), loaded.feature_gates)
    effective = None if outlined is None or defaulted is None else show_effective(outlined, defaulted)
    why = why_not_runnable(loaded)
    return Examination(
        format=form_of_text,
        errors=errors,
        warnings=[_problem(warning, value) for warning in loaded.warnings],
        config_error=loaded.config_error,
        unknown_fields=[
            UnknownField(error.path, error.line, error.column, error.hint)
            for error in loaded.errors
            if isinstance(error.message, str) and error.message.startswith("unknown field ")
        ],
        effective=effective,
        form=None if effective is None else _form(value, effective, errors),
        feature_gates=_shown_gates(text),
        runnable=not why,
        why=why,
        older=bool(errors) and is_older(text),
    )


def outlined_from(loaded: Loaded) -> KubeSchedulerConfiguration | None:
    """The configuration with its defaults, valid or not; None when it could not be decoded."""
    if loaded.defaulted is not None or loaded.configuration is None:
        return loaded.defaulted
    return default_configuration(loaded.configuration, registry(), loaded.feature_gates)


def _shown_gates(text: str) -> list[ShownGate]:
    """As the text sets them, also where that is refused: a switch must be able to mend it."""
    try:
        line = gates_line(text)
        given = {} if line is None else parse_flag(line.value)
    except FeatureGatesError:
        given = {}
    return [
        ShownGate(
            name=gate.name,
            stage=gate.stage,
            default=gate.default,
            enabled=given.get(gate.name, gate.default),
            written=gate.name in given,
            description=gate.description,
            depends_on=list(gate.depends_on),
        )
        for gate in TABLE
        if gate.switchable or gate.name in given
    ]


def why_not_runnable(loaded: Loaded) -> Words:
    """A sentence; empty when a run can be played with it."""
    if loaded.errors:
        first = loaded.errors[0]
        text = sentence("{path}: {message}", path=first.path, message=first.message) if first.path else first.message
        return counted_sentence(
            "It has an error: {first}.", "It has {count} errors, the first: {first}.", len(loaded.errors), first=text
        )
    return refused_extender(loaded.effective)


def refuse_too_large(text: str) -> None:
    """Before anything looks closer: a configuration of people is a few kilobytes."""
    if len(text) > MAX_CHARACTERS:
        raise TooLarge(
            sentence(
                "The configuration has {length:,} characters; {most:,} are the most.",
                length=len(text),
                most=MAX_CHARACTERS,
            )
        )


def _read(text: str) -> tuple[Any, Literal["yaml", "json"]]:
    refuse_too_large(text)
    try:
        source = read_source(text)
    except SourceError:
        return None, "json" if text.lstrip().startswith("{") else "yaml"
    profiles = source.root.get("profiles")
    if profiles is not None and len(profiles.items) > MAX_PROFILES:
        many = len(profiles.items)
        raise TooLarge(
            sentence(
                "The configuration has {profiles} profiles; {most} are the most.", profiles=many, most=MAX_PROFILES
            )
        )
    return source.root.to_value(), source.format


def at_path(value: Any, *parts: str | int) -> Any:
    """What stands at a place of the document; None when nothing does."""
    for part in parts:
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                return None
            value = value[part]
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


# Errors ---------------------------------------------------------------------------------------------------------------


def _problem(error: ConfigurationError, value: Any) -> Problem:
    parts = _parts(error.path)
    profile: int | None = None
    plugin: str | None = None
    point: str | None = None
    field: list[str | int] = []
    match parts:
        case ["profiles", int(at), "pluginConfig", int(index), *rest]:
            profile, plugin = at, _name(at_path(value, "profiles", at, "pluginConfig", index))
            field = rest[1:] if rest[:1] == ["args"] else []
        case ["profiles", int(at), "plugins", str(written), str(switch), int(index), *_]:
            profile, point = at, shown_point(written)
            # Upstream spells the queueSort list "Enabled" in one path.
            plugin = _name(at_path(value, "profiles", at, "plugins", written, switch.lower(), index))
        case ["profiles", int(at), "plugins", str(written), *_]:
            profile, point = at, shown_point(written)
        case ["profiles", int(at), *_]:
            profile = at
    return Problem(
        stage=error.stage,
        path=error.path,
        message=error.message,
        text=error.message if error.text == str(error.message) else error.text,
        line=error.line,
        column=error.column,
        hint=error.hint,
        profile=profile,
        plugin=plugin,
        point=point,
        field=field,
    )


def _parts(path: str) -> list[str | int]:
    found: list[str | int] = []
    for name, index, key in _PART.findall(path):
        found.append(int(index) if index else name or key)
    return found


def _name(entry: Any) -> str | None:
    name = at_path(entry, "name")
    return name if isinstance(name, str) and name else None


# Form -----------------------------------------------------------------------------------------------------------------


def _form(value: Any, effective: Effective, errors: list[Problem]) -> Form:
    broken = {(error.profile, error.plugin) for error in errors if error.stage == "decoding" and error.field}
    profiles: list[FormProfile] = []
    schemas: dict[str, dict[str, Any]] = {}
    for index, profile in enumerate(effective.profiles):
        args: dict[str, FormArgs] = {}
        for row in profile.rows:
            entry, schema = registry().get(row.plugin), schema_of(row.plugin)
            if entry is None or schema is None or row.off:
                continue
            schemas[row.plugin] = schema
            written = _written_args(value, index, row.plugin)
            defaults = defaults_of(entry) or {}
            shown = profile.args.get(row.plugin, defaults)
            if written and (index, row.plugin) in broken:
                shown = {**defaults, **written}
            args[row.plugin] = FormArgs(entry.args_kind, written, shown, defaults)
        profiles.append(
            FormProfile(
                scheduler_name=_if(str, at_path(value, "profiles", index, "schedulerName")),
                percentage_of_nodes_to_score=_if(int, at_path(value, "profiles", index, "percentageOfNodesToScore")),
                args=args,
            )
        )
    return Form(
        globals={
            name: FormNumber(at_path(value, written), getattr(effective.globals, name), _global_defaults()[name])
            for name, written in _GLOBALS.items()
        },
        profiles=profiles,
        schemas=schemas,
    )


def _written_args(value: Any, profile: int, plugin: str) -> dict[str, Any] | None:
    config = at_path(value, "profiles", profile, "pluginConfig")
    for entry in config if isinstance(config, list) else []:
        if _name(entry) == plugin:
            args = at_path(entry, "args")
            return {k: v for k, v in args.items() if k not in _ARGS_ENVELOPE} if isinstance(args, dict) else None
    return None


@lru_cache(maxsize=1)
def _global_defaults() -> dict[str, int]:
    default = default_configuration(KubeSchedulerConfiguration(), registry())
    return {name: getattr(default, name) for name in _GLOBALS}


def _if(kind: type[Any], value: Any) -> Any:
    return value if isinstance(value, kind) and not isinstance(value, bool) else None
