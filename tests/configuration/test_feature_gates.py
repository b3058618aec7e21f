"""Feature gates: upstream's defaults and refusals (component-base/featuregate), and what they change."""

from __future__ import annotations

import pickle

import pytest

from framework.configuration import FeatureGates, FeatureGatesError, load, parse_feature_gates
from framework.configuration.defaults import default_multi_point
from framework.configuration.document import apply_edits, to_json
from framework.configuration.edits import SetFeatureGate
from framework.configuration.feature_gates import GATES, TABLE, gates_of, with_gates
from framework.configuration.surgery import CannotEdit
from framework.plugins.registry import built_in_registry

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def test_the_table_stands_by_name_and_its_dependencies_are_in_it() -> None:
    names = [gate.name for gate in TABLE]
    assert names == sorted(names)
    for gate in TABLE:
        assert list(gate.depends_on) == sorted(gate.depends_on)
        assert all(name in GATES for name in gate.depends_on)
        if gate.default:
            assert all(GATES[name].default for name in gate.depends_on), gate.name
        if gate.locked:
            assert gate.stage == "GA"


def test_without_gates_the_defaults_hold() -> None:
    gates = FeatureGates()
    assert gates.enabled("NodeDeclaredFeatures")
    assert not gates.enabled("GangScheduling")
    assert gates.flag_value() == ""
    with pytest.raises(KeyError):
        gates.enabled("NoSuchGate")


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("GangScheduling", "missing bool value for GangScheduling"),
        (
            "GangScheduling=yes",
            'invalid value of GangScheduling=yes, err: strconv.ParseBool: parsing "yes": invalid syntax',
        ),
        (
            "SchedulerQueueingHints=false",
            "cannot set feature gate SchedulerQueueingHints to false, feature is locked to true",
        ),
        (
            "GangScheduling=true",
            "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
        (
            "SidecarContainers=false,DRAAdminAccess=0",
            "[cannot set feature gate DRAAdminAccess to false, feature is locked to true, "
            "cannot set feature gate SidecarContainers to false, feature is locked to true]",
        ),
        # A lock is found before an unknown name that comes after it; nothing is read behind the unknown name.
        (
            "DRAAdminAccess=false,Nope=true,SidecarContainers=false",
            "[cannot set feature gate DRAAdminAccess to false, feature is locked to true, "
            "unrecognized feature gate: Nope]",
        ),
        (
            "SchedulerAsyncAPICalls=true",
            "cannot set feature gate SchedulerAsyncAPICalls to true here: what it changes is not simulated, "
            "so only its default (false) can be played",
        ),
    ],
    ids=["unknown", "no value", "no bool", "locked", "dependency", "two", "stops at unknown", "not simulated"],
)
def test_refused(flag: str, text: str) -> None:
    with pytest.raises(FeatureGatesError) as refused:
        parse_feature_gates(flag)
    assert str(refused.value) == text


def test_a_dependent_gate_that_is_on_by_default_must_go_first() -> None:
    with pytest.raises(FeatureGatesError) as refused:
        parse_feature_gates("NodeDeclaredFeatures=false")
    assert list(refused.value.texts) == [
        f"{name} is enabled, but depends on features that are disabled: [NodeDeclaredFeatures]"
        for name in (
            "ExtendWebSocketsToKubelet",
            "InPlacePodLevelResourcesVerticalScaling",
            "InPlacePodVerticalScalingInitContainers",
            "RestartAllContainersOnContainerExits",
        )
    ]


def test_values_equal_to_the_default_and_locked_ones_are_accepted() -> None:
    gates = parse_feature_gates(" VolumeLimitScaling = F ,,SidecarContainers=1,")
    assert gates.given == {"SidecarContainers": True, "VolumeLimitScaling": False}
    assert gates.flag_value() == "SidecarContainers=true,VolumeLimitScaling=false"
    assert pickle.loads(pickle.dumps(gates)) == gates


@pytest.mark.parametrize(
    ("gates", "last"),
    [
        ({}, ["DefaultBinder", "NodeDeclaredFeatures"]),
        ({"NodeDeclaredFeatures": False}, ["ImageLocality", "DefaultBinder"]),
        ({"GangScheduling": True}, ["NodeDeclaredFeatures", "GangScheduling"]),
        ({"TopologyAwareWorkloadScheduling": True}, ["TopologyPlacementGenerator", "PodGroupPodsCount"]),
    ],
    ids=["default", "no declared features", "gangs", "topology"],
)
def test_the_default_plugins_follow_the_gates(gates: dict[str, bool], last: list[str]) -> None:
    assert [plugin.name for plugin in default_multi_point(FeatureGates(gates))][-2:] == last


