"""The grid against the framework's effective set, damaged texts, and what the API's description says of it."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.configuration import load
from framework.configuration.presets import PRESETS
from framework.plugins.registry import installed_registry
from schedweb.configurations import catalogue, changes, comparison, examination, grid, lines, serializers
from schedweb.configurations.builtins import BUILTINS
from schedweb.configurations.examination import Examination, examine
from tests.schedweb.configurations.requests import HEAD, TEXT

TEXTS = [TEXT, *(each.text for each in BUILTINS), *(each.text for each in PRESETS)]


@pytest.mark.parametrize("text", TEXTS)
def test_the_grid_is_the_effective_set(text: str) -> None:
    effective = load(text, installed_registry()).effective
    shown = examine(text).effective
    assert effective is not None
    assert shown is not None
    for profile, outlined in zip(shown.profiles, effective.profiles, strict=True):
        rows = {row.plugin: row for row in profile.rows}
        assert len(rows) == len(profile.rows)
        for name, point in outlined.points.items():
            at = catalogue.shown_point(name)
            running = sorted(
                (cell.position, plugin)
                for plugin, row in rows.items()
                if (cell := row.cells.get(at)) is not None and cell.position is not None
            )
            assert [plugin for _, plugin in running] == list(point.names)
            off = {plugin for plugin, row in rows.items() if at in row.cells and row.cells[at].state == "disabled"}
            assert off == {plugin.name for plugin in point.disabled}
            assert [each.name for each in profile.points[at]] == [
                *point.names,
                *(plugin.name for plugin in point.disabled),
            ]
        # Upstream instantiates plugins that run nowhere, too.
        running_somewhere = {name for point in outlined.points.values() for name in point.names}
        assert {name for name, row in rows.items() if not row.off} == running_somewhere
        assert profile.plugins_count == len(running_somewhere)
        assert set(profile.args) == set(outlined.args)


def test_a_disabled_default_plugin_keeps_its_row() -> None:
    text = f"{HEAD}profiles:\n- plugins: {{multiPoint: {{disabled: [{{name: NodeName}}]}}}}\n"
    effective = examine(text).effective
    assert effective is not None
    names = [row.plugin for row in effective.profiles[0].rows]
    assert names[:5] == ["SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration"]
    row = effective.profiles[0].rows[3]
    assert (row.off, row.cells["Filter"].disabled_in) == (True, "multiPoint")


def test_everything_off_still_has_every_row() -> None:
    text = f'{HEAD}profiles:\n- plugins: {{multiPoint: {{disabled: [{{name: "*"}}]}}}}\n'
    said = examine(text)
    assert said.errors
    assert said.effective is not None
    rows = said.effective.profiles[0].rows
    assert [row.plugin for row in rows] == [each.name for each in catalogue.plugin_catalogue()[: len(rows)]]
    assert all(row.off for row in rows)


@given(seed=st.integers(0, 2**32), which=st.integers(0, len(TEXTS) - 1))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_the_examination(seed: int, which: int) -> None:
    """Damaged configurations: lines lost, doubled, swapped, indented otherwise, values exchanged."""
    chance = random.Random(seed)
    rows = TEXTS[which].splitlines()
    words = [word for row in rows for word in row.replace(":", " ").split()] + [
        "-1",
        "[]",
        "{}",
        "null",
        "*",
        "&a",
        '"*"',
    ]
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(rows))
        match chance.randrange(5):
            case 0:
                del rows[at]
            case 1:
                rows.insert(at, rows[chance.randrange(len(rows))])
            case 2:
                rows[at] = rows[at][2:] if chance.random() < 0.5 else "  " + rows[at]
            case 3:
                head, colon, _ = rows[at].partition(": ")
                rows[at] = f"{head}{colon}{chance.choice(words)}"
            case _:
                rows[at] = rows[at].replace(rows[at].strip(" -"), chance.choice(words))
        rows = rows or [""]
    said = examine("\n".join(rows))
    assert isinstance(said, Examination)
    assert said.runnable == (not said.errors and not said.why)
    assert msgspec.json.encode(said)


SHOWN: list[tuple[type[msgspec.Struct], type[Any]]] = [
    (examination.Problem, serializers.ConfigurationProblemSerializer),
    (examination.UnknownField, serializers.UnknownFieldSerializer),
    (examination.FormArgs, serializers.FormArgsSerializer),
    (examination.FormProfile, serializers.FormProfileSerializer),
    (examination.FormNumber, serializers.FormNumberSerializer),
    (examination.Form, serializers.ConfigurationFormSerializer),
    (examination.Examination, serializers.ExaminationSerializer),
    (grid.Cell, serializers.PluginCellSerializer),
    (grid.PointPlugin, serializers.PointPluginSerializer),
    (grid.Row, serializers.PluginRowSerializer),
    (grid.Profile, serializers.EffectiveProfileSerializer),
    (grid.Globals, serializers.GlobalSettingsSerializer),
    (grid.Effective, serializers.EffectiveSerializer),
    (lines.Line, serializers.DiffLineSerializer),
    (lines.Diff, serializers.DiffSerializer),
    (changes.EffectiveChange, serializers.EffectiveChangeSerializer),
    (comparison.Comparison, serializers.ComparisonSerializer),
    (comparison.Meanwhile, serializers.MeanwhileSerializer),
    (catalogue.PluginDescription, serializers.PluginSerializer),
]


@pytest.mark.parametrize(("shown", "described"), SHOWN, ids=lambda each: each.__name__)
def test_the_api_description_names_what_is_shown(shown: type[msgspec.Struct], described: type[Any]) -> None:
    assert set(described().fields) == set(shown.__struct_fields__)


@pytest.mark.parametrize(("written", "kind"), [("//host", "string"), ("5", "number"), ("[1]", "array")])
def test_arguments_of_a_plugin_without_any_are_a_mapping(written: str, kind: str) -> None:
    said = examine(f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {{enabled: [{{name: PodState}}]}}
  pluginConfig:
  - name: PodState
    args: {written}
""")
    (problem,) = said.errors
    assert (problem.path, str(problem.message)) == (
        "profiles[0].pluginConfig[0].args",
        f"must be a mapping, not {kind}",
    )
