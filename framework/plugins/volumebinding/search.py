"""Every node against a pod's claims at once (docs/semantics/volumes.md#volumebinding).

bound claims → claims that wait for a node → claims to match → claims to provision; a node's verdict is a set of bits,
one per reason, in upstream's order.
"""

from __future__ import annotations

from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import Code, ObjectStore, Reason, View
from framework.objects import CSINode, PersistentVolume, PersistentVolumeClaim
from framework.objects.claims import SELECTED_NODE
from framework.objects.csi_migration import (
    MIGRATED_PLUGINS,
    MigratedPlugin,
    TranslationError,
    plugin_of_volume,
    translated,
)
from framework.plugins.volumebinding.assume_cache import AssumeCaches
from framework.plugins.volumebinding.matching import NodeGroups, class_candidates, match
from framework.plugins.volumebinding.node_sets import NodeSets, volume_affinity
from framework.plugins.volumebinding.pod_claims import Match, PodClaims, PodVolumes, Provision
from framework.plugins.volumebinding.provisioning import Provisioning, provisioning

NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, NO_VOLUME, ERROR = 1, 2, 4, 8, 16
TEXTS: Final = (
    (NODE_CONFLICT, "node(s) didn't match PersistentVolume's node affinity"),
    (BIND_CONFLICT, "node(s) didn't find available persistent volumes to bind"),
    (NOT_ENOUGH_SPACE, "node(s) did not have enough free storage"),
    (NO_VOLUME, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
)
Mask = NDArray[np.bool_]
Left = tuple[PersistentVolumeClaim, ...]


class VolumeSearch:
    """``codes``: a verdict per row. Kept in the cycle's state until a node is chosen."""

    transient: ClassVar[bool] = True

    def __init__(self, objects: ObjectStore, caches: AssumeCaches, claims: PodClaims, view: View) -> None:
        self._objects = objects
        self._caches = caches
        self._nodes = NodeSets(view)
        self._names = view.name().gather(None)
        self._errors: list[str] = []
        self._provisioning: list[tuple[PersistentVolumeClaim, Provisioning]] = []
        self._outcomes: list[tuple[tuple[Match, ...], Left]] = []
        self._outcome_of_row = np.zeros(self._nodes.count, dtype=np.intp)
        self.codes = np.zeros(self._nodes.count, dtype=np.int32)
        if claims.bound:
            self._check_bound(claims.bound)
        if claims.delayed:
            self._find(claims.delayed)

    def clone(self) -> Self:
        return self

    def reason(self, code: int) -> Reason:
        if code >= ERROR:
            return Reason(Code.ERROR, (self._errors[code // ERROR - 1],))
        texts = tuple(text for bit, text in TEXTS if code & bit)
        return Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, texts)

    def volumes(self, row: int) -> PodVolumes | None:
        """What binding to this node would do; None when it cannot be done."""
        if self.codes[row]:
            return None
        if not self._outcomes:
            return PodVolumes()
        matches, left = self._outcomes[int(self._outcome_of_row[row])]
        provisions = tuple(Provision(claim, self._provisioning_of(claim).capacity_at(row)) for claim in left)
        return PodVolumes(matches, provisions)

    def _fail(self, rows: Mask, text: str) -> None:
        """An error takes the place of whatever else was found."""
        self._errors.append(text)
        self.codes[rows] = ERROR * len(self._errors)

    # --- bound claims -----------------------------------------------------------------------------------------------

    def _check_bound(self, claims: Left) -> None:
        """The first claim that does not suit a node settles it."""
        undecided = np.ones(self._nodes.count, dtype=np.bool_)
        for claim in claims:
            volume = self._caches.volumes.get("", claim.spec.volume_name)
            if volume is None:
                self.codes[undecided] = NO_VOLUME
                return
            matches, broken, text = self._suited(volume)
            if text:
                self._fail(undecided & broken, text)
            self.codes[undecided & ~matches & ~broken] = NODE_CONFLICT
            undecided &= matches & ~broken

    def _suited(self, volume: PersistentVolume) -> tuple[Mask, Mask, str]:
        """(nodes that suit it, nodes on which it cannot be translated to CSI, why)."""
        matches = self._affinity(volume)
        nowhere = np.zeros(self._nodes.count, dtype=np.bool_)
        plugin = plugin_of_volume(volume)
        if plugin is None or not plugin.always_on:
            return matches, nowhere, ""
        migrated = self._migrated(plugin)
        if not migrated.any():
            return matches, nowhere, ""
        try:
            there = self._affinity(translated(volume, plugin))
        except TranslationError as error:
            return matches, migrated, f"could not translate pv: {error}"
        return np.where(migrated, there, matches), nowhere, ""

    def _affinity(self, volume: PersistentVolume) -> Mask:
        affinity = volume.spec.node_affinity
        return self._nodes.column(self._nodes.rows(volume_affinity(affinity.required if affinity else None)))

    def _migrated(self, plugin: MigratedPlugin) -> Mask:
        """Nodes whose CSINode says that its kubelet has handed the plugin over."""
        names = [
            node.metadata.name
            for node in self._objects.list(CSINode)
            if plugin.name in node.metadata.annotations.get(MIGRATED_PLUGINS, "").split(",")
        ]
        return self._named(frozenset(names))

    def _named(self, names: frozenset[str]) -> Mask:
        table = np.array([*(name in names for name in self._names.values), False], dtype=np.bool_)
        result: Mask = table[self._names.codes]
        return result

    # --- claims that wait for their first consumer ------------------------------------------------------------------

    def _find(self, delayed: Left) -> None:
        active = self.codes < ERROR
        selected: list[PersistentVolumeClaim] = []
        to_match: list[PersistentVolumeClaim] = []
        for claim in delayed:
            node_name = claim.metadata.annotations.get(SELECTED_NODE)
            if node_name is None:
                to_match.append(claim)
                continue
            selected.append(claim)
            there = self._named(frozenset((node_name,)))
            self.codes[active & ~there] |= BIND_CONFLICT
            active &= there
        groups = NodeGroups(self._nodes)
        try:
            wanted = class_candidates(to_match, self._caches.volumes.list() if to_match else (), groups)
        except RuntimeError as error:
            self._fail(active, str(error))
            return
        self._outcome_of_row, signatures = groups.groups()
        for signature in signatures:
            matches, left = match(wanted, signature)
            self._outcomes.append((matches, (*selected, *left)))
        lefts: dict[tuple[int, ...], list[int]] = {}
        for number, (_, claims) in enumerate(self._outcomes):
            if claims:
                lefts.setdefault(tuple(map(id, claims)), []).append(number)
        for numbers in lefts.values():
            chosen = np.zeros(len(self._outcomes), dtype=np.bool_)
            chosen[numbers] = True
            self._check_provisions(self._outcomes[numbers[0]][1], active & chosen[self._outcome_of_row])

    def _check_provisions(self, claims: Left, rows: Mask) -> None:
        """The first claim that cannot be provisioned settles a node: not by this class, or not enough room."""
        undecided = rows.copy()
        for claim in claims:
            found = self._provisioning_of(claim)
            if found.error is not None:
                self._fail(undecided, found.error)
                return
            self.codes[undecided & ~found.allowed] |= BIND_CONFLICT
            undecided &= found.allowed
            self.codes[undecided & ~found.sufficient] |= NOT_ENOUGH_SPACE
            undecided &= found.sufficient

    def _provisioning_of(self, claim: PersistentVolumeClaim) -> Provisioning:
        for known, found in self._provisioning:
            if known is claim:
                return found
        found = provisioning(self._objects, claim, self._nodes)
        self._provisioning.append((claim, found))
        return found
