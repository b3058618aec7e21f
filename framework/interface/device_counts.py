"""How many devices of a class nodes have: what DynamicResources tells plugins that score resources.

Upstream both ask the same DRA manager; here one plugin lends the other an object, under ``DEVICE_COUNTERS`` of
``Handle.shared``: a list that is empty as long as no profile has DynamicResources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from framework.interface.node_info import NodeInfo
from framework.objects import DeviceClass

DEVICE_COUNTERS: Final = "counters of devices"


class DeviceCounter(Protocol):
    def count(self, device_class: DeviceClass, nodes: Sequence[NodeInfo]) -> Mapping[str, tuple[int, int]]:
        """Node → (devices of the class, how many of them are allocated); nodes without any may be missing."""
        ...
