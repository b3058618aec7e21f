"""The scheduler cache: pods with a node (assigned or assumed) and nodes, and the change log snapshots are made from."""

from __future__ import annotations

from framework.cache.cache import Cache, CacheError
from framework.cache.node_tree import NodeTree, zone_key

__all__ = ["Cache", "CacheError", "NodeTree", "zone_key"]
