"""Fields that an API server writes of PersistentVolumes and their claims whatever they hold (Go's types of 1.36)."""

from __future__ import annotations

import typing
from typing import Any, Final

import msgspec
import pytest

from framework.objects.metadata import Manifest
from framework.objects.storage import ObjectReference, PersistentVolumeSpec, VolumeNodeAffinity
from framework.objects.stored_volumes import write_empty_fields_of_claim, write_empty_fields_of_volume

EMPTY: Final[dict[str, dict[str, Any]]] = {
    "awsElasticBlockStore": {"volumeID": ""},
    "azureDisk": {"diskName": "", "diskURI": ""},
    "azureFile": {"secretName": "", "shareName": "", "secretNamespace": None},
    "cinder": {"volumeID": ""},
    "csi": {"driver": "", "volumeHandle": ""},
    "gcePersistentDisk": {"pdName": ""},
    "hostPath": {"path": ""},
    "portworxVolume": {"volumeID": ""},
    "vsphereVolume": {"volumePath": ""},
}


def test_of_every_source_of_a_persistent_volume() -> None:
    sources = {
        each.encode_name
        for each in msgspec.structs.fields(PersistentVolumeSpec)
        for type_ in typing.get_args(each.type)
        if isinstance(type_, type) and issubclass(type_, Manifest)
        if type_ not in (ObjectReference, VolumeNodeAffinity)
    }
    assert sources == {*EMPTY}
    for name, fields in EMPTY.items():
        spec: dict[str, Any] = {name: {}, "claimRef": {}}
        write_empty_fields_of_volume(spec)
        assert spec == {name: fields, "claimRef": {}}


def test_what_is_there_stays() -> None:
    spec = {"azureFile": {"secretName": "s", "shareName": "t", "secretNamespace": "u"}}
    write_empty_fields_of_volume(spec)
    assert spec == {"azureFile": {"secretName": "s", "shareName": "t", "secretNamespace": "u"}}


def test_of_a_claim() -> None:
    spec: dict[str, Any] = {"dataSource": {"name": "a"}, "dataSourceRef": {}}
    write_empty_fields_of_claim(spec)
    assert spec == {
        "resources": {},
        "dataSource": {"apiGroup": None, "kind": "", "name": "a"},
        "dataSourceRef": {"apiGroup": None, "kind": "", "name": ""},
    }


@pytest.mark.parametrize("spec", [None, "text", [], {"csi": None}, {"dataSource": 3}])
def test_what_is_malformed_is_left(spec: Any) -> None:
    write_empty_fields_of_volume(spec)
    write_empty_fields_of_claim(spec)
