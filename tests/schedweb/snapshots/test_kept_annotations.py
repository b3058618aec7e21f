"""Annotations that the environment names stay of what comes in, and extenders are sent them; secrets never are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

from framework.extenders.bodies import Bodies
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from schedweb.clusters.reading.reducing import Reducer
from schedweb.environment import kept_annotation_problem, read_environment
from schedweb.snapshots.redaction import annotations_kept, redact

APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "a",
        "namespace": "shop",
        "uid": "uid-a",
        "resourceVersion": "7",
        "labels": {"app": "web"},
        "annotations": {"example.com/tier": "gold", "example.com/other": "secret-1", APPLIED: '{"env": "secret-2"}'},
        "managedFields": [{"manager": "secret-3"}],
    },
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "env": [{"name": "TOKEN", "value": "secret-4"}],
                "args": ["--password=secret-5"],
            }
        ]
    },
}


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    annotations_kept.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    annotations_kept.cache_clear()


def sent(manifest: dict[str, Any]) -> dict[str, Any]:
    pod = decode_manifest(manifest)
    assert isinstance(pod, Pod)
    found: dict[str, Any] = json.loads(Bodies(sends_secrets=False).args(pod, [], names_only=True))["Pod"]
    return found


@pytest.mark.parametrize("names", ["", "example.com/tier", f"example.com/tier, {APPLIED}"])
def test_an_extender_is_sent_what_was_named_and_no_secret(named: pytest.MonkeyPatch, names: str) -> None:
    named.setenv("KEPT_ANNOTATIONS", names)
    body = sent(redact(POD))
    assert body["metadata"].get("annotations", {}) == ({"example.com/tier": "gold"} if names else {})
    assert body["metadata"]["labels"] == {"app": "web"}
    assert body["spec"]["containers"][0]["image"] == "web:1"
    assert "secret-" not in json.dumps(body)


def test_what_a_cluster_tells_keeps_it_too(named: pytest.MonkeyPatch) -> None:
    named.setenv("KEPT_ANNOTATIONS", "example.com/tier")
    item = msgspec.json.decode(json.dumps(POD), type=dict[str, msgspec.Raw])
    text = msgspec.json.encode(Reducer().reduce(item).text).decode()
    assert "gold" in text
    assert "secret-" not in text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("example.com/tier", ""),
        (APPLIED, "it holds whole manifests"),
        ("two words", "is no annotation's key"),
    ],
)
def test_a_name_that_is_not_kept_is_said_when_a_process_starts(name: str, said: str, tmp_path: Any) -> None:
    problem = read_environment({"PLAYGROUND_DATA": str(tmp_path), "KEPT_ANNOTATIONS": name}).problem
    assert said in (problem or "") if said else problem is None
    assert said in kept_annotation_problem(name)
