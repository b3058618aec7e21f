"""Volume sources that pods and PersistentVolumes share: disks that two pods cannot always share, those that a CSI
driver has taken over, and those by which pods are told apart (docs/semantics/framework.md#opportunistic-batching)."""

from __future__ import annotations

from msgspec import field

from framework.objects.further_volume_sources import LocalObjectReference
from framework.objects.metadata import Manifest, RawQuantity


class EmptyDirVolumeSource(Manifest, frozen=True, kw_only=True):
    medium: str = ""
    size_limit: RawQuantity | None = None


class HostPathVolumeSource(Manifest, frozen=True, kw_only=True):
    path: str = ""
    type: str | None = None


class NFSVolumeSource(Manifest, frozen=True, kw_only=True):
    server: str = ""
    path: str = ""
    read_only: bool = False


class GCEPersistentDiskVolumeSource(Manifest, frozen=True, kw_only=True):
    pd_name: str = ""
    fs_type: str = ""
    partition: int = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_id: str = field(name="volumeID", default="")
    fs_type: str = ""
    partition: int = 0
    read_only: bool = False


class ISCSIVolumeSource(Manifest, frozen=True, kw_only=True):
    target_portal: str = ""
    iqn: str = ""
    lun: int = 0
    iscsi_interface: str = "default"
    fs_type: str = ""
    read_only: bool = False
    portals: tuple[str, ...] = ()
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    secret_ref: LocalObjectReference | None = None
    initiator_name: str | None = None


class RBDVolumeSource(Manifest, frozen=True, kw_only=True):
    monitors: tuple[str, ...] = ()
    image: str = ""
    fs_type: str = ""
    pool: str = "rbd"
    user: str = "admin"
    keyring: str = "/etc/ceph/keyring"
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False


class AzureDiskVolumeSource(Manifest, frozen=True, kw_only=True):
    disk_name: str = ""
    disk_uri: str = field(name="diskURI", default="")
    # nil is a managed disk.
    disk_kind: str | None = field(name="kind", default=None)
    caching_mode: str = "ReadWrite"
    fs_type: str = "ext4"
    read_only: bool | None = None


class AzureFileVolumeSource(Manifest, frozen=True, kw_only=True):
    secret_name: str = ""
    share_name: str = ""
    read_only: bool = False


class AzureFilePersistentVolumeSource(Manifest, frozen=True, kw_only=True):
    secret_name: str = ""
    share_name: str = ""
    secret_namespace: str | None = None
    read_only: bool = False


class CinderVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_id: str = field(name="volumeID", default="")
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None


class VsphereVirtualDiskVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_path: str = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = field(name="storagePolicyID", default="")


class PortworxVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_id: str = field(name="volumeID", default="")
    fs_type: str = ""
    read_only: bool = False
