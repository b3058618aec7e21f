"""The profiles of an older KubeSchedulerConfiguration: lists of plugins, weights and arguments.

What a list says stays as it is written. What it leaves to the defaults of its version is written out where v1's are
others. Rules: docs/semantics/configuration.md#older-files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from framework.configuration.catalogue import ExtensionPoint, PluginCatalogue
from framework.configuration.defaults import DEFAULT_MULTI_POINT, merge_plugin_set
from framework.configuration.edits import DisablePlugin, EnablePlugin, RemoveArgs, SetArgs, SetWeight
from framework.configuration.expansion import order_at
from framework.configuration.older.draft import Draft
from framework.configuration.older.findings import Findings, Path
from framework.configuration.older.history import (
    GONE,
    NEWER,
    NODE_LABEL,
    NOT_SCORED_THEN,
    POINTS,
    RESOURCES,
    SPREADING,
    VOLUME_LIMITS,
    default_filter,
    default_score,
    lists_plugins_by_point,
)
from framework.configuration.older.strategies import (
    ARGUMENTS,
    FIT,
    Strategy,
    chosen,
    required_labels,
    tell_unknown,
    with_expressions,
)
from framework.configuration.types import API_GROUP, API_VERSION, Plugin, PluginSet
from framework.sentences import Words, sentence

_SPREAD: Final = "PodTopologySpread"
_LIMITS: Final = "NodeVolumeLimits"
_AFFINITY: Final = "NodeAffinity"


def convert_profiles(
    version: str,
    old: dict[str, Any],
    draft: Draft,
    catalogue: PluginCatalogue,
    findings: Findings,
    *,
    packing: bool = False,
) -> None:
    """Of v1alpha1 the one profile is in the draft already; ``old`` still has it at the top.

    ``packing``: the defaults are those of ClusterAutoscalerProvider.
    """
    if version == "v1alpha1":
        top = {name: old[name] for name in ("plugins", "pluginConfig") if old.get(name)}
        plugins = top.get("plugins")
        if isinstance(plugins, dict) and "postFilter" in plugins:
            top["plugins"] = {("preScore" if name == "postFilter" else name): it for name, it in plugins.items()}
        profiles: list[Any] = [top]
    else:
        profiles = old["profiles"] if isinstance(old.get("profiles"), list) and old["profiles"] else [{}]
    for i, profile in enumerate(profiles):
        at: Path = () if version == "v1alpha1" else ("profiles", i)
        written = profile if isinstance(profile, dict) else {}
        _Profile(version, written, i, at, draft, catalogue, findings, packing).convert()
    if lists_plugins_by_point(version):
        words = sentence(
            "{plugins} came after {version} and run, too; each only concerns pods that ask for what it is there for.",
            plugins=list(NEWER),
            version=version,
        )
        findings.changed("plugins", (), words)


class _Profile:
    def __init__(
        self,
        version: str,
        old: dict[str, Any],
        index: int,
        at: Path,
        draft: Draft,
        catalogue: PluginCatalogue,
        findings: Findings,
        packing: bool,
    ) -> None:
        self._packing = packing
        self._version = version
        self._old = old
        self._index = index
        self._at = at
        self._draft = draft
        self._catalogue = catalogue
        self._findings = findings
        self._here: Path = ("profiles", index)
        plugins = old.get("plugins")
        self._plugins: dict[str, Any] = plugins if isinstance(plugins, dict) else {}
        self._args: dict[str, Any] = {
            str(each.get("name")): each.get("args") or {}
            for each in old.get("pluginConfig") or ()
            if isinstance(each, dict)
        }
        self._by_point = lists_plugins_by_point(version)
        self._strategy: Strategy | None = None

    def convert(self) -> None:
        score = self._old_score()
        self._choose_strategy(score)
        self._unreserve()
        for point in POINTS:
            self._convert_set(point)
        if self._by_point:
            self._keep_filters()
            self._keep_scores(score)
        self._arguments()

    # What the old lists mean ------------------------------------------------------------------------------------------

    def _written(self, point: str) -> PluginSet:
        found = self._plugins.get(point)
        lists = found if isinstance(found, dict) else {}
        return PluginSet(enabled=_plugins(lists.get("enabled")), disabled=_plugins(lists.get("disabled")))

    def _old_score(self) -> list[Plugin]:
        """Every plugin once: earlier versions refused those that were enabled on top of the default."""
        if not self._by_point:
            return [*self._written("multiPoint").enabled, *self._written("score").enabled]
        merged = merge_plugin_set(default_score(self._version, packing=self._packing), self._written("score"))
        return list({plugin.name: plugin for plugin in merged.enabled}.values())

    def _choose_strategy(self, score: Iterable[Plugin]) -> None:
        written = {plugin.name for plugin in self._written("score").enabled}
        found = []
        for plugin in score:
            if plugin.name not in RESOURCES:
                continue
            args = self._args.get(plugin.name, {})
            args = args if isinstance(args, dict) else {}
            place = self._place("score", plugin.name) if plugin.name in written else ()
            strategy = Strategy(
                RESOURCES[plugin.name],
                plugin.weight or 1,
                plugin.name,
                place,
                args.get("resources") or (),
                args.get("shape") or (),
            )
            found.append(strategy)
        own = next((plugin for plugin in score if plugin.name == FIT), None)
        if own is None:
            self._strategy = chosen(found)
        for each in found:
            if each is self._strategy:
                words = sentence(
                    "{old} is the scoring strategy {strategy} of NodeResourcesFit, with its weight {weight}.",
                    old=each.what,
                    strategy=each.type,
                    weight=each.weight,
                )
                self._findings.changed(each.what, each.at, words)
            else:
                words = (
                    sentence("NodeResourcesFit scores itself: {old} has no place beside it.", old=each.what)
                    if self._strategy is None
                    else sentence(
                        "NodeResourcesFit has one scoring strategy, and that is {kept}: {old} has no place beside it.",
                        kept=self._strategy.what,
                        old=each.what,
                    )
                )
                self._findings.dropped(each.what, each.at, words)

    def _successor(self, name: str, point: str) -> str:
        """The plugin of v1 at this point; "" for none."""
        if name in RESOURCES:
            return FIT if self._strategy is not None and self._strategy.what == name else ""
        if name in VOLUME_LIMITS:
            return _LIMITS
        if name in SPREADING:
            return _SPREAD if point in ("preScore", "score") else ""
        if name == NODE_LABEL:
            return _AFFINITY if point == "filter" and self._label_expressions() else ""
        return "" if name in GONE else name

    # The lists in the text --------------------------------------------------------------------------------------------

    def _place(self, point: str, name: str, which: str = "enabled") -> Path:
        entries = self._plugins.get(point)
        listed = entries.get(which) if isinstance(entries, dict) else None
        for i, each in enumerate(listed or ()):
            if isinstance(each, dict) and each.get("name") == name:
                return (*self._at, "plugins", point, which, i)
        return self._at

    def _place_of_args(self, name: str) -> Path:
        """Entries of the list may be null."""
        entries = self._old.get("pluginConfig") or ()
        i = next(i for i, each in enumerate(entries) if isinstance(each, dict) and each.get("name") == name)
        return (*self._at, "pluginConfig", i)

    def _unreserve(self) -> None:
        if "unreserve" not in self._plugins:
            return
        at = (*self._here, "plugins")
        for plugin in self._written("unreserve").enabled:
            if plugin.name not in self._draft.names((*at, "reserve", "enabled")):
                self._draft.edit(EnablePlugin(profile=self._index, point="reserve", name=plugin.name))
        for plugin in self._written("unreserve").disabled:
            words = sentence("{plugin} has nothing to do at {point} today.", plugin=plugin.name, point="unreserve")
            self._findings.dropped(plugin.name, self._place("unreserve", plugin.name, "disabled"), words)
        words = sentence("Plugins at unreserve are plugins at reserve today, which undo what they reserved.")
        self._findings.changed("unreserve", (*self._at, "plugins", "unreserve"), words)
        self._draft.remove((*at, "unreserve"))

    def _convert_set(self, point: str) -> None:
        written = self._written(point)
        at = (*self._here, "plugins", point)
        for plugin in written.disabled:
            name = plugin.name
            if name in RESOURCES or name in VOLUME_LIMITS or name in SPREADING or name in GONE or name == NODE_LABEL:
                self._take_out((*at, "disabled"), name)
                self._tell_disabled(point, name)
        for plugin in written.enabled:
            name, successor = plugin.name, self._successor(plugin.name, point)
            place = self._place(point, name)
            if successor == name:
                self._keep_known(point, name, place)
                continue
            if successor and successor not in self._draft.names((*at, "enabled")):
                j = self._draft.names((*at, "enabled")).index(name)
                self._draft.set((*at, "enabled", j, "name"), successor)
            else:
                self._take_out((*at, "enabled"), name)
            self._tell_enabled(name, place)

    def _take_out(self, path: Path, name: str) -> None:
        while name in (names := self._draft.names(path)):
            self._draft.remove((*path, names.index(name)))

    def _keep_known(self, point: str, name: str, place: Path) -> None:
        """Out with what would keep v1 from starting: plugins that nobody has, points that a plugin has left."""
        if name == "*":
            return
        entry = self._catalogue.get(name)
        if entry is None:
            words = sentence(
                "{plugin} is no plugin of kube-scheduler 1.36 and none that is installed here: it is left out of "
                "{point}. Enable it again for a scheduler that has it.",
                plugin=name,
                point=point,
            )
        elif point != "multiPoint" and ExtensionPoint(point) not in entry.extension_points:
            words = sentence("{plugin} has nothing to do at {point} today.", plugin=name, point=point)
        else:
            return
        self._findings.dropped(name, place, words)
        self._take_out((*self._here, "plugins", point, "enabled"), name)

    def _tell_enabled(self, name: str, place: Path) -> None:
        if name in GONE:
            self._findings.dropped(name, place, sentence(GONE[name]))
        elif name in VOLUME_LIMITS:
            self._findings.changed(name, place, _limits(name))
        elif name in SPREADING:
            self._findings.changed(name, place, _spreading(name))
        # What became of the plugins that scored by resources, and of NodeLabel, is told once for all points.

    def _tell_disabled(self, point: str, name: str) -> None:
        place = self._place(point, name, "disabled")
        if name in SPREADING and self._version in ("v1alpha1", "v1alpha2"):
            words = sentence(
                "Without {plugin} no pods are spread but those that say so: PodTopologySpread gets no constraints of "
                "its own (defaultingType List).",
                plugin=name,
            )
            self._findings.changed(name, place, words)
        elif name in VOLUME_LIMITS:
            words = sentence(
                "v1 has no {plugin} to disable; NodeVolumeLimits counts volumes of every CSI driver.", plugin=name
            )
            self._findings.dropped(name, place, words)
        else:
            words = sentence("{plugin} is gone: it need not be disabled.", plugin=name)
            self._findings.carried(name, place, words)

    # What the old version did without being told ----------------------------------------------------------------------

    def _now(self, point: str) -> list[str]:
        """The plugins that the draft has at a point."""
        found = self._draft.get((*self._here, "plugins", point)) or {}
        every = self._draft.get((*self._here, "plugins", "multiPoint")) or {}
        own = PluginSet(enabled=_plugins(found.get("enabled")), disabled=_plugins(found.get("disabled")))
        multi_point = merge_plugin_set(
            PluginSet(enabled=DEFAULT_MULTI_POINT),
            PluginSet(enabled=_plugins(every.get("enabled")), disabled=_plugins(every.get("disabled"))),
        )
        at = ExtensionPoint(point)

        def extends(name: str) -> bool:
            entry = self._catalogue.get(name)
            return entry is not None and at in entry.extension_points

        return order_at(own, multi_point, extends)

    def _keep_filters(self) -> None:
        merged = merge_plugin_set(default_filter(), self._written("filter"))
        wanted = {self._successor(plugin.name, "filter") for plugin in merged.enabled} - {""}
        for name in sorted(wanted - set(self._now("filter"))):
            if self._catalogue.get(name) is not None:
                self._draft.edit(EnablePlugin(profile=self._index, point="filter", name=name))
        defaults = [name for name in VOLUME_LIMITS if any(each.name == name for each in merged.enabled)]
        written = {each.name for each in self._written("filter").enabled}
        if silent := [name for name in defaults if name not in written]:
            words = sentence(
                "{plugins} ran by default in {version}. NodeVolumeLimits does their part: it counts the volumes of "
                "every CSI driver by the limits of the node's CSINode.",
                plugins=silent,
                version=self._version,
            )
            self._findings.changed(_LIMITS, (), words)

    def _keep_scores(self, score: list[Plugin]) -> None:
        wanted: dict[str, int] = {}
        written = {plugin.name for plugin in self._written("score").enabled}
        for plugin in score:
            successor = self._successor(plugin.name, "score")
            if plugin.name not in written:
                self._tell_default(plugin)
            # Of two plugins that became one, the plugin that always had the name keeps its weight.
            if successor and (successor == plugin.name or successor not in wanted):
                wanted[successor] = plugin.weight or 1
        for name in self._now("score"):
            if name not in wanted and name not in NOT_SCORED_THEN:
                self._draft.edit(DisablePlugin(profile=self._index, point="score", name=name))
                words = sentence("{plugin} scores by default in v1 and did not here: it is disabled.", plugin=name)
                self._findings.changed(name, (), words)
        for name, weight in wanted.items():
            entry = self._catalogue.get(name)
            if entry is None or ExtensionPoint.SCORE not in entry.extension_points:
                continue
            if name not in self._now("score"):
                self._draft.edit(EnablePlugin(profile=self._index, point="score", name=name, weight=weight))
            elif (today := self._weight_now(name)) != weight:
                self._draft.edit(SetWeight(profile=self._index, point="score", name=name, weight=weight))
                words = sentence(
                    "{plugin} had the weight {old} by default in {version}; v1 would give it {new}, so it is written.",
                    plugin=name,
                    old=weight,
                    version=self._version,
                    new=today,
                )
                self._findings.changed(name, (), words)

    def _weight_now(self, name: str) -> int:
        at = (*self._here, "plugins")
        listed = [*_plugins(self._draft.get((*at, "score", "enabled")))]
        listed += _plugins(self._draft.get((*at, "multiPoint", "enabled")))
        return next((each.weight or 1 for each in (*listed, *DEFAULT_MULTI_POINT) if each.name == name), 1)

    def _tell_default(self, plugin: Plugin) -> None:
        if plugin.name in GONE:
            self._findings.dropped(plugin.name, (), sentence(GONE[plugin.name]))
        elif plugin.name in SPREADING:
            self._findings.changed(plugin.name, (), _spreading(plugin.name))

    # Arguments --------------------------------------------------------------------------------------------------------

    def _arguments(self) -> None:
        for i, each in enumerate(self._old.get("pluginConfig") or ()):
            name = str(each.get("name", "")) if isinstance(each, dict) else ""
            place = (*self._at, "pluginConfig", i)
            if name in RESOURCES or name in GONE or name in VOLUME_LIMITS or name in SPREADING or name == NODE_LABEL:
                self._draft.edit(RemoveArgs(profile=self._index, plugin=name))
                if name not in RESOURCES and name != NODE_LABEL:
                    words = sentence("{plugin} is gone, and its arguments with it.", plugin=name)
                    self._findings.dropped(name, place, words)
                elif name in RESOURCES and (self._strategy is None or self._strategy.what != name):
                    words = sentence("{plugin} is not used, so its arguments are left out.", plugin=name)
                    self._findings.dropped(name, place, words)
                elif name in RESOURCES:
                    tell_unknown(each.get("args"), ARGUMENTS, (*place, "args"), self._findings)
            elif isinstance(each, dict) and isinstance(each.get("args"), dict):
                self._own_arguments(name, each["args"], place)
        if self._strategy is not None and (
            self._strategy.type != "LeastAllocated" or self._strategy.resources or self._strategy.shape
        ):
            scoring = self._strategy.scoring()
            self._draft.edit(SetArgs(profile=self._index, plugin=FIT, path=("scoringStrategy",), value=scoring))
        self._labels()
        self._spread_arguments()

    def _own_arguments(self, name: str, args: dict[str, Any], place: Path) -> None:
        group, _, version = str(args.get("apiVersion", "")).rpartition("/")
        if group == API_GROUP and version != "v1":
            path = ("apiVersion",)
            self._draft.edit(SetArgs(profile=self._index, plugin=name, path=path, value=API_VERSION))
            words = sentence("The arguments of {plugin} are those of {version}.", plugin=name, version=API_VERSION)
            self._findings.changed(name, (*place, "args", "apiVersion"), words)
        entry = self._catalogue.get(name)
        if entry is None or entry.args_type is None:
            return
        known = {field.encode_name.lower(): field.encode_name for field in msgspec.structs.fields(entry.args_type)}
        for key, value in args.items():
            spelt = known.get(key.lower())
            if spelt is not None and spelt != key:
                self._draft.edit(RemoveArgs(profile=self._index, plugin=name, path=(key,)))
                self._draft.edit(SetArgs(profile=self._index, plugin=name, path=(spelt,), value=value))
                words = sentence("{old} is spelt {new} in v1.", old=key, new=spelt)
                self._findings.changed(key, (*place, "args", key), words)

    def _label_expressions(self) -> list[dict[str, str]]:
        args = self._args.get(NODE_LABEL)
        args = args if isinstance(args, dict) else {}
        return required_labels(args.get("presentLabels") or (), args.get("absentLabels") or ())

    def _labels(self) -> None:
        args = self._args.get(NODE_LABEL)
        if not isinstance(args, dict):
            return
        at: Path = (*self._place_of_args(NODE_LABEL), "args")
        expressions = self._label_expressions()
        if expressions and any(plugin.name == NODE_LABEL for plugin in self._written("filter").enabled):
            own = self._args.get(_AFFINITY)
            added = own.get("addedAffinity") if isinstance(own, dict) else None
            value = with_expressions(added, expressions)
            self._draft.edit(SetArgs(profile=self._index, plugin=_AFFINITY, path=("addedAffinity",), value=value))
            labels = [each["key"] for each in expressions]
            words = sentence("NodeLabel's {labels}: NodeAffinity asks for them of every pod.", labels=labels)
            self._findings.changed(NODE_LABEL, at, words)
        for field in ("presentLabelsPreference", "absentLabelsPreference"):
            if args.get(field):
                words = sentence(
                    "{field} preferred nodes by a label; no plugin does so for all pods with a weight of its own. "
                    "preferredDuringScheduling terms in addedAffinity of NodeAffinity come near it.",
                    field=field,
                )
                self._findings.dropped(NODE_LABEL, (*at, field), words)

    def _spread_arguments(self) -> None:
        args = self._args.get(_SPREAD)
        args = args if isinstance(args, dict) else {}
        path = ("defaultingType",)
        if args.get("defaultingType"):
            return
        if args.get("defaultConstraints") and self._version in ("v1alpha1", "v1alpha2", "v1beta1"):
            self._draft.edit(SetArgs(profile=self._index, plugin=_SPREAD, path=path, value="List"))
            words = sentence("Constraints of one's own need defaultingType List in v1.")
            self._findings.changed(_SPREAD, self._place_of_args(_SPREAD), words)
        elif self._version in ("v1alpha1", "v1alpha2") and self._is_spreading_off():
            self._draft.edit(SetArgs(profile=self._index, plugin=_SPREAD, path=path, value="List"))

    def _is_spreading_off(self) -> bool:
        disabled = {plugin.name for plugin in self._written("score").disabled}
        enabled = {plugin.name for plugin in self._written("score").enabled}
        return bool(disabled & {*SPREADING, "*"}) and not enabled & set(SPREADING)


def _limits(name: str) -> Words:
    return sentence(
        "{plugin} is part of NodeVolumeLimits, which counts the volumes of every CSI driver by the limits of the "
        "node's CSINode.",
        plugin=name,
    )


def _spreading(name: str) -> Words:
    return sentence(
        "{plugin} is done by PodTopologySpread with its own constraints (System), within that plugin's weight.",
        plugin=name,
    )


def _plugins(items: Any) -> tuple[Plugin, ...]:
    found = []
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            weight = item.get("weight")
            found.append(Plugin(name=item["name"], weight=weight if isinstance(weight, int) else None))
    return tuple(found)
