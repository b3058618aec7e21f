"""Where a pod may be at all, whatever runs there: nodes by what a person would have to mend first.

Filter tells of each node only the first plugin that refused it. A node that is cordoned may not match the node selector
either, and one without room may be in the wrong zone, so what the plugins behind the first one would have said is
looked up here: first whether the node is one that the pod asks for, then whether it is open to it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from framework.interface import PodInfo
from framework.interface.affinity_terms import AffinityTerm
from framework.objects import Node, PersistentVolume, Pod, Taint
from framework.objects.selectors import NodeSelectorMatcher, required_node_affinity
from framework.objects.tolerations import NO_EXECUTE, NO_SCHEDULE, tolerates
from schedweb.runs.filtering.standing import Standing, StandingPod
from schedweb.runs.filtering.volume_places import Unbound, reaches, read_volume, where_it_can_be
from schedweb.runs.objects.claims import Manifest, Objects, VolumeClaim, volume_claims

if TYPE_CHECKING:
    from schedweb.runs.filtering.filters import FilterView, GroupKey

CORDON_TAINT: Final = "node.kubernetes.io/unschedulable"
HARD: Final = (NO_SCHEDULE, NO_EXECUTE)
_NOT_LISTED: Final = re.compile(r"node\(s\) didn't satisfy plugin\(s\) \[(?P<plugins>.*)\]")


class Step(enum.Enum):
    """In the order in which a person mends them; the value is the plugin whose refusal it is."""

    LABELS = "NodeAffinity"
    VOLUMES = "VolumeZone"
    BESIDE = "InterPodAffinity"
    CORDON = "NodeUnschedulable"
    TAINT = "TaintToleration"


class Places:
    """``kept_off``: nodes by the first step that fails there; ``usable``: those where none does, by the plugin that
    refused them in the attempt."""

    def __init__(self, view: FilterView, manifest: Manifest, pod: Pod, objects: Objects, standing: Standing) -> None:
        self.view = view
        self.manifest = manifest
        self.pod = pod
        self.objects = objects
        self.standing = standing
        self.claims = volume_claims(manifest, objects)
        self.kept_off: dict[Step, list[str]] = {}
        self.usable: dict[GroupKey, list[str]] = {}
        for key, names in view.members.items():
            for name in names:
                step = self._step(key, name)
                if step is None:
                    self.usable.setdefault(key, []).append(name)
                else:
                    self.kept_off.setdefault(step, []).append(name)

    @property
    def total(self) -> int:
        return sum(map(len, self.view.members.values()))

    @cached_property
    def names(self) -> list[str]:
        """Of the usable nodes."""
        return [name for names in self.usable.values() for name in names]

    def _step(self, key: GroupKey, name: str) -> Step | None:
        refused = refused_by(key)
        node = self.standing.nodes.get(name)
        if refused is Step.LABELS:
            return refused
        behind = self._behind(key[0])
        if node is None:
            return refused
        if Step.LABELS.value in behind and not self.matches(node):
            return Step.LABELS
        if refused is Step.VOLUMES or (Step.VOLUMES.value in behind and not self.reaches_volumes(node)):
            return Step.VOLUMES
        if refused is Step.BESIDE or (Step.BESIDE.value in behind and not self.is_beside(node)):
            return Step.BESIDE
        if refused is Step.CORDON or (
            Step.CORDON.value in behind and node.spec.unschedulable and not self.tolerates_cordon
        ):
            return Step.CORDON
        if refused is Step.TAINT or (Step.TAINT.value in behind and untolerated(self.pod, node)):
            return Step.TAINT
        return None

    def shut(self, names: Iterable[str]) -> tuple[list[str], list[str]]:
        """Of these nodes: (those that are cordoned, the others that have a taint that it does not tolerate)."""
        filters, found = self.view.filters, {Step.CORDON: list[str](), Step.TAINT: list[str]()}
        for name in names:
            node = self.standing.nodes.get(name)
            if node is None:
                continue
            if Step.CORDON.value in filters and node.spec.unschedulable and not self.tolerates_cordon:
                found[Step.CORDON].append(name)
            elif Step.TAINT.value in filters and untolerated(self.pod, node):
                found[Step.TAINT].append(name)
        return found[Step.CORDON], found[Step.TAINT]

    def _behind(self, plugin: str) -> frozenset[str]:
        """Filter plugins that were not asked about a node because ``plugin`` refused it."""
        filters = self.view.filters
        return frozenset(filters[filters.index(plugin) + 1 :]) if plugin in filters else frozenset()

    def matches(self, node: Node) -> bool:
        """The pod's own node selector and required node affinity."""
        return self._required.matches(node.metadata.labels, node.metadata.name)

    @cached_property
    def tolerates_cordon(self) -> bool:
        return tolerates(self.pod.spec.tolerations, Taint(key=CORDON_TAINT, effect=NO_SCHEDULE))

    @cached_property
    def _required(self) -> NodeSelectorMatcher:
        return required_node_affinity(self.pod)

    # --- volumes ----------------------------------------------------------------------------------------------------

    @cached_property
    def bound(self) -> list[tuple[VolumeClaim, PersistentVolume]]:
        """Claims that are bound already: their volumes say where the pod may be."""
        return [
            (claim, read_volume(claim.persistent_volume))
            for claim in self.claims
            if claim.is_bound and claim.persistent_volume is not None
        ]

    @cached_property
    def unbound(self) -> list[Unbound]:
        """Claims whose volume can be had in some places only."""
        return [found for claim in self.claims if (found := where_it_can_be(claim, self.objects)) is not None]

    def reaches_volumes(self, node: Node) -> bool:
        bound = all(reaches(volume, node) for _, volume in self.bound)
        return bound and all(each.reaches(node) for each in self.unbound)

    # --- pods beside which it must run ------------------------------------------------------------------------------

    @cached_property
    def terms(self) -> tuple[AffinityTerm, ...]:
        return PodInfo(self.pod).affinity_terms.required

    @cached_property
    def companions(self) -> list[StandingPod]:
        """Placed pods that all its required terms mean."""
        return [each for each in self.standing.pods if each.node and all(self.means(term, each) for term in self.terms)]

    @cached_property
    def is_its_own_companion(self) -> bool:
        """The first pod of a group that wants to be together may be anywhere."""
        metadata = self.pod.metadata
        here = StandingPod(metadata.namespace, metadata.name, metadata.labels, "", b"")
        return all(self.means(term, here) for term in self.terms)

    def means(self, term: AffinityTerm, other: StandingPod) -> bool:
        """Of a term of this pod."""
        return term.matches(other.namespace, other.labels, self.namespace_labels(other.namespace))

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        found = self.objects.get("Namespace", "", namespace) or {}
        return (found.get("metadata") or {}).get("labels") or {}

    @cached_property
    def _domains(self) -> list[tuple[str, frozenset[str]]]:
        """(topology key, values) where its companions are."""
        nodes = self.standing.nodes
        return [
            (
                term.topology_key,
                frozenset(
                    nodes[each.node].metadata.labels[term.topology_key]
                    for each in self.companions
                    if each.node in nodes and term.topology_key in nodes[each.node].metadata.labels
                ),
            )
            for term in self.terms
        ]

    def is_beside(self, node: Node) -> bool:
        labels = node.metadata.labels
        if not self.companions and self.is_its_own_companion:
            return all(term.topology_key in labels for term in self.terms)
        return all(labels.get(key, "") in values for key, values in self._domains)


def refused_by(key: GroupKey) -> Step | None:
    """The step of which Filter's refusal tells; None for one that leaves the node among those that a pod may use."""
    plugin, _, reasons = key
    text = "; ".join(reasons)
    if absent := _NOT_LISTED.search(text):
        plugin = absent["plugins"]
    if plugin in ("NodeAffinity", "NodeName"):
        return Step.LABELS
    if plugin == "VolumeZone" or "didn't match PersistentVolume's node affinity" in text:
        return Step.VOLUMES
    if "didn't match pod affinity rules" in text:
        return Step.BESIDE
    return {each.value: each for each in (Step.CORDON, Step.TAINT)}.get(plugin)


def untolerated(pod: Pod, node: Node) -> list[Taint]:
    return [each for each in node.spec.taints if each.effect in HARD and not tolerates(pod.spec.tolerations, each)]
