"""The effective plugin set: order, weights and origin at every extension point, and what construction refuses."""

from __future__ import annotations

import textwrap
from typing import Annotated

import msgspec
import pytest

from framework.configuration import EffectiveProfile, load
from framework.configuration.catalogue import CatalogueEntry, ExtensionPoint, PluginArgs
from framework.configuration.defaults import merge_plugin_set
from framework.configuration.effective import EffectiveConfiguration
from framework.configuration.expansion import outline
from framework.configuration.presets import PRESETS, Preset
from framework.configuration.types import Plugin, PluginSet
from framework.plugins.registry import OPTIONAL, built_in_registry

REGISTRY = built_in_registry().with_plugins(OPTIONAL)
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def effective(plugins: str = "", config: str = "") -> EffectiveProfile:
    text = HEAD + "profiles:\n  - schedulerName: default-scheduler\n"
    if plugins:
        text += "    plugins:\n" + textwrap.indent(textwrap.dedent(plugins), "      ") + "\n"
    if config:
        text += "    pluginConfig:\n" + textwrap.indent(textwrap.dedent(config), "      ")
    result = load(text, REGISTRY)
    assert result.config_error == ""
    assert result.effective is not None
    return result.effective.profiles[0]


def refusal(profiles: str) -> tuple[str, str, int | None]:
    result = load(HEAD + "profiles:\n" + textwrap.dedent(profiles), REGISTRY)
    assert result.effective is None
    prefix = "initializing profiles: "
    assert result.config_error.startswith(prefix)
    return result.config_error.removeprefix(prefix), result.errors[0].path, result.errors[0].line


DEFAULT = {
    "preEnqueue": ["SchedulingGates", "DynamicResources", "DefaultPreemption"],
    "queueSort": ["PrioritySort"],
    "preFilter": [
        "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding",
        "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures",
    ],
    "filter": [
        "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
        "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
        "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures",
    ],
    "postFilter": ["DynamicResources", "DefaultPreemption"],
    "preScore": [
        "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread",
        "InterPodAffinity", "NodeResourcesBalancedAllocation",
    ],
    "score": [
        "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread",
        "InterPodAffinity", "DynamicResources", "NodeResourcesBalancedAllocation", "ImageLocality",
    ],
    "reserve": ["VolumeBinding", "DynamicResources"],
    "preBind": ["VolumeBinding", "DynamicResources"],
    "bind": ["DefaultBinder"],
}  # fmt: skip


def test_the_default_profile_is_kube_schedulers() -> None:
    profile = effective()
    assert {point: list(found.names) for point, found in profile.points.items() if found.names} == DEFAULT
    assert [point for point, found in profile.points.items() if not found.names] == ["permit", "postBind"]
    assert profile.weights == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }
    assert all(plugin.origin == "default" for found in profile.points.values() for plugin in found.plugins)
    assert all(not found.disabled for found in profile.points.values())


def test_an_enabled_default_plugin_moves_to_the_front() -> None:
    profile = effective("""\
    score:
      enabled:
        - name: NodeResourcesFit
          weight: 5
        - name: DynamicResources
      disabled:
        - name: ImageLocality
    """)
    score = profile.point("score")
    assert list(score.names) == [
        "NodeResourcesFit",
        "DynamicResources",
        "TaintToleration",
        "NodeAffinity",
        "VolumeBinding",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeResourcesBalancedAllocation",
    ]
    found = {plugin.name: plugin for plugin in score.plugins}
    fit, dra = found["NodeResourcesFit"], found["DynamicResources"]
    assert (fit.origin, fit.weight, fit.default_weight, fit.moved) == ("weight changed", 5, 1, True)
    # Listed without a weight: 1, not the default profile's 2.
    assert (dra.origin, dra.weight, dra.default_weight, dra.moved) == ("weight changed", 1, 2, True)
    [gone] = score.disabled
    assert (gone.name, gone.origin, gone.disabled_in) == ("ImageLocality", "disabled by name", "score")


def test_a_weight_in_multi_point_keeps_the_order() -> None:
    profile = effective(
        "multiPoint: {enabled: [{name: ImageLocality, weight: 11}, {name: TaintToleration, weight: 13}]}"
    )
    assert list(profile.point("score").names) == DEFAULT["score"]
    assert (profile.weights["ImageLocality"], profile.weights["TaintToleration"]) == (11, 13)
    assert {p.origin for p in profile.point("filter").plugins} == {"default"}


def test_a_plugin_both_disabled_and_enabled_is_added_last() -> None:
    profile = effective("multiPoint: {enabled: [{name: NodeAffinity}], disabled: [{name: NodeAffinity}]}")
    names = profile.point("filter").names
    assert names[-1] == "NodeAffinity"
    moved = {plugin.name: plugin.origin for plugin in profile.point("filter").plugins}
    assert moved["NodeAffinity"] == "moved"
    assert profile.weights["NodeAffinity"] == 1


