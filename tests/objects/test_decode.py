from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from framework.objects import Node, Pod, PodGroup, Unstructured
from framework.objects.decode import (
    decode_json,
    decode_manifest,
    decode_manifests,
    decode_object,
    encode_json,
    to_manifest,
)
from framework.objects.errors import ObjectError
from framework.objects.scheduling import SchedulingPodGroup
from tests.objects.builders import manifest


def complaint(given: object) -> str:
    text = given if isinstance(given, (str, bytes)) else json.dumps(given)
    with pytest.raises(ObjectError) as refusal:
        decode_json(text)
    return str(refusal.value)


def shop_pod(labels: object = None, **spec: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "web-1", "namespace": "shop"}
    if labels is not None:
        meta["labels"] = labels
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def test_one_object_and_lists_of_any_kind() -> None:
    one, two = manifest("Pod", name="a"), manifest("Node", name="b")
    assert [type(o) for o in decode_json(json.dumps(one))] == [Pod]
    nested = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [one, {"apiVersion": "v1", "kind": "List", "items": [two, one]}],
    }
    assert [o.name for o in decode_json(json.dumps(nested))] == ["a", "b", "a"]
    assert [o.name for o in decode_manifests([nested, None, two])] == ["a", "b", "a", "b"]


def test_items_of_a_typed_list_need_not_say_what_they_are() -> None:
    pods = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}]}
    assert decode_json(json.dumps(pods)) == list(decode_manifests([pods]))
    assert isinstance(decode_json(json.dumps(pods))[0], Pod)


def test_an_object_that_begins_unusually_is_the_same_object() -> None:
    usual = shop_pod(containers=[{"name": "main"}])
    unusual = {key: usual[key] for key in ("spec", "metadata", "kind", "apiVersion")}
    listed = {"kind": "List", "apiVersion": "v1", "items": [unusual]}
    assert decode_json(json.dumps(listed)) == decode_json(json.dumps(usual))


def test_irregular_names_of_fields() -> None:
    given = shop_pod(
        containers=[{"name": "main", "ports": [{"containerPort": 80, "hostIP": "10.0.0.1"}]}],
        volumes=[
            {"name": "a", "awsElasticBlockStore": {"volumeID": "v"}},
            {"name": "b", "azureDisk": {"diskName": "d", "diskURI": "u"}},
        ],
    )
    pod = decode_manifest(given)
    assert isinstance(pod, Pod)
    assert pod.spec.containers[0].ports[0].host_ip == "10.0.0.1"
    assert pod.spec.volumes[0].aws_elastic_block_store is not None
    assert pod.spec.volumes[0].aws_elastic_block_store.volume_id == "v"
    assert pod.spec.volumes[1].azure_disk is not None
    assert pod.spec.volumes[1].azure_disk.disk_uri == "u"
    assert to_manifest(pod) == given


def test_other_kinds_keep_everything() -> None:
    given = manifest("Deployment", "apps/v1", spec={"replicas": 3, "paused": None})
    decoded = decode_manifest(given)
    assert isinstance(decoded, Unstructured)
    assert (decoded.kind, decoded.name, decoded.api_version) == ("Deployment", "web-1", "apps/v1")
    assert to_manifest(decoded) == given
    assert json.loads(encode_json(decoded)) == given
    assert isinstance(decode_manifest(manifest("PodGroup", "scheduling.k8s.io/v1alpha0")), Unstructured)


def test_the_group_tells_two_kinds_of_one_name_apart() -> None:
    assert isinstance(decode_manifest(manifest("PodGroup", "scheduling.k8s.io/v1alpha2")), SchedulingPodGroup)
    assert isinstance(decode_manifest(manifest("PodGroup", "scheduling.x-k8s.io/v1alpha1")), PodGroup)


def test_absent_null_and_empty() -> None:
    def spec_of(**spec: Any) -> Any:
        fast, slow = decode_json(json.dumps(shop_pod(**spec)))[0], decode_manifest(shop_pod(**spec))
        assert fast == slow
        assert isinstance(slow, Pod)
        return slow.spec

    assert spec_of().node_selector is None
    assert spec_of(nodeSelector=None).node_selector is None
    assert spec_of(nodeSelector={}).node_selector == {}
    assert spec_of(tolerations=None, containers=None) == spec_of(tolerations=[], containers=[])
    term: dict[str, Any] = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": None}
    anti = spec_of(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}).affinity
    found = anti.pod_anti_affinity.required_during_scheduling_ignored_during_execution[0]
    assert found.label_selector is not None
    assert found.namespace_selector is None


