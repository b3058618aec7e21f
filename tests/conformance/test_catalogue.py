"""Our decisions beside those of scheduler-plugins' own code: every field of every attempt of every case."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from framework.cli.cases import Case, parse_case
from framework.cli.decide import decide
from framework.plugins.registry import built_in_registry
from framework.reading.redaction import redacted
from tests.conformance.compare import category_of, differences
from tests.conformance.compressed import read_lines

DATA = Path(__file__).parent / "data" / "catalogue"
CATEGORIES = (
    "allocatable",
    "capacity_scheduling",
    "catalogue_bad_config",
    "catalogue_mixed",
    "coscheduling",
    "load_variation",
    "low_risk",
    "network_overhead",
    "node_metadata",
    "nrt_cache",
    "nrt_match",
    "nrt_preemption",
    "peaks",
    "pod_state",
    "preemption_toleration",
    "qos_sort",
    "sysched",
    "target_load_packing",
    "topological_sort",
)
CASES_EACH = 60
READS_ANNOTATIONS = ("node_metadata", "nrt_cache", "preemption_toleration", "sysched")


@cache
def cases() -> dict[str, list[tuple[Case, dict[str, Any]]]]:
    found: dict[str, list[tuple[Case, dict[str, Any]]]] = {}
    inputs = read_lines(DATA / "catalogue.cases.jsonl.xz")
    outputs = read_lines(DATA / "catalogue.expected.jsonl.xz")
    for line, expected in zip(inputs, outputs, strict=True):
        case = parse_case(line.decode(), "catalogue")
        found.setdefault(category_of(case.name), []).append((case, json.loads(expected)))
    return found


def test_all_categories_are_here() -> None:
    assert {name: len(found) for name, found in cases().items()} == dict.fromkeys(CATEGORIES, CASES_EACH)


@pytest.mark.parametrize("category", CATEGORIES)
def test_decisions_equal_those_of_the_plugins_themselves(category: str) -> None:
    wrong = differing(category, lambda case: case)
    assert not wrong, "\n".join(wrong[:10])


@pytest.mark.parametrize("category", READS_ANNOTATIONS)
def test_what_imports_keep_is_decided_the_same(category: str) -> None:
    wrong = differing(category, lambda case: replace(case, objects=kept(case.objects), pods=kept(case.pods)))
    assert not wrong, "\n".join(wrong[:10])


def kept(manifests: Sequence[Any]) -> Any:
    return [redacted(each) if isinstance(each, dict) else each for each in manifests]


def differing(category: str, made_of: Callable[[Case], Case]) -> list[str]:
    wrong = []
    for case, expected in cases()[category]:
        ours = json.loads(msgspec.json.encode(decide(made_of(case), built_in_registry())))
        for field, wanted, got in list(differences(expected, ours))[:3]:
            wrong.append(f"{case.name} {field}\n  want {wanted}\n  got  {got}")
    return wrong