def test_a_star_leaves_only_what_is_listed() -> None:
    profile = effective("""\
    filter: {enabled: [{name: TaintToleration}, {name: NodeName}], disabled: [{name: "*"}]}
    """)
    point = profile.point("filter")
    assert point.names == ("TaintToleration", "NodeName")
    assert {gone.origin for gone in point.disabled} == {"disabled by *"}
    assert {plugin.name: plugin.origin for plugin in point.plugins} == {"TaintToleration": "moved", "NodeName": "moved"}
    # Other points are not touched.
    assert list(profile.point("preFilter").names) == DEFAULT["preFilter"]


def test_a_star_in_multi_point_empties_the_default_profile() -> None:
    profile = effective("""\
    multiPoint: {enabled: [{name: PrioritySort}, {name: DefaultBinder}], disabled: [{name: "*"}]}
    """)
    assert {point: found.names for point, found in profile.points.items() if found.names} == {
        "queueSort": ("PrioritySort",),
        "bind": ("DefaultBinder",),
    }
    assert profile.plugins == ("PrioritySort", "DefaultBinder")
    assert {gone.disabled_in for gone in profile.point("filter").disabled} == {"multiPoint"}


def test_added_plugins_say_so() -> None:
    profile = effective(
        "multiPoint: {enabled: [{name: ManualApproval}]}",
        "- name: ManualApproval\n  args: {timeoutSeconds: 30}\n",
    )
    [permit] = profile.point("permit").plugins
    assert (permit.name, permit.origin) == ("ManualApproval", "added")
    assert profile.args["ManualApproval"].timeout_seconds == 30


def test_a_profiles_percentage_goes_before_the_global_one() -> None:
    text = (
        HEAD
        + "percentageOfNodesToScore: 10\n"
        + "profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 0}]\n"
    )
    result = load(text, REGISTRY).effective
    assert result is not None
    assert [profile.percentage_of_nodes_to_score for profile in result.profiles] == [10, 0]


@pytest.mark.parametrize(
    ("profiles", "want", "path", "line"),
    [
        (
            "- plugins: {score: {enabled: [{name: NodeName}]}}\n",
            'plugin "NodeName" does not extend ScorePlugin plugin',
            "profiles[0].plugins.score.enabled[0]",
            4,
        ),
        (
            "- plugins:\n    filter:\n      enabled:\n      - name: NodeName\n      - name: NodeName\n",
            'plugin "NodeName" already registered as "FilterPlugin"',
            "profiles[0].plugins.filter.enabled[1]",
            8,
        ),
        (
            "- plugins:\n    multiPoint:\n      enabled:\n      - name: Nobody\n",
            'PreFilterPlugin "Nobody" does not exist',
            "profiles[0].plugins.multiPoint.enabled[0]",
            7,
        ),
        (
            "- plugins: {multiPoint: {enabled: [{name: ManualApproval}, {name: ManualApproval}]}}\n",
            'plugin "ManualApproval" already registered as "PermitPlugin"',
            "profiles[0].plugins.multiPoint.enabled[1]",
            4,
        ),
        (
            "- plugins: {bind: {disabled: [{name: DefaultBinder}]}}\n",
            'at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
            "profiles[0].plugins.bind",
            4,
        ),
        (
            "- plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}\n",
            'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 2',
            "profiles[0].plugins.queueSort",
            4,
        ),
        (
            "- plugins: {queueSort: {disabled: [{name: PrioritySort}]}}\n",
            'only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
            "profiles[0].plugins.queueSort",
            4,
        ),
    ],
)
def test_construction_refuses_in_upstreams_words(profiles: str, want: str, path: str, line: int) -> None:
    got, at, got_line = refusal(profiles)
    assert got == f"creating profile for scheduler name default-scheduler: {want}"
    assert (at, got_line) == (path, line)


def test_every_profile_tells_its_first_error_and_the_first_profile_speaks_for_all() -> None:
    result = load(
        HEAD
        + "profiles:\n"
        + "".join(
            f"- {{schedulerName: {name}, plugins: {{score: {{enabled: [{{name: No{name}}}]}}}}}}\n" for name in "ab"
        ),
        REGISTRY,
    )
    assert [(error.path, error.line) for error in result.errors] == [
        ("profiles[0].plugins.score.enabled[0]", 4),
        ("profiles[1].plugins.score.enabled[0]", 5),
    ]
    assert result.config_error == (
        'initializing profiles: creating profile for scheduler name a: ScorePlugin "Noa" does not exist'
    )


def test_different_queue_sorts_through_multi_point_are_found_when_profiles_are_built() -> None:
    got, path, _ = refusal("""\
    - schedulerName: a
    - schedulerName: b
      plugins:
        multiPoint:
          disabled: [{name: PrioritySort}]
          enabled: [{name: Coscheduling}]
    """)
    assert got == 'different queue sort plugins for profile "b": "Coscheduling", first: "PrioritySort"'
    assert path == "profiles[1].plugins.queueSort"


