"""What NetworkOverhead weighed for a pod that it refused: from each zone the cost to every pod that it talks to.

As the run has nodes and pods now; the rules are docs/semantics/catalogue.md#networkoverhead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from rest_framework import serializers

from framework.objects import KubernetesObject, Pod
from framework.objects.catalogue import AppGroup, AppGroupDependency, NetworkTopology
from framework.objects.decode import decode_manifest
from framework.plugins.networkaware.app_groups import group_of, workload_of
from framework.plugins.networkaware.args import NetworkOverheadArgs
from framework.plugins.networkaware.costs import NetworkCosts
from framework.plugins.networkaware.networkoverhead import Peer, place_of, reach_of
from schedweb.runs.filtering.standing import Standing
from schedweb.runs.objects.claims import Objects

PLUGIN: Final = "NetworkOverhead"
MOST_PLACES: Final = 30
MOST_PEERS: Final = 10
O = TypeVar("O", bound=KubernetesObject)  # noqa: E741
Place = tuple[str, str]
"""(region, zone); "" where a node has no such label."""


class NamespacedSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    name = serializers.CharField()


class NetworkPeerSerializer(serializers.Serializer[Any]):
    workload = serializers.CharField()
    region = serializers.CharField(allow_blank=True)
    zone = serializers.CharField(allow_blank=True)
    most = serializers.IntegerField(help_text="maxNetworkCost of the dependency")
    pods = serializers.IntegerField(help_text="of the workload, in this zone")


class NetworkReachSerializer(serializers.Serializer[Any]):
    cost = serializers.IntegerField(help_text="100 where nobody knows it")
    near = serializers.BooleanField(allow_null=True, help_text="null: the NetworkTopology has no cost for the two")


class NetworkPlaceSerializer(serializers.Serializer[Any]):
    region = serializers.CharField(allow_blank=True)
    zone = serializers.CharField(allow_blank=True)
    nodes = serializers.IntegerField(help_text="that NetworkOverhead refused there")
    satisfied = serializers.IntegerField(help_text="pods that are near enough")
    violated = serializers.IntegerField()
    reaches = NetworkReachSerializer(many=True, help_text="one for each of `peers`")


class PodNetworkSerializer(serializers.Serializer[Any]):
    group = NamespacedSerializer(help_text="the AppGroup")
    topology = NamespacedSerializer(help_text="the NetworkTopology")
    weights = serializers.CharField(help_text="its list of costs that counts")
    workload = serializers.CharField(allow_blank=True, help_text="of the pod")
    peers = NetworkPeerSerializer(many=True, help_text="whom it talks to, by zone")
    more_peers = serializers.IntegerField(help_text="that are counted and not listed")
    places = NetworkPlaceSerializer(many=True, help_text="zones that refused it, nearest first")
    more_places = serializers.IntegerField()


def network_body(
    pod: Pod, refused: Iterable[str], objects: Objects, standing: Standing, args: NetworkOverheadArgs
) -> dict[str, Any] | None:
    """``refused``: nodes. None where the AppGroup, the costs or everybody that the pod talks to is gone meanwhile."""
    group = _first(objects, AppGroup, args.namespaces, group_of(pod))
    topology = _first(objects, NetworkTopology, args.namespaces, args.network_topology_name)
    if group is None or topology is None:
        return None
    nodes, costs = standing.nodes, NetworkCosts(topology, args.weights_name)
    peers = _peers(group, pod, standing)
    if not peers:
        return None
    listed = sorted(peers)[:MOST_PEERS]
    counts = Counter(place_of(nodes[name]) for name in refused if name in nodes)
    places = sorted(
        (_place_body(place, count, peers, listed, costs) for place, count in counts.items()),
        key=lambda each: (each["violated"] - each["satisfied"], each["region"], each["zone"]),
    )
    return {
        "group": _name_of(group),
        "topology": _name_of(topology),
        "weights": args.weights_name,
        "workload": workload_of(pod),
        "peers": [
            {"workload": name, "region": peer.region, "zone": peer.zone, "most": peer.most, "pods": peers[name, peer]}
            for name, peer in listed
        ],
        "more_peers": len(peers) - len(listed),
        "places": places[:MOST_PLACES],
        "more_places": max(0, len(places) - MOST_PLACES),
    }


def _peers(group: AppGroup, pod: Pod, standing: Standing) -> Counter[tuple[str, Peer]]:
    """(workload, where its pods are and what they may cost) → pods."""
    mine = workload_of(pod)
    dependencies: list[AppGroupDependency] = [
        dependency
        for member in group.spec.workloads
        if member.workload.selector == mine
        for dependency in member.dependencies
    ]
    found: Counter[tuple[str, Peer]] = Counter()
    for other in standing.pods:
        if other.labels.get(AppGroup.GROUP_LABEL, "") != group.metadata.name or other.node not in standing.nodes:
            continue
        place = place_of(standing.nodes[other.node])
        for dependency in dependencies:
            name = dependency.workload.selector
            if name == other.labels.get(AppGroup.WORKLOAD_LABEL, ""):
                found[name, Peer(*place, dependency.max_network_cost)] += 1
    return found


def _place_body(
    place: Place,
    nodes: int,
    peers: Counter[tuple[str, Peer]],
    listed: Sequence[tuple[str, Peer]],
    costs: NetworkCosts,
) -> dict[str, Any]:
    known = costs.of(*place)
    reached = {each: reach_of(place, each[1], known) for each in peers}
    return {
        "region": place[0],
        "zone": place[1],
        "nodes": nodes,
        "satisfied": sum(count for each, count in peers.items() if reached[each][0] is True),
        "violated": sum(count for each, count in peers.items() if reached[each][0] is False),
        "reaches": [{"near": reached[each][0], "cost": reached[each][1]} for each in listed],
    }


def _first(objects: Objects, kind: type[O], namespaces: Iterable[str], name: str) -> O | None:
    """In the first of the namespaces that has it."""
    for namespace in namespaces:
        manifest = objects.get(kind.kind, namespace, name) if name else None
        if manifest is not None:
            found = decode_manifest({"apiVersion": kind.api_version, **manifest})
            return found if isinstance(found, kind) else None
    return None


def _name_of(obj: KubernetesObject) -> dict[str, str]:
    return {"namespace": obj.metadata.namespace, "name": obj.metadata.name}
