"""What webhooks are sent of a pod's volumes."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from framework.extenders.bodies import pod_json
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.pod import Volume
from framework.reading.redaction import redacted
from tests.reading.test_sealed_volumes import OF_PODS, SECRET

VOLUMES: Final[list[dict[str, Any]]] = [
    {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}},
    {"name": "plain", "emptyDir": {}},
    {"name": "logs", "hostPath": {"path": "/var/log"}},
    {"name": "run", "hostPath": {"path": "/run", "type": "Directory"}},
    {"name": "shared", "nfs": {"server": "files", "path": "/data", "readOnly": True}},
    {"name": "keys", "secret": {"secretName": "keys"}},
    {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    {"name": "old", "flexVolume": {"driver": "d", "options": {"password": "secret"}}},
]


def sent(manifest: dict[str, Any], *, sends_secrets: bool = True) -> list[dict[str, Any]]:
    pod = decode_manifest(manifest)
    assert isinstance(pod, Pod)
    volumes: list[dict[str, Any]] = pod_json(pod, sends_secrets=sends_secrets)["spec"]["volumes"]
    return volumes


def test_volumes_are_sent_as_they_came_in_with_the_defaults_of_the_api_server() -> None:
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": VOLUMES}}
    sealed = redacted(manifest, seal=lambda text: "0123456789abcdef")
    assert "sealed:" in str(sealed)
    for given, options in ((manifest, {"options": {"password": "secret"}}), (redacted(manifest), {}), (sealed, {})):
        assert sent(given) == [
            {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"name": "plain", "emptyDir": {}},
            {"name": "logs", "hostPath": {"path": "/var/log", "type": ""}},
            {"name": "run", "hostPath": {"path": "/run", "type": "Directory"}},
            {"name": "shared", "nfs": {"server": "files", "path": "/data", "readOnly": True}},
            {"name": "keys"},
            {
                "name": "token",
                "projected": {
                    "defaultMode": 420,
                    "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}],
                },
            },
            {"name": "old", "flexVolume": {"driver": "d"} | options},
        ]


def test_a_limit_that_is_no_quantity_is_sent_as_it_is() -> None:
    volume = {"name": "cache", "emptyDir": {"sizeLimit": "much"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [volume]}}
    assert sent(pod) == [volume]


EMPTY: Final[dict[str, dict[str, Any]]] = {
    "awsElasticBlockStore": {"volumeID": ""},
    "azureDisk": {"diskName": "", "diskURI": ""},
    "azureFile": {"secretName": "", "shareName": ""},
    "cephfs": {"monitors": None},
    "cinder": {"volumeID": ""},
    "csi": {"driver": ""},
    "downwardAPI": {},
    "emptyDir": {},
    "fc": {},
    "flexVolume": {"driver": ""},
    "flocker": {},
    "gcePersistentDisk": {"pdName": ""},
    "gitRepo": {"repository": ""},
    "glusterfs": {"endpoints": "", "path": ""},
    "hostPath": {"path": ""},
    "image": {},
    "iscsi": {"targetPortal": "", "iqn": "", "lun": 0},
    "nfs": {"server": "", "path": ""},
    "persistentVolumeClaim": {"claimName": ""},
    "photonPersistentDisk": {"pdID": ""},
    "portworxVolume": {"volumeID": ""},
    "projected": {"sources": None},
    "quobyte": {"registry": "", "volume": ""},
    "rbd": {"monitors": None, "image": ""},
    "scaleIO": {"gateway": "", "system": "", "secretRef": None},
    "storageos": {},
    "vsphereVolume": {"volumePath": ""},
}
"""Fields of Go's types of 1.36 that are written whatever they hold (no omitempty)."""


def pod_with(*volumes: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [*volumes]}}


def test_empty_fields_are_sent_that_go_does_not_omit() -> None:
    """Of every source that is typed."""
    known = {each.encode_name for each in msgspec.structs.fields(Volume)} - {"name", "ephemeral"}
    assert known == {*EMPTY}
    for name, fields in EMPTY.items():
        [found] = sent(pod_with({"name": "v", name: {}}))
        assert {key: found[name].get(key, "absent") for key in fields} == fields, name


def test_empty_fields_are_sent_of_what_sources_hold() -> None:
    claim = {"volumeClaimTemplate": {"spec": {"dataSource": {"kind": "PersistentVolumeClaim", "name": "c"}}}}
    file = {"path": "f", "resourceFieldRef": {"resource": "limits.cpu"}}
    sources = [{"serviceAccountToken": {}}, {"configMap": {"items": [{}]}}, {"downwardAPI": {"items": [{}, file]}}]
    own, projected = sent(pod_with({"name": "v", "ephemeral": claim}, {"name": "w", "projected": {"sources": sources}}))
    template = own["ephemeral"]["volumeClaimTemplate"]
    assert template["metadata"] == template["spec"]["resources"] == {}
    assert template["spec"]["dataSource"] == {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "c"}
    assert projected["projected"]["sources"] == [
        {"serviceAccountToken": {"path": "", "expirationSeconds": 3600}},
        {"configMap": {"items": [{"key": "", "path": ""}]}},
        {
            "downwardAPI": {
                "items": [{"path": ""}, {**file, "resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}]
            }
        },
    ]


def test_what_a_person_wrote_is_sent_though_it_looks_like_a_seal() -> None:
    like = "sealed:0123456789abcdef"
    for name, source in (("hostPath", {"path": like, "type": ""}), ("nfs", {"server": like, "path": like})):
        assert sent(redacted(pod_with({"name": "v", name: source}), seal=lambda text: "1" * 16)) == [
            {"name": "v", name: source}
        ]


def test_no_default_is_sent_in_the_place_of_what_was_sealed() -> None:
    source = {"monitors": ["m"], "image": "i", "keyring": "/etc/mine"}
    [found] = sent(redacted(pod_with({"name": "v", "rbd": source}), seal=lambda text: "1" * 16))
    assert "keyring" not in found["rbd"]


@pytest.mark.parametrize("name", [name for name in OF_PODS if name != "secret"])
def test_a_server_sends_no_secret_that_an_older_version_stored(name: str) -> None:
    """As it sends one whose secrets were sealed."""
    given = pod_with({"name": "v", name: OF_PODS[name]})
    assert SECRET in str(sent(given))
    found = sent(given, sends_secrets=False)
    assert SECRET not in str(found)
    assert found == sent(redacted(given, seal=lambda text: "1" * 16), sends_secrets=False)


def test_a_server_sends_what_everybody_knows() -> None:
    volumes = [
        {"name": "a", "rbd": {"monitors": ["m"], "image": "i"}},
        {"name": "b", "azureDisk": {"diskName": "d", "diskURI": "/subscriptions/s/resourceGroups/g/disks/d"}},
        {"name": "c", "azureFile": {"shareName": "s"}},
        {"name": "d", "hostPath": {"path": "sealed:0123456789abcdef"}},
        {"name": "e", "ephemeral": {"volumeClaimTemplate": {"metadata": {"annotations": {"a": "b"}}}}},
    ]
    assert sent(pod_with(*volumes), sends_secrets=False) == sent(pod_with(*volumes))
    assert sent(pod_with(*volumes))[0]["rbd"]["keyring"] == "/etc/ceph/keyring"