@pytest.mark.parametrize(
    ("sentence", "default", "custom", "want"),
    [
        ("nothing custom", ["a", "b"], ([], []), ["a", "b"]),
        ("appended", ["a"], (["b"], []), ["a", "b"]),
        ("replaced in place", ["a", "b"], (["a"], []), ["a", "b"]),
        ("disabled", ["a", "b"], ([], ["a"]), ["b"]),
        ("all disabled", ["a", "b"], (["c"], ["*"]), ["c"]),
        ("disabled and enabled goes last", ["a", "b"], (["a"], ["a"]), ["b", "a"]),
        ("enabled twice keeps both", ["a", "b"], (["a", "a"], []), ["a", "b", "a"]),
    ],
)
def test_merging_a_set(sentence: str, default: list[str], custom: tuple[list[str], list[str]], want: list[str]) -> None:
    def plugins(names: list[str]) -> tuple[Plugin, ...]:
        return tuple(Plugin(name=name) for name in names)

    merged = merge_plugin_set(
        PluginSet(enabled=plugins(default)), PluginSet(enabled=plugins(custom[0]), disabled=plugins(custom[1]))
    )
    assert [plugin.name for plugin in merged.enabled] == want, sentence


class LightsArgs(PluginArgs, frozen=True):
    colours: Annotated[int, msgspec.Meta(ge=1, le=3)] = 2


class OneStranger:
    """The built-in catalogue and one plugin more."""

    def __init__(self, entry: CatalogueEntry) -> None:
        self._entry = entry

    def names(self) -> tuple[str, ...]:
        return (*REGISTRY.names(), self._entry.name)

    def get(self, name: str) -> CatalogueEntry | None:
        return self._entry if name == self._entry.name else REGISTRY.get(name)


def test_a_plugin_of_another_package_is_configured_like_ours() -> None:
    catalogue = OneStranger(CatalogueEntry("BlinkingLights", frozenset({ExtensionPoint.SCORE}), LightsArgs))
    text = (
        HEAD
        + "profiles:\n- plugins: {score: {enabled: [{name: BlinkingLights, weight: 4}]}}\n"
        + "  pluginConfig:\n  - name: BlinkingLights\n    args:\n      colours: 3\n"
    )
    good = load(text, catalogue).effective
    assert good is not None
    assert good.profiles[0].point("score").names[-1] == "BlinkingLights"
    assert good.profiles[0].args["BlinkingLights"].colours == 3
    bad = load(text.replace("colours: 3", "colours: 9"), catalogue)
    assert bad.config_error == (
        "initializing profiles: creating profile for scheduler name default-scheduler: initializing plugin "
        '"BlinkingLights": colours: Invalid value: 9: must be less than or equal to 3'
    )
    assert [(error.path, error.line) for error in bad.errors] == [("profiles[0].pluginConfig[0].args.colours", 8)]


def test_the_effective_configuration_is_plain_data() -> None:
    result = load(HEAD, REGISTRY).effective
    assert isinstance(result, EffectiveConfiguration)
    plain = msgspec.json.decode(msgspec.json.encode(result))
    point = plain["profiles"][0]["points"]["score"]["plugins"][0]
    assert point == {
        "name": "TaintToleration",
        "origin": "default",
        "weight": 3,
        "defaultWeight": 3,
        "moved": False,
    }
    assert plain["profiles"][0]["args"]["DefaultPreemption"] == {
        "minCandidateNodesPercentage": 10,
        "minCandidateNodesAbsolute": 100,
    }


@pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.id)
def test_the_outline_of_a_valid_configuration_is_its_effective_set(preset: Preset) -> None:
    loaded = load(preset.text, REGISTRY)
    assert loaded.defaulted is not None
    assert outline(loaded.defaulted, REGISTRY) == loaded.effective


def test_the_outline_shows_what_construction_refuses() -> None:
    text = HEAD + textwrap.dedent("""\
        profiles:
          - schedulerName: default-scheduler
            plugins:
              queueSort: {disabled: [{name: "*"}]}
              filter: {enabled: [{name: Nobody}, {name: NodeName}, {name: NodeName}]}
            pluginConfig:
              - name: NodeResourcesFit
                args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 120}]}}
        """)
    loaded = load(text, REGISTRY)
    assert loaded.effective is None
    assert loaded.defaulted is not None
    profile = outline(loaded.defaulted, REGISTRY).profiles[0]
    assert profile.point("queueSort").plugins == ()
    assert [(each.name, each.origin) for each in profile.point("queueSort").disabled] == [
        ("PrioritySort", "disabled by *")
    ]
    assert profile.point("filter").names[:2] == ("NodeName", "NodeUnschedulable")
    assert profile.point("filter").names[-1] == "Nobody"
    assert profile.args["NodeResourcesFit"].scoring_strategy.resources[0].weight == 120
