"""Sample clusters of our own making: what a first visit can play with, and what screenshots and tests run on.

Each module builds one cluster as manifests and a timeline; the same version builds the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from schedweb.snapshots.samples.gpu import gpu_cluster
from schedweb.snapshots.samples.held import held_places
from schedweb.snapshots.samples.manifests import Arrival, SampleCluster
from schedweb.snapshots.samples.shared import shared_cluster
from schedweb.snapshots.samples.shop import three_zone_shop
from schedweb.snapshots.samples.thousand import one_thousand_nodes


@dataclass(frozen=True, slots=True)
class Sample:
    """``version`` grows when ``build`` gives something else; stored samples of older versions are replaced."""

    slug: str
    version: int
    build: Callable[[], SampleCluster]


SAMPLES: Final = (
    Sample("three-zone-shop", 2, three_zone_shop),
    Sample("gpu-cluster", 2, gpu_cluster),
    Sample("shared-cluster", 1, shared_cluster),
    Sample("held-places", 1, held_places),
    Sample("one-thousand-nodes", 1, one_thousand_nodes),
)
"""In the order in which Home offers them."""

__all__ = ["SAMPLES", "Arrival", "Sample", "SampleCluster"]
