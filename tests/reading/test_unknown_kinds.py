"""A kind that is nearly one that is read is told of; custom resources, and what a cluster exported, are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.cli.main import main
from framework.cli.manifests import read_files
from framework.reading.unknown_kinds import UnknownKinds, meant_kind
from schedweb.snapshots.reader import read_file

SPEC: dict[str, Any] = {"containers": [{"name": "c", "image": "x"}]}
TEMPLATE = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": SPEC}}


def of_kind(version: str, kind: str, name: str = "lc", **more: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **more}, "spec": SPEC}


def warnings_of(tmp_path: Path, *objects: dict[str, Any]) -> list[str]:
    path = tmp_path / "objects"
    path.write_text("\n---\n".join(map(json.dumps, objects)))
    imported, read = read_file(path), read_files([str(path)])
    assert imported.warnings == read.warnings
    return [str(each) for each in read.warnings]


@pytest.mark.parametrize(
    ("version", "kind", "meant"),
    [
        ("v1", "pod", "Pod"),
        ("v1", "Pods", "Pod"),
        ("v1", "Pdo", "Pod"),
        ("v1", "Nodee", "Node"),
        ("apps/v1", "DeamonSet", "DaemonSet"),
        ("apps/v1", "deployments", "Deployment"),
        ("app/v1", "Deployment", "Deployment"),
        ("storage.k8s.io/v1", "StorageClasss", "StorageClass"),
        ("v1", "Pod", ""),
        ("apps/v1", "StatefulSet", ""),
        ("v1", "ConfigMap", ""),
        ("rbac.authorization.k8s.io/v1", "Role", ""),
        ("serving.knative.dev/v1", "Service", ""),
        ("batch.volcano.sh/v1alpha1", "Job", ""),
    ],
)
def test_what_was_meant(version: str, kind: str, meant: str) -> None:
    assert meant_kind(version, kind) == meant


def test_a_mistyped_kind_is_told_once(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, of_kind("v1", "pod")) == ['pod lc: no kind "pod" in version "v1"; did you mean Pod?']
    assert warnings_of(tmp_path, *(of_kind("v1", "pod", name) for name in "abc")) == [
        'pod a and 2 others: no kind "pod" in version "v1"; did you mean Pod?'
    ]
    assert warnings_of(tmp_path, of_kind("v1", "deployment")) == [
        'deployment lc: no kind "deployment" in version "v1"; did you mean Deployment (apps/v1)?'
    ]


def test_a_kind_of_another_version(tmp_path: Path) -> None:
    deployment = {**of_kind("v1", "Deployment"), "spec": TEMPLATE}
    assert warnings_of(tmp_path, deployment) == [
        "Deployment lc: Deployment is of apps/v1, not of v1, so nothing reads it."
    ]


def test_what_a_cluster_exported_is_right(tmp_path: Path) -> None:
    assert warnings_of(tmp_path, of_kind("v1", "pod", uid="1")) == []


def test_parts_of_a_file_are_told_together() -> None:
    first, second = UnknownKinds(), UnknownKinds()
    assert first.take(of_kind("v1", "pod"), "a")
    assert second.take(of_kind("v1", "pod"), "b")
    first.add(second)
    assert [str(each) for each in first.sentences()] == [
        'pod a and 1 other: no kind "pod" in version "v1"; did you mean Pod?'
    ]


def test_simulate_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pod.yaml"
    path.write_text(json.dumps(of_kind("v1", "pod")))
    assert main(["simulate", "-f", str(path)]) == 0
    assert 'warning: pod lc: no kind "pod" in version "v1"; did you mean Pod?' in capsys.readouterr().err
