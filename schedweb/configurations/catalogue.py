"""The plugins of this installation: the framework's own and those of installed packages, as the API describes them."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

import msgspec

from framework.configuration.catalogue import CYCLE_ORDER, CatalogueEntry, ExtensionPoint, defaulted_args
from framework.configuration.defaults import DEFAULT_MULTI_POINT
from framework.configuration.schema import args_schema
from framework.interface.plugin import PersonPermitPlugin
from framework.plugins.registry import ENTRY_POINT_GROUP, Registry, installed_registry
from schedweb.sentences import say_noted

DEFAULT_WEIGHTS = {plugin.name: plugin.weight or 1 for plugin in DEFAULT_MULTI_POINT}
_AFTER_EVERYTHING = len(DEFAULT_MULTI_POINT)
_PLACES = {plugin.name: place for place, plugin in enumerate(DEFAULT_MULTI_POINT)}


class PluginDescription(msgspec.Struct, frozen=True):
    name: str
    description: str
    points: list[str]
    args_kind: str | None
    args_schema: dict[str, Any] | None
    defaults: dict[str, Any] | None
    default_weight: int | None
    in_default_profile: bool
    asks_a_person: bool
    distribution: str | None


@cache
def registry() -> Registry:
    """Packages are not installed into a running process."""
    return installed_registry()


def shown_point(point: str) -> str:
    """``preFilter``, as files write it, as people and the API call it: ``PreFilter``."""
    return point[:1].upper() + point[1:]


def written_point(point: str) -> str:
    """The opposite of ``shown_point``; a point as files write it stays."""
    return point[:1].lower() + point[1:]


def defaults_of(entry: CatalogueEntry) -> dict[str, Any] | None:
    if entry.args_type is None:
        return None
    return plain(defaulted_args(entry.args_type()))


def plain(args: Any) -> dict[str, Any]:
    """Arguments with the names that files use; what is not given is left out, as in a file."""
    value = msgspec.to_builtins(args, str_keys=True)
    return {key: item for key, item in value.items() if item is not None}


@cache
def schema_of(name: str) -> dict[str, Any] | None:
    entry = registry().get(name)
    return None if entry is None else args_schema(entry)


@cache
def plugin_catalogue() -> tuple[PluginDescription, ...]:
    """Plugins of the default profile in its order, then the others by name."""
    from_packages = _distributions()
    entries = sorted(registry().entries(), key=lambda each: (_PLACES.get(each.name, _AFTER_EVERYTHING), each.name))
    return tuple(_describe(entry, from_packages.get(entry.name)) for entry in entries)


def _describe(entry: CatalogueEntry, distribution: str | None) -> PluginDescription:
    plugin = registry().plugin_class(entry.name)
    scores = ExtensionPoint.SCORE in entry.extension_points
    return PluginDescription(
        name=entry.name,
        description=entry.description,
        points=[shown_point(point.value) for point in CYCLE_ORDER if point in entry.extension_points],
        args_kind=entry.args_kind if entry.args_type is not None else None,
        args_schema=schema_of(entry.name),
        defaults=defaults_of(entry),
        default_weight=DEFAULT_WEIGHTS.get(entry.name, 1) if scores else None,
        in_default_profile=entry.name in DEFAULT_WEIGHTS,
        asks_a_person=plugin is not None and issubclass(plugin, PersonPermitPlugin),
        distribution=distribution,
    )


def translated_description(plugin: PluginDescription) -> PluginDescription:
    """In the reader's language."""
    return msgspec.structs.replace(
        plugin, description=say_noted(plugin.description), args_schema=translated_schema(plugin.args_schema)
    )


def translated_schema(schema: Any) -> Any:
    """A JSON schema with its descriptions in the reader's language; the one that is given stays as it is."""
    if isinstance(schema, list):
        return [translated_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: say_noted(value) if key == "description" and isinstance(value, str) else translated_schema(value)
        for key, value in schema.items()
    }


def _distributions() -> dict[str, str]:
    """Plugin → the package it comes from, with its version."""
    found: dict[str, str] = {}
    for each in entry_points(group=ENTRY_POINT_GROUP):
        name = getattr(each.load(), "name", None)
        if isinstance(name, str) and each.dist is not None:
            found[name] = f"{each.dist.name} {each.dist.version}"
    return found
