"""Form ⇄ YAML without loss: edits do what they say, and change nothing else of the text."""

from __future__ import annotations

import difflib
import io
import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from framework.configuration import load
from framework.configuration.document import Document, apply_edits, to_json, to_yaml
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
    SetField,
    SetWeight,
)
from framework.configuration.presets import PRESETS
from framework.configuration.source import read_source
from framework.configuration.surgery import CannotEdit, TextEditor
from framework.plugins.registry import OPTIONAL, built_in_registry

REGISTRY = built_in_registry().with_plugins(OPTIONAL)

INDENTED = """\
# Team batch, reviewed in March.
apiVersion: kubescheduler.config.k8s.io/v1   # the only one left
kind: KubeSchedulerConfiguration

# How many nodes at once.
parallelism: 8   # eight cores
profiles:
  # The profile everybody uses.
  - schedulerName: default-scheduler
    plugins:
      score:
        enabled:
          # Packing matters most.
          - name: NodeResourcesFit
            weight: 5   # was 3
          - {name: ImageLocality, weight: 2}   # small images
        disabled:
          - name: NodeResourcesBalancedAllocation

      # Nobody uses host ports.
      filter:
        disabled: [{name: NodePorts}]
    # Arguments.
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated   # fill up
            resources:
              # cpu counts double
              - name: cpu
                weight: 2
              - name: memory
                weight: 1
  - schedulerName: second
    percentageOfNodesToScore: 40
# The end.
"""

INDENTLESS = """\
kind: KubeSchedulerConfiguration
apiVersion: kubescheduler.config.k8s.io/v1
x-owner: &owner
  team: "batch"
  # on call
  people: ['mira', "tom"]
x-copy: *owner
profiles:
- schedulerName: 'default-scheduler'
  plugins:
    multiPoint:
      enabled:
      - name: TaintToleration   # softer
        weight: 9
    queueSort: {}
    score:
  pluginConfig:
  # nothing yet
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 7}
"""

MINIMAL = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
JSON_PRETTY = to_json(INDENTED)
JSON_COMPACT = json.dumps(json.loads(JSON_PRETTY), separators=(",", ":"))
TEXTS = [INDENTED, INDENTLESS, MINIMAL, JSON_PRETTY, JSON_COMPACT]

POINTS = ("preFilter", "filter", "score", "preScore", "postFilter", "multiPoint")
NAMES = (
    "NodeResourcesFit",
    "ImageLocality",
    "TaintToleration",
    "PodTopologySpread",
    "NodePorts",
    "NodeResourcesBalancedAllocation",
)


