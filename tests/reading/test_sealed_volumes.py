"""Every source of a volume that the API of 1.36 has, with all in it that may be secret: none of it is kept."""

from __future__ import annotations

import hashlib
import json
import re
import typing
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

from framework.objects import PersistentVolume, Pod
from framework.objects.claims import BETA_CLASS
from framework.objects.csi_migration import plugin_of_volume, translated
from framework.objects.decode import decode_manifest
from framework.objects.pod import Volume
from framework.objects.sealed_fields import SEALED, is_sealed, without_seals
from framework.objects.storage import PersistentVolumeSpec
from framework.reading.redaction import Removed, redacted

SECRET: Final = "hunter2"
REF: Final = {"name": SECRET, "namespace": SECRET}
URL: Final = f"https://me:{SECRET}@example.com/it"

BOTH: Final[dict[str, dict[str, Any]]] = {
    "azureDisk": {"diskName": "d", "diskURI": f"https://a.blob.core.windows.net/d.vhd?sv=1&sig={SECRET}"},
    "azureFile": {"secretName": SECRET, "shareName": "s"},
    "cephfs": {"monitors": ["m"], "secretFile": f"/etc/{SECRET}", "secretRef": REF},
    "cinder": {"volumeID": "v", "secretRef": REF},
    "csi": {
        "driver": "d",
        "volumeHandle": "v",
        "volumeAttributes": {"password": SECRET},
        "nodePublishSecretRef": REF,
        "nodeStageSecretRef": REF,
        "nodeExpandSecretRef": REF,
        "controllerPublishSecretRef": REF,
        "controllerExpandSecretRef": REF,
    },
    "flexVolume": {"driver": "d", "options": {"password": SECRET}, "secretRef": REF},
    "iscsi": {"targetPortal": "10.0.0.1", "iqn": "iqn.2001-04.com.example:s", "lun": 0, "secretRef": REF},
    "rbd": {"monitors": ["m"], "image": "i", "keyring": f"/etc/{SECRET}", "secretRef": REF},
    "scaleIO": {"gateway": URL, "system": "s", "secretRef": REF},
    "storageos": {"volumeName": "v", "secretRef": REF},
}
"""Source of pods and of PersistentVolumes → as it may hold secrets."""
OF_PODS: Final[dict[str, dict[str, Any]]] = {
    **BOTH,
    "gitRepo": {"repository": URL},
    "projected": {
        "sources": [
            {"secret": {"name": SECRET}},
            {"podCertificate": {"signerName": "s", "keyType": "RSA3072", "userAnnotations": {"a": SECRET}}},
        ]
    },
    "secret": {"secretName": SECRET},
}
OF_VOLUMES: Final[dict[str, dict[str, Any]]] = {
    **BOTH,
    "azureFile": {"secretName": SECRET, "shareName": "s", "secretNamespace": "keys"},
}
NOTHING_SECRET: Final = {
    *(
        "awsElasticBlockStore",
        "configMap",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "fc",
        "flocker",
        "gcePersistentDisk",
    ),
    *("glusterfs", "hostPath", "image", "local", "nfs", "persistentVolumeClaim", "photonPersistentDisk"),
    *("portworxVolume", "quobyte", "vsphereVolume"),
}
SAYS_SO: Final = re.compile(
    "secret|credential|keyring|password|token|option|annotation|attributes$|repository|gateway|ur[il]"
)
"""In names of fields that may be secret."""
HARMLESS: Final = {
    # Where a certificate is put in the container, by the pod's own author.
    "credentialBundlePath",
    "optional",
    "annotations",
}


def sealing(text: bytes) -> str:
    return hashlib.blake2b(text, digest_size=8, key=b"ours").hexdigest()


def pod(name: str, source: dict[str, Any]) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", name: source}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "spec": spec}


def volume(name: str, source: dict[str, Any]) -> dict[str, Any]:
    spec = {"capacity": {"storage": "1Gi"}, name: source}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "p"}, "spec": spec}


