"""Signatures of pods: what opportunistic batching tells equal pods by.

Rules: docs/semantics/framework.md#opportunistic-batching.
Upstream: staging/src/k8s.io/kube-scheduler/framework/signers.go `NodeAffinitySigner`, `VolumesSigner`.
Several plugins read the same part of a pod, so the parts are named here and each is in a signature once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final

import msgspec

from framework.objects import NodeSelector, Pod, Toleration
from framework.objects.affinity import NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.pod import Volume
from framework.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, pod_requests
from framework.objects.stored_volumes import complete_volume

Fragments = Mapping[str, Hashable]
"""Part of the pod → its value. Plugins that name one part give the same value."""
Signature = tuple[tuple[str, Hashable], ...]
"""All parts, by name. Equal for pods that the profile's plugins cannot tell apart."""

FEATURES: Final = "RequiredFeatures"
IMAGES: Final = "CanonicalImageNames"
LABELS: Final = "Labels"
NODE_AFFINITY: Final = "NodeAffinity"
NODE_NAME: Final = "NodeName"
NODE_SELECTOR: Final = "NodeSelector"
PORTS: Final = "HostPorts"
REQUESTS: Final = "Requests"
SCHEDULER_NAME: Final = "SchedulerName"
TOLERATIONS: Final = "Tolerations"
VOLUMES: Final = "Volumes"
_NUMBERS: Final = frozenset((CPU, MEMORY, EPHEMERAL_STORAGE))


def pairs(values: Mapping[str, str] | None) -> Hashable:
    """None and empty are the same, as they are once the API server has stored them."""
    return tuple(sorted((values or {}).items()))


def host_ports(pod: Pod) -> Fragments:
    """Numbers alone, of all containers."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return {PORTS: frozenset(port.host_port for each in containers for port in each.ports if port.host_port)}


def node_affinity(pod: Pod) -> Fragments:
    """Terms, expressions and values in any order."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    found: Hashable = None
    if affinity is not None:
        preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
        found = (
            _terms(affinity.required_during_scheduling_ignored_during_execution),
            tuple(sorted((each.weight, _term(each.preference)) for each in preferred)),
        )
    return {NODE_AFFINITY: found, NODE_SELECTOR: pairs(pod.spec.node_selector)}


def _terms(selector: NodeSelector | None) -> Hashable:
    return () if selector is None else tuple(sorted(map(_term, selector.node_selector_terms)))


def _term(term: NodeSelectorTerm) -> tuple[tuple[tuple[str, str, tuple[str, ...]], ...], ...]:
    return _requirements(term.match_expressions), _requirements(term.match_fields)


def _requirements(
    requirements: Iterable[NodeSelectorRequirement],
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return tuple(sorted((each.key, each.operator, tuple(sorted(each.values))) for each in requirements))


def requests(pod: Pod) -> Fragments:
    """Of cpu, memory and ephemeral storage none is the same as 0: they are numbers upstream, all others a map."""
    asked = pod_requests(pod).items()
    return {REQUESTS: tuple(sorted((name, amount) for name, amount in asked if amount or name not in _NUMBERS))}


def tolerations(pod: Pod) -> Fragments:
    """By key and value; those with the same stay in their order."""

    def place(toleration: Toleration) -> tuple[str, str]:
        return toleration.key, toleration.value

    return {TOLERATIONS: tuple(sorted(pod.spec.tolerations, key=place))}


def volumes(pod: Pod) -> Fragments:
    """Their sources, in any order, not their names. Upstream leaves out ConfigMaps and Secrets: of a Volume that has
    been one nothing but the name is left."""
    sources = [_source(each) for each in pod.spec.volumes]
    return {VOLUMES: tuple(sorted(source for source in sources if source != b"{}"))}


def _source(volume: Volume) -> bytes:
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(volume))
    found.pop("name", None)
    complete_volume(found)
    return _ENCODER.encode(found)


_ENCODER: Final = msgspec.json.Encoder(order="sorted")
