"""Loading a configuration: text → decoded → defaulted → validated → expanded, with everything that is wrong as data.

The stages and their order are kube-scheduler's; a stage runs only when the one before found nothing. ``Loaded`` carries
what was reached, the errors with line and column, and ``config_error``: the one text upstream would have printed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from framework.configuration import remarks
from framework.configuration.catalogue import CatalogueEntry, PluginCatalogue
from framework.configuration.decoding import DecodingProblem, decode, json_type
from framework.configuration.defaults import default_configuration
from framework.configuration.effective import EffectiveConfiguration
from framework.configuration.errors import ROOT, ConfigurationError, FieldPath, PathPart, aggregate, go_quote
from framework.configuration.expansion import expand
from framework.configuration.feature_gates import (
    DEFAULT_GATES,
    FLAG,
    FeatureGates,
    FeatureGatesError,
    gates_line,
    gates_of,
)
from framework.configuration.source import Node, Source, SourceError, node_from_value, read_source
from framework.configuration.types import (
    API_GROUP,
    API_VERSION,
    KIND,
    KubeSchedulerConfiguration,
    PluginConfig,
)
from framework.configuration.validation import validate
from framework.sentences import Words, sentence

_SCHEME: Final = "pkg/scheduler/apis/config/scheme/scheme.go:29"
_STRICT: Final = "strict decoding error: "
_HEAD: Final = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
"""As Go names what it reads apiVersion and kind into."""
_REMOVED_VERSIONS: Final = {"v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"}

Stage = Literal["syntax", "decoding", "validation", "construction"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """``effective`` is there exactly when ``errors`` is empty."""

    effective: EffectiveConfiguration | None = None
    configuration: KubeSchedulerConfiguration | None = None
    """As decoded, plugin arguments included; None when it could not be."""
    defaulted: KubeSchedulerConfiguration | None = None
    errors: tuple[ConfigurationError, ...] = ()
    config_error: str = ""
    """What kube-scheduler prints; empty when it would start."""
    warnings: tuple[ConfigurationError, ...] = ()
    """Legal, but probably not meant."""
    feature_gates: FeatureGates = DEFAULT_GATES
    """What everything above rests on; the defaults when those that were asked for cannot be set."""


def load(text: str, catalogue: PluginCatalogue, feature_gates: FeatureGates | None = None) -> Loaded:
    """Loads YAML or JSON text; the gates are those that it names in its comment, unless they are given."""
    if feature_gates is not None:
        return _load(text, catalogue, feature_gates)
    try:
        return _load(text, catalogue, gates_of(text))
    except FeatureGatesError as error:
        # kube-scheduler reads its flags first. The rest is still read, with the default gates, for whoever edits it.
        loaded = _load(text, catalogue, DEFAULT_GATES)
        found = (*(_gates_error(text, words) for words in error.texts), *loaded.errors)
        return dataclasses.replace(loaded, effective=None, errors=found, config_error=str(error))


def _gates_error(text: str, words: Words) -> ConfigurationError:
    try:
        line = gates_line(text)
    except FeatureGatesError:
        line = None
    return ConfigurationError(
        stage="validation",
        path=FLAG,
        message=words,
        text=str(words),
        line=None if line is None else line.line,
        column=None,
    )


def _load(text: str, catalogue: PluginCatalogue, feature_gates: FeatureGates) -> Loaded:
    try:
        source = read_source(text)
    except SourceError as error:
        return _unreadable(error)
    return _Loader(source, catalogue, feature_gates).load()


def load_value(
    value: Mapping[str, Any] | None, catalogue: PluginCatalogue, feature_gates: FeatureGates = DEFAULT_GATES
) -> Loaded:
    """Loads decoded JSON; None is kube-scheduler without a configuration file: all defaults."""
    if value is None:
        value = {"apiVersion": API_VERSION, "kind": KIND}
    try:
        return _Loader(Source(node_from_value(value), "json"), catalogue, feature_gates).load()
    except SourceError as error:
        return _unreadable(error)


def locate(root: Node, path: FieldPath) -> Node:
    """The node at ``path``, or the nearest one above it that was written."""
    node = root
    for part in path.parts:
        found = _step(node, part)
        if found is None:
            break
        node = found
    return node


def _step(node: Node, part: PathPart) -> Node | None:
    if isinstance(part, int):
        return node.items[part] if node.kind == "sequence" and part < len(node.items) else None
    if node.kind != "mapping":
        return None
    # Upstream spells the queueSort list "Enabled" in one path.
    return node.get(part) or node.get(f"{part[:1].lower()}{part[1:]}")


def _unreadable(error: SourceError) -> Loaded:
    problem = ConfigurationError(
        stage="syntax", path="", message=error.words, text=str(error), line=error.line, column=error.column
    )
    return Loaded(errors=(problem,), config_error=str(error))


class _Refused(Exception):
    """Internal: a fatal decoding error, with upstream's whole text."""

    def __init__(self, error: ConfigurationError) -> None:
        super().__init__(error.text)
        self.error = error


