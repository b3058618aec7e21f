"""A Policy (Kubernetes 1.0 to 1.22) as one profile of v1.

Rules: docs/semantics/configuration.md#older-files. Lists that are absent or null are the default ones, empty ones are
empty, and two predicates are always there. What a Policy could not name (queue, preemption, binding) is as by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from framework.configuration.catalogue import ExtensionPoint, PluginCatalogue
from framework.configuration.older import legacy_names as names
from framework.configuration.older.extenders import converted_extenders
from framework.configuration.older.findings import Findings, Path
from framework.configuration.older.history import GONE
from framework.configuration.older.strategies import (
    DEFAULT_SHAPE,
    FIT,
    Strategy,
    chosen,
    required_labels,
    tell_unknown,
    with_expressions,
)
from framework.sentences import sentence

_BEFORE: Final = ("SchedulingGates", "PrioritySort")
_BEHIND: Final = ({"name": "DynamicResources", "weight": 2}, {"name": "DefaultPreemption"}, {"name": "DefaultBinder"})
_LAST: Final = {"name": "NodeDeclaredFeatures"}
_SERVICE_AFFINITY: Final = GONE["ServiceAffinity"]
_RATIO: Final = "requestedToCapacityRatioArguments"
_WITHOUT_ARGUMENT: Final = ("LeastRequestedPriority", "MostRequestedPriority")
_INT32: Final = 2**31 - 1
_KNOWN: Final = (
    "apiVersion",
    "kind",
    "predicates",
    "priorities",
    "extenders",
    "hardPodAffinitySymmetricWeight",
    "alwaysCheckAllPredicates",
)


@dataclass(slots=True)
class Converted:
    """``profile`` has ``plugins`` and, where needed, ``pluginConfig``."""

    profile: dict[str, Any]
    extenders: list[dict[str, Any]]


@dataclass(slots=True)
class _Labels:
    present: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)


def convert_policy(value: dict[str, Any], catalogue: PluginCatalogue, findings: Findings) -> Converted:
    return _Policy(value, catalogue, findings).convert()


class _Policy:
    def __init__(self, value: dict[str, Any], catalogue: PluginCatalogue, findings: Findings) -> None:
        self._value = value
        self._catalogue = catalogue
        self._findings = findings
        self._labels = _Labels()
        self._weights: dict[str, int] = {}
        self._strategies: list[Strategy] = []
        self._spread_by_system = False

    def convert(self) -> Converted:
        for name in self._value:
            if name not in _KNOWN:
                self._findings.dropped(name, (name,), sentence("A Policy has no field {field}.", field=name))
        filters = self._filters(self._predicates())
        self._priorities()
        strategy = self._resources()
        config = self._plugin_config(strategy)
        profile: dict[str, Any] = {"plugins": self._plugins(filters)}
        if config:
            profile["pluginConfig"] = [{"name": name, "args": args} for name, args in config.items()]
        self._always_check()
        return Converted(profile, converted_extenders(self._value.get("extenders"), ("extenders",), self._findings))

    # Predicates -------------------------------------------------------------------------------------------------------

    def _predicates(self) -> set[str]:
        listed = self._value.get("predicates")
        if not isinstance(listed, list):
            words = sentence("No predicates are listed, so the default ones of a Policy count; they are written out.")
            self._findings.carried("predicates", ("predicates",) if "predicates" in self._value else (), words)
            return set(names.DEFAULT_PREDICATES)
        found = set(names.MANDATORY)
        for i, entry in enumerate(listed):
            tell_unknown(entry, ("name", "argument"), ("predicates", i), self._findings)
            predicate = self._predicate(entry, ("predicates", i))
            if predicate:
                found.add(predicate)
        if missing := [name for name in names.MANDATORY if name not in _listed(listed)]:
            words = sentence("{predicates} were asked in any case, listed or not.", predicates=missing)
            self._findings.carried("predicates", ("predicates",), words)
        return found

    def _predicate(self, entry: Any, at: Path) -> str:
        """Its name in the order of predicates; "" for what becomes of nothing."""
        written, argument = _name_and_argument(entry)
        name = names.PREDICATE_ALIASES.get(written, written)
        if written in names.CONDITIONS:
            words = sentence(
                "{predicate}: what it looked at is a taint of the node today, which TaintToleration minds.",
                predicate=written,
            )
            self._findings.changed(written, at, words)
            return "PodToleratesNodeTaints"
        if name in names.PREDICATE_PLUGINS and name not in ("CheckNodeLabelPresence", "CheckServiceAffinity"):
            plugins = list(names.PREDICATE_PLUGINS[name])
            if name in names.COUNTED_BY_KIND:
                words = sentence(
                    "{plugin} is part of NodeVolumeLimits, which counts the volumes of every CSI driver by the "
                    "limits of the node's CSINode.",
                    plugin=written,
                )
                self._findings.changed(written, at, words)
            else:
                words = sentence("{predicate} is the filter of {plugins}.", predicate=written, plugins=plugins)
                self._findings.carried(written, at, words)
            self._unused(written, argument, (), at)
            return name
        labels = argument.get("labelsPresence")
        wanted = [str(each) for each in labels.get("labels") or ()] if isinstance(labels, dict) else []
        if wanted and isinstance(labels, dict):
            tell_unknown(labels, ("labels", "presence"), (*at, "argument", "labelsPresence"), self._findings)
            self._unused(written, argument, ("labelsPresence",), at)
            present = labels.get("presence") is True
            (self._labels.present if present else self._labels.absent).extend(wanted)
            words = (
                sentence("Nodes must have the labels {labels}: NodeAffinity asks for them of every pod.", labels=wanted)
                if present
                else sentence("Nodes must not have the labels {labels}: NodeAffinity refuses them.", labels=wanted)
            )
            self._findings.changed(written, at, words)
            return "CheckNodeLabelPresence"
        if "serviceAffinity" in argument or name == "CheckServiceAffinity":
            self._findings.dropped(written, at, sentence(_SERVICE_AFFINITY))
        elif name == "CheckNodeLabelPresence" or isinstance(labels, dict):
            words = sentence("{predicate} names no labels, so it refused no node.", predicate=written)
            self._findings.carried(written, at, words)
        else:
            words = (
                sentence("No version of kube-scheduler has a predicate {predicate}.", predicate=written)
                if written
                else sentence("An entry without a name is nothing that kube-scheduler could have asked.")
            )
            self._findings.dropped(written, at, words)
        return ""

    def _unused(self, written: str, argument: dict[str, Any], used: tuple[str, ...], at: Path) -> None:
        """Names the arguments that a predicate or priority was given and that did not count."""
        for field_ in argument:
            if field_ not in used and argument[field_] is not None:
                words = sentence("{field} is no argument that {name} takes.", field=field_, name=written)
                self._findings.dropped(field_, (*at, "argument", field_), words)

    def _filters(self, predicates: set[str]) -> list[str]:
        """In the order in which they were asked."""
        found: dict[str, None] = {}
        for predicate in names.PREDICATE_ORDER:
            if predicate not in predicates:
                continue
            plugins = names.PREDICATE_PLUGINS[predicate]
            if predicate == "CheckNodeLabelPresence":
                plugins = ("NodeAffinity",)
                if "NodeAffinity" not in found:
                    words = sentence(
                        "NodeAffinity, which asks for those labels, also minds the node selectors of pods; this "
                        "Policy left these out."
                    )
                    self._findings.changed("NodeAffinity", ("predicates",), words)
            found.update(dict.fromkeys(plugins))
        return list(found)

    # Priorities -------------------------------------------------------------------------------------------------------

    def _priorities(self) -> None:
        listed = self._value.get("priorities")
        if not isinstance(listed, list):
            words = sentence("No priorities are listed, so the default ones of a Policy count; they are written out.")
            at: Path = ("priorities",) if "priorities" in self._value else ()
            self._findings.carried("priorities", at, words)
            listed = [{"name": name, "weight": weight} for name, weight in names.DEFAULT_PRIORITIES.items()]
            places: list[Path] = [at for _ in listed]
        else:
            places = [("priorities", i) for i in range(len(listed))]
            if listed:
                words = sentence(
                    "Priorities gave 0 to 10 points and plugins give 0 to 100: all of them grew alike, so the weights "
                    "mean the same."
                )
                self._findings.carried("priorities", ("priorities",), words)
        listed, places = self._last_of_each(listed, places)
        # Upstream asks them by name, so that of two with one plugin the same one wins.
        entries = sorted(zip(listed, places, strict=True), key=lambda each: _name_and_argument(each[0])[0])
        for entry, place in entries:
            self._priority(entry, place)

    def _last_of_each(self, listed: list[Any], places: list[Path]) -> tuple[list[Any], list[Path]]:
        """Upstream keeps weights by priority: of two entries for one priority the later counts."""
        last: dict[str, int] = {}
        for i, entry in enumerate(listed):
            written, argument = _name_and_argument(entry)
            name = names.PRIORITY_ALIASES.get(written, written)
            custom = name not in names.PRIORITY_STRATEGIES and name not in names.PRIORITY_PLUGINS
            if custom and isinstance(argument.get(_RATIO), dict):
                name = "RequestedToCapacityRatio"
            if name in last:
                before, _ = _name_and_argument(listed[last[name]])
                words = sentence(
                    "{old} stands here once more, further down, as {kept}: the last one counted.",
                    old=before,
                    kept=written,
                )
                self._findings.dropped(before, places[last[name]], words)
            if written:
                last[name] = i
        kept = [i for i in range(len(listed)) if i in last.values() or not _name_and_argument(listed[i])[0]]
        return [listed[i] for i in kept], [places[i] for i in kept]

    def _priority(self, entry: Any, at: Path) -> None:
        written, argument = _name_and_argument(entry)
        name = names.PRIORITY_ALIASES.get(written, written)
        weight = self._weight(written, entry, at)
        if weight is None:
            return
        tell_unknown(entry, ("name", "weight", "argument"), at, self._findings)
        ratio = argument.get(_RATIO)
        fixed = name in names.PRIORITY_PLUGINS or name in (*_WITHOUT_ARGUMENT, names.SELECTOR_SPREAD)
        if fixed:
            self._unused(written, argument, (), at)
        if name in names.PRIORITY_STRATEGIES or (isinstance(ratio, dict) and not fixed):
            type_ = names.PRIORITY_STRATEGIES.get(name, "RequestedToCapacityRatio")
            given = ratio if isinstance(ratio, dict) and not fixed else {}
            if not fixed:
                tell_unknown(given, ("shape", "resources"), (*at, "argument", _RATIO), self._findings)
                self._unused(written, argument, (_RATIO,), at)
            shape = given.get("shape") or DEFAULT_SHAPE
            if isinstance(ratio, dict) and not fixed and not given.get("shape"):
                words = sentence(
                    "{name} has no shape; kube-scheduler refused such a Policy. One that likes empty nodes is written.",
                    name=written,
                )
                self._findings.changed(written, at, words)
            self._strategies.append(Strategy(type_, weight, written, at, given.get("resources") or (), shape))
        elif name == names.SELECTOR_SPREAD:
            self._selector_spread(written, weight, at)
        elif name in names.PRIORITY_PLUGINS:
            plugin = names.PRIORITY_PLUGINS[name]
            self._weights[plugin] = weight
            words = sentence(
                "{priority} is the score of {plugin}, with its weight {weight}.",
                priority=written,
                plugin=plugin,
                weight=weight,
            )
            self._findings.carried(written, at, words)
        elif name in names.PRIORITIES_GONE:
            self._findings.dropped(written, at, sentence(GONE[names.PRIORITIES_GONE[name]]))
        elif name == names.EQUAL_PRIORITY:
            words = sentence("EqualPriority gave every node the same points: without it the same nodes win.")
            self._findings.carried(written, at, words)
        elif "labelPreference" in argument:
            words = sentence(
                "{field} preferred nodes by a label; no plugin does so for all pods with a weight of its own. "
                "preferredDuringScheduling terms in addedAffinity of NodeAffinity come near it.",
                field=written,
            )
            self._findings.dropped(written, at, words)
        elif "serviceAntiAffinity" in argument:
            words = sentence(
                "{priority} spread the pods of a service over the values of a label: defaultConstraints of "
                "PodTopologySpread come near it.",
                priority=written,
            )
            self._findings.dropped(written, at, words)
        else:
            words = (
                sentence("No version of kube-scheduler has a priority {priority}.", priority=written)
                if written
                else sentence("An entry without a name is nothing that kube-scheduler could have asked.")
            )
            self._findings.dropped(written, at, words)

    def _weight(self, written: str, entry: Any, at: Path) -> int | None:
        if not written:
            return 1  # told as an entry without a name
        weight = entry.get("weight", 0) if isinstance(entry, dict) else 0
        if not isinstance(weight, int) or isinstance(weight, bool) or weight <= 0:
            words = sentence(
                "{priority} has no positive weight; kube-scheduler refused such a Policy, and a weight of 0 means 1 "
                "in v1.",
                priority=written,
            )
            self._findings.dropped(written, at, words)
            return None
        if weight > _INT32:
            words = sentence("{weight} is more than a weight of v1 can be: it is {most}.", weight=weight, most=_INT32)
            self._findings.changed(written, at, words)
        return min(weight, _INT32)

    def _selector_spread(self, written: str, weight: int, at: Path) -> None:
        """Sorted behind EvenPodsSpreadPriority, whose weight stands for both, as in Kubernetes 1.20 to 1.22."""
        self._spread_by_system = True
        if "PodTopologySpread" in self._weights:
            words = sentence(
                "{priority} is done by PodTopologySpread with its own constraints (System); its weight {weight} gives "
                "way to that of EvenPodsSpreadPriority, {kept}.",
                priority=written,
                weight=weight,
                kept=self._weights["PodTopologySpread"],
            )
        else:
            self._weights["PodTopologySpread"] = weight
            words = sentence(
                "{priority} is done by PodTopologySpread with its own constraints (System), with its weight {weight}.",
                priority=written,
                weight=weight,
            )
        self._findings.changed(written, at, words)

    def _resources(self) -> Strategy | None:
        best = chosen(self._strategies)
        for each in self._strategies:
            if each is best:
                self._weights[FIT] = each.weight
                words = sentence(
                    "{old} is the scoring strategy {strategy} of NodeResourcesFit, with its weight {weight}.",
                    old=each.what,
                    strategy=each.type,
                    weight=each.weight,
                )
                self._findings.changed(each.what, each.at, words)
            else:
                assert best is not None
                words = sentence(
                    "NodeResourcesFit has one scoring strategy, and that is {kept}: {old} has no place beside it.",
                    kept=best.what,
                    old=each.what,
                )
                self._findings.dropped(each.what, each.at, words)
        return best

    # The profile ------------------------------------------------------------------------------------------------------

    def _plugins(self, filters: list[str]) -> dict[str, Any]:
        scored = [name for name in self._weights if name not in filters]
        enabled: list[dict[str, Any]] = [{"name": name} for name in _BEFORE]
        for name in (*filters, *sorted(scored)):
            entry: dict[str, Any] = {"name": name}
            if name in self._weights:
                entry["weight"] = self._weights[name]
            enabled.append(entry)
        enabled += [dict(each) for each in (*_BEHIND, _LAST)]
        words = sentence(
            "What a Policy does not speak of is as by default: PrioritySort, DefaultPreemption, DefaultBinder, and "
            "SchedulingGates, DynamicResources and NodeDeclaredFeatures, which are newer and only concern pods that "
            "ask for them."
        )
        self._findings.changed("multiPoint", (), words)
        plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}}
        only_filters = [name for name in filters if name not in self._weights]
        for point, off in (
            (ExtensionPoint.PRE_FILTER, scored),
            (ExtensionPoint.FILTER, scored),
            (ExtensionPoint.PRE_SCORE, only_filters),
            (ExtensionPoint.SCORE, only_filters),
        ):
            if names_off := [name for name in off if self._extends(name, point)]:
                plugins[point.value] = {"disabled": [{"name": name} for name in names_off]}
        return plugins

    def _extends(self, name: str, point: ExtensionPoint) -> bool:
        entry = self._catalogue.get(name)
        return entry is not None and point in entry.extension_points

    def _plugin_config(self, strategy: Strategy | None) -> dict[str, dict[str, Any]]:
        config: dict[str, dict[str, Any]] = {}
        if strategy is not None:
            config[FIT] = {"scoringStrategy": strategy.scoring()}
        if "PodTopologySpread" in self._weights:
            config["PodTopologySpread"] = {"defaultingType": "System" if self._spread_by_system else "List"}
            if not self._spread_by_system:
                words = sentence(
                    "EvenPodsSpreadPriority without SelectorSpreadPriority minds the constraints of pods only: "
                    "PodTopologySpread gets none of its own (defaultingType List)."
                )
                self._findings.changed("PodTopologySpread", ("priorities",), words)
        if expressions := required_labels(self._labels.present, self._labels.absent):
            config["NodeAffinity"] = {"addedAffinity": with_expressions(None, expressions)}
        self._hard_affinity(config)
        return config

    def _hard_affinity(self, config: dict[str, dict[str, Any]]) -> None:
        name = "hardPodAffinitySymmetricWeight"
        weight = self._value.get(name)
        if weight is None:
            return
        if weight == 0:
            words = sentence("{field}: 0 means the default, which is 1 in v1, too.", field=name)
            self._findings.carried(name, (name,), words)
            return
        if "InterPodAffinity" in self._weights:
            config["InterPodAffinity"] = {"hardPodAffinityWeight": weight}
            words = sentence(
                "{old} is {argument} of {plugin}.",
                old=name,
                argument="hardPodAffinityWeight",
                plugin="InterPodAffinity",
            )
            self._findings.changed(name, (name,), words)
        else:
            words = sentence("{field} had no effect without InterPodAffinityPriority.", field=name)
            self._findings.dropped(name, (name,), words)

    def _always_check(self) -> None:
        name = "alwaysCheckAllPredicates"
        if name not in self._value:
            return
        if self._value[name] is True:
            words = sentence(
                "alwaysCheckAllPredicates named every predicate that refused a node. v1 names the first filter that "
                "does; which nodes fit is the same."
            )
            self._findings.dropped(name, (name,), words)
        else:
            words = sentence("The first filter that refuses a node ends the search for reasons, as it did.")
            self._findings.carried(name, (name,), words)


def _listed(entries: Iterable[Any]) -> set[str]:
    return {_name_and_argument(each)[0] for each in entries}


def _name_and_argument(entry: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(entry, dict):
        return "", {}
    argument = entry.get("argument")
    return str(entry.get("name") or ""), argument if isinstance(argument, dict) else {}
