"""A second reading of a cluster, from its manifests and nothing of the product: is what a sentence says of it true?

Written apart from what it judges: no object model, no plugins, one plain loop per claim. A sentence that no claim here
recognises is an error too, so no sentence goes unread.
"""

from __future__ import annotations

from tests.schedweb.runs.pending.second_reading import nodes, objects, pods, room, several
from tests.schedweb.runs.pending.second_reading.cluster import Cluster
from tests.schedweb.runs.pending.second_reading.sentences import untrue

__all__ = ["Cluster", "nodes", "objects", "pods", "room", "several", "untrue"]
