"""A cluster whose pods a real kube-scheduler placed, and what it says of the pending ones when they are tried again.

The export holds the message of each pod's last attempt in its PodScheduled condition; the expected file holds every
field of the next attempt, decided by kube-scheduler's own code on this very export.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from framework.cli.cases import Case
from framework.cli.decide import decide
from framework.objects.timestamps import parse_timestamp
from framework.plugins.registry import built_in_registry
from tests.conformance.compare import differences
from tests.conformance.compressed import read_lines

SHOP = Path(__file__).parents[1] / "data" / "cluster-shop"
PENDING = 47
UNSCHEDULABLE = 46


@pytest.fixture(scope="module")
def exported() -> list[dict[str, Any]]:
    with gzip.open(SHOP / "kubectl-export.json.gz") as file:
        items: list[dict[str, Any]] = json.load(file)["items"]
    return items


def is_pending(manifest: dict[str, Any]) -> bool:
    return manifest["kind"] == "Pod" and not manifest["spec"].get("nodeName")


def in_queue_order(pod: dict[str, Any]) -> tuple[int, int, str]:
    """By priority, then age, then name."""
    metadata = pod["metadata"]
    return -pod["spec"].get("priority", 0), parse_timestamp(metadata["creationTimestamp"]), metadata["name"]


@pytest.fixture(scope="module")
def results(exported: list[dict[str, Any]]) -> list[dict[str, Any]]:
    pods = sorted(filter(is_pending, exported), key=in_queue_order)
    assert len(pods) == PENDING
    case = Case("export-shop", None, [each for each in exported if not is_pending(each)], pods)
    decided: list[dict[str, Any]] = json.loads(msgspec.json.encode(decide(case, built_in_registry())))["results"]
    return decided


def test_messages_are_those_of_the_real_cluster_letter_for_letter(
    exported: list[dict[str, Any]], results: list[dict[str, Any]]
) -> None:
    said = {result["pod"]: result["message"] for result in results if result["message"]}
    real = {
        f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": condition["message"]
        for pod in filter(is_pending, exported)
        for condition in pod["status"]["conditions"]
        if condition["type"] == "PodScheduled" and condition["reason"] == "Unschedulable"
    }
    assert said == real
    assert len(real) == UNSCHEDULABLE


def test_the_next_attempt_is_kube_schedulers_in_every_field(results: list[dict[str, Any]]) -> None:
    (line,) = read_lines(SHOP / "expected-next-attempt.jsonl.gz")
    found = list(differences(json.loads(line), {"name": "export-shop", "results": results}))
    assert not found, "\n".join(f"{field}\n  want {want}\n  got  {got}" for field, want, got in found[:10])
