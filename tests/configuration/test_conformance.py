"""Against kube-scheduler 1.36: every refused configuration word for word, and the weights of every accepted one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework.configuration import load, load_value
from framework.configuration.document import to_yaml
from framework.plugins.registry import built_in_registry

DATA = Path(__file__).parents[1] / "conformance" / "data"
REGISTRY = built_in_registry()


def cases(category: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    with (
        gzip.open(DATA / f"{category}.cases.jsonl.gz", "rt") as given,
        gzip.open(DATA / f"{category}.expected.jsonl.gz", "rt") as expected,
    ):
        for case, want in zip(given, expected, strict=True):
            yield json.loads(case), json.loads(want)


def test_bad_configurations_are_refused_word_for_word() -> None:
    compared = 0
    for case, want in cases("bad_config"):
        compared += 1
        config = case["config"]
        text = json.dumps(config)
        got = [load_value(config, REGISTRY), load(text, REGISTRY), load(to_yaml(text), REGISTRY)]
        assert [result.config_error for result in got] == [want["configError"]] * 3, case["name"]
        assert all(error.line for result in got[1:] for error in result.errors), case["name"]
    assert compared == 60


@pytest.mark.parametrize("category", ["profiles", "scoring_strategy", "mixed", "node_affinity", "pod_affinity"])
def test_accepted_configurations_score_with_upstreams_weights(category: str) -> None:
    compared = 0
    for case, want in cases(category):
        result = load_value(case["config"], REGISTRY)
        assert result.config_error == "", case["name"]
        assert result.effective is not None
        for attempt in want["results"]:
            profile = result.effective.profile(attempt.get("profile", ""))
            for plugin, weight in (attempt.get("weights") or {}).items():
                assert profile is not None
                assert profile.weights.get(plugin) == weight, (case["name"], plugin)
                compared += 1
    assert compared > 100
