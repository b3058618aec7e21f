"""From a decision to bound claims (docs/semantics/volumes.md#volumebinding)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from msgspec.structs import replace

from framework.interface import Handle
from framework.objects import CSINode, Node, PersistentVolume, PersistentVolumeClaim, Pod
from framework.objects.claims import BOUND_BY_CONTROLLER, SELECTED_NODE, is_bound_to, is_fully_bound
from framework.objects.csi_migration import MIGRATED_PLUGINS, TranslationError, plugin_of_volume, translated
from framework.objects.storage import ObjectReference
from framework.plugins.volumebinding.assume_cache import AssumeCaches, OutOfSync
from framework.plugins.volumebinding.node_sets import volume_affinity
from framework.plugins.volumebinding.pod_claims import Match, PodVolumes, Provision, all_claims_bound


class BindingError(RuntimeError):
    """The text is upstream's."""


@dataclass(slots=True)
class ReservedVolumes:
    """What Reserve assumed. ``volumes`` None: Filter found nothing to do for the node."""

    volumes: PodVolumes | None
    all_bound: bool

    def clone(self) -> Self:
        return self


def bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume bound to the claim; the same object when it is already (upstream GetBindVolumeToClaim)."""
    changed = volume
    ref = volume.spec.claim_ref
    mine = (claim.metadata.name, claim.metadata.namespace, claim.metadata.uid)
    if ref is None or (ref.name, ref.namespace, ref.uid) != mine:
        named = ObjectReference(
            api_version=claim.api_version,
            kind=claim.kind,
            namespace=claim.metadata.namespace,
            name=claim.metadata.name,
            uid=claim.metadata.uid,
            resource_version=claim.metadata.resource_version,
        )
        changed = replace(changed, spec=replace(changed.spec, claim_ref=named))
    if not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in volume.metadata.annotations:
        annotations = {**volume.metadata.annotations, BOUND_BY_CONTROLLER: "yes"}
        changed = replace(changed, metadata=replace(changed.metadata, annotations=annotations))
    return changed


class Binder:
    def __init__(self, handle: Handle, caches: AssumeCaches) -> None:
        self._handle = handle
        self._caches = caches

    def assume(self, pod: Pod, node_name: str, volumes: PodVolumes) -> ReservedVolumes:
        """Raises OutOfSync; then nothing is assumed."""
        if all_claims_bound(self._caches.claims, pod):
            return ReservedVolumes(volumes, all_bound=True)
        matches: list[Match] = []
        provisions: list[Provision] = []
        try:
            for match in volumes.matches:
                volume = bound_to(match.volume, match.claim)
                if volume is not match.volume:
                    self._caches.volumes.assume(volume)
                matches.append(Match(volume, match.claim))
            for provision in volumes.provisions:
                metadata = provision.claim.metadata
                annotations = {**metadata.annotations, SELECTED_NODE: node_name}
                claim = replace(provision.claim, metadata=replace(metadata, annotations=annotations))
                self._caches.claims.assume(claim)
                provisions.append(Provision(claim))
        except OutOfSync:
            self.revert(PodVolumes(tuple(matches), tuple(provisions)))
            raise
        return ReservedVolumes(PodVolumes(tuple(matches), tuple(provisions)), all_bound=False)

    def revert(self, volumes: PodVolumes) -> None:
        for match in volumes.matches:
            self._caches.volumes.restore(match.volume)
        for provision in volumes.provisions:
            self._caches.claims.restore(provision.claim)

    def write(self, volumes: PodVolumes) -> None:
        """Volumes first, then claims; the first write that fails ends it. Raises BindingError.

        What is written stays written. What is not is no longer assumed, but where a write has no answer yet.
        """
        matches, provisions = list(volumes.matches), list(volumes.provisions)
        try:
            while matches:
                self._put(matches[0].volume)
                del matches[0]
            while provisions:
                self._put(provisions[0].claim)
                del provisions[0]
        except Exception:
            self.revert(PodVolumes(tuple(matches), tuple(provisions)))
            raise

    def _put(self, obj: PersistentVolume | PersistentVolumeClaim) -> None:
        error = self._handle.api.update(obj)
        if error is not None:
            raise BindingError(error)

    def is_done(self, pod: Pod, volumes: PodVolumes) -> bool:
        """Whether the controllers have bound everything. Raises BindingError when they never will."""
        node_name = pod.spec.node_name
        node = self._handle.objects.get(Node, "", node_name)
        if node is None:
            raise BindingError(f'failed to get node "{node_name}": node "{node_name}" not found')
        namespace, name = pod.metadata.namespace, pod.metadata.name
        if self._handle.objects.get(Pod, namespace, name) is None:
            raise BindingError(f'pod does not exist any more: pod "{name}" not found')
        return all(self._is_matched(match, node) for match in volumes.matches) and all(
            self._is_provisioned(provision, node) for provision in volumes.provisions
        )

    def _is_matched(self, match: Match, node: Node) -> bool:
        volume = self._caches.volumes.stored("", match.volume.metadata.name)
        if volume is None:
            raise BindingError(f'failed to check binding: persistentvolumes "{match.volume.metadata.name}" not found')
        claim = self._caches.claims.stored(match.claim.metadata.namespace, match.claim.metadata.name)
        if claim is None:
            raise BindingError(f'failed to check binding: persistentvolumeclaims "{match.claim.key}" not found')
        self._check_affinity(volume, node, "failed to translate pv to csi: ")
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise BindingError(f'ClaimRef got reset for pv "{volume.metadata.name}"')
        return is_fully_bound(claim)

    def _is_provisioned(self, provision: Provision, node: Node) -> bool:
        key = provision.claim.key
        claim = self._caches.claims.stored(provision.claim.metadata.namespace, provision.claim.metadata.name)
        if claim is None:
            raise BindingError(f'failed to check provisioning pvc: persistentvolumeclaims "{key}" not found')
        name = claim.metadata.name
        if not claim.metadata.annotations:
            raise BindingError(f'selectedNode annotation reset for PVC "{name}"')
        if claim.metadata.annotations.get(SELECTED_NODE) != node.metadata.name:
            raise BindingError(f'provisioning failed for PVC "{name}"')
        if claim.spec.volume_name:
            volume = self._caches.volumes.stored("", claim.spec.volume_name)
            if volume is None:
                return False
            self._check_affinity(volume, node, "")
        return is_fully_bound(claim)

    def _check_affinity(self, volume: PersistentVolume, node: Node, when: str) -> None:
        plugin = plugin_of_volume(volume)
        if plugin is not None and plugin.always_on:
            csi_node = self._handle.objects.get(CSINode, "", node.metadata.name)
            migrated = "" if csi_node is None else csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "")
            if plugin.name in migrated.split(","):
                try:
                    volume = translated(volume, plugin)
                except TranslationError as error:
                    raise BindingError(f"{when}could not translate pv: {error}") from None
        affinity = volume.spec.node_affinity
        matcher = volume_affinity(affinity.required if affinity is not None else None)
        if not matcher.matches(node.metadata.labels, ""):
            names = f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node.metadata.name}"'
            raise BindingError(f"{names}: {_mismatch(matcher.errors)}")


def _mismatch(errors: tuple[object, ...]) -> str:
    """The parse errors of the affinity, if it has any (upstream LazyErrorNodeSelector.Match)."""
    if not errors:
        return "no matching NodeSelectorTerms"
    texts = [getattr(error, "text", str(error)) for error in errors]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
