"""The table of plugins: complete, in kube-scheduler's order, and open to other packages."""

from __future__ import annotations

import pickle
from importlib.metadata import EntryPoint
from typing import ClassVar

import pytest

from framework.configuration import ExtensionPoint, PluginArgs
from framework.configuration.defaults import DEFAULT_MULTI_POINT
from framework.configuration.errors import ROOT
from framework.configuration.schema import args_schema, configuration_schema
from framework.interface import NodeInfo, PostBindPlugin, ScorePlugin, Status
from framework.interface.cycle_state import CycleState
from framework.objects import Pod
from framework.plugins.registry import (
    PluginRefused,
    Registry,
    built_in_registry,
    describe,
    installed_plugins,
    installed_registry,
)


class Lights(ScorePlugin):
    name: ClassVar[str] = "Lights"

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        return 0, None


class Unfinished(ScorePlugin):
    name: ClassVar[str] = "Unfinished"


class Nameless(PostBindPlugin):
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None: ...


def test_every_plugin_of_the_default_profile_is_registered() -> None:
    registry = built_in_registry()
    assert [plugin.name for plugin in DEFAULT_MULTI_POINT if registry.get(plugin.name) is None] == []
    # Registered upstream too, with their feature gates off.
    for name in ("GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"):
        assert registry.get(name) is not None


def test_every_built_in_plugin_has_a_class() -> None:
    registry = built_in_registry()
    assert [name for name in registry.names() if registry.plugin_class(name) is None] == []


def test_arguments_of_built_in_plugins_carry_their_own_rules_and_a_schema() -> None:
    found = {}
    for entry in built_in_registry().entries():
        schema = args_schema(entry)
        assert (schema is None) == (entry.args_type is None)
        if entry.args_type is not None and schema is not None:
            assert issubclass(entry.args_type, PluginArgs), entry.name
            if entry.name not in ("NodeMetadata", "Peaks"):  # these have arguments that somebody has to give
                assert entry.args_type().defaulted().validate(ROOT) == [], entry.name
            undescribed = [name for name, field in schema["properties"].items() if not field.get("description")]
            assert undescribed == [], entry.name
            found[entry.name] = schema
    assert found["DefaultPreemption"]["properties"]["minCandidateNodesPercentage"] == {
        "type": "integer",
        "description": "Share of the nodes to dry-run at least, in percent.",
        "minimum": 0,
        "maximum": 100,
        "default": 10,
    }
    assert found["NodeResourcesFit"]["properties"]["scoringStrategy"]["default"] == {
        "type": "LeastAllocated",
        "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
    }


def test_schemas_refer_to_nothing_outside_themselves() -> None:
    assert "$ref" not in str(configuration_schema())
    assert "$ref" not in str([args_schema(entry) for entry in built_in_registry().entries()])


def test_extension_points_come_from_the_classes() -> None:
    entry = describe(Lights)
    assert entry.extension_points == {ExtensionPoint.SCORE}


def test_a_larger_registry_keeps_the_smaller_one() -> None:
    small = built_in_registry()
    large = small.with_plugins([Lights])
    assert (small.get("Lights"), large.plugin_class("Lights")) == (None, Lights)
    assert large.names() == (*small.names(), "Lights")
    assert pickle.loads(pickle.dumps(large)).names() == large.names()


@pytest.mark.parametrize(
    ("plugins", "want"),
    [
        ([Lights, Lights], "a plugin named Lights already exists"),
        ([Unfinished], "plugin Unfinished does not implement score"),
        ([Nameless], "tests.plugins.test_registry.Nameless has no name"),
    ],
)
def test_what_cannot_be_registered_is_refused(plugins: list[type[ScorePlugin]], want: str) -> None:
    with pytest.raises(PluginRefused) as refused:
        Registry(plugins)
    assert str(refused.value) == want


def test_installed_packages_offer_plugins_by_entry_point() -> None:
    group = "scheduling_playground.plugins"
    good = EntryPoint("lights", "tests.plugins.test_registry:Lights", group)
    bad = EntryPoint("path", "pathlib:Path", group)
    assert list(installed_plugins([good])) == [Lights]
    with pytest.raises(PluginRefused, match=r"entry point path \(pathlib:Path\) is not a Plugin class"):
        list(installed_plugins([bad]))
    assert set(built_in_registry().names()) <= set(installed_registry().names())
