"""Volume sources as an API server stores them: with its defaults, and amounts in their canonical form.

Upstream: pkg/apis/core/v1/defaults.go `SetDefaults_Volume`, `SetDefaults_HostPathVolumeSource`,
`SetDefaults_ProjectedVolumeSource`, `SetDefaults_PersistentVolumeClaimSpec`.
"""

from __future__ import annotations

from typing import Any, Final

from framework.objects.quantity import QuantityError, parse_quantity

_DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "kind": "Shared", "readOnly": False},
    "downwardAPI": {"defaultMode": 0o644},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "projected": {"defaultMode": 0o644},
    "rbd": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "scaleIO": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
}
_ALWAYS: Final[dict[str, dict[str, Any]]] = {
    "awsElasticBlockStore": {"volumeID": ""},
    "azureDisk": {"diskName": "", "diskURI": ""},
    "azureFile": {"secretName": "", "shareName": ""},
    "cephfs": {"monitors": None},
    "cinder": {"volumeID": ""},
    "csi": {"driver": ""},
    "flexVolume": {"driver": ""},
    "gcePersistentDisk": {"pdName": ""},
    "gitRepo": {"repository": ""},
    "glusterfs": {"endpoints": "", "path": ""},
    "hostPath": {"path": ""},
    "iscsi": {"targetPortal": "", "iqn": "", "lun": 0},
    "nfs": {"server": "", "path": ""},
    "persistentVolumeClaim": {"claimName": ""},
    "photonPersistentDisk": {"pdID": ""},
    "portworxVolume": {"volumeID": ""},
    "projected": {"sources": None},
    "quobyte": {"registry": "", "volume": ""},
    "rbd": {"monitors": None, "image": ""},
    "scaleIO": {"gateway": "", "system": "", "secretRef": None},
    "vsphereVolume": {"volumePath": ""},
}
"""Of sources. Where one of these fields is empty, an API server writes it all the same."""
_ALWAYS_OF_VOLUMES: Final[dict[str, dict[str, Any]]] = {
    **_ALWAYS,
    "azureFile": {"secretName": "", "shareName": "", "secretNamespace": None},
    "csi": {"driver": "", "volumeHandle": ""},
}
"""Of those of PersistentVolumes."""
_FILE: Final[dict[str, Any]] = {"fieldRef": {"fieldPath": ""}, "resourceFieldRef": {"resource": "", "divisor": "0"}}
_PROJECTED: Final[dict[str, dict[str, Any]]] = {
    "clusterTrustBundle": {"path": ""},
    "serviceAccountToken": {"path": ""},
}


def complete_volume(volume: dict[str, Any]) -> None:
    """``volume``: an entry of a pod's ``spec.volumes`` as ``to_manifest`` gives it; changed in place.

    One without a source stays so: whether it was a ConfigMap or a Secret is not known any more.
    """
    for name, source in volume.items():
        for key, value in _DEFAULTS.get(name, {}).items():
            if source.get(key) in (None, ""):
                source[key] = value
    if "emptyDir" in volume and "sizeLimit" in volume["emptyDir"]:
        volume["emptyDir"]["sizeLimit"] = canonical(volume["emptyDir"]["sizeLimit"])
    if "image" in volume and not volume["image"].get("pullPolicy"):
        volume["image"]["pullPolicy"] = pull_policy(str(volume["image"].get("reference", "")))
    if "projected" in volume:
        _complete_projected(volume["projected"])
    if "downwardAPI" in volume:
        _complete_files(volume["downwardAPI"])
    if (template := volume.get("ephemeral", {}).get("volumeClaimTemplate")) is not None:
        spec = template.setdefault("spec", {})
        spec.setdefault("volumeMode", "Filesystem")
        for amounts in spec.get("resources", {}).values():
            for key, raw in amounts.items():
                amounts[key] = canonical(raw)


def write_empty_fields(volume: dict[str, Any]) -> None:
    """Adds the fields that an API server writes even when they are empty; ``volume`` is changed in place.

    They are those of Go's types of the API, v1.VolumeSource (of PersistentVolumes v1.PersistentVolumeSource) and what
    it holds, without omitempty.
    """
    for name, fields in _ALWAYS.items():
        _write(volume.get(name), fields)
    _write_files(volume.get("downwardAPI"))
    for source in _objects(volume.get("projected"), "sources"):
        for name, fields in _PROJECTED.items():
            _write(source.get(name), fields)
        for name in ("configMap", "secret"):
            for item in _objects(source.get(name), "items"):
                _write(item, {"key": "", "path": ""})
        _write_files(source.get("downwardAPI"))
    ephemeral = volume.get("ephemeral")
    template = ephemeral.get("volumeClaimTemplate") if isinstance(ephemeral, dict) else None
    if isinstance(template, dict):
        template.setdefault("metadata", {})
        write_empty_fields_of_claim(template.setdefault("spec", {}))


def write_empty_fields_of_claim(spec: Any) -> None:
    """The same of the ``spec`` of a PersistentVolumeClaim."""
    _write(spec, {"resources": {}})
    if isinstance(spec, dict):
        for name in ("dataSource", "dataSourceRef"):
            _write(spec.get(name), {"apiGroup": None, "kind": "", "name": ""})


def write_empty_fields_of_volume(spec: Any) -> None:
    """The same of the ``spec`` of a PersistentVolume."""
    if isinstance(spec, dict):
        for name, fields in _ALWAYS_OF_VOLUMES.items():
            _write(spec.get(name), fields)


def _write_files(source: Any) -> None:
    for file in _objects(source, "items"):
        _write(file, {"path": ""})
        for name, fields in _FILE.items():
            _write(file.get(name), fields)


def _write(value: Any, fields: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, empty in fields.items():
            value.setdefault(key, dict(empty) if isinstance(empty, dict) else empty)


def _objects(value: Any, name: str) -> list[dict[str, Any]]:
    found = value.get(name) if isinstance(value, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _complete_projected(projected: dict[str, Any]) -> None:
    for source in projected.get("sources", ()):
        if "downwardAPI" in source:
            _complete_files(source["downwardAPI"])
        if "serviceAccountToken" in source:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)


def _complete_files(source: dict[str, Any]) -> None:
    for file in source.get("items", ()):
        if "fieldRef" in file:
            file["fieldRef"].setdefault("apiVersion", "v1")
        if "resourceFieldRef" in file:
            file["resourceFieldRef"]["divisor"] = canonical(file["resourceFieldRef"].get("divisor", "0"))


def canonical(raw: Any) -> Any:
    """A quantity as it is written again; what is none stays."""
    try:
        return str(parse_quantity(raw))
    except QuantityError:
        return raw


def pull_policy(image: str) -> str:
    """Upstream: pkg/apis/core/v1/defaults.go `SetDefaults_Container`."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if not digest and tag in ("", "latest") else "IfNotPresent"
