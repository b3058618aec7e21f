"""Placed pods that have volumes which matter beyond their own pod, by node: claims and in-tree disks.

Pulls from the snapshot's log of placements. Most pods have no such volume and cost one look each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from framework.interface.node_info import PodInfo

if TYPE_CHECKING:
    from framework.columns.snapshot import Snapshot

_NOBODY: tuple[PodInfo, ...] = ()


class PodsWithVolumes:
    """Implements ``framework.interface.columns.VolumeUsers``."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._position = -1
        self._rows: dict[int, dict[str, PodInfo]] = {}
        self._claims: dict[tuple[str, str], int] = {}

    def _refresh(self) -> None:
        placements = self._snapshot.placements
        if self._position == placements.version:
            return
        entries = placements.since(self._position) if self._position >= 0 else None
        self._position = placements.version
        if entries is not None:
            for row, pod, sign in entries:
                self._place(row, pod, sign)
            return
        self._rows, self._claims = {}, {}
        for row in range(self._snapshot.row_count):
            info = self._snapshot.info_of_row(row)
            for pod in info.pods if info is not None else _NOBODY:
                self._place(row, pod, 1)

    def _place(self, row: int, pod: PodInfo, sign: int) -> None:
        if not pod.pod.spec.volumes or not pod.has_shared_volumes:
            return
        if sign > 0:
            self._rows.setdefault(row, {})[pod.uid] = pod
        else:
            pods = self._rows[row]
            del pods[pod.uid]
            if not pods:
                del self._rows[row]
        namespace = pod.pod.metadata.namespace
        for volume in pod.pod.spec.volumes:
            if volume.persistent_volume_claim is not None:
                key = namespace, volume.persistent_volume_claim.claim_name
                count = self._claims.get(key, 0) + sign
                if count:
                    self._claims[key] = count
                else:
                    del self._claims[key]

    def rows(self) -> Collection[int]:
        self._refresh()
        return self._rows.keys()

    def on_row(self, row: int) -> Iterable[PodInfo]:
        self._refresh()
        pods = self._rows.get(row)
        return _NOBODY if pods is None else pods.values()

    def claim_in_use(self, namespace: str, name: str) -> bool:
        self._refresh()
        return (namespace, name) in self._claims
