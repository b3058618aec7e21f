"""An import and the command line read a file alike: the same objects, the same complaints in the same words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from framework.cli.errors import InputError
from framework.cli.manifests import read_files
from framework.objects import KubeObject
from framework.reading.documents import FileRefused
from schedweb.snapshots.reader import read_file
from tests.schedweb.snapshots.files import EXPORT_JSON, make_node, make_pod, unpacked

HAND_WRITTEN: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "main", "image": "app"}]},
}
CLASS: dict[str, Any] = {"kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000}
RUNTIME: dict[str, Any] = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "vm"},
    "handler": "vm",
    "overhead": {"podFixed": {"cpu": "500m"}},
}


def hand_written(**spec: Any) -> dict[str, Any]:
    return {**HAND_WRITTEN, "spec": {**HAND_WRITTEN["spec"], **spec}}


def default_class(name: str) -> dict[str, Any]:
    return {**CLASS, "apiVersion": "scheduling.k8s.io/v1", "globalDefault": True, "metadata": {"name": name}}


NODE_YAML = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n"


def named(objects: Iterable[KubeObject]) -> list[tuple[str, str]]:
    return sorted((obj.kind, obj.key) for obj in objects)


@pytest.mark.parametrize("form", ["list", "documents"])
@pytest.mark.parametrize(
    ("objects", "problems"),
    [
        ([make_node("n1"), HAND_WRITTEN], 0),
        ([HAND_WRITTEN, {**HAND_WRITTEN, "metadata": {"name": "web", "namespace": "default"}}], 1),
        ([{**CLASS, "apiVersion": "scheduling.k8s.io/v1beta1"}, hand_written(priorityClassName="urgent")], 0),
        ([hand_written(priorityClassName="urgent")], 1),
        ([hand_written(priority=7)], 1),
        ([RUNTIME, hand_written(runtimeClassName="vm")], 0),
        ([hand_written(runtimeClassName="vm")], 1),
        ([make_node("n1"), make_pod("bad", "x", cpu="-1"), make_pod("good", "x")], 1),
        ([default_class("a"), default_class("b")], 1),
        ([make_node("n1"), {"a": 1}, {"apiVersion": "v1", "kind": "Config", "users": []}], 2),
    ],
)
def test_the_same_objects_and_the_same_complaints(
    tmp_path: Path, objects: list[dict[str, Any]], problems: int, form: str
) -> None:
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    path = tmp_path / "objects"
    path.write_text(listed if form == "list" else "\n---\n".join(["", *map(json.dumps, objects)]))
    imported, read = read_file(path), read_files([str(path)])
    assert [str(each.words) for each in imported.problems] == [str(each.words) for _, each in read.problems]
    assert len(read.problems) == problems
    assert named(imported.objects()) == named(obj for _, obj in read.kept)
    for _, obj in read.kept:
        [same] = [each for each in imported.objects() if (each.kind, each.key) == (obj.kind, obj.key)]
        assert same == obj


@pytest.mark.parametrize(
    "content",
    [
        f"# kubectl get nodes -o yaml\n{NODE_YAML}",
        f"{json.dumps(make_node('n2'), indent=2)}\n---\n{NODE_YAML}",
        f"{NODE_YAML}---\n{json.dumps(make_node('n2'))}\n",
        "\n".join(json.dumps(make_node(name)) for name in ("n1", "n2")),
    ],
)
def test_documents_of_both_kinds_in_one_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "objects"
    path.write_text(content)
    imported, read = read_file(path), read_files([str(path)])
    names = {obj.metadata.name for _, obj in read.kept}
    assert names == {obj.metadata.name for obj in imported.objects()} == ({"n1", "n2"} if "n2" in content else {"n1"})


def test_what_others_controllers_make_is_not_guessed(tmp_path: Path) -> None:
    template = {"spec": {"containers": [{"name": "c"}]}}
    others = [
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Rollout",
            "metadata": {"name": "a"},
            "spec": {"template": template},
        },
        {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "metadata": {"name": "b"},
            "spec": {"tasks": [{"template": template}]},
        },
    ]
    path = tmp_path / "objects"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [make_node("n1"), *others]}))
    imported, read = read_file(path), read_files([str(path)])
    assert imported.warnings == read.warnings
    assert [str(each).partition(":")[0] for each in read.warnings] == ["1 Rollout gives no pods", "1 Job gives no pods"]
    assert imported.problems == [] == read.problems


def test_a_real_export_is_read_alike(tmp_path: Path) -> None:
    path = unpacked(EXPORT_JSON, tmp_path)
    imported, read = read_file(path), read_files([str(path)])
    assert named(imported.objects()) == named(obj for _, obj in read.kept)
    assert imported.problems == [] == read.problems


@pytest.mark.parametrize(
    "content", ["", "---\n", "a: [1", "{", "just text", "name: {{ .Values.x }}", "NAME   READY\nweb 1/1\n"]
)
def test_a_file_as_a_whole_is_refused_in_the_same_words(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(FileRefused) as here:
        read_file(path)
    with pytest.raises(InputError) as there:
        read_files([str(path)])
    assert str(there.value) == f"{path}: {here.value}"