class _Loader:
    def __init__(self, source: Source, catalogue: PluginCatalogue, gates: FeatureGates) -> None:
        self._root = source.root
        self._yaml = source.format == "yaml"
        self._catalogue = catalogue
        self._gates = gates
        self._warnings: list[ConfigurationError] = []

    def load(self) -> Loaded:
        try:
            self._refuse_other_kinds(self._root)
        except _Refused as refused:
            return self._failed((refused.error,), refused.error.text)
        written, problems = decode(
            self._root, KubeSchedulerConfiguration, allowed=("apiVersion", "kind"), yaml=self._yaml
        )
        assert isinstance(written, KubeSchedulerConfiguration)
        errors = [self._decoding_error(problem, problem.path) for problem in problems]
        fatal = [problem.text for problem in problems if problem.fatal]
        strict = [problem.text for problem in problems if not problem.fatal]
        if not fatal:
            written = self._decode_args(written, errors, fatal, strict)
        if errors:
            return self._failed(tuple(errors), fatal[0] if fatal else _STRICT + ", ".join(strict), written)

        defaulted = default_configuration(written, self._catalogue, self._gates)
        field_errors = validate(defaulted, self._catalogue, self._gates)
        if field_errors:
            found = [
                self._error("validation", error.path, error.message, str(error), self._hint(error.path, error.message))
                for error in field_errors
            ]
            return self._failed(tuple(found), aggregate(error.text for error in found), written, defaulted)

        expansion = expand(defaulted, self._catalogue, self._gates)
        if expansion.errors:
            found = [
                self._error(
                    "construction",
                    _as_written(path, written, defaulted),
                    message,
                    error.text,
                    self._hint(path, message),
                )
                for error in expansion.errors
                for path, message in error.where
            ]
            return self._failed(tuple(found), expansion.errors[0].text, written, defaulted)
        if expansion.effective is not None:
            for path, text, meant in remarks.warnings(written, expansion.effective, self._catalogue):
                self._warnings.append(self._error("validation", path, text, str(text), meant))
        warnings = tuple(self._warnings)
        return Loaded(expansion.effective, written, defaulted, warnings=warnings, feature_gates=self._gates)

    def _failed(
        self,
        errors: Iterable[ConfigurationError],
        text: str,
        written: KubeSchedulerConfiguration | None = None,
        defaulted: KubeSchedulerConfiguration | None = None,
    ) -> Loaded:
        return Loaded(None, written, defaulted, tuple(errors), text, feature_gates=self._gates)

    # Kind and version -------------------------------------------------------------------------------------------------

    def _refuse_other_kinds(self, root: Node) -> None:
        if root.kind != "mapping":
            shown = {"sequence": "array", "scalar": "null" if root.value is None else "string"}[root.kind]
            text = (
                f"Object 'Kind' is missing in '{_as_json(root)}'"
                if root.kind == "scalar" and root.value is None
                else "couldn't get version/kind; json parse error: json: cannot unmarshal "
                f'{shown} into Go value of type struct {{ APIVersion string "json:\\"apiVersion,omitempty\\""; '
                'Kind string "json:\\"kind,omitempty\\"" }'
            )
            self._refuse(ROOT, sentence("a configuration is a mapping with kind: {kind}", kind=KIND), text)
        for name, _, value in root.pairs():
            if name in ("apiVersion", "kind") and json_type(value) not in ("string", "null"):
                shown = json_type(value)
                text = f"couldn't get version/kind; json parse error: json: cannot unmarshal {shown} into Go struct"
                message = sentence("must be a text, not {shown}", shown=shown)
                self._refuse(ROOT.child(name), message, f"{text} field .{name} of type string")
        api_version, kind = _text(root, "apiVersion"), _text(root, "kind")
        if not kind:
            message = sentence("kind is missing: it must be {kind}", kind=KIND)
            self._refuse(ROOT, message, f"Object 'Kind' is missing in '{_as_json(root)}'")
        group, _, version = api_version.rpartition("/")
        if not version:
            self._refuse(
                ROOT,
                sentence("apiVersion is missing: it must be {version}", version=API_VERSION),
                f"Object 'apiVersion' is missing in '{_as_json(root)}'",
            )
        if api_version == API_VERSION and kind == KIND:
            return
        if api_version == API_VERSION and self._is_args_kind(kind):
            text = f"couldn't decode as {KIND}, got {API_VERSION}, Kind={kind}: "
            message = sentence("this is {kind}, the arguments of a plugin, not a {wanted}", kind=kind, wanted=KIND)
            self._refuse(ROOT.child("kind"), message, text)
        text = f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
        hint = sentence("kube-scheduler 1.36 reads {version} only.", version=API_VERSION)
        if kind == "Policy":
            hint = sentence("Policy files ended with Kubernetes 1.22; this one can be converted to v1.")
        elif group == API_GROUP and version in _REMOVED_VERSIONS:
            hint = sentence(
                "{version} was removed from Kubernetes; this file can be converted to {wanted}.",
                version=version,
                wanted=API_VERSION,
            )
        path = ROOT.child("apiVersion" if kind == KIND else "kind")
        message = sentence("no kind {kind} in version {version}", kind=go_quote(kind), version=go_quote(api_version))
        self._refuse(path, message, text, hint)

    def _refuse(self, path: FieldPath, message: Words, text: str, hint: Words = "") -> None:
        raise _Refused(self._error("decoding", path, message, text, hint))

    # Plugin arguments -------------------------------------------------------------------------------------------------

    def _decode_args(
        self,
        written: KubeSchedulerConfiguration,
        errors: list[ConfigurationError],
        fatal: list[str],
        strict: list[str],
    ) -> KubeSchedulerConfiguration:
        profiles = list(written.profiles)
        for i, profile in enumerate(profiles):
            config = list(profile.plugin_config)
            for j, entry in enumerate(config):
                known = self._catalogue.get(entry.name)
                path = ROOT.child("profiles").index(i).child("pluginConfig").index(j).child("args")
                if known is None or known.args_type is None:
                    if not self._is_readable(entry, path, errors, fatal, (i, j)):
                        config[j] = PluginConfig(name=entry.name)
                    continue
                args = self._decode_one(entry, known, path, errors, fatal, strict, (i, j))
                config[j] = PluginConfig(name=entry.name, args=args)
            profiles[i] = msgspec.structs.replace(profile, plugin_config=tuple(config))
        return msgspec.structs.replace(written, profiles=tuple(profiles))

    def _is_readable(
        self,
        entry: PluginConfig,
        path: FieldPath,
        errors: list[ConfigurationError],
        fatal: list[str],
        at: tuple[int, int],
    ) -> bool:
        """Arguments of a plugin that has no type for them: upstream looks for apiVersion and kind all the same."""
        node = _exact(self._root, path)
        if node is None or node.kind == "mapping" or (shown := json_type(node)) == "null":
            return True
        text = (
            f"decoding .profiles[{at[0]}].pluginConfig[{at[1]}]: decoding args for plugin {entry.name}: "
            f"couldn't get version/kind; json parse error: json: cannot unmarshal {shown} into Go value of type {_HEAD}"
        )
        message = sentence("must be a mapping, not {shown}", shown=shown)
        errors.append(self._error("decoding", path, message, text))
        fatal.append(text)
        return False

    def _decode_one(
        self,
        entry: PluginConfig,
        known: CatalogueEntry,
        path: FieldPath,
        errors: list[ConfigurationError],
        fatal: list[str],
        strict: list[str],
        at: tuple[int, int],
    ) -> msgspec.Struct:
        assert known.args_type is not None
        node = _exact(self._root, path)
        outer = f"decoding .profiles[{at[0]}].pluginConfig[{at[1]}]: "
        inner = f"{outer}decoding args for plugin {entry.name}: "
        if node is None or (node.kind == "scalar" and node.value is None):
            return known.args_type()
        if node.kind == "mapping":
            api_version, kind = _text(node, "apiVersion") or API_VERSION, _text(node, "kind") or known.args_kind
            group = api_version.rpartition("/")[0]
            if (kind, group) != (known.args_kind, API_GROUP) or api_version != API_VERSION:
                registered = api_version == API_VERSION and self._is_args_kind(kind)
                text = (
                    f"{outer}args for plugin {entry.name} were not of type {known.args_kind}.{API_GROUP}, "
                    f"got {kind}.{group}"
                    if registered
                    else f'{inner}no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
                )
                message = sentence(
                    "must be {wanted} of {version}, not {kind} of {given}",
                    wanted=known.args_kind,
                    version=API_VERSION,
                    kind=kind,
                    given=api_version,
                )
                errors.append(self._error("decoding", path.child("kind"), message, text))
                fatal.append(text)
                return known.args_type()
        value, problems = decode(node, known.args_type, allowed=("apiVersion", "kind"), yaml=False)
        if self._yaml:
            # The arguments' raw JSON was made from a map: sorted keys.
            value, problems = decode(node, known.args_type, allowed=("apiVersion", "kind"), yaml=True)
            problems = [problem for problem in problems if not problem.text.startswith("yaml: ")]
        nested = [problem.text for problem in problems if not problem.fatal]
        for problem in problems:
            full = f"{inner}{problem.text}" if problem.fatal else f"{outer}{_STRICT}{problem.text}"
            shown = self._decoding_error(problem, FieldPath((*path.parts, *problem.path.parts)))
            errors.append(msgspec.structs.replace(shown, text=full))
            if problem.fatal:
                fatal.append(full)
        if nested:
            strict.append(f"{outer}{_STRICT}decoding args for plugin {entry.name}: {_STRICT}{', '.join(nested)}")
        assert isinstance(value, msgspec.Struct)
        return value

    def _is_args_kind(self, kind: str) -> bool:
        entry = self._catalogue.get(kind.removesuffix("Args"))
        return kind.endswith("Args") and entry is not None and entry.args_type is not None

    # Places -----------------------------------------------------------------------------------------------------------

    def _decoding_error(self, problem: DecodingProblem, path: FieldPath) -> ConfigurationError:
        text = problem.text if problem.fatal else _STRICT + problem.text
        return ConfigurationError(
            stage="decoding",
            path=str(path),
            message=problem.message,
            text=text,
            line=problem.node.line,
            column=problem.node.column,
            hint=problem.hint,
        )

    def _error(self, stage: Stage, path: FieldPath, message: Words, text: str, hint: Words = "") -> ConfigurationError:
        node = locate(self._root, path)
        return ConfigurationError(
            stage=stage, path=str(path), message=message, text=text, line=node.line, column=node.column, hint=hint
        )

    def _hint(self, path: FieldPath, message: str) -> Words:
        return remarks.hint(path, message, self._catalogue)


def _as_written(
    path: FieldPath, written: KubeSchedulerConfiguration, defaulted: KubeSchedulerConfiguration
) -> FieldPath:
    """An entry of the merged MultiPoint list, where the person wrote it."""
    match path.parts:
        case ("profiles", int(i), "plugins", "multiPoint", "enabled", int(j)) if i < len(written.profiles):
            merged, own = defaulted.profiles[i].plugins, written.profiles[i].plugins
            if merged is not None and own is not None:
                name = merged.multi_point.enabled[j].name
                places = [k for k, plugin in enumerate(own.multi_point.enabled) if plugin.name == name]
                if places:
                    return FieldPath((*path.parts[:-1], places[-1]))
    return path


def _exact(root: Node, path: FieldPath) -> Node | None:
    node: Node | None = root
    for part in path.parts:
        node = _step(node, part) if node is not None else None
    return node


def _text(node: Node, name: str) -> str:
    found = node.get(name)
    return found.value if found is not None and isinstance(found.value, str) else ""


def _as_json(node: Node) -> str:
    return json.dumps(node.to_value(), separators=(",", ":"), ensure_ascii=False)
