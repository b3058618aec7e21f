"""Plugins of installed packages: in the catalogue with the package's name, and named at start when they are broken."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint
from typing import Any, ClassVar

import pytest
from django.core.checks import run_checks

from framework.interface import PreFilterPlugin
from framework.plugins import registry as framework_registry
from framework.plugins.registry import ENTRY_POINT_GROUP, PluginRefused
from schedweb.configurations import catalogue


class Blinking(PreFilterPlugin):
    name: ClassVar[str] = "Blinking"
    description = "Counts blinking lights."

    def pre_filter(self, *args: Any) -> Any:
        return None, None


class NotAPlugin:
    pass


class Package(Distribution):
    def read_text(self, filename: str) -> str | None:
        return "Name: blinking-lights\nVersion: 0.3\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


def offer(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    point = EntryPoint(name="blinking", value=f"{__name__}:{name}", group=ENTRY_POINT_GROUP)
    found = [point._for(Package())]  # type: ignore[attr-defined]  # what importlib does when it finds one
    monkeypatch.setattr(framework_registry, "entry_points", lambda group: found)
    monkeypatch.setattr(catalogue, "entry_points", lambda group: found)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    caches = (catalogue.registry, catalogue.plugin_catalogue, catalogue.schema_of)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_a_plugin_of_a_package_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "Blinking")
    found = next(each for each in catalogue.plugin_catalogue() if each.name == "Blinking")
    assert (found.distribution, found.points, found.in_default_profile) == ("blinking-lights 0.3", ["PreFilter"], False)
    assert (found.description, found.default_weight) == ("Counts blinking lights.", None)
    assert not [error for error in run_checks() if error.id == "schedweb.E002"]


@pytest.mark.parametrize(
    ("name", "said"), [("NotAPlugin", "is not a Plugin class"), ("Nothing", "has no attribute 'Nothing'")]
)
def test_a_broken_package_is_named_at_start(monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    offer(monkeypatch, name)
    errors = [error for error in run_checks() if error.id == "schedweb.E002"]
    assert len(errors) == 1
    assert said in errors[0].msg


def test_a_refused_plugin_is_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "NotAPlugin")
    with pytest.raises(PluginRefused):
        catalogue.registry()
