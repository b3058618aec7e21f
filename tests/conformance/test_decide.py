"""Our decisions beside the real kube-scheduler's: every field of every attempt of every case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from framework.cli.cases import Case, parse_case
from framework.cli.decide import decide
from framework.plugins.registry import Registry, built_in_registry
from framework.profiles import ReuseRule
from tests.conformance.compare import differences
from tests.conformance.compressed import read_lines
from tests.options import by_default

DATA = Path(__file__).parent / "data"
CATEGORIES = {
    "resources": 60,
    "scoring_strategy": 60,
    "taints": 60,
    "node_affinity": 60,
    "ports": 60,
    "topology_spread": 60,
    "default_spread": 60,
    "pod_affinity": 60,
    "images": 60,
    "gates_and_names": 60,
    "profiles": 60,
    "mixed": 60,
    "large": 3,
    "preemption": 60,
    "requeue": 60,
    "volumes": 60,
    "bad_config": 60,
    "dra": 60,
    "extra": 11,
}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return built_in_registry()


def cases(category: str) -> Iterator[tuple[Case, dict[str, Any]]]:
    inputs = read_lines(DATA / f"{category}.cases.jsonl.gz")
    outputs = read_lines(DATA / f"{category}.expected.jsonl.gz")
    for line, expected in zip(inputs, outputs, strict=True):
        yield parse_case(line.decode(), category), json.loads(expected)


@pytest.mark.parametrize("reuse", ["used", "off"])
@pytest.mark.parametrize("category", CATEGORIES)
def test_decisions_equal_kube_schedulers(
    category: str, reuse: ReuseRule, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_default(monkeypatch, reuse=reuse)
    compared, wrong = 0, []
    for case, expected in cases(category):
        compared += 1
        ours = json.loads(msgspec.json.encode(decide(case, registry)))
        for field, wanted, got in list(differences(expected, ours))[:3]:
            wrong.append(f"{case.name} {field}\n  want {wanted}\n  got  {got}")
    assert not wrong, "\n".join(wrong[:10])
    assert compared == CATEGORIES[category]