def edited(text: str, *edits: Edit) -> str:
    return apply_edits(text, edits, REGISTRY)


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines taken away and lines added, in order, by a longest common subsequence."""
    taken, added = [], []
    for line in difflib.ndiff(before.split("\n"), after.split("\n")):
        if line.startswith("- "):
            taken.append(line[2:])
        elif line.startswith("+ "):
            added.append(line[2:])
    return taken, added


def names_at(text: str, profile: int, point: str) -> list[str]:
    return Document(text, REGISTRY)._order(profile, point)


# What each edit does to the text --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "edit", "taken", "added"),
    [
        (
            "a weight keeps its comment",
            SetWeight(profile=0, point="score", name="NodeResourcesFit", weight=7),
            ["            weight: 5   # was 3"],
            ["            weight: 7   # was 3"],
        ),
        (
            "a weight in a flow mapping",
            SetWeight(profile=0, point="score", name="ImageLocality", weight=9),
            ["          - {name: ImageLocality, weight: 2}   # small images"],
            ["          - {name: ImageLocality, weight: 9}   # small images"],
        ),
        (
            "a default plugin's weight goes to multiPoint, so its place stays",
            SetWeight(profile=0, point="score", name="TaintToleration", weight=9),
            [],
            ["      multiPoint:", "        enabled:", "          - name: TaintToleration", "            weight: 9"],
        ),
        (
            "enabling takes the plugin off the disabled list",
            EnablePlugin(profile=0, point="filter", name="NodePorts"),
            ["      filter:", "        disabled: [{name: NodePorts}]"],
            [],
        ),
        (
            "disabling a plugin that multiPoint brings",
            DisablePlugin(profile=0, point="filter", name="NodeName"),
            ["        disabled: [{name: NodePorts}]"],
            ["        disabled: [{name: NodePorts}, {name: NodeName}]"],
        ),
        (
            "disabling a listed default plugin takes two places",
            DisablePlugin(profile=0, point="score", name="NodeResourcesFit"),
            ["          - name: NodeResourcesFit", "            weight: 5   # was 3"],
            ["          - name: NodeResourcesFit"],
        ),
        (
            "an argument",
            SetArgs(profile=0, plugin="NodeResourcesFit", path=("scoringStrategy", "type"), value="LeastAllocated"),
            ["            type: MostAllocated   # fill up"],
            ["            type: LeastAllocated   # fill up"],
        ),
        (
            "arguments of another plugin are appended",
            SetArgs(profile=0, plugin="InterPodAffinity", path=("hardPodAffinityWeight",), value=3),
            [],
            ["      - name: InterPodAffinity", "        args:", "          hardPodAffinityWeight: 3"],
        ),
        (
            "a top-level field",
            SetField(path=("podMaxBackoffSeconds",), value=20),
            [],
            ["podMaxBackoffSeconds: 20"],
        ),
        (
            "a field goes with its own comment and nobody else's",
            RemoveField(path=("parallelism",)),
            ["parallelism: 8   # eight cores"],
            [],
        ),
        (
            "a profile",
            AddProfile(scheduler_name="third"),
            [],
            ["  - schedulerName: third"],
        ),
        (
            "a profile less",
            RemoveProfile(profile=1),
            ["  - schedulerName: second", "    percentageOfNodesToScore: 40"],
            [],
        ),
        (
            "nothing new",
            SetWeight(profile=0, point="score", name="NodeResourcesFit", weight=5),
            [],
            [],
        ),
    ],
)
def test_an_edit_changes_the_lines_it_is_about(sentence: str, edit: Edit, taken: list[str], added: list[str]) -> None:
    assert changed_lines(INDENTED, edited(INDENTED, edit)) == (taken, added), sentence


def test_json_keeps_its_layout() -> None:
    after = edited(JSON_PRETTY, SetWeight(profile=0, point="score", name="NodeResourcesFit", weight=7))
    assert changed_lines(JSON_PRETTY, after) == (
        ['              "weight": 5'],
        ['              "weight": 7'],
    )
    assert '"weight":7' in edited(JSON_COMPACT, SetWeight(profile=0, point="score", name="NodeResourcesFit", weight=7))
    assert "\n" not in edited(JSON_COMPACT, EnablePlugin(profile=0, point="score", name="VolumeBinding"))


def test_values_given_by_alias_are_changed_where_the_alias_stands() -> None:
    after = edited(INDENTLESS, SetField(path=("x-copy", "team"), value="other"))
    value = read_source(after).root.to_value()
    assert (value["x-owner"]["team"], value["x-copy"]["team"]) == ("batch", "other")
    assert 'team: "batch"\n  # on call\n' in after


def test_an_empty_document_becomes_a_configuration() -> None:
    after = edited("# only a comment\n", SetField(path=("parallelism",), value=4))
    assert after.startswith("# only a comment\n")
    assert load(after, REGISTRY).config_error == ""
    assert read_source(after).root.to_value()["parallelism"] == 4


def test_a_second_profile_names_the_first() -> None:
    after = edited(MINIMAL, AddProfile(scheduler_name="batch"))
    effective = load(after, REGISTRY).effective
    assert effective is not None
    assert [profile.scheduler_name for profile in effective.profiles] == ["default-scheduler", "batch"]


def test_a_copied_profile_is_the_same_under_another_name() -> None:
    after = edited(INDENTED, AddProfile(scheduler_name="copy", copy_of=0))
    effective = load(after, REGISTRY).effective
    assert effective is not None
    first, _, copy = effective.profiles
    assert msgspec.structs.replace(copy, scheduler_name=first.scheduler_name) == first


def test_moving_writes_as_little_as_it_takes() -> None:
    after = edited(MINIMAL, MovePlugin(profile=0, point="filter", name="NodeResourcesFit", to=0))
    assert changed_lines(MINIMAL, after)[1] == [
        "profiles:",
        "  - plugins:",
        "      filter:",
        "        enabled:",
        "          - name: NodeResourcesFit",
    ]
    scored = edited(MINIMAL, MovePlugin(profile=0, point="score", name="TaintToleration", to=1))
    effective = load(scored, REGISTRY).effective
    assert effective is not None
    # An entry at the point needs the weight that MultiPoint had.
    assert effective.profiles[0].point("score").names[:2] == ("NodeAffinity", "TaintToleration")
    assert effective.profiles[0].weights["NodeAffinity"] == 2


def test_reset_goes_back_to_the_default() -> None:
    before = names_at(MINIMAL, 0, "score")
    changed = edited(MINIMAL, DisablePlugin(profile=0, point="score", name="ImageLocality"))
    assert names_at(changed, 0, "score") == [name for name in before if name != "ImageLocality"]
    assert names_at(edited(changed, ResetPlugin(profile=0, point="score", name="ImageLocality")), 0, "score") == before


@pytest.mark.parametrize(
    ("edit", "want"),
    [
        (SetField(path=("parallelism", "x"), value=1), "x is asked of something that is no mapping"),
        (SetField(path=("profiles", 9, "schedulerName"), value="a"), "the list has only 2 items"),
        (EnablePlugin(profile=0, point="nowhere", name="NodeName"), "there is no extension point nowhere"),
        (EnablePlugin(profile=0, point="score", name="NodeName"), "NodeName does not extend score"),
        (EnablePlugin(profile=7, point="filter", name="NodeName"), "there is no profiles[7]"),
        (MovePlugin(profile=0, point="filter", name="NodePorts", to=0), "NodePorts is not enabled at filter"),
        (RemoveProfile(profile=5), "there is no profiles[5]"),
        (AddProfile(scheduler_name="x", copy_of=4), "there is no profiles[4]"),
        (RemoveField(path=()), "the whole document cannot be removed"),
    ],
)
def test_an_edit_without_a_place_is_refused_with_a_sentence(edit: Edit, want: str) -> None:
    with pytest.raises(CannotEdit) as refused:
        edited(INDENTED, edit)
    assert str(refused.value) == want


def test_edits_arrive_as_json() -> None:
    raw = b'[{"type":"setWeight","profile":0,"point":"score","name":"NodeResourcesFit","weight":7}]'
    [edit] = msgspec.json.decode(raw, type=list[Edit])
    assert edit == SetWeight(profile=0, point="score", name="NodeResourcesFit", weight=7)


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_presets_start_a_scheduler(preset: Any) -> None:
    result = load(preset.text, REGISTRY)
    assert result.config_error == ""
    assert result.warnings == ()
    assert load(to_json(preset.text), REGISTRY).effective == result.effective
    assert to_yaml(preset.text) == preset.text


# Properties -----------------------------------------------------------------------------------------------------------

plugin_edits = st.one_of(
    *(
        st.builds(of, profile=st.just(0), point=st.sampled_from(POINTS), name=st.sampled_from(NAMES))
        for of in (EnablePlugin, DisablePlugin, ResetPlugin)
    ),
    st.builds(
        SetWeight,
        profile=st.just(0),
        point=st.sampled_from(("score", "multiPoint")),
        name=st.sampled_from(NAMES),
        weight=st.integers(1, 100),
    ),
    st.builds(
        MovePlugin,
        profile=st.just(0),
        point=st.sampled_from(("filter", "score", "preFilter")),
        name=st.sampled_from(NAMES),
        to=st.integers(0, 8),
    ),
    st.builds(
        SetArgs,
        profile=st.just(0),
        plugin=st.sampled_from(("NodeResourcesFit", "InterPodAffinity")),
        path=st.sampled_from((("scoringStrategy", "type"), ("hardPodAffinityWeight",), ("deep", "list", 0))),
        value=st.one_of(st.integers(0, 9), st.sampled_from(["*", "yes", "a: b", "#x", "-", "", "é", "10", "null"])),
    ),
    st.builds(RemoveArgs, profile=st.just(0), plugin=st.just("NodeResourcesFit"), path=st.just(("scoringStrategy",))),
)


def comment_lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.lstrip().startswith("#")]


def strangers(text: str) -> dict[str, Any]:
    value = read_source(text).root.to_value()
    return {key: item for key, item in value.items() if key not in ("profiles",)}


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(TEXTS), st.lists(plugin_edits, max_size=6))
def test_any_edits_keep_comments_strangers_and_other_profiles(text: str, edits: list[Edit]) -> None:
    document = Document(text, REGISTRY)
    others = (document.value.get("profiles") or [None])[1:]
    for edit in edits:
        before = document.text
        try:
            document.apply(edit)
        except CannotEdit:
            assert document.text == before
            continue
        check(document, edit)
    after = document.text
    assert strangers(after) == strangers(text)
    # Only what stood inside an argument that was taken away went with it.
    gone = {"# cpu counts double"} if any(isinstance(edit, RemoveArgs) for edit in edits) else set()
    assert [line for line in comment_lines(text) if line not in comment_lines(after) and line not in gone] == []
    assert (document.value.get("profiles") or [None])[1:] == others
    # Both ways: the same configuration as JSON and as YAML.
    assert read_source(to_json(after)).root.to_value() == document.value
    assert read_source(to_yaml(to_json(after))).root.to_value() == document.value


def check(document: Document, edit: Edit) -> None:
    """The edit did what its name says."""
    match edit:
        case EnablePlugin(point=point, name=name):
            assert name in document._order(0, point)
        case DisablePlugin(point=point, name=name):
            assert name not in document._order(0, point)
        case SetWeight(point=point, name=name, weight=weight):
            plugins = document._merged(0)
            if point == "score":
                assert document._weights(plugins, "score")[name] == weight
            assert name in document._order(0, point)
        case MovePlugin(point=point, name=name, to=to):
            order = document._order(0, point)
            assert order.index(name) == min(to, len(order) - 1)
        case SetArgs(plugin=plugin, path=path, value=value):
            where = document._config_of(0, plugin)
            assert where is not None
            assert document._editor.value((*where, "args", *path)) == value


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(TEXTS),
    st.sampled_from(
        [
            ("parallelism",),
            ("profiles", 0, "schedulerName"),
            ("profiles", 0, "plugins", "score", "enabled", 0, "weight"),
            ("profiles", 0, "pluginConfig", 0, "args", "scoringStrategy", "type"),
            ("profiles", 1, "percentageOfNodesToScore"),
        ]
    ),
    st.one_of(st.integers(-5, 500), st.text(max_size=6), st.booleans(), st.just(0.5)),
)
def test_a_value_set_and_set_back_leaves_the_text_as_it_was(text: str, path: Any, value: Any) -> None:
    editor = TextEditor(text)
    if not editor.has(path) or editor.json != text.startswith("{"):
        return
    there = editor.value(path)
    editor.set_value(path, value)
    assert editor.value(path) == value
    assert type(editor.value(path)) is type(value)
    editor.set_value(path, there)
    # Quotes that were not needed are the only thing that may go.
    assert re.sub("[\"']", "", editor.text) == re.sub("[\"']", "", text)


KEYS = st.sampled_from(["a", "b", "name", "x-y", "on", "1", "a b", "ключ", "#", "k:"])
# Without the line breaks of YAML 1.1 that the dumper below leaves as they are.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Zl", "Zp"], exclude_characters="\x85"), max_size=6)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**40), 2**40), TEXT, st.sampled_from(["a: b", "- x", "*", "a\nb\n"])
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=14,
)
MAPPINGS = st.dictionaries(KEYS, TREES, min_size=1, max_size=4)


def dumped(value: Any, style: str) -> str:
    if style.startswith("json"):
        return json.dumps(value, indent=2 if style == "json" else None, ensure_ascii=False)
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = {"block": False, "flow": True, "mixed": None}[style]
    yaml.allow_unicode = True
    yaml.version = (1, 1)  # quotes what YAML 1.1 would read otherwise
    out = io.StringIO()
    yaml.dump(value, out)
    return out.getvalue()


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MAPPINGS, MAPPINGS, st.sampled_from(["block", "flow", "mixed", "json", "json compact"]))
def test_any_document_can_become_any_other_step_by_step(before: Any, after: Any, style: str) -> None:
    editor = TextEditor(dumped(before, style))
    assert editor.value() == before
    editor.set_value((), after)
    assert editor.value() == after
    assert json.dumps(editor.value(), sort_keys=True) == json.dumps(after, sort_keys=True)
