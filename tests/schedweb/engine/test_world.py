"""A cluster is taken over in bulk: what is read of replicas once leads to what every pod alone would lead to."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.objects import Node, Pod
from framework.objects.admission import AdmissionError, Unchanged, admit
from framework.objects.decode import decode_manifest
from framework.scheduler import Cluster
from schedweb.engine.node_view import BOUND, NodeTable
from schedweb.engine.payload import decode_payload, encode_payload
from schedweb.engine.pod_view import PodView
from schedweb.engine.replicas import Packed
from schedweb.engine.usage_log import UsageLog
from schedweb.engine.world import Refused, World
from tests.schedweb.engine.test_replicas import fields, packer
from tests.schedweb.snapshots.files import make_node, make_pod

HOST = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
SPREAD = {**HOST, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
KEYS = {"matchLabelKeys": ["pod-template-hash"]}


def anti(term: dict[str, Any], *, preferred: bool) -> dict[str, Any]:
    if preferred:
        return {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]
            }
        }
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """With and without what admission fills in, and with selectors that take up the labels of the pod."""
    spec: dict[str, Any] = make_pod("web", "shop")["spec"]
    spec["volumes"] = [{"name": "kube-api-access-x7k2p", "projected": {}}]
    if draw(st.integers(0, 3)):
        spec |= {"priority": 5, "schedulerName": "default-scheduler", "restartPolicy": "Always"}
        spec["terminationGracePeriodSeconds"] = 30
    if draw(st.booleans()):
        keys = draw(st.sampled_from([{}, KEYS]))
        spec["topologySpreadConstraints"] = [{**SPREAD, **keys}]
    if draw(st.booleans()):
        keys = draw(st.sampled_from([{}, KEYS, {"mismatchLabelKeys": ["pod-template-hash"]}]))
        spec["affinity"] = anti({**HOST, **keys}, preferred=draw(st.booleans()))
    if draw(st.integers(0, 3)) == 0:
        spec["hostNetwork"] = True
        spec["containers"][0]["ports"] = [{"containerPort": 80}]
    if draw(st.integers(0, 5)) == 0:
        spec["priorityClassName"] = "nobody-knows-it"
    return spec


@st.composite
def replicas(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Pods of at most three workloads, in any order."""
    workloads = draw(st.lists(specs(), min_size=1, max_size=3))
    pods = []
    for number in range(draw(st.integers(1, 12))):
        pod = make_pod(f"web-{number}", draw(st.sampled_from(["shop", ""])))
        pod["spec"] = copy.deepcopy(draw(st.sampled_from(workloads)))
        if draw(st.booleans()):
            pod["spec"]["nodeName"] = draw(st.sampled_from(["n1", "n2"]))
        # Without the label a selector that names it stays as it is.
        pod["metadata"]["labels"] = draw(st.sampled_from([{}, {"pod-template-hash": "a"}, {"pod-template-hash": "b"}]))
        pod["metadata"]["uid"] = draw(st.sampled_from(["", f"uid-{number}"]))
        pod["status"] = {"phase": draw(st.sampled_from(["Pending", "Running"]))}
        pods.append(pod)
    return pods


def taken(objects: list[Any]) -> list[Pod] | str:
    world = World()
    try:
        world.load(objects)
    except Refused as error:
        return str(error)
    return list(world.cluster.list(Pod))


@given(replicas())
def test_pods_taken_over_in_bulk_are_those_taken_over_one_by_one(manifests: list[dict[str, Any]]) -> None:
    packing = packer()
    packed = [packing.pack(fields(each)) for each in manifests]
    texts: list[Any] = [kept if found is None else found[0] for found, kept in zip(packed, manifests, strict=True)]
    read = decode_payload(encode_payload([make_node("n1"), *texts], specs=packing.specs)).objects
    # Decoded by itself, a pod shares nothing that it could be recognised by.
    alone = [taken([decode_manifest(each)]) for each in manifests]
    refused = next((each for each in alone if isinstance(each, str)), None)
    assert taken(read) == (refused or [pod for pods in alone for pod in pods])


def test_replicas_are_recognised() -> None:
    """Otherwise the property above would hold of nothing."""
    spec = make_pod("web", "shop")["spec"]
    spec |= {"priority": 5, "schedulerName": "s", "restartPolicy": "Always", "terminationGracePeriodSeconds": 30}
    spec |= {"topologySpreadConstraints": [SPREAD], "affinity": anti(HOST, preferred=True)}
    packing = packer()
    for number, node in enumerate(("n1", "n2")):
        pod = {**make_pod(f"web-{number}", "shop"), "spec": {**spec, "nodeName": node}}
        assert isinstance((packing.pack(fields(pod)) or [None])[0], Packed)
    texts = [found[0] for n in range(2) if (found := packing.pack(fields({**make_pod(f"w{n}", "shop"), "spec": spec})))]
    first, second = decode_payload(encode_payload(texts, specs=packing.specs)).objects
    assert isinstance(first, Pod)
    assert isinstance(second, Pod)
    unchanged = Unchanged()
    assert not unchanged.says(second)
    admitted = admit(first, Cluster(), stored=True, validate=False)
    assert admitted is first
    assert not isinstance(admitted, AdmissionError)
    unchanged.learn(admitted)
    assert unchanged.says(second)
    terms = decode_manifest({**make_pod("other", "shop"), "spec": {**spec, "affinity": anti({}, preferred=False)}})
    assert isinstance(terms, Pod)
    assert not unchanged.says(replace(second, spec=replace(second.spec, affinity=terms.spec.affinity)))
    assert not unchanged.says(replace(second, spec=replace(second.spec, topology_spread_constraints=())))


def placed(uid: str, node: str, amounts: dict[str, int]) -> PodView:
    return PodView(uid, "shop", uid, "web", "", 0, "", amounts, "", node=node)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([{"cpu": 1}, {"cpu": 2, "gpu": 1}, {}])), max_size=20)
)
def test_pods_counted_at_once_are_those_counted_one_by_one(bound: list[tuple[str, dict[str, int]]]) -> None:
    tables = []
    for at_once in (True, False):
        table = NodeTable(UsageLog())
        table.declare({"cpu", "gpu"})
        for name in "ab":
            made = decode_manifest(make_node(name))
            assert isinstance(made, Node)
            table.set_node(made)
        if at_once:
            table.put_all([placed(f"uid-{i}", node, amounts) for i, (node, amounts) in enumerate(bound)])
        else:
            for i, (node, amounts) in enumerate(bound):
                table.put(f"uid-{i}", node, BOUND, amounts)
        tables.append((table.views, table.placed, table.homeless, table.usage.table))
    assert tables[0] == tables[1]
