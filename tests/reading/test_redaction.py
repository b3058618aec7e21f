"""What is kept of an object: nothing that nobody reads, and every decision stays what it was."""

from __future__ import annotations

import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from framework.cli.decide import decide
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.objects.kinds import TYPED_KINDS
from framework.plugins.registry import built_in_registry
from framework.reading.redaction import REMOVED, Removed, redacted, removed_words
from framework.workloads import KINDS
from tests.conformance.compare import differences
from tests.conformance.test_decide import CATEGORIES, cases
from tests.options import by_default

SECRET = "hunter2"
FREE = {
    *("labels", "annotations", "matchLabels", "nodeSelector", "requests", "limits", "capacity", "allocatable"),
    *("overhead", "podFixed", "parameters", "attributes", "counters", "disruptedPods", "consumedCapacity"),
}
"""Mappings with keys of their own: what is in them is no field."""
CONTAINER = {
    "name": "main",
    "image": "registry.example/shop:1",
    "command": ["sh", "-c", SECRET],
    "args": [f"--token={SECRET}"],
    "workingDir": SECRET,
    "env": [{"name": "A", "value": SECRET}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": SECRET}}}],
    "envFrom": [{"prefix": SECRET}],
    "livenessProbe": {"exec": {"command": [SECRET]}},
    "readinessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}},
    "startupProbe": {"exec": {"command": [SECRET]}},
    "lifecycle": {"preStop": {"exec": {"command": [SECRET]}}},
    "resources": {"requests": {"cpu": "1"}},
    "ports": [{"containerPort": 80, "hostPort": 8080}],
}
APPLIED = {
    "kubectl.kubernetes.io/last-applied-configuration": SECRET,
    "objectset.rio.cattle.io/applied": SECRET,
    "kapp.k14s.io/original": SECRET,
    "field.cattle.io/publicEndpoints": SECRET,
    "vault.hashicorp.com/agent-inject-secret": SECRET,
}
POD_SPEC = {
    "containers": [CONTAINER],
    "initContainers": [CONTAINER],
    "ephemeralContainers": [CONTAINER],
    "volumes": [
        {
            "name": "a",
            "csi": {"driver": "d", "volumeAttributes": {"password": SECRET}, "nodePublishSecretRef": {"name": SECRET}},
        },
        {"name": "b", "flexVolume": {"driver": "d", "options": {"password": SECRET}, "secretRef": {"name": SECRET}}},
        {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "d", "gitRepo": {"repository": f"https://me:{SECRET}@git.example.com/it"}},
        {
            "name": "e",
            "projected": {
                "sources": [
                    {"secret": {"name": SECRET, "items": [{"key": "k", "path": "p"}]}},
                    {"podCertificate": {"signerName": "s", "keyType": "RSA3072", "userAnnotations": {"a": SECRET}}},
                ]
            },
        },
    ],
    "imagePullSecrets": [{"name": SECRET}],
    "hostAliases": [{"hostnames": [SECRET]}],
    "tolerations": [{"operator": "Exists"}],
}


def named(kind: str, version: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": "it", "namespace": "shop", "labels": {"app": "it"}, "annotations": dict(APPLIED)}
    return {"apiVersion": version, "kind": kind, "metadata": {**metadata, "managedFields": [SECRET]}, **more}


TEMPLATE = {"metadata": {"labels": {"app": "it"}, "annotations": dict(APPLIED)}, "spec": POD_SPEC}
SELECTED = {"selector": {"matchLabels": {"app": "it"}}, "template": TEMPLATE}
OPAQUE = [{"opaque": {"driver": "d", "parameters": {"key": SECRET}}}]
OBJECTS: dict[str, dict[str, Any]] = {
    "Pod": named(
        "Pod",
        "v1",
        spec=POD_SPEC,
        status={"phase": "Running", "containerStatuses": [{"name": "main", "state": {"terminated": SECRET}}]},
    ),
    **{
        kind: named(kind, version, spec={**SELECTED, "revisionHistoryLimit": 3, "strategy": {"note": SECRET}})
        for kind, (version, _) in KINDS.items()
        if kind not in ("CronJob", "ReplicationController")
    },
    "ReplicationController": named("ReplicationController", "v1", spec={**SELECTED, "selector": {"app": "it"}}),
    "CronJob": named("CronJob", "batch/v1", spec={"schedule": SECRET, "jobTemplate": {"spec": {"template": TEMPLATE}}}),
    "StatefulSet": named(
        "StatefulSet",
        "apps/v1",
        spec={
            **SELECTED,
            "volumeClaimTemplates": [
                named("PersistentVolumeClaim", "v1", spec={"dataSource": {"apiGroup": "a", "kind": "K", "name": "n"}})
            ],
        },
    ),
    "StorageClass": named(
        "StorageClass",
        "storage.k8s.io/v1",
        provisioner="rbd.csi.ceph.com",
        parameters={"userKey": SECRET, "pool": SECRET},
        mountOptions=[SECRET],
    ),
    "PersistentVolume": named(
        "PersistentVolume",
        "v1",
        spec={
            "capacity": {"storage": "1Gi"},
            "mountOptions": [SECRET],
            "csi": {
                "driver": "d",
                "volumeHandle": "vol-1",
                "volumeAttributes": {"share": SECRET},
                "nodeStageSecretRef": {"name": SECRET},
            },
        },
    ),
    "DeviceClass": named("DeviceClass", "resource.k8s.io/v1", spec={"config": OPAQUE}),
    "ResourceClaim": named(
        "ResourceClaim",
        "resource.k8s.io/v1beta1",
        spec={"devices": {"config": OPAQUE, "requests": [{"name": "gpu", "deviceClassName": "gpu"}]}},
        status={"devices": [{"driver": "d", "pool": "p", "device": "x", "data": {"k": SECRET}, "networkData": SECRET}]},
    ),
    "ConfigMap": named("ConfigMap", "v1", data={"k": SECRET}, binaryData={"k": SECRET}),
    "Certificate": named("Certificate", "cert-manager.io/v1", spec={"privateKey": SECRET}),
    "Rollout": named("Rollout", "argoproj.io/v1alpha1", spec=SELECTED),
    "a Deployment of another version": named("Deployment", "apps/v9", spec=SELECTED),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_nothing_of_a_secret_is_kept(name: str) -> None:
    given = copy.deepcopy(OBJECTS[name])
    kept = redacted(given)
    assert SECRET not in json.dumps(kept)
    assert given == OBJECTS[name], "what was given is not changed"
    assert redacted(kept) == kept


def sealing(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8, key=b"ours").hexdigest()


def test_seals_tell_volumes_apart_and_nothing_else() -> None:
    given = copy.deepcopy(OBJECTS["Pod"])
    removed: Removed = Counter()
    kept = redacted(given, removed, seal=sealing)
    assert SECRET not in json.dumps(kept)
    again: Removed = Counter()
    assert redacted(kept, again, seal=sealing) == kept
    assert (removed["volumes"], again["volumes"]) == (7, 0)
    assert json.dumps(kept).count("sealed:") == 7
    plain = redacted(kept)
    assert plain == redacted(given), "what is shown has no seals"
    for number, source, name in ((0, "csi", "volumeAttributes"), (1, "flexVolume", "options")):
        other = copy.deepcopy(given)
        other["spec"]["volumes"][number][source][name] = {"password": "hunter3"}
        difference = redacted(other, seal=sealing)
        assert difference != kept
        assert redacted(difference) == plain
    assert isinstance(decode_manifest(kept), Pod)


def test_what_is_read_stays() -> None:
    pod = redacted(OBJECTS["Pod"])
    assert pod["metadata"] == {"name": "it", "namespace": "shop", "labels": {"app": "it"}, "annotations": {}}
    assert pod["spec"]["containers"] == [{key: CONTAINER[key] for key in ("name", "image", "resources", "ports")}]
    assert pod["spec"]["volumes"][2] == {"name": "c", "persistentVolumeClaim": {"claimName": "data"}}
    assert redacted(OBJECTS["ConfigMap"]).keys() == {"apiVersion", "kind", "metadata"}
    job = redacted(OBJECTS["CronJob"])["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert job["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    [request] = redacted(OBJECTS["ResourceClaim"])["spec"]["devices"]["requests"]
    assert request == {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}


@pytest.mark.parametrize("value", ["12", "-0.5", "1e9", "0x1p4", "2026-11-24T08:00:00Z", "02 Dec 25 18:41 UTC"])
def test_numbers_and_times_in_annotations_of_nodes_stay(value: str) -> None:
    metadata = {"name": "a", "annotations": {"example.com/rank": value, "example.com/token": "hunter2"}}
    kept = redacted({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
    assert kept["metadata"]["annotations"] == {"example.com/rank": value}
    assert redacted({"apiVersion": "v1", "kind": "Pod", "metadata": metadata})["metadata"]["annotations"] == {}


def test_annotations_that_somebody_reads_stay() -> None:
    claim = named("PersistentVolumeClaim", "v1")
    claim["metadata"]["annotations"] |= {"pv.kubernetes.io/bind-completed": "yes", "example.com/mine": "1"}
    assert redacted(claim)["metadata"]["annotations"] == {"pv.kubernetes.io/bind-completed": "yes"}
    kept = redacted(claim, annotations={"example.com/mine"})
    assert kept["metadata"]["annotations"] == {"example.com/mine": "1"}


def test_what_went_is_counted() -> None:
    removed: Removed = Counter()
    redacted(OBJECTS["Pod"], removed)
    assert removed == {
        "environment": 6,
        "commands": 4,
        "probes": 8,
        "volumes": 7,
        "annotations": 5,
        "fields": 5,
    }
    for name in ("StorageClass", "ConfigMap", "Rollout"):
        redacted(OBJECTS[name], removed)
    assert (removed["parameters"], removed["contents"]) == (3, 2)
    assert [str(each) for each in removed_words(removed)][:2] == [
        f"{removed['environment']} environment variables",
        f"{removed['commands']} commands and lists of arguments",
    ]
    assert removed.keys() <= REMOVED.keys()


@pytest.mark.parametrize("value", [None, 5, "text", [], [[[[{}]]]], [None, 3]])
@pytest.mark.parametrize("path", ["metadata", "spec", "metadata.annotations", "spec.containers", "spec.volumes"])
def test_what_is_malformed_is_left_to_validation(path: str, value: Any) -> None:
    pod = copy.deepcopy(OBJECTS["Pod"])
    *above, last = path.split(".")
    inner = pod
    for name in above:
        inner = inner[name]
    inner[last] = value
    assert refusal(redacted(pod)) == refusal(pod)


def refusal(manifest: dict[str, Any]) -> str:
    try:
        decode_manifest(manifest)
    except ObjectError as error:
        return str(error)
    return ""


def test_what_is_decoded_is_decoded_the_same() -> None:
    """Of every kind that is read, of all objects that the conformance data has."""
    kinds = set()
    for _, manifest in objects():
        try:
            before = decode_manifest(manifest)
        except ObjectError:
            continue
        after = decode_manifest(redacted(planted(manifest), annotations=before.metadata.annotations))
        if type(before) in TYPED_KINDS:
            kinds.add(type(before))
            assert without_untyped(after) == without_untyped(before)
    assert len(kinds) == 15


def without_untyped(obj: Any) -> Any:
    """Fields that are typed and not kept (``_NOT_KEPT``)."""
    text = msgspec.json.encode(obj)
    return drop(msgspec.json.decode(text), {"volumeAttributes", "parameters", "data", "networkData"})


def drop(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: drop(each, names) for key, each in value.items() if key not in names}
    return [drop(each, names) for each in value] if isinstance(value, list) else value


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    for category in CATEGORIES:
        for case, _ in cases(category):
            for manifest in (*case.objects, *case.pods, *(event.object for event in case.events or ())):
                yield case.name, manifest


def planted(value: Any, name: str = "") -> Any:
    """With a field that nobody knows in every object, and with all that a container may say."""
    if isinstance(value, list):
        return [planted(each, name) for each in value]
    if not isinstance(value, dict) or name in FREE:
        return value
    found = {
        key: each if (value.get("kind"), name, key) == ("Service", "", "spec") else planted(each, key)
        for key, each in value.items()
    }
    if name in ("containers", "initContainers"):
        return {**{key: each for key, each in CONTAINER.items() if key not in ("ports", "resources")}, **found}
    if name == "metadata":
        found["annotations"] = {**(found.get("annotations") or {}), **APPLIED}
    return {**found, "somethingElse": SECRET}


@pytest.mark.parametrize("category", [name for name in CATEGORIES if name != "bad_config"])
def test_decisions_are_the_same_before_and_after(category: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After: every field of every attempt is kube-scheduler's. Before: tests/conformance/test_decide.py, in which
    reuse, that has nothing to do with what is read, is compared, too.
    """
    by_default(monkeypatch, reuse="off")
    registry = built_in_registry()
    for case, recorded in cases(category):
        changed = msgspec.structs.replace(
            case,
            objects=[redacted(planted(each)) for each in case.objects],
            pods=[redacted(planted(each)) for each in case.pods],
            events=case.events
            and [msgspec.structs.replace(each, object=redacted(planted(each.object))) for each in case.events],
        )
        assert SECRET not in msgspec.json.encode(changed).decode(), case.name
        ours = json.loads(msgspec.json.encode(decide(changed, registry)))
        assert list(differences(recorded, ours)) == [], case.name
