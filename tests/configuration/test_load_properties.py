"""Whatever is in a configuration, loading answers: an effective configuration, or errors with places."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from framework.configuration import load, load_value
from framework.configuration.document import to_yaml
from framework.configuration.presets import PRESETS
from framework.configuration.source import read_source
from framework.plugins.registry import built_in_registry
from tests.examples import examples

REGISTRY = built_in_registry()

FULL: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 4,
    "leaderElection": {"leaderElect": True, "leaseDuration": "15s", "resourceLock": "leases"},
    "clientConnection": {"qps": 10.5, "burst": 20},
    "enableProfiling": False,
    "extenders": [
        {
            "urlPrefix": "http://x",
            "filterVerb": "f",
            "httpTimeout": "5s",
            "tlsConfig": {"insecure": True},
            "managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}],
        }
    ],
    "profiles": [
        {
            "schedulerName": "a",
            "percentageOfNodesToScore": 10,
            "plugins": {
                "multiPoint": {"enabled": [{"name": "ManualApproval"}], "disabled": [{"name": "NodePorts"}]},
                "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 3}], "disabled": [{"name": "*"}]},
            },
            "pluginConfig": [
                {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
                {"name": "PodTopologySpread", "args": {"defaultConstraints": [], "defaultingType": "List"}},
                {"name": "DynamicResources", "args": {"filterTimeout": "1s"}},
                {"name": "ManualApproval", "args": {"podSelector": {"matchLabels": {"a": "b"}}}},
            ],
        },
        {"schedulerName": "b"},
    ],
}

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["*", "NodeName", "ManualApproval", "NodeResourcesFit", "15s", "a", ""]),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from(["name", "args", "enabled", "x"]), st.text(max_size=3), max_size=2),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


PLACES = places(FULL)


@st.composite
def spoiled(draw: st.DrawFn) -> dict[str, Any]:
    value = copy.deepcopy(FULL)
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=4)):
        holder: Any = value
        for part in path[:-1]:
            try:
                holder = holder[part]
            except (KeyError, IndexError, TypeError):
                holder = None
                break
        action = draw(st.sampled_from(["replace", "delete", "rename"]))
        key = path[-1]
        if isinstance(holder, dict) and key in holder:
            if action == "replace":
                holder[key] = draw(JUNK)
            else:
                item = holder.pop(key)
                if action == "rename":
                    holder[f"{key}x"] = item
        elif isinstance(holder, list) and isinstance(key, int) and key < len(holder):
            holder[key] = draw(JUNK)
    return value


def test_the_full_example_loads() -> None:
    assert load_value(FULL, REGISTRY).config_error == ""


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(spoiled())
def test_a_spoiled_configuration_is_answered_with_places(value: dict[str, Any]) -> None:
    text = json.dumps(value, indent=1)
    loaded = load(text, REGISTRY)
    assert (loaded.effective is None) == bool(loaded.errors) == bool(loaded.config_error)
    lines = text.count("\n") + 1
    assert all(error.line is not None and 1 <= error.line <= lines for error in loaded.errors)
    assert all(error.text and error.message for error in loaded.errors)
    assert load_value(value, REGISTRY).config_error == loaded.config_error
    as_yaml = load(to_yaml(text), REGISTRY)
    # YAML may read 10.0 as 10 and sorts the keys; what is refused is the same.
    if read_source(to_yaml(text)).root.to_value() == value and not _has_whole_floats(value):
        assert (as_yaml.effective is None) == (loaded.effective is None)
        assert {error.path for error in as_yaml.errors} == {error.path for error in loaded.errors}
    if loaded.effective is not None:
        assert as_yaml.effective == loaded.effective or _has_whole_floats(value)


def _has_whole_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_whole_floats(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_whole_floats(item) for item in value)
    return isinstance(value, float) and value.is_integer()


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PRESETS), st.integers(0, 800), st.text(alphabet="abc:-[]{},&*#'\"\n \t|>!%?01", max_size=4))
def test_typing_into_a_preset_never_breaks_anything(preset: Any, at: int, typed: str) -> None:
    text = preset.text[:at] + typed + preset.text[at:]
    loaded = load(text, REGISTRY)
    assert (loaded.effective is None) == bool(loaded.errors)
