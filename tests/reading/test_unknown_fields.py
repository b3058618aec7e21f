"""Fields that no API server knows: which are told, with which words, and that no true field is among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes.client
import msgspec
import pytest

from framework.cli.manifests import read_files
from framework.reading.field_names import SHAPES, Shape
from framework.reading.unknown_fields import MOST_REPORTED, Sightings, UnknownField, reported, unknown_fields
from schedweb.snapshots import halves
from schedweb.snapshots.cluster import warnings_of
from schedweb.snapshots.reader import read_file
from tests.schedweb.snapshots.files import EXPORT_JSON, make_node, make_pod, unpacked

OLDER = {
    "clusterName",
    "initializers",
    "workloadRef",
    "source",
    "doNotUseExternalID",
    "rollbackTo",
    "templateGeneration",
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "shop"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
EXPORTED = {"uid": "9f3c", "creationTimestamp": "2026-11-20T10:00:00Z"}


def model_in(declared: str) -> Any:
    """Of ``List[V1Container]`` and its like; None of what has no fields of its own."""
    return getattr(kubernetes.client, declared.removeprefix("List[").removesuffix("]"), None)


def differences(shape: Shape, model: Any, path: str) -> set[str]:
    """Between the fields that are known here and those of Kubernetes' own client."""
    theirs = {model.attribute_map[name]: declared for name, declared in model.openapi_types.items()}
    found = {f"{path}.{name}" for name in (shape.keys() ^ theirs.keys()) - OLDER}
    for name, inner in shape.items():
        if inner is not None and name in theirs:
            found |= differences(inner, model_in(theirs[name]), f"{path}.{name}")
    return found


@pytest.mark.parametrize("kind", [kind for _, kind in SHAPES])
def test_the_fields_are_those_of_the_api(kind: str) -> None:
    [shape] = [shape for (_, its), shape in SHAPES.items() if its == kind]
    assert differences(shape, getattr(kubernetes.client, f"V1{kind}"), kind) == set()


def written(**spec: Any) -> dict[str, Any]:
    return {**POD, "spec": {**POD["spec"], **spec}}


def container(**fields: Any) -> dict[str, Any]:
    return written(containers=[{"name": "c", **fields}])


def deployment(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "w"}}, "spec": POD["spec"]}
    spec = {"selector": {"matchLabels": {"app": "w"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}, "spec": spec}


@pytest.mark.parametrize(
    ("manifest", "path", "meant"),
    [
        (written(nodeSelectr={"a": "b"}), "spec.nodeSelectr", "nodeSelector"),
        (written(nodeselector={"a": "b"}), "spec.nodeselector", "nodeSelector"),
        (container(resources={"request": {"cpu": 1}}), "spec.containers[0].resources.request", "requests"),
        (written(tolerations=[{"operater": "Exists"}]), "spec.tolerations[0].operater", "operator"),
        (written(affinity={"nodeAffinty": {}}), "spec.affinity.nodeAffinty", "nodeAffinity"),
        (container(nodeSelector={"a": "b"}), "spec.containers[0].nodeSelector", "spec.nodeSelector"),
        (written(gpuCount=3), "spec.gpuCount", ""),
        ({**POD, "sepc": {}}, "sepc", "spec"),
        ({**POD, "metadata": {"name": "p", "label": {}}}, "metadata.label", "labels"),
        ({**make_node("n"), "status": {"allocatble": {}}}, "status.allocatble", "allocatable"),
        (deployment(replica=3), "spec.replica", "replicas"),
        (deployment(tolerations=[]), "spec.tolerations", "spec.template.spec.tolerations"),
    ],
)
def test_what_was_meant(manifest: dict[str, Any], path: str, meant: str) -> None:
    [found] = unknown_fields(manifest)
    assert (found.path, found.meant) == (path, meant)


@pytest.mark.parametrize(
    "manifest",
    [
        {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": {"tasks": []}},
        {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "Node", "usage": {}},
        {**POD, "status": {"anything": 1}},
        container(livenessProbe={"whatever": 1}, env=[{"x": 1}]),
        written(nodeSelector={"nodeSelectr": "x"}, overhead={"cpus": 1}),
        written(workloadRef={"name": "x"}, evictionResponders=[]),
    ],
)
def test_what_is_not_looked_into_is_not_told(manifest: dict[str, Any]) -> None:
    assert unknown_fields(manifest) == []


def test_of_an_export_only_slips_of_a_hand_are_told() -> None:
    """A field of a version to come is no slip."""
    spec = {"nodeSelectr": {}, "podPlacementHints": {}, "schedulingPolicy": {}, "priorities": 1, "hostUserss": True}
    assert {each.path for each in unknown_fields(written(**spec))} == {f"spec.{name}" for name in spec}
    assert [each.meant for each in reported(unknown_fields(written(**spec)), exported=True)] == ["nodeSelector"]


@pytest.mark.parametrize("form", ["yaml", "list", "halves"])
def test_all_readers_tell_the_same(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replicas = [
        {**written(nodeSelectr={"a": "b"}), "metadata": {"name": f"p{i}", "namespace": "shop"}} for i in range(4)
    ]
    hand = {**written(nodeNane="n"), "metadata": {**POD["metadata"], **EXPORTED, "name": "edited"}}
    newer = {**written(fromVersion99={}), "metadata": {**POD["metadata"], **EXPORTED, "name": "newer"}}
    node = {**make_node("n1"), "spec": {"taint": []}}
    objects = [node, *replicas, hand, newer, make_pod("sound", "shop")]
    path = tmp_path / "file"
    listed = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})
    path.write_bytes(b"\n---\n".join([b"", *map(msgspec.json.encode, objects)]) if form == "yaml" else listed)
    if form == "halves":
        monkeypatch.setattr(halves, "LARGE", 1)
    expected = [
        'Node n1: unknown field "spec.taint", which is ignored. Did you mean taints?',
        'Pod shop/p0 and 3 others: unknown field "spec.nodeSelectr", which is ignored. Did you mean nodeSelector?',
        'Pod shop/edited: unknown field "spec.nodeNane", which is ignored. Did you mean nodeName?',
    ]
    cluster = read_file(path)
    assert [str(each) for each in warnings_of(cluster)] == expected
    assert [str(each) for each in read_files([str(path)]).warnings] == expected
    assert cluster.problems == []


def test_a_real_export_has_none(tmp_path: Path) -> None:
    path = unpacked(EXPORT_JSON, tmp_path)
    assert read_files([str(path)]).warnings == [] == read_file(path).warnings


def test_many_are_counted() -> None:
    sightings, later = Sightings(), Sightings()
    for number in range(150):
        sightings.take("Pod", "shop/p", [UnknownField(f"spec.x{number}", "", False)])
        later.take("Pod", "shop/q", [UnknownField(f"spec.x{number + 100}", "", False)])
    sightings.add(later)
    *first, last = map(str, sightings.sentences())
    assert len(first) == MOST_REPORTED
    assert first[0] == 'Pod shop/p: unknown field "spec.x0", which is ignored.'
    assert last == "240 more fields are unknown and ignored."
