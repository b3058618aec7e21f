"""Volume sources that pods and PersistentVolumes share: disks that two pods cannot always share, those that a CSI
driver has taken over, and those by which pods are told apart (docs/semantics/framework.md#opportunistic-batching)."""

from __future__ import annotations

from msgspec import field

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
    read_only: bool = False


class RBDVolumeSource(Manifest, frozen=True, kw_only=True):
    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = "rbd"
    read_only: bool = False


class AzureDiskVolumeSource(Manifest, frozen=True, kw_only=True):
    disk_name: str = ""
    disk_uri: str = field(name="diskURI", default="")
    # nil is a managed disk.
    disk_kind: str | None = field(name="kind", default=None)
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


class VsphereVirtualDiskVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_path: str = ""
    fs_type: str = ""


class PortworxVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_id: str = field(name="volumeID", default="")
    fs_type: str = ""
    read_only: bool = False
