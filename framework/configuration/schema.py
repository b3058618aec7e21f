"""JSON Schema for forms: of a plugin's arguments, and of the configuration around them.

Generated from the Structs; the server's validation stays the judge (docs/semantics/configuration.md#forms).
"""

from __future__ import annotations

import copy
from typing import Any, Final

import msgspec

from framework.configuration.catalogue import CatalogueEntry, defaulted_args
from framework.configuration.types import KubeSchedulerConfiguration

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


# Values that the Kubernetes API knows for a text field, for a choice instead of a text box.
_CHOICES: Final = {
    ("TopologySpreadConstraint", "whenUnsatisfiable"): ["ScheduleAnyway", "DoNotSchedule"],
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): ["Honor", "Ignore"],
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): ["Honor", "Ignore"],
    ("NodeSelectorRequirement", "operator"): ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"],
    ("LabelSelectorRequirement", "operator"): ["In", "NotIn", "Exists", "DoesNotExist"],
}


def args_schema(entry: CatalogueEntry) -> dict[str, Any] | None:
    """The schema of a plugin's ``args``, with its defaults; None when it takes none."""
    if entry.args_type is None:
        return None
    schema = _inlined(msgspec.json.schema(entry.args_type, schema_hook=_hook))
    defaults = _without_nulls(msgspec.json.decode(msgspec.json.encode(defaulted_args(entry.args_type()))))
    for name, field in schema.get("properties", {}).items():
        if name in defaults:
            field["default"] = defaults[name]
        else:
            field.pop("default", None)
    return {"$schema": DIALECT, **schema, "title": entry.name, "additionalProperties": False}


def configuration_schema() -> dict[str, Any]:
    schema = _inlined(msgspec.json.schema(KubeSchedulerConfiguration, schema_hook=_hook))
    return {"$schema": DIALECT, **schema}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _hook(type_: type) -> dict[str, Any]:
    raise NotImplementedError(f"no schema for {type_!r}")


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """References put in place (our Structs do not recurse), and ``null`` left out: an absent field says it."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, list):
            return [resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = dict(node)
        if "$ref" in node:
            name = node.pop("$ref").rsplit("/", 1)[1]
            node = {**_as_part(name, copy.deepcopy(definitions[name])), **node}
        choices = node.get("anyOf")
        if isinstance(choices, list):
            kept = [choice for choice in choices if choice != {"type": "null"}]
            if len(kept) == 1:
                node.pop("anyOf")
                inner = resolve(kept[0])
                node = {**inner, **{key: value for key, value in node.items() if key != "default" or value is not None}}
        return {key: resolve(value) for key, value in node.items()}

    reference = schema.pop("$ref", None)
    if reference is not None:
        schema = definitions[reference.rsplit("/", 1)[1]]
    resolved = resolve(schema)
    assert isinstance(resolved, dict)
    resolved.pop("description", None)  # a docstring, for us and not for the form
    return resolved


def _as_part(name: str, definition: dict[str, Any]) -> dict[str, Any]:
    """A nested object: without its docstring, and without Go's zero values, which are no good start for a new one."""
    definition.pop("description", None)
    for key, field in definition.get("properties", {}).items():
        if field.get("default") in ("", 0, [], {}, None) and field.get("default") is not False:
            field.pop("default", None)
        if (name, key) in _CHOICES:
            field["enum"] = _CHOICES[name, key]
    return definition
