"""Volumes for unbound claims (upstream component-helpers, FindMatchingVolume; ``binder.go``, findMatchingVolumes).

What does not depend on the node is decided once. Nodes that the same volumes' affinities select form a group, and the
claims take their volumes once per group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface.go_sort import go_sorted
from framework.objects import PersistentVolume, PersistentVolumeClaim
from framework.objects.claims import (
    capacity_quantity,
    class_of_claim,
    class_of_volume,
    requested_quantity,
)
from framework.objects.selectors import SelectorError
from framework.objects.volume_matching import ClaimFit
from framework.plugins.volumebinding.node_sets import NodeSets, RowSet, volume_affinity
from framework.plugins.volumebinding.pod_claims import Match

ANYWHERE: Final = -1
"""The set of a volume without node affinity."""

Signature = tuple[int, ...]
"""The sets of nodes that a node belongs to."""


@dataclass(slots=True)
class Candidates:
    """What one claim could take, by the set of nodes from which a volume can be used."""

    claim: PersistentVolumeClaim
    pre_bound: list[tuple[PersistentVolume, int]]
    """Volumes that name the claim, by name: the first decides, whether the node suits it or not."""
    free: dict[int, list[tuple[int, str, PersistentVolume]]]
    """Set → (capacity, name, volume), smallest first; equals by name, where upstream takes any."""


class NodeGroups:
    """The distinct node affinities of all candidates, numbered, and which nodes they select."""

    def __init__(self, nodes: NodeSets) -> None:
        self._nodes = nodes
        self._sets: dict[object, int] = {}
        self._rows: list[RowSet] = []

    def set_of(self, volume: PersistentVolume) -> int:
        affinity = volume.spec.node_affinity
        if affinity is None or affinity.required is None:
            return ANYWHERE
        matcher = volume_affinity(affinity.required)
        known = self._sets.get(matcher)
        if known is None:
            known = self._sets[matcher] = len(self._rows)
            self._rows.append(self._nodes.rows(matcher))
        return known

    def groups(self) -> tuple[NDArray[np.intp], list[Signature]]:
        """(row → number of its group, the groups' signatures)."""
        if not self._rows:
            return np.zeros(self._nodes.count, dtype=np.intp), [()]
        member: list[list[int]] = [[] for _ in range(self._nodes.count)]
        for number, rows in enumerate(self._rows):
            for row in rows.tolist():
                member[row].append(number)
        numbers: dict[Signature, int] = {}
        group = [numbers.setdefault(tuple(sets), len(numbers)) for sets in member]
        return np.array(group, dtype=np.intp), list(numbers)


def by_size(claims: Iterable[PersistentVolumeClaim]) -> list[PersistentVolumeClaim]:
    """Smallest request first, so that small claims do not take large volumes."""
    sized = [(requested_quantity(claim).nanos, claim) for claim in claims]
    return [claim for _, claim in go_sorted(sized, lambda a, b: a[0] < b[0])]


def candidates(claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume], groups: NodeGroups) -> Candidates:
    """``volumes``: all of the claim's class. Raises RuntimeError for a selector that cannot be read."""
    try:
        fit = ClaimFit(claim)
    except SelectorError as error:
        text = f"error creating internal label selector for claim: {claim.key}: {error}"
        raise RuntimeError(text) from None
    found = Candidates(claim, [], {})
    for volume in volumes:
        kind = fit.kind_of(volume)
        if kind == "pre-bound":
            found.pre_bound.append((volume, groups.set_of(volume)))
        elif kind:
            entry = (capacity_quantity(volume).nanos, volume.metadata.name, volume)
            found.free.setdefault(groups.set_of(volume), []).append(entry)
    found.pre_bound.sort(key=lambda each: each[0].metadata.name)
    for entries in found.free.values():
        entries.sort(key=lambda each: each[:2])
    return found


def match(wanted: Sequence[Candidates], signature: Signature) -> tuple[tuple[Match, ...], list[PersistentVolumeClaim]]:
    """(claims with their volumes, claims that are left), for a node of this group."""
    chosen: set[str] = set()
    matches: list[Match] = []
    left: list[PersistentVolumeClaim] = []
    for candidate in wanted:
        volume = _pick(candidate, signature, chosen)
        if volume is None:
            left.append(candidate.claim)
        else:
            chosen.add(volume.metadata.name)
            matches.append(Match(volume, candidate.claim))
    return tuple(matches), left


def _pick(candidate: Candidates, signature: Signature, chosen: set[str]) -> PersistentVolume | None:
    for volume, nodes in candidate.pre_bound:
        if volume.metadata.name not in chosen:
            return volume if nodes == ANYWHERE or nodes in signature else None
    best: tuple[int, str, PersistentVolume] | None = None
    for nodes in (ANYWHERE, *signature):
        for entry in candidate.free.get(nodes, ()):
            if entry[1] not in chosen:
                if best is None or entry[:2] < best[:2]:
                    best = entry
                break
    return None if best is None else best[2]


def volumes_by_class(volumes: Iterable[PersistentVolume]) -> dict[str, list[PersistentVolume]]:
    classes: dict[str, list[PersistentVolume]] = {}
    for volume in volumes:
        classes.setdefault(class_of_volume(volume), []).append(volume)
    return classes


def class_candidates(
    claims: Iterable[PersistentVolumeClaim], volumes: Iterable[PersistentVolume], groups: NodeGroups
) -> list[Candidates]:
    """Of all claims, smallest request first. Raises RuntimeError."""
    classes = volumes_by_class(volumes)
    return [candidates(claim, classes.get(class_of_claim(claim), ()), groups) for claim in by_size(claims)]
