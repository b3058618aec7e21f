"""Every plugin of scheduler-plugins and of koordinator's ideas: a preset that enables it, its arguments as a form, and
words for the nodes that it refuses.

Which plugins those are is read from the registry and from the headings of the pages that tell their rules.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from framework.configuration import CatalogueEntry, ExtensionPoint, load
from framework.configuration.presets import PRESETS
from framework.plugins.registry import installed_registry
from schedweb.configurations.catalogue import plugin_catalogue, schema_of
from schedweb.runs.pending.answers import IN_SHORT

DOCS: Final = Path(__file__).parents[3] / "docs"
PAGES: Final = (DOCS / "semantics/catalogue.md", DOCS / "koordinator.md")
HEADINGS: Final = {name for page in PAGES for name in re.findall(r"^## (\w+)$", page.read_text("utf-8"), re.MULTILINE)}
PLUGINS: Final = [name for name in installed_registry().names() if name in HEADINGS]


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
    assert len(PLUGINS) == 18


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
