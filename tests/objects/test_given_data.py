"""Every object of the real export and of the conformance cases can be taken."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework.objects import KubernetesObject, Unstructured
from framework.objects.admission import AdmissionError, admit
from framework.objects.decode import decode_json, decode_manifest, decode_manifests, to_manifest
from framework.objects.validation import validate_object
from tests.objects.builders import Store

TESTS = Path(__file__).parents[1]
CASES = sorted(p for p in (TESTS / "conformance/data").glob("*.cases.jsonl.gz") if not p.name.startswith("script."))
EXPORT = TESTS / "data/cluster-shop/kubectl-export.json.gz"


@pytest.fixture(scope="module")
def export() -> bytes:
    return gzip.decompress(EXPORT.read_bytes())


def test_the_export_decodes(export: bytes) -> None:
    objects = decode_json(export)
    assert Counter(o.kind for o in objects) == {
        "Pod": 231,
        "Node": 36,
        "Service": 16,
        "ReplicaSet": 12,
        "Deployment": 12,
        "Namespace": 9,
        "PriorityClass": 6,
        "StatefulSet": 3,
        "PodDisruptionBudget": 3,
        "DaemonSet": 1,
        "StorageClass": 1,
    }
    assert {o.kind for o in objects if isinstance(o, Unstructured)} == {"Deployment", "DaemonSet"}
    assert objects == list(decode_manifests([json.loads(export)]))


def test_an_api_server_has_nothing_to_add_to_its_own_export(export: bytes) -> None:
    objects = decode_json(export)
    store = Store([o for o in objects if isinstance(o, KubernetesObject)])
    for obj in objects:
        assert validate_object(obj) == []
        assert admit(obj, store) is obj
        assert admit(obj, store, stored=True) is obj


def manifests(path: Path) -> Iterator[list[dict[str, Any]]]:
    for line in gzip.decompress(path.read_bytes()).splitlines():
        case = json.loads(line)
        events = [event["object"] for event in case.get("events", [])]
        yield case["objects"] + case["pods"] + events


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.split(".")[0])
def test_the_cases_decode_and_are_admitted(path: Path) -> None:
    seen = 0
    for given in manifests(path):
        objects = [decode_manifest(each) for each in given]
        assert objects == decode_json(json.dumps({"apiVersion": "v1", "kind": "List", "items": given}))
        asked = [o for o in objects if isinstance(o, KubernetesObject) and o.kind.endswith("Class")]
        for obj in objects:
            assert decode_manifest(to_manifest(obj)) == obj
            admitted = admit(obj, Store(asked))
            assert not isinstance(admitted, AdmissionError), admitted
            seen += 1
    assert seen or path.name.startswith("bad_config")


def test_all_categories_are_here() -> None:
    assert len(CASES) == 19