def test_a_configuration_loaded_with_gates_has_their_plugins_by_default() -> None:
    gates = FeatureGates({"GenericWorkload": True, "GangScheduling": True, "TopologyAwareWorkloadScheduling": True})
    loaded = load(HEAD, built_in_registry(), gates)
    assert loaded.effective is not None
    assert loaded.effective.feature_gates == gates
    profile = loaded.effective.profiles[0]
    gang = [plugin for plugin in profile.point("permit").plugins if plugin.name == "GangScheduling"]
    assert [plugin.origin for plugin in gang] == ["default"]
    assert profile.point("placementGenerate").names == ("TopologyPlacementGenerator",)
    assert [(plugin.name, plugin.weight) for plugin in profile.point("placementScore").plugins] == [
        ("NodeResourcesFit", 1),
        ("PodGroupPodsCount", 1),
    ]
    without = load(HEAD, built_in_registry()).effective
    assert without is not None
    assert "placementScore" not in without.profiles[0].points
    assert "GangScheduling" not in without.profiles[0].plugins


LINE = "# kube-scheduler --feature-gates="


def edited(text: str, *edits: SetFeatureGate) -> str:
    return apply_edits(text, edits, built_in_registry())


def test_a_text_says_its_gates_in_a_comment() -> None:
    text = with_gates(HEAD, {"VolumeLimitScaling": False, "SidecarContainers": True})
    assert text == f"{LINE}SidecarContainers=true,VolumeLimitScaling=false\n{HEAD}"
    assert gates_of(text).given == {"SidecarContainers": True, "VolumeLimitScaling": False}
    assert with_gates(text, {}) == HEAD
    assert gates_of(HEAD) == FeatureGates()
    # Where the line stands it stays.
    below = f"# Ours.\n{LINE}SidecarContainers=true\n{HEAD}"
    assert with_gates(below, {"SidecarContainers": False}) == f"# Ours.\n{LINE}SidecarContainers=false\n{HEAD}"
    with pytest.raises(FeatureGatesError, match=r"the text sets --feature-gates twice, in lines 1 and 3"):
        gates_of(f"{LINE}\n# Ours.\n{LINE}SidecarContainers=true\n{HEAD}")


def test_a_loaded_text_has_the_gates_of_its_comment() -> None:
    text = with_gates(HEAD, {"SidecarContainers": True})
    loaded = load(text, built_in_registry())
    assert loaded.effective is not None
    assert loaded.effective.feature_gates.given == {"SidecarContainers": True}
    # Given beside the text they count instead.
    assert load(text, built_in_registry(), FeatureGates()).feature_gates.given == {}


def test_gates_that_cannot_be_set_are_an_error_of_the_text_and_the_rest_is_read() -> None:
    loaded = load(f"# Ours.\n{LINE}Nope=true\n{HEAD}parallelism: many\n", built_in_registry())
    assert loaded.effective is None
    assert loaded.config_error == "unrecognized feature gate: Nope"
    assert [(error.path, error.line) for error in loaded.errors] == [("--feature-gates", 2), ("parallelism", 5)]
    assert load(f"{LINE}Nope=true\n{HEAD}", built_in_registry()).defaulted is not None


def test_the_form_sets_and_takes_back_a_gate() -> None:
    on = edited(HEAD, SetFeatureGate(name="GenericWorkload", enabled=True))
    assert on == f"{LINE}GenericWorkload=true\n{HEAD}"
    both = edited(on, SetFeatureGate(name="GangScheduling", enabled=True))
    assert both == f"{LINE}GangScheduling=true,GenericWorkload=true\n{HEAD}"
    off = [SetFeatureGate(name=name, enabled=None) for name in ("GangScheduling", "GenericWorkload")]
    assert edited(both, *off) == HEAD


def test_gates_have_no_place_in_json() -> None:
    with pytest.raises(CannotEdit, match="JSON has no comments"):
        edited("{}", SetFeatureGate(name="GenericWorkload", enabled=True))
    with pytest.raises(CannotEdit, match="JSON has no comments"):
        to_json(with_gates(HEAD, {"SidecarContainers": True}))
