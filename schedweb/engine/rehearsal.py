"""What the world makes of an object by itself, worked out before anything is changed.

An object of a real cluster that makes this raise would do so in the middle of its change, with cache, queue and
projection half way: the engine could only end, and the next one would hear of the same object. So it is left out
beforehand, as an import leaves out what it cannot take. What plugins and columns make of an object together with
others is not known before, and still ends the engine."""

from __future__ import annotations

from framework.interface.node_info import NodeInfo, PodInfo
from framework.objects import KubeObject, Node, Pod
from framework.objects.decode import to_manifest
from schedweb.engine.pod_view import view_of


def rehearse(obj: KubeObject) -> None:
    """Raises whatever the code for such objects raises."""
    to_manifest(obj)
    if isinstance(obj, Pod):
        NodeInfo().add_pod(PodInfo(obj))
        view_of(obj)
    elif isinstance(obj, Node):
        NodeInfo().set_node(obj)
