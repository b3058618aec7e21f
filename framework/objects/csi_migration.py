"""In-tree volumes as the CSI volumes that took their place (upstream: csi-translation-lib).

Only what scheduling reads of a translation is made: driver, volume handle, node affinity and access modes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from framework.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.pod import Volume
from framework.objects.storage import CSIPersistentVolumeSource, PersistentVolume, VolumeNodeAffinity

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
ZONE_DELIMITER: Final = "__"
MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"
"""Annotation of a CSINode: the in-tree plugins that its kubelet has handed over, separated by commas."""
AZURE_FILE_RESOURCE_GROUP: Final = "kubernetes.io/azure-file-resource-group"
"""Annotation of a PersistentVolume."""
_UNSPECIFIED: Final = "UNSPECIFIED"


class TranslationError(ValueError):
    """A volume that has no equivalent; the text is upstream's."""


@dataclass(frozen=True, slots=True)
class MigratedPlugin:
    name: str
    """``kubernetes.io/…``: the provisioner's name, too."""
    driver: str
    source: str
    """The field of a Volume and of a PersistentVolume's spec."""
    inline_handle: Callable[[Volume, str], str]
    """(volume, the pod's namespace) → volume handle."""
    volume_handle: Callable[[PersistentVolume], str]
    topology: tuple[tuple[str, str], ...] = ()
    """("zone" or "region", topology key of the driver)."""
    always_on: bool = True
    """Whether the scheduler's own switch (upstream ``isCSIMigrationOn…``) knows the plugin."""


def _ebs_volume_id(volume_id: str) -> str:
    """``aws://<zone>/vol-…`` → ``vol-…``; a bare id stays."""
    if not volume_id.startswith("aws://"):
        return volume_id
    path = re.split("[?#]", volume_id.removeprefix("aws://"), maxsplit=1)[0].partition("/")[2].strip("/")
    if not re.fullmatch("vol-[^/]*", path):
        text = f"Invalid format for AWS volume ({volume_id})"
        raise TranslationError(f"failed to translate Kubernetes ID to EBS Volume ID {text}")
    return path


def _ebs_inline(volume: Volume, namespace: str) -> str:
    source = volume.aws_elastic_block_store
    assert source is not None
    return _ebs_volume_id(source.volume_id)


def _ebs(volume: PersistentVolume) -> str:
    source = volume.spec.aws_elastic_block_store
    assert source is not None
    return _ebs_volume_id(source.volume_id)


def _gce_inline(volume: Volume, namespace: str) -> str:
    source = volume.gce_persistent_disk
    assert source is not None
    return f"projects/{_UNSPECIFIED}/zones/{_UNSPECIFIED}/disks/{source.pd_name}"


def _gce(volume: PersistentVolume) -> str:
    source = volume.spec.gce_persistent_disk
    assert source is not None
    labels = volume.metadata.labels
    zones = (labels.get(BETA_ZONE) or labels.get(ZONE, "")).split(ZONE_DELIMITER)
    if len(zones) > 1:
        try:
            place = f"regions/{_gce_region(zones)}"
        except TranslationError as error:
            raise TranslationError(f"failed to get region from zones: {error}") from None
    else:
        place = f"zones/{zones[0] or _UNSPECIFIED}"
    return f"projects/{_UNSPECIFIED}/{place}/disks/{source.pd_name}"


def _gce_region(zones: Sequence[str]) -> str:
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            expected = "zone in unexpected format, expected: {locale}-{region}-{zone}, got: "
            raise TranslationError(expected + zone)
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        shown = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(f"multiple or no regions gotten from zones, got: map[{shown}]")
    return regions.pop()


def _azure_disk(disk_uri: str, kind: str | None) -> str:
    if kind is not None and kind.lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
    return disk_uri


def _azure_disk_inline(volume: Volume, namespace: str) -> str:
    source = volume.azure_disk
    assert source is not None
    return _azure_disk(source.disk_uri, source.disk_kind)


def _azure_disk_volume(volume: PersistentVolume) -> str:
    source = volume.spec.azure_disk
    assert source is not None
    return _azure_disk(source.disk_uri, source.disk_kind)


def _storage_account(secret: str) -> str:
    found = re.search("azure-storage-account-(.+)-secret", secret)
    return found[1] if found else secret


def _azure_file_inline(volume: Volume, namespace: str) -> str:
    source = volume.azure_file
    assert source is not None
    account = _storage_account(source.secret_name)
    return f"#{account}#{source.share_name}#{volume.name}#{namespace or 'default'}"


def _azure_file_volume(volume: PersistentVolume) -> str:
    source, claim = volume.spec.azure_file, volume.spec.claim_ref
    assert source is not None
    namespace = source.secret_namespace
    if namespace is None:
        namespace = claim.namespace if claim is not None else ""
    if not namespace:
        raise TranslationError("could not find a secret namespace in PersistentVolumeSource or ClaimRef")
    group = volume.metadata.annotations.get(AZURE_FILE_RESOURCE_GROUP, "")
    account = _storage_account(source.secret_name)
    return f"{group}#{account}#{source.share_name}#{volume.metadata.name}#{namespace}"


def _cinder_inline(volume: Volume, namespace: str) -> str:
    assert volume.cinder is not None
    return volume.cinder.volume_id


def _cinder(volume: PersistentVolume) -> str:
    assert volume.spec.cinder is not None
    return volume.spec.cinder.volume_id


def _vsphere_inline(volume: Volume, namespace: str) -> str:
    assert volume.vsphere_volume is not None
    return volume.vsphere_volume.volume_path


