"""Which PersistentVolume a claim takes, as far as it does not depend on nodes (upstream component-helpers,
FindMatchingVolume): asked by the volume controller for any node, and by VolumeBinding before it looks at nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from framework.objects.claims import capacity_quantity, class_of_claim, class_of_volume, is_bound_to, requested_quantity
from framework.objects.selectors import EVERYTHING, SelectorError, compile_label_selector
from framework.objects.storage import PersistentVolume, PersistentVolumeClaim

FILESYSTEM: Final = "Filesystem"


class ClaimFit:
    """What a claim asks of volumes. Raises SelectorError."""

    def __init__(self, claim: PersistentVolumeClaim) -> None:
        spec = claim.spec
        self.claim = claim
        self._selector = EVERYTHING if spec.selector is None else compile_label_selector(spec.selector)
        self._requested = requested_quantity(claim).nanos
        self._mode = spec.volume_mode or FILESYSTEM
        self._attributes = spec.volume_attributes_class_name or ""

    def kind_of(self, volume: PersistentVolume) -> Literal["pre-bound", "free", ""]:
        """ "" when the claim cannot take it. A volume that names the claim need not be available, nor be selected.

        The class is not looked at: callers know it.
        """
        offered = volume.spec
        bound = is_bound_to(volume, self.claim)
        if offered.claim_ref is not None and not bound:
            return ""
        if (
            capacity_quantity(volume).nanos < self._requested
            or (offered.volume_mode or FILESYSTEM) != self._mode
            or (offered.volume_attributes_class_name or "") != self._attributes
            or volume.metadata.deletion_timestamp is not None
        ):
            return ""
        if bound:
            return "pre-bound"
        suits = (
            volume.status.phase == "Available"
            and self._selector.matches(volume.metadata.labels)
            and all(mode in offered.access_modes for mode in self.claim.spec.access_modes)
        )
        return "free" if suits else ""


def find_volume(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, pre_bound_only: bool
) -> PersistentVolume | None:
    """One that names the claim, else the smallest; equals by name. None also for a selector that cannot be read."""
    try:
        fit = ClaimFit(claim)
    except SelectorError:
        return None
    name = class_of_claim(claim)
    best: tuple[tuple[bool, int, str], PersistentVolume] | None = None
    for volume in volumes:
        kind = fit.kind_of(volume)
        if not kind or class_of_volume(volume) != name or (pre_bound_only and kind == "free"):
            continue
        size = 0 if kind == "pre-bound" else capacity_quantity(volume).nanos
        rank = (kind == "free", size, volume.metadata.name)
        if best is None or rank < best[0]:
            best = rank, volume
    return None if best is None else best[1]
