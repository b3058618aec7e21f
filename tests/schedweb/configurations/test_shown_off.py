"""Every plugin of scheduler-plugins and of koordinator's ideas: a preset that enables it, its arguments as a form,
words for the nodes that it refuses, for the pods that its PreFilter refuses, and for its points.

Which plugins those are is read from the registry and from the headings of the pages that tell their rules; what
PreFilter says when it refuses, from the recorded cases.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from framework.configuration import CatalogueEntry, ExtensionPoint, load
from framework.configuration.presets import PRESETS
from framework.plugins.registry import installed_registry
from schedweb.configurations.catalogue import plugin_catalogue, schema_of
from schedweb.runs.attempts.point_words import POINTS, about_points
from schedweb.runs.pending.answers import IN_SHORT
from schedweb.runs.pending.catalogue_answers import OVER_MAX, OVER_MIN, refused_by_group
from schedweb.runs.pending.claim_answers import refused_at_once

DOCS: Final = Path(__file__).parents[3] / "docs"
PAGES: Final = (DOCS / "semantics/catalogue.md", DOCS / "koordinator.md")
RECORDED: Final = DOCS.parent / "tests/conformance/data/catalogue/catalogue.expected.jsonl.xz"
HEADINGS: Final = {name for page in PAGES for name in re.findall(r"^## (\w+)$", page.read_text("utf-8"), re.MULTILINE)}
PLUGINS: Final = [name for name in installed_registry().names() if name in HEADINGS or name == "Coscheduling"]
"""Coscheduling is told of on the page of pod groups, beside plugins of kube-scheduler."""


class Nothing:
    """A cluster without objects: what a message alone says."""

    def get(self, kind: str, namespace: str, name: str) -> None:
        return None

    def all(self, kind: str) -> list[dict[str, Any]]:
        return []


NOTHING: Final = Nothing()


def entry_of(name: str) -> CatalogueEntry:
    entry = installed_registry().get(name)
    assert entry is not None
    return entry


def enabled_by(text: str) -> set[str]:
    loaded = load(text, installed_registry())
    assert loaded.effective is not None, loaded.errors
    return {
        plugin.name
        for profile in loaded.effective.profiles
        for name in PLUGINS
        for point in entry_of(name).extension_points
        for plugin in profile.point(point.value).plugins
    }


@pytest.fixture(scope="module")
def enabled() -> dict[str, set[str]]:
    return {each.id: enabled_by(each.text) for each in PRESETS}


def undescribed(schema: dict[str, Any], path: str = "") -> list[str]:
    """Arguments that a form would show without a word."""
    found = []
    for name, each in schema.get("properties", {}).items():
        found += [] if each.get("description") else [f"{path}{name}"]
        found += undescribed(each, f"{path}{name}.")
    return found


def test_the_pages_tell_of_all_of_them() -> None:
    assert len(PLUGINS) == 19


@pytest.mark.parametrize("name", PLUGINS)
def test_each_has_a_preset_a_sentence_and_a_form(name: str, enabled: dict[str, set[str]]) -> None:
    assert [preset for preset, names in enabled.items() if name in names], f"no preset enables {name}"
    described = next(each for each in plugin_catalogue() if each.name == name)
    assert described.description.endswith(".")
    schema = schema_of(name)
    assert (schema is None) == (described.args_kind is None)
    assert undescribed(schema or {}) == []
    if ExtensionPoint.FILTER in entry_of(name).extension_points:
        assert name in IN_SHORT, f"nodes that {name} refuses are told in general words"
    if ExtensionPoint.SCORE in entry_of(name).extension_points:
        assert about_points(name).endswith("."), f"nobody says what the points of {name} stand for"


def test_every_plugin_that_scores_says_what_its_points_stand_for() -> None:
    registry = installed_registry()
    entries = {name: registry.get(name) for name in registry.names()}
    scoring = {name for name, each in entries.items() if each and ExtensionPoint.SCORE in each.extension_points}
    assert set(POINTS) == scoring
    assert len(set(POINTS.values())) == len(scoring)
    assert about_points("SomebodyElses") == ""


def refusals(value: Any) -> Iterator[tuple[str, str]]:
    """(plugin, message) wherever PreFilter said no."""
    if isinstance(value, dict):
        for plugin, said in (value.get("preFilter") or {}).items():
            if said["code"] in ("Unschedulable", "UnschedulableAndUnresolvable"):
                yield plugin, ", ".join(said["reasons"])
        for each in value.values():
            yield from refusals(each)
    elif isinstance(value, list):
        for each in value:
            yield from refusals(each)


@pytest.fixture(scope="module")
def recorded() -> dict[str, set[str]]:
    """What PreFilter of each plugin said in the recorded cases, numbers and all."""
    found: dict[str, set[str]] = defaultdict(set)
    with lzma.open(RECORDED, "rt", encoding="utf-8") as lines:
        for line in lines:
            for plugin, message in refusals(json.loads(line)):
                found[plugin].add(message)
    return found


def test_every_recorded_refusal_of_a_group_has_words(recorded: dict[str, set[str]]) -> None:
    said = recorded["Coscheduling"]
    assert len({re.sub(r"\d+", "", each) for each in said}) >= 8
    headlines = set()
    for message in said:
        answer = refused_by_group("Coscheduling", message) or refused_at_once("Coscheduling", message, {}, NOTHING)
        assert answer is not None, message
        headlines.add(re.sub(r"\d[\d.,]*|\S+/\S+", "", answer[0]))
    assert {each.split()[0] for each in headlines} == {"All", "Its", "Pods"}


def test_every_recorded_refusal_of_a_quota_is_one_that_has_words(recorded: dict[str, set[str]]) -> None:
    assert recorded["CapacityScheduling"]
    assert [
        each for each in recorded["CapacityScheduling"] if not (OVER_MAX.search(each) or OVER_MIN.search(each))
    ] == []


def test_no_other_plugin_of_the_catalogue_refused_a_pod_at_once(recorded: dict[str, set[str]]) -> None:
    assert set(recorded) & set(PLUGINS) == {"CapacityScheduling", "Coscheduling"}


@pytest.mark.parametrize(
    ("message", "headline"),
    [
        (
            "resource gap: map[cpu:{{2500 -3} {<nil>} DecimalSI} memory:{{1073741824 0} {<nil>} BinarySI}]",
            "All nodes together are short of 2.5 cpu and 1 Gi memory for its pod group.",
        ),
        (
            "resource gap: map[nvidia.com/gpu:{{3 0} {<nil>} DecimalSI} pods:{{1 0} {<nil>} DecimalSI}]",
            "All nodes together are short of 3 nvidia.com/gpu and 1 pod for its pod group.",
        ),
        (
            "resource gap: map[cpu:{{2 3} {<nil>} DecimalSI}]",
            "All nodes together are short of 2,000 cpu for its pod group.",
        ),
        (
            "podGroup lab/ring failed recently",
            "Pods of its pod group lab/ring fitted nowhere a short time ago, so none of them is tried yet.",
        ),
        (
            "pre-filter pod p-1 cannot proceed due to gated pods in the same PodGroup",
            "Pods of its pod group still have scheduling gates, so none of the group is tried.",
        ),
    ],
)
def test_what_a_group_is_refused_for(message: str, headline: str) -> None:
    answer = refused_by_group("Coscheduling", message)
    assert answer is not None
    assert answer[0] == headline
    assert refused_by_group("Another", message) is None
    assert refused_by_group("Coscheduling", "something else") is None
