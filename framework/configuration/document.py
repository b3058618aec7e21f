"""A configuration as the text a person wrote, edited by the form without losing anything of it.

Rules: docs/semantics/configuration.md#forms.

Comments, order, layout and fields we do not know survive: an edit changes the lines it is about. The document need not
be valid; only readable YAML or JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import singledispatchmethod
from typing import Any, Final, Literal

from framework.configuration.catalogue import ExtensionPoint, PluginCatalogue
from framework.configuration.defaults import default_plugins, merge_plugins, plugin_sets
from framework.configuration.edits import (
    AddProfile,
    DisablePlugin,
    Edit,
    EnablePlugin,
    MovePlugin,
    RemoveArgs,
    RemoveField,
    RemoveProfile,
    ResetPlugin,
    SetArgs,
    SetFeatureGate,
    SetField,
    SetWeight,
)
from framework.configuration.expansion import order_at
from framework.configuration.feature_gates import (
    DEFAULT_GATES,
    FLAG,
    FeatureGatesError,
    gates_line,
    gates_of,
    has_gates_line,
    parse_flag,
    with_gates,
)
from framework.configuration.source import read_source
from framework.configuration.surgery import CannotEdit, Path, TextEditor
from framework.configuration.types import API_VERSION, DEFAULT_SCHEDULER_NAME, KIND, Plugin, Plugins, PluginSet
from framework.configuration.writing import write_block
from framework.sentences import sentence

MULTI_POINT: Final = "multiPoint"
NO_GATES_IN_JSON: Final = sentence(
    "feature gates are a flag of kube-scheduler, kept in a comment ({flag}), and JSON has no comments", flag=FLAG
)
_FIELD_OF: Final = {
    "".join(part if i == 0 else part.capitalize() for i, part in enumerate(name.split("_"))): name
    for name in plugin_sets(Plugins())
}


def to_json(text: str) -> str:
    """The document as JSON; a JSON document as it is. YAML comments have no place in JSON.

    Raises CannotEdit for a text that sets feature gates in one: without it, it would mean something else.
    """
    source = read_source(text)
    if source.format == "json":
        return text
    if has_gates_line(text):
        raise CannotEdit(NO_GATES_IN_JSON)
    return json.dumps(source.root.to_value(), indent=2, ensure_ascii=False) + "\n"


def to_yaml(text: str) -> str:
    """The document as YAML; a YAML document as it is."""
    source = read_source(text)
    value = source.root.to_value()
    if source.format == "yaml":
        return text
    return "\n".join(write_block(value, 0, 2)) + "\n" if value else "{}\n"


def apply_edits(text: str, edits: Iterable[Edit], catalogue: PluginCatalogue) -> str:
    """The text after ``edits``; CannotEdit names the one that has no place in it."""
    document = Document(text, catalogue)
    for edit in edits:
        document.apply(edit)
    return document.text


class Document:
    def __init__(self, text: str, catalogue: PluginCatalogue) -> None:
        self._catalogue = catalogue
        self._default = _default_plugins(text)
        self._editor = TextEditor(text)

    @property
    def text(self) -> str:
        return self._editor.text

    @property
    def format(self) -> Literal["yaml", "json"]:
        return "json" if self._editor.json else "yaml"

    @property
    def value(self) -> Any:
        return self._editor.value()

    def apply(self, edit: Edit) -> None:
        if self._editor.root.kind == "scalar" and self._editor.root.value is None:
            self._editor.set_value((), {"apiVersion": API_VERSION, "kind": KIND})
        if self._editor.root.kind != "mapping":
            raise CannotEdit(sentence("the document is no mapping"))
        self._apply(edit)

    @singledispatchmethod
    def _apply(self, edit: object) -> None:
        raise TypeError(f"{type(edit).__name__} is no edit of a configuration")

    # Fields and profiles ----------------------------------------------------------------------------------------------

    @_apply.register
    def _(self, edit: SetField) -> None:
        self._editor.set_value(edit.path, edit.value)

    @_apply.register
    def _(self, edit: RemoveField) -> None:
        if not edit.path:
            raise CannotEdit(sentence("the whole document cannot be removed"))
        if self._editor.has(edit.path):
            self._editor.delete(edit.path)

    @_apply.register
    def _(self, edit: SetFeatureGate) -> None:
        if self._editor.json:
            raise CannotEdit(NO_GATES_IN_JSON)
        try:
            line = gates_line(self.text)
            given = {} if line is None else parse_flag(line.value)
        except FeatureGatesError as error:
            raise CannotEdit(error.texts[0]) from None
        given.pop(edit.name, None)
        if edit.enabled is not None:
            given[edit.name] = edit.enabled
        text = with_gates(self.text, given)
        self._editor, self._default = TextEditor(text), _default_plugins(text)

    @_apply.register
    def _(self, edit: AddProfile) -> None:
        profiles = self._profiles() or [{}]
        if not profiles[0].get("schedulerName"):
            # With two profiles every one needs its name; until now the first had the default.
            self._editor.set_value(("profiles", 0, "schedulerName"), DEFAULT_SCHEDULER_NAME)
        if edit.copy_of is not None and not 0 <= edit.copy_of < len(profiles):
            raise CannotEdit(sentence("there is no {place}", place=f"profiles[{edit.copy_of}]"))
        base = {} if edit.copy_of is None else profiles[edit.copy_of]
        rest = {key: value for key, value in base.items() if key != "schedulerName"}
        self._editor.set_value(("profiles", len(self._profiles())), {"schedulerName": edit.scheduler_name, **rest})

    @_apply.register
    def _(self, edit: RemoveProfile) -> None:
        self._editor.delete(("profiles", edit.profile))

    # Arguments --------------------------------------------------------------------------------------------------------

    @_apply.register
    def _(self, edit: SetArgs) -> None:
        at = self._config_of(edit.profile, edit.plugin)
        if at is not None:
            self._editor.set_value((*at, "args", *edit.path), edit.value)
            return
        config = (*self._profile(edit.profile), "pluginConfig")
        count = len(self._list(config))
        # The name and the arguments come in one piece, name first.
        value: Any = edit.value
        for part in reversed(edit.path):
            if isinstance(part, int) and part != 0:
                raise CannotEdit(sentence("the arguments of {plugin} have no list there yet", plugin=edit.plugin))
            value = [value] if isinstance(part, int) else {part: value}
        self._editor.set_value((*config, count), {"name": edit.plugin, "args": value})

    @_apply.register
    def _(self, edit: RemoveArgs) -> None:
        at = self._config_of(edit.profile, edit.plugin)
        if at is None:
            return
        path = (*at, "args", *edit.path) if edit.path else at
        if self._editor.has(path):
            self._editor.delete(path)

    # Plugins ----------------------------------------------------------------------------------------------------------

    @_apply.register
    def _(self, edit: EnablePlugin) -> None:
        self._check_point(edit.point, edit.name)
        at = (*self._profile(edit.profile), "plugins")
        for point in _FIELD_OF if edit.point == MULTI_POINT else (edit.point,):
            self._take_out((*at, point, "disabled"), edit.name)
        if edit.name not in self._order(edit.profile, edit.point):
            entry = {"name": edit.name} if edit.weight is None else {"name": edit.name, "weight": edit.weight}
            self._append((*at, edit.point, "enabled"), entry)
        elif edit.weight is not None:
            self._set_weight(edit.profile, edit.point, edit.name, edit.weight)

    @_apply.register
    def _(self, edit: DisablePlugin) -> None:
        self._check_point(edit.point)
        at = (*self._profile(edit.profile), "plugins")
        for point in _FIELD_OF if edit.point == MULTI_POINT else (edit.point,):
            self._take_out((*at, point, "enabled"), edit.name)
        if edit.name in self._order(edit.profile, edit.point):
            self._append((*at, edit.point, "disabled"), {"name": edit.name})

    @_apply.register
    def _(self, edit: ResetPlugin) -> None:
        self._check_point(edit.point)
        at = (*self._profile(edit.profile), "plugins", edit.point)
        self._take_out((*at, "enabled"), edit.name)
        self._take_out((*at, "disabled"), edit.name)

    @_apply.register
    def _(self, edit: SetWeight) -> None:
        self._check_point(edit.point, edit.name)
        if edit.name in self._order(edit.profile, edit.point):
            self._set_weight(edit.profile, edit.point, edit.name, edit.weight)
        else:
            self._apply(EnablePlugin(profile=edit.profile, point=edit.point, name=edit.name, weight=edit.weight))

    def _set_weight(self, profile: int, point: str, name: str, weight: int) -> None:
        at = (*self._profile(profile), "plugins")
        for where in dict.fromkeys((point, MULTI_POINT)):
            names = self._names((*at, where, "enabled"))
            if name in names:
                self._editor.set_value((*at, where, "enabled", names.index(name), "weight"), weight)
                return
        # A default plugin: its entry in MultiPoint is replaced where it stands, so the order stays.
        self._append((*at, MULTI_POINT, "enabled"), {"name": name, "weight": weight})

    @_apply.register
    def _(self, edit: MovePlugin) -> None:
        self._check_point(edit.point)
        now = self._order(edit.profile, edit.point)
        if edit.name not in now:
            raise CannotEdit(sentence("{plugin} is not enabled at {point}", plugin=edit.name, point=edit.point))
        wanted = [name for name in now if name != edit.name]
        wanted.insert(edit.to, edit.name)
        if wanted == now:
            return
        at = (*self._profile(edit.profile), "plugins")
        if edit.point == MULTI_POINT:
            raise CannotEdit(sentence("the order of MultiPoint is changed at the extension points"))
        written = {plugin.get("name"): plugin for plugin in self._list((*at, edit.point, "enabled"))}
        plugins = self._merged(edit.profile)
        own = getattr(plugins, _FIELD_OF[edit.point])
        extends = self._extends(edit.point)
        weights = self._weights(plugins, edit.point)
        listed = _shortest_list(wanted, [name for name in written if name in wanted], own, plugins.multi_point, extends)
        everything = listed is None
        entries = []
        for name in wanted if listed is None else listed:
            entry = written.get(name)
            if entry is None:
                entry = {"name": name, "weight": weights[name]} if name in weights else {"name": name}
            entries.append(entry)
        if everything:
            # Plugins of the point's own list stand behind MultiPoint's unless the whole order is given.
            self._append((*at, edit.point, "disabled"), {"name": "*"})
        self._editor.set_value((*at, edit.point, "enabled"), entries)

    # What the document says -------------------------------------------------------------------------------------------

    def _profiles(self) -> list[dict[str, Any]]:
        found = self._list(("profiles",))
        return [profile if isinstance(profile, dict) else {} for profile in found]

    def _profile(self, index: int) -> Path:
        if not 0 <= index < max(1, len(self._profiles())):
            raise CannotEdit(sentence("there is no {place}", place=f"profiles[{index}]"))
        return ("profiles", index)

    def _list(self, path: Path) -> list[Any]:
        found = self._editor.value(path) if self._editor.has(path) else None
        if found is not None and not isinstance(found, list):
            raise CannotEdit(sentence("{place} is no list", place=str(path[-1])))
        return found or []

    def _names(self, path: Path) -> list[str]:
        return [str(item.get("name", "")) if isinstance(item, dict) else "" for item in self._list(path)]

    def _config_of(self, profile: int, plugin: str) -> Path | None:
        path = (*self._profile(profile), "pluginConfig")
        names = self._names(path)
        return (*path, names.index(plugin)) if plugin in names else None

    def _append(self, path: Path, entry: dict[str, Any]) -> None:
        self._editor.set_value((*path, len(self._list(path))), entry)

    def _take_out(self, path: Path, name: str) -> None:
        while name in (names := self._names(path)):
            self._editor.delete((*path, names.index(name)))

    def _check_point(self, point: str, name: str = "") -> None:
        if point not in _FIELD_OF:
            raise CannotEdit(sentence("there is no extension point {point}", point=point))
        entry = self._catalogue.get(name)
        if point != MULTI_POINT and entry is not None and ExtensionPoint(point) not in entry.extension_points:
            raise CannotEdit(sentence("{plugin} does not extend {point}", plugin=name, point=point))

    def _merged(self, profile: int) -> Plugins:
        """The profile's plugins merged with the default, as far as they can be read."""
        path = (*self._profile(profile), "plugins")
        written = self._editor.value(path) if self._editor.has(path) else None
        sets = {}
        for point, field in _FIELD_OF.items():
            found = written.get(point) if isinstance(written, dict) else None
            lists = found if isinstance(found, dict) else {}
            sets[field] = PluginSet(
                enabled=tuple(_plugins(lists.get("enabled"))), disabled=tuple(_plugins(lists.get("disabled")))
            )
        return merge_plugins(self._default, Plugins(**sets))

    def _extends(self, point: str) -> Callable[[str], bool]:
        def extends(name: str) -> bool:
            entry = self._catalogue.get(name)
            return entry is not None and ExtensionPoint(point) in entry.extension_points

        return extends

    def _order(self, profile: int, point: str) -> list[str]:
        plugins = self._merged(profile)
        if point == MULTI_POINT:
            return [plugin.name for plugin in plugins.multi_point.enabled]
        return order_at(getattr(plugins, _FIELD_OF[point]), plugins.multi_point, self._extends(point))

    def _weights(self, plugins: Plugins, point: str) -> dict[str, int]:
        if point not in (ExtensionPoint.SCORE, ExtensionPoint.PLACEMENT_SCORE):
            return {}
        weights: dict[str, int] = {}
        for plugin in (*getattr(plugins, _FIELD_OF[point]).enabled, *plugins.multi_point.enabled):
            weights.setdefault(plugin.name, plugin.weight or 1)
        return weights


def _default_plugins(text: str) -> Plugins:
    """Of the gates that the text sets; while these are wrong, of the default ones."""
    try:
        return default_plugins(gates_of(text))
    except FeatureGatesError:
        return default_plugins(DEFAULT_GATES)


def _plugins(items: Any) -> list[Plugin]:
    found = []
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            weight = item.get("weight")
            found.append(Plugin(name=item["name"], weight=weight if isinstance(weight, int) else None))
    return found


def _shortest_list(
    wanted: list[str], written: list[str], own: PluginSet, multi_point: PluginSet, extends: Callable[[str], bool]
) -> list[str] | None:
    """The shortest enabled list that gives the order ``wanted`` and keeps what is written; None when none does."""
    if any(plugin.name == "*" for plugin in own.disabled):
        return wanted
    for length in range(len(wanted) + 1):
        head = set(wanted[:length]) | set(written)
        listed = [name for name in wanted if name in head]
        trial = PluginSet(enabled=tuple(Plugin(name=name) for name in listed), disabled=own.disabled)
        if order_at(trial, multi_point, extends) == wanted:
            return listed
    return None