def _vsphere(volume: PersistentVolume) -> str:
    assert volume.spec.vsphere_volume is not None
    return volume.spec.vsphere_volume.volume_path


def _portworx_inline(volume: Volume, namespace: str) -> str:
    assert volume.portworx_volume is not None
    return volume.portworx_volume.volume_id


def _portworx(volume: PersistentVolume) -> str:
    assert volume.spec.portworx_volume is not None
    return volume.spec.portworx_volume.volume_id


PLUGINS: Final = (
    MigratedPlugin(
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
        "gce_persistent_disk",
        _gce_inline,
        _gce,
        (("zone", "topology.gke.io/zone"),),
    ),
    MigratedPlugin(
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        "aws_elastic_block_store",
        _ebs_inline,
        _ebs,
        (("zone", "topology.ebs.csi.aws.com/zone"),),
    ),
    MigratedPlugin(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "cinder",
        _cinder_inline,
        _cinder,
        (("zone", "topology.cinder.csi.openstack.org/zone"),),
    ),
    MigratedPlugin(
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        "azure_disk",
        _azure_disk_inline,
        _azure_disk_volume,
    ),
    MigratedPlugin(
        "kubernetes.io/azure-file",
        "file.csi.azure.com",
        "azure_file",
        _azure_file_inline,
        _azure_file_volume,
        always_on=False,
    ),
    MigratedPlugin(
        "kubernetes.io/vsphere-volume",
        "csi.vsphere.vmware.com",
        "vsphere_volume",
        _vsphere_inline,
        _vsphere,
        (("zone", "topology.csi.vmware.com/zone"), ("region", "topology.csi.vmware.com/region")),
        always_on=False,
    ),
    MigratedPlugin(
        "kubernetes.io/portworx-volume",
        "pxd.portworx.com",
        "portworx_volume",
        _portworx_inline,
        _portworx,
    ),
)
_BY_NAME: Final = {plugin.name: plugin for plugin in PLUGINS}


def plugin_named(name: str) -> MigratedPlugin | None:
    return _BY_NAME.get(name)


def plugin_of_inline(volume: Volume) -> MigratedPlugin | None:
    """What handles an inline volume of a pod; None when it is not an in-tree volume that can be migrated."""
    return next((plugin for plugin in PLUGINS if getattr(volume, plugin.source) is not None), None)


def plugin_of_volume(volume: PersistentVolume) -> MigratedPlugin | None:
    return next((plugin for plugin in PLUGINS if getattr(volume.spec, plugin.source) is not None), None)


def translated(volume: PersistentVolume, plugin: MigratedPlugin) -> PersistentVolume:
    """The CSI volume that takes the place of an in-tree one. Raises TranslationError."""
    spec = volume.spec
    handle = plugin.volume_handle(volume)
    required = spec.node_affinity.required if spec.node_affinity is not None else None
    affinity = spec.node_affinity
    if plugin.topology:
        terms = _translated_terms(volume, required, plugin.topology)
        if required is None or terms != required.node_selector_terms:
            affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms)) if terms else affinity
    csi = CSIPersistentVolumeSource(driver=plugin.driver, volume_handle=handle)
    changes = {plugin.source: None, "csi": csi, "node_affinity": affinity}
    return replace(volume, spec=replace(spec, **changes))


Terms = tuple[NodeSelectorTerm, ...]


def _translated_terms(
    volume: PersistentVolume, required: NodeSelector | None, topology: tuple[tuple[str, str], ...]
) -> Terms:
    """In-tree topology goes before the volume's labels; regions of most drivers only lose their beta name."""
    terms: Terms = required.node_selector_terms if required is not None else ()
    labels = volume.metadata.labels
    zone, region = _topology_labels(terms, labels)
    keys = dict(topology)
    if _values(terms, zone):
        terms = _renamed(terms, zone, keys["zone"])
    elif zone in labels:
        zones = [labels[zone]] if "region" in keys else labels[zone].split(ZONE_DELIMITER)
        terms = _with_topology(terms, keys["zone"], zones)
    if "region" in keys:
        if _values(terms, region):
            terms = _renamed(terms, region, keys["region"])
        elif region in labels:
            terms = _with_topology(terms, keys["region"], [labels[region]])
    elif region == BETA_REGION and _values(terms, region):
        terms = _renamed(terms, region, REGION)
    return terms


def _topology_labels(terms: Terms, labels: dict[str, str]) -> tuple[str, str]:
    """Which generation of zone and region labels the volume uses: its affinity says first, then its labels."""
    used = {expression.key for term in terms for expression in term.match_expressions}
    for names in (used, labels):
        if ZONE in names:
            return ZONE, REGION
        if BETA_ZONE in names:
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _values(terms: Terms, key: str) -> bool:
    return any(each.key == key and each.values for term in terms for each in term.match_expressions)


def _renamed(terms: Terms, old: str, new: str) -> Terms:
    return tuple(
        replace(
            term,
            match_expressions=tuple(
                replace(each, key=new) if each.key == old else each for each in term.match_expressions
            ),
        )
        for term in terms
    )


def _with_topology(terms: Terms, key: str, zones: Sequence[str]) -> Terms:
    """Every term also asks for one of the zones; without a zone worth the name nothing changes."""
    wanted = tuple(sorted({zone.strip() for zone in zones} - {""}))
    if not wanted:
        return terms
    more = NodeSelectorRequirement(key=key, operator="In", values=wanted)
    return tuple(
        replace(term, match_expressions=(*term.match_expressions, more)) for term in terms or (NodeSelectorTerm(),)
    )
