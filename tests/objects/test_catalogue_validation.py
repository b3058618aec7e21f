"""Amounts that are none in objects of the catalogue are refused with their field, before a plugin meets them."""

from __future__ import annotations

from typing import Any

import pytest

from framework.objects.decode import decode_manifest
from framework.objects.validation import validate_object
from framework.reading.catalogue_shapes import EDITED_KINDS, catalogue_unknown_fields
from framework.reading.documents import FileRefused
from framework.reading.gathering import decoded

WORKLOAD = {"kind": "Deployment", "name": "w"}
BANDWIDTH = {"destination": "b", "bandwidthCapacity": "1Gi", "bandwidthAllocated": "lots"}


def quota(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "x", "namespace": "shop"}
    return {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": metadata, "spec": spec}


def zones(**resource: Any) -> dict[str, Any]:
    zone = {
        "name": "node-0",
        "type": "Node",
        "resources": [{"name": "cpu", "available": "4"}, {"name": "m", **resource}],
    }
    api = "topology.node.k8s.io/v1alpha2"
    return {"apiVersion": api, "kind": "NodeResourceTopology", "metadata": {"name": "x"}, "zones": [zone]}


def group(bandwidth: Any) -> dict[str, Any]:
    member = {"workload": WORKLOAD, "dependencies": [{"workload": WORKLOAD, "minBandwidth": bandwidth}]}
    metadata = {"name": "x", "namespace": "shop"}
    api = "appgroup.diktyo.x-k8s.io/v1alpha1"
    return {"apiVersion": api, "kind": "AppGroup", "metadata": metadata, "spec": {"workloads": [member]}}


def network(cost: dict[str, Any]) -> dict[str, Any]:
    topology = {"topologyKey": "zone", "originList": [{"origin": "a", "costList": [cost]}]}
    spec = {"weights": [{"name": "UserDefined", "topologyList": [topology]}]}
    metadata = {"name": "x", "namespace": "shop"}
    api = "networktopology.diktyo.x-k8s.io/v1alpha1"
    return {"apiVersion": api, "kind": "NetworkTopology", "metadata": metadata, "spec": spec}


WRONG = [
    (quota(min={"cpu": "x"}), ["spec.min[cpu]"]),
    (quota(min={"cpu": 1}, max={"cpu": "1", "nvidia.com/gpu": "1Gigi"}), ["spec.max[nvidia.com/gpu]"]),
    ({**quota(), "status": {"used": {"cpu": ""}}}, ["status.used[cpu]"]),
    (zones(available="lots", capacity=""), ["zones[0].resources[1].capacity", "zones[0].resources[1].available"]),
    (group("fast"), ["spec.workloads[0].dependencies[0].minBandwidth"]),
    (network(BANDWIDTH), ["spec.weights[0].topologyList[0].originList[0].costList[0].bandwidthAllocated"]),
]
SOUND = [quota(min={"cpu": "-1"}, max={"cpu": 2.5, "memory": "1Ti"}), zones(available="4"), group("100Mi"), quota()]


@pytest.mark.parametrize(("manifest", "paths"), WRONG)
def test_they_are_refused_with_their_field(manifest: dict[str, Any], paths: list[str]) -> None:
    assert [error.path for error in validate_object(decode_manifest(manifest))] == paths
    with pytest.raises(FileRefused, match="quantities must"):
        decoded(manifest)


@pytest.mark.parametrize("manifest", SOUND)
def test_what_an_api_server_takes_is_taken(manifest: dict[str, Any]) -> None:
    """Also an amount below 0: the definitions of these resources allow it."""
    assert validate_object(decode_manifest(manifest)) == []


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        (quota(mim={"cpu": 1}), [("spec.mim", "")]),
        (zones(availabel="4"), [("zones[0].resources[1].availabel", "available")]),
        ({**quota(min={"anything": 1}), "status": {"used": {"x": 1}}}, []),
        ({**quota(), "specs": {}}, [("specs", "spec")]),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {}, "whatever": 1}, []),
    ],
)
def test_fields_that_they_do_not_have(manifest: dict[str, Any], told: list[tuple[str, str]]) -> None:
    assert [(each.path, each.meant) for each in catalogue_unknown_fields(manifest)] == told


def test_metadata_and_a_pods_template_may_have_more_than_is_typed() -> None:
    for kind in EDITED_KINDS:
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"managedFields": [{"x": 1}]}}
        assert catalogue_unknown_fields(manifest) == []
    api = "scheduling.koordinator.sh/v1alpha1"
    spec: dict[str, Any] = {"template": {"spec": {"containers": [{"env": []}]}}}
    assert catalogue_unknown_fields({"apiVersion": api, "kind": "Reservation", "spec": spec}) == []
