"""Sample clusters of our own making: what a first visit can play with, and what screenshots and tests run on.

Each module builds one cluster as manifests and a timeline; the same version builds the same bytes.
"""

from __future__ import annotations

from schedweb.snapshots.samples.gpu import gpu_cluster
from schedweb.snapshots.samples.manifests import Arrival, SampleCluster
from schedweb.snapshots.samples.shop import three_zone_shop
from schedweb.snapshots.samples.thousand import one_thousand_nodes

SAMPLES = (three_zone_shop, gpu_cluster, one_thousand_nodes)
"""In the order in which Home offers them."""

__all__ = ["SAMPLES", "Arrival", "SampleCluster", "gpu_cluster", "one_thousand_nodes", "three_zone_shop"]