def objects() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, source in OF_PODS.items():
        made = pod(name, source)
        yield f"pod, {name}", made
        template = {"metadata": {"labels": {"a": "b"}}, "spec": made["spec"]}
        spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
        yield f"template, {name}", {**made, "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}
    for name, source in OF_VOLUMES.items():
        yield f"volume, {name}", volume(name, source)


OBJECTS: Final = dict(objects())


@pytest.mark.parametrize("name", OBJECTS)
def test_of_no_source_a_secret_is_kept(name: str) -> None:
    manifest = OBJECTS[name]
    assert SECRET in json.dumps(manifest)
    stored, shown = redacted(manifest, seal=sealing), redacted(manifest)
    assert SECRET not in json.dumps(stored)
    assert SECRET not in json.dumps(shown)
    assert "sealed:" not in json.dumps(shown)
    assert redacted(stored, seal=sealing) == stored
    assert redacted(stored) == shown


def test_every_source_is_looked_at() -> None:
    known = {each.encode_name for each in msgspec.structs.fields(Volume)} - {"name"}
    assert known | {"configMap", "secret"} | {"local"} == {*OF_PODS} | NOTHING_SECRET
    assert not {*OF_PODS} & NOTHING_SECRET


def structs(type_: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        yield type_
        for each in msgspec.structs.fields(type_):
            yield from structs(each.type)
    for argument in typing.get_args(type_):
        yield from structs(argument)


def test_every_typed_field_that_may_be_secret_is_sealed() -> None:
    """A field that is typed from now on says by its name what it may hold, or holds a Struct that is looked into."""
    for struct in {*structs(Volume), *structs(PersistentVolumeSpec)}:
        for each in msgspec.structs.fields(struct):
            name = each.encode_name
            if SAYS_SO.search(name.lower()) and not [*structs(each.type)] and name not in HARMLESS:
                assert name in SEALED.get(struct, ()), (struct, name)


@pytest.mark.parametrize("name", [name for name in OF_PODS if name not in ("secret",)])
def test_two_secrets_are_told_apart_by_their_seals(name: str) -> None:
    one = pod(name, OF_PODS[name])
    other = json.loads(json.dumps(one).replace(SECRET, "hunter3"))
    assert redacted(one, seal=sealing) != redacted(other, seal=sealing)
    assert redacted(one) == redacted(other)


def claimed(annotations: dict[str, str]) -> dict[str, Any]:
    """A pod with an ephemeral volume whose claim has these annotations."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"labels": {"a": "b"}, "annotations": annotations}
    made = pod("ephemeral", {"volumeClaimTemplate": {"metadata": metadata, "spec": spec}})
    return {**made, "metadata": {**made["metadata"], "annotations": {"mine": SECRET}}}


def annotations_of(manifest: dict[str, Any]) -> Any:
    [found] = manifest["spec"]["volumes"]
    return found["ephemeral"]["volumeClaimTemplate"]["metadata"].get("annotations")


def test_annotations_of_an_ephemeral_volumes_claim_leave_a_seal() -> None:
    """Upstream's signature has all of them."""
    given = claimed({BETA_CLASS: "fast", "a": SECRET, "b": "1"})
    removed: Removed = Counter()
    stored, shown = redacted(given, removed, seal=sealing), redacted(given)
    assert removed == {"annotations": 3}
    assert SECRET not in json.dumps(stored)
    assert annotations_of(shown) == {BETA_CLASS: "fast"}
    assert annotations_of(stored).keys() == {BETA_CLASS, "redacted"}
    assert json.dumps(stored).count("sealed:") == 1, "of the pod's own annotations none is signed"
    again: Removed = Counter()
    assert redacted(stored, again, seal=sealing) == stored
    assert not again
    assert redacted(stored) == shown

    same = redacted(claimed({"b": "1", "a": SECRET, BETA_CLASS: "fast"}), seal=sealing)
    assert annotations_of(same) == annotations_of(stored)
    for others in ({"a": SECRET, "b": "2"}, {"a": SECRET, "c": "1"}, {"a": SECRET}):
        other = redacted(claimed({BETA_CLASS: "fast", **others}), seal=sealing)
        assert other != stored
        assert redacted(other) == shown
    assert annotations_of(redacted(claimed({BETA_CLASS: "fast"}), seal=sealing)) == {BETA_CLASS: "fast"}

    for whole, left in ((stored, {BETA_CLASS: "fast"}), (redacted(claimed({"a": "b"}), seal=sealing), None)):
        assert annotations_of({"spec": {"volumes": [without_seals(whole["spec"]["volumes"][0])]}}) == left


def test_what_everybody_knows_is_not_sealed() -> None:
    for name, source in (
        ("rbd", {"monitors": ["m"], "image": "i", "keyring": "/etc/ceph/keyring"}),
        ("azureDisk", {"diskName": "d", "diskURI": "/subscriptions/s/resourceGroups/g/disks/d"}),
        ("azureFile", {"secretName": "", "shareName": "s"}),
    ):
        assert redacted(pod(name, source), seal=sealing) == redacted(pod(name, source)) == pod(name, source)
    empty = volume("azureFile", {"shareName": "s", "secretNamespace": ""})
    assert redacted(empty, seal=sealing) == empty


def test_the_namespace_of_a_secret_stays() -> None:
    """A volume that names no claim asks for it: what is shown is read again, and means the same."""
    given = volume("azureFile", OF_VOLUMES["azureFile"])
    again = redacted(redacted(given, seal=sealing))
    assert again["spec"]["azureFile"] == {"shareName": "s", "secretNamespace": "keys"}
    assert handle_of(again) == "##s#p#keys"
    # There was a time when it was sealed, and no text is whatever else somebody puts there.
    for other in ("sealed:0123456789abcdef", {"a": SECRET}):
        stored = redacted(volume("azureFile", {"shareName": "s", "secretNamespace": other}), seal=sealing)
        assert SECRET not in json.dumps(stored)
        assert redacted(stored, seal=sealing) == stored
        assert redacted(stored)["spec"]["azureFile"] == {"shareName": "s"}


def test_what_only_looks_like_a_seal_stays() -> None:
    like = "sealed:0123456789abcdef"
    manifest = pod("hostPath", {"path": like, "type": like})
    assert redacted(manifest) == redacted(manifest, seal=sealing) == manifest
    for source in ({"hostPath": {"path": like}}, {"nfs": {"server": like, "path": like}}, {"csi": {"driver": like}}):
        assert without_seals({"name": like, **source}) == {"name": like, **source}
    assert without_seals({"name": "v", "csi": {"driver": "d", "volumeAttributes": {"redacted": like}}}) == {
        "name": "v",
        "csi": {"driver": "d"},
    }


def handle_of(manifest: dict[str, Any]) -> str:
    """Of an azureFile PersistentVolume, as CSI migration makes it; raises where its Secret has no namespace."""
    made = decode_manifest(manifest)
    assert isinstance(made, PersistentVolume)
    plugin = plugin_of_volume(made)
    assert plugin is not None
    csi = translated(made, plugin).spec.csi
    assert csi is not None
    return csi.volume_handle


def test_volumes_of_azure_files_are_translated_with_seals() -> None:
    given = volume("azureFile", OF_VOLUMES["azureFile"])
    stored = redacted(given, seal=sealing)
    account, share, name, namespace = handle_of(stored).split("#")[1:]
    assert (is_sealed(account), share, name, namespace) == (True, "s", "p", "keys")
    assert isinstance(decode_manifest(redacted(pod("azureFile", OF_PODS["azureFile"]), seal=sealing)), Pod)
