"""Node tree: the order of the node list, zones taking turns (docs/semantics/cache.md#node-order)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from framework.objects import Node

ZONE_LABELS: Final = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
REGION_LABELS: Final = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


def _first_present(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    """The beta label wins when its key is there, even with an empty value."""
    return next((labels[key] for key in keys if key in labels), "")


def zone_key(node: Node) -> str:
    labels = node.metadata.labels
    region, zone = _first_present(labels, REGION_LABELS), _first_present(labels, ZONE_LABELS)
    return f"{region}:\x00:{zone}" if region or zone else ""


class NodeTree:
    """Zones in the order in which they were first seen, each with its nodes in the order in which they were added."""

    __slots__ = ("_zone_of", "_zones")

    def __init__(self) -> None:
        self._zones: dict[str, dict[str, None]] = {}
        self._zone_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._zone_of)

    def __contains__(self, name: str) -> bool:
        return name in self._zone_of

    def add(self, node: Node) -> None:
        name, zone = node.metadata.name, zone_key(node)
        if self._zone_of.get(name) == zone:
            return
        self.remove(name)
        self._zones.setdefault(zone, {})[name] = None
        self._zone_of[name] = zone

    update = add
    """A node that changed its zone goes to the end of the new one."""

    def remove(self, name: str) -> None:
        """An emptied zone loses its turn; it comes back as the last one."""
        zone = self._zone_of.pop(name, None)
        if zone is None:
            return
        nodes = self._zones[zone]
        del nodes[name]
        if not nodes:
            del self._zones[zone]

    def list(self) -> list[str]:
        """The first node of every zone, then the second of every zone that has one, …"""
        pending = [list(nodes) for nodes in self._zones.values()]
        names: list[str] = []
        for turn in range(max(map(len, pending), default=0)):
            names.extend(nodes[turn] for nodes in pending if turn < len(nodes))
        return names
