"""Where a pod's volumes are, or can be: which nodes a volume can be used on, and where one can be had for a claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.objects import Node, PersistentVolume
from framework.objects.decode import decode_manifest
from framework.objects.quantity import parse_quantity
from framework.objects.selectors import compile_node_selector
from schedweb.runs.objects.claims import WAITS_FOR_POD, Manifest, Objects, VolumeClaim
from schedweb.runs.objects.selectors import OLD_ZONE, ZONE

MAKES_NONE: Final = "kubernetes.io/no-provisioner"
_TOPOLOGY: Final[tuple[tuple[str, str], ...]] = (
    (ZONE, OLD_ZONE),
    ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"),
)


@dataclass(frozen=True)
class Unbound:
    """A claim that is bound when its pod has a node, and can be in some places only."""

    claim: VolumeClaim
    volumes: list[Manifest]
    """Free ones that fit it."""
    terms: list[Manifest]
    """Where its class makes one: allowedTopologies."""

    def reaches(self, node: Node) -> bool:
        return any(reaches(read_volume(each), node) for each in self.volumes) or any(
            all(
                node.metadata.labels.get(str(each.get("key"))) in (each.get("values") or [])
                for each in term.get("matchLabelExpressions") or []
            )
            for term in self.terms
        )


def where_it_can_be(claim: VolumeClaim, objects: Objects) -> Unbound | None:
    """None of a claim that is bound, or can be had anywhere or nowhere, or of which that is not known."""
    if claim.claim is None or claim.volume_name or claim.mode != WAITS_FOR_POD or claim.storage_class is None:
        return None
    if claim.claim.get("spec", {}).get("selector"):
        return None
    terms = list(claim.storage_class.get("allowedTopologies") or [])
    makes = claim.driver != MAKES_NONE
    if makes and not terms:
        return None
    volumes = [each for each in objects.all("PersistentVolume") if fits(each, claim)]
    return Unbound(claim, volumes, terms if makes else []) if volumes or makes else None


def fits(volume: Manifest, claim: VolumeClaim) -> bool:
    """A free volume of the claim's class, as large as it asks, with its access modes."""
    spec, phase = volume.get("spec", {}), (volume.get("status") or {}).get("phase", "Available")
    if spec.get("claimRef") or phase != "Available" or str(spec.get("storageClassName") or "") != claim.class_name:
        return False
    modes = {str(mode) for mode in spec.get("accessModes") or []}
    mode = str(spec.get("volumeMode") or "Filesystem")
    if mode != str((claim.claim or {}).get("spec", {}).get("volumeMode") or "Filesystem"):
        return False
    size = parse_quantity((spec.get("capacity") or {}).get("storage") or 0).value()
    return size >= parse_quantity(claim.size or 0).value() and modes.issuperset(claim.access_modes)


def read_volume(manifest: Manifest) -> PersistentVolume:
    """Of a stored manifest, which was read once already."""
    volume = decode_manifest({"apiVersion": "v1", "kind": "PersistentVolume", **manifest})
    assert isinstance(volume, PersistentVolume)
    return volume


def reaches(volume: PersistentVolume, node: Node) -> bool:
    """By the volume's node affinity and its zone and region labels, which hold several values as ``a__b``.

    As VolumeZone, a node that has none of these labels takes every volume.
    """
    labels, affinity = node.metadata.labels, volume.spec.node_affinity
    required = compile_node_selector(affinity.required if affinity is not None else None)
    if not required.matches(labels, node.metadata.name):
        return False
    places = {key: labels[key] for pair in _TOPOLOGY for key in pair if key in labels}
    if not places:
        return True
    for new, old in _TOPOLOGY:
        for key in (new, old):
            allowed = volume.metadata.labels.get(key)
            if allowed is not None and places.get(key, places.get(new if key == old else old)) not in allowed.split(
                "__"
            ):
                return False
    return True
