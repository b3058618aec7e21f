"""Which pods a node's agent knew of when it wrote its zones, and which zone their containers are in.

Rules: docs/semantics/catalogue.md#fingerprints, docs/semantics/catalogue.md#numa-placement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import xxhash

from framework.objects.catalogue import NodeResourceTopology
from framework.plugins.noderesourcetopology.zones import SINGLE_NUMA_NODE, attribute, zone_id

FINGERPRINT: Final = "nodeTopologyPodsFingerprint"
FINGERPRINT_METHOD: Final = "nodeTopologyPodsFingerprintMethod"
WITH_EXCLUSIVE: Final = "with-exclusive-resources"
PLACEMENT: Final = "topology.node.k8s.io/numaplacement-metadata"
VECTOR: Final = "topology.node.k8s.io/numaplacement-vector"
_METADATA: Final = re.compile(r"npv0v001::ve=leb89::cc=(\d+)::nn=(\d+)::bn=(-?\d+)", re.ASCII)
_ALPHABET: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"&<>\\')
_LOW: Final = 64
"""Digits that end a number."""


def fingerprint(pods: Iterable[tuple[str, str]]) -> str:
    """Of (namespace, name)."""
    hashes = sorted(
        xxhash.xxh64_intdigest(name.encode(), seed=xxhash.xxh64_intdigest(namespace.encode()))
        for namespace, name in pods
    )
    together = xxhash.xxh64_intdigest(b"".join(each.to_bytes(8, "little") for each in hashes))
    return f"pfp0v001{together:016x}"


class Pinned(NamedTuple):
    """A container that has something of its zone to itself."""

    namespace: str
    pod: str
    container: str


def placement(topology: NodeResourceTopology, pinned: Sequence[Pinned]) -> dict[Pinned, int]:
    """Container → id of its zone; empty where anything does not agree with what the agent wrote."""
    if not pinned or attribute(topology.attributes, "topologyManagerPolicy") != SINGLE_NUMA_NODE:
        return {}
    found = _METADATA.fullmatch(attribute(topology.attributes, PLACEMENT) or "")
    if found is None or int(found[1]) != len(pinned):
        return {}
    ordered = sorted(pinned, key=_hash)
    zones = [int(found[3])] * len(ordered)
    for zone in topology.zones:
        vector = attribute(zone.attributes, VECTOR)
        number = zone_id(zone.name)
        if vector is None:
            continue
        places = _places(vector)
        if number is None or places is None or any(place >= len(ordered) for place in places):
            return {}
        for place in places:
            zones[place] = number
    return dict(zip(ordered, zones, strict=True))


def _hash(container: Pinned) -> int:
    return xxhash.xxh64_intdigest("\0".join(container).encode())


def _places(vector: str) -> list[int] | None:
    """Ascending positions, the first as it is and then differences, each a number to the bases 25 and 64."""
    places: list[int] = []
    high = 0
    complete = True
    for each in vector:
        digit = _ALPHABET.find(each)
        if digit < 0:
            return None
        if digit >= _LOW:
            high = high * (len(_ALPHABET) - _LOW) + digit - _LOW
            complete = False
            continue
        value = digit if complete else high * _LOW + digit + _LOW
        places.append(value + (places[-1] if places else 0))
        high, complete = 0, True
    return places if complete else None
