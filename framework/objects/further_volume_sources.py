"""Volume sources that no plugin reads: batching tells pods apart by them, and extenders are sent them
(docs/semantics/framework.md#opportunistic-batching).

A default is what the API server fills in, so that a source says the same with and without it. Upstream:
pkg/apis/core/v1/defaults.go `SetDefaults_ProjectedVolumeSource`, `SetDefaults_DownwardAPIVolumeSource`,
`SetDefaults_ServiceAccountTokenProjection`.
"""

from __future__ import annotations

from msgspec import field

from framework.objects.metadata import LabelSelector, Manifest, RawQuantity

_READABLE = 0o644


class LocalObjectReference(Manifest, frozen=True, kw_only=True):
    """A Secret in the pod's namespace."""

    name: str = ""


class ObjectFieldSelector(Manifest, frozen=True, kw_only=True):
    api_version: str = "v1"
    field_path: str = ""


class ResourceFieldSelector(Manifest, frozen=True, kw_only=True):
    container_name: str = ""
    resource: str = ""
    divisor: RawQuantity = "0"


class DownwardAPIVolumeFile(Manifest, frozen=True, kw_only=True):
    path: str = ""
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: int | None = None


class DownwardAPIVolumeSource(Manifest, frozen=True, kw_only=True):
    items: tuple[DownwardAPIVolumeFile, ...] = ()
    default_mode: int = _READABLE


class KeyToPath(Manifest, frozen=True, kw_only=True):
    key: str = ""
    path: str = ""
    mode: int | None = None


class SecretProjection(Manifest, frozen=True, kw_only=True):
    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


class ConfigMapProjection(Manifest, frozen=True, kw_only=True):
    name: str = ""
    items: tuple[KeyToPath, ...] = ()
    optional: bool | None = None


class DownwardAPIProjection(Manifest, frozen=True, kw_only=True):
    items: tuple[DownwardAPIVolumeFile, ...] = ()


class ServiceAccountTokenProjection(Manifest, frozen=True, kw_only=True):
    audience: str = ""
    expiration_seconds: int = 3600
    path: str = ""


class ClusterTrustBundleProjection(Manifest, frozen=True, kw_only=True):
    name: str | None = None
    signer_name: str | None = None
    label_selector: LabelSelector | None = None
    optional: bool | None = None
    path: str = ""


class PodCertificateProjection(Manifest, frozen=True, kw_only=True):
    signer_name: str = ""
    key_type: str = ""
    max_expiration_seconds: int | None = None
    credential_bundle_path: str = ""
    key_path: str = ""
    certificate_chain_path: str = ""
    user_annotations: dict[str, str] = field(default_factory=dict)


class VolumeProjection(Manifest, frozen=True, kw_only=True):
    secret: SecretProjection | None = None
    downward_api: DownwardAPIProjection | None = field(name="downwardAPI", default=None)
    config_map: ConfigMapProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    pod_certificate: PodCertificateProjection | None = None


class ProjectedVolumeSource(Manifest, frozen=True, kw_only=True):
    sources: tuple[VolumeProjection, ...] = ()
    default_mode: int = _READABLE


class FCVolumeSource(Manifest, frozen=True, kw_only=True):
    target_wwns: tuple[str, ...] = field(name="targetWWNs", default=())
    lun: int | None = None
    fs_type: str = ""
    read_only: bool = False
    wwids: tuple[str, ...] = ()


class GlusterfsVolumeSource(Manifest, frozen=True, kw_only=True):
    endpoints: str = ""
    path: str = ""
    read_only: bool = False


class CephFSVolumeSource(Manifest, frozen=True, kw_only=True):
    monitors: tuple[str, ...] = ()
    path: str = ""
    user: str = ""
    secret_file: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False


class GitRepoVolumeSource(Manifest, frozen=True, kw_only=True):
    repository: str = ""
    revision: str = ""
    directory: str = ""


class FlexVolumeSource(Manifest, frozen=True, kw_only=True):
    driver: str = ""
    fs_type: str = ""
    secret_ref: LocalObjectReference | None = None
    read_only: bool = False
    options: dict[str, str] = field(default_factory=dict)


class FlockerVolumeSource(Manifest, frozen=True, kw_only=True):
    dataset_name: str = ""
    dataset_uuid: str = field(name="datasetUUID", default="")


class QuobyteVolumeSource(Manifest, frozen=True, kw_only=True):
    registry: str = ""
    volume: str = ""
    read_only: bool = False
    user: str = ""
    group: str = ""
    tenant: str = ""


class PhotonPersistentDiskVolumeSource(Manifest, frozen=True, kw_only=True):
    pd_id: str = field(name="pdID", default="")
    fs_type: str = ""


class ScaleIOVolumeSource(Manifest, frozen=True, kw_only=True):
    gateway: str = ""
    system: str = ""
    secret_ref: LocalObjectReference | None = None
    ssl_enabled: bool = False
    protection_domain: str = ""
    storage_pool: str = ""
    storage_mode: str = "ThinProvisioned"
    volume_name: str = ""
    fs_type: str = "xfs"
    read_only: bool = False


class StorageOSVolumeSource(Manifest, frozen=True, kw_only=True):
    volume_name: str = ""
    volume_namespace: str = ""
    fs_type: str = ""
    read_only: bool = False
    secret_ref: LocalObjectReference | None = None