def test_null_in_a_map_is_gos_zero_value() -> None:
    pod = decode_manifest(shop_pod({"a": None}, containers=[{"name": "m", "resources": {"requests": {"cpu": None}}}]))
    assert isinstance(pod, Pod)
    assert pod.metadata.labels == {"a": ""}
    assert pod.spec.containers[0].resources.requests == {"cpu": "0"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            shop_pod({"a": "b", "version": 1}),
            "Pod shop/web-1: metadata.labels[version]: expected a string, got a whole number 1",
        ),
        (
            shop_pod(containers=[{"name": "a"}, {"name": "b", "ports": [{"hostPort": "80"}]}]),
            "Pod shop/web-1: spec.containers[1].ports[0].hostPort: expected a whole number, got a string '80'",
        ),
        (
            shop_pod(containers=[{"name": "a", "resources": {"requests": {"cpu": 1, "memory": [1]}}}]),
            "Pod shop/web-1: spec.containers[0].resources.requests[memory]: "
            "expected a whole number or a number or a string, got a list",
        ),
        (shop_pod(containers={}), "Pod shop/web-1: spec.containers: expected a list, got an object"),
        (shop_pod(containers=[None]), "Pod shop/web-1: spec.containers[0]: expected an object, got null"),
        (shop_pod(hostNetwork="yes"), "Pod shop/web-1: spec.hostNetwork: expected true or false, got a string 'yes'"),
        ({"metadata": {"name": "x"}}, "object x: Object 'Kind' is missing"),
        ({"kind": "Pod"}, "Pod: Object 'apiVersion' is missing"),
        ({"apiVersion": "v1", "kind": 3}, "object: kind: expected a string, got a whole number"),
        ({"apiVersion": "v1", "kind": "List", "items": {}}, "object: items: expected a list, got an object"),
        (
            {"apiVersion": "v1", "kind": "List", "items": [{}, 3]},
            "object: items[1]: expected an object, got a whole number",
        ),
        (manifest("ConfigMap") | {"metadata": "x"}, "ConfigMap: metadata: expected an object, got a string 'x'"),
        ([], "object: expected an object, got a list"),
        ("{", "object: not JSON: Input data was truncated"),
        ("[" * 100_000, "object: expected an object, got a list"),
        ('{"a":' + "[" * 100_000, "object: nested too deeply"),
    ],
)
def test_complaints_name_object_and_field(given: object, message: str) -> None:
    if isinstance(given, dict) and isinstance(given.get("items"), list):
        given["items"][0] = manifest("Pod")
    assert complaint(given) == message


def test_bytes_that_are_no_text() -> None:
    assert complaint(b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"\xff"}}').startswith("object: not JSON: ")


def test_a_truncated_object_in_a_list() -> None:
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": [shop_pod()]})
    for cut in range(len(whole)):
        with pytest.raises(ObjectError):
            decode_json(whole[:cut])


def test_documents_that_contain_themselves() -> None:
    endless: dict[str, Any] = manifest("ConfigMap")
    endless["data"] = {"again": endless}
    with pytest.raises(ObjectError, match="an alias that contains itself"):
        list(decode_manifests([endless]))


def test_aliases_that_expand_without_end() -> None:
    bomb: list[Any] = ["lol"]
    for _ in range(30):
        bomb = [bomb] * 10
    with pytest.raises(ObjectError, match="its aliases expand it to more than"):
        list(decode_manifests([manifest("ConfigMap", data=bomb)]))


def test_a_long_text_that_is_said_a_thousand_times() -> None:
    text = "x" * 20_000
    with pytest.raises(ObjectError, match="more than 10 times its size"):
        list(decode_manifests([manifest("ConfigMap", data={f"key-{i}": text for i in range(1000)})]))
    whole = {f"key-{i}": text + str(i) for i in range(1000)}
    assert len(list(decode_manifests([manifest("ConfigMap", data=whole)]))) == 1


def test_shared_parts_are_no_harm() -> None:
    labels = {"app": "web"}
    given = manifest("Pod") | {"metadata": {"name": "a", "labels": labels, "annotations": labels}}
    assert [o.name for o in decode_manifests([given])] == ["a"]


def test_dates_that_a_yaml_parser_made() -> None:
    given = manifest("Pod")
    given["metadata"]["creationTimestamp"] = datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert decode_manifest(given).metadata.creation_timestamp == "2026-01-01T10:00:00Z"


def test_keys_that_are_no_text() -> None:
    given = manifest("Pod")
    given["metadata"]["labels"] = {1: "a"}
    with pytest.raises(ObjectError) as refusal:
        decode_manifest(given)
    assert str(refusal.value) == "Pod web-1: metadata.labels: a key: expected a string, got a whole number"


def test_documents_that_are_no_objects() -> None:
    with pytest.raises(ObjectError, match="expected an object, got a string"):
        list(decode_manifests(["hello"]))
    with pytest.raises(ObjectError, match="a list where one object is expected"):
        decode_manifest({"apiVersion": "v1", "kind": "List", "items": []})


def test_keys_name_objects() -> None:
    assert decode_manifest(shop_pod()).key == "shop/web-1"
    node = decode_manifest(manifest("Node", name="n"))
    assert isinstance(node, Node)
    assert node.key == "n"


@pytest.mark.parametrize(
    "given",
    [
        manifest("Pod"),
        {**manifest("Pod"), "spec": {"nodeSelector": {"disk": None}, "containers": [{"name": "a", "ports": None}]}},
        manifest("Deployment", "apps/v1"),
        {"metadata": {"name": "x"}, "kind": "Node", "apiVersion": "v1"},
    ],
    ids=["pod", "nulls", "untyped", "begins unusually"],
)
def test_an_object_read_from_its_text_is_the_one_read_from_what_was_parsed(given: dict[str, Any]) -> None:
    assert decode_object(json.dumps(given)) == decode_manifest(given)


@pytest.mark.parametrize(
    "given",
    [{"kind": "Pod"}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}}],
    ids=["no version", "name"],
)
def test_complaints_about_a_text_are_those_about_what_was_parsed(given: dict[str, Any]) -> None:
    with pytest.raises(ObjectError) as parsed:
        decode_manifest(given)
    with pytest.raises(ObjectError) as text:
        decode_object(json.dumps(given).encode())
    assert str(text.value) == str(parsed.value)
