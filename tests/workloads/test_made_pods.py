"""Pods made from workloads: as many, as those of a real cluster's controllers, and only where they are missing."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.workloads import MOST_PODS, Existing, Made, make_pods

EXPORT = Path(__file__).parent.parent / "data" / "cluster-shop" / "kubectl-export.json.gz"
OWN_OF_THE_SERVER = (
    "nodeName",
    "priority",
    "preemptionPolicy",
    "serviceAccount",
    "serviceAccountName",
    "enableServiceLinks",
)

GLOBAL_DEFAULT = "standard"
"""The PriorityClass of that cluster that pods get which name none."""
RANDOM_LABELS = ("pod-template-hash", "controller-revision-hash", "pod-template-generation")
LABELS_FROM_BINDING = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


def export() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(gzip.decompress(EXPORT.read_bytes()))["items"]
    return items


def made_of(items: list[dict[str, Any]], *, without: set[str] | None = None) -> list[Made]:
    """``without``: names of pods that are not there."""
    existing, nodes, taken = Existing(), [], set()
    for item in items:
        if item["kind"] == "Pod" and without is not None and item["metadata"]["name"] in without:
            continue
        taken.add((item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]))
        obj = decode_manifest(item)
        if isinstance(obj, Pod):
            existing.take(obj)
        elif isinstance(obj, Node):
            nodes.append(obj)
    kinds = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob")
    return make_pods([item for item in items if item["kind"] in kinds], existing, nodes, taken)


def pods_of(made: list[Made]) -> list[dict[str, Any]]:
    assert [str(each.error) for each in made if each.error] == []
    return [pod for each in made for pod in each.pods]


def workload(
    kind: str, name: str = "web", version: str = "apps/v1", labels: bool = True, **spec: Any
) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    selector = {"selector": {"matchLabels": {"app": name}}} if labels else {}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {**selector, "template": template, **spec},
    }


def job(name: str = "load", **spec: Any) -> dict[str, Any]:
    return workload("Job", name, "batch/v1", labels=False, **spec)


def pod(name: str, owner: str = "", kind: str = "ReplicaSet", phase: str = "Running", **more: Any) -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "u", "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "shop", "labels": {"app": "web"}, "ownerReferences": owners, **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": {"phase": phase}}


def node(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": "a"}}, "spec": spec}


def test_a_real_cluster_lacks_nothing() -> None:
    assert pods_of(made_of(export())) == []


@pytest.mark.parametrize("with_replica_sets", [True, False])
def test_pods_that_are_missing_are_made_as_the_real_controllers_made_them(with_replica_sets: bool) -> None:
    """Read off a cluster: what was made there is taken away and made again, and then compared but for its name."""
    items = export()
    real = [each for each in items if each["kind"] == "Pod" and each["metadata"].get("ownerReferences")]
    if not with_replica_sets:
        items = [each for each in items if each["kind"] != "ReplicaSet"]
    made = pods_of(made_of(items, without={each["metadata"]["name"] for each in real}))
    assert sorted(map(as_told, made)) == sorted(map(as_told, real))
    spec = {as_told(each): comparable(each) for each in real}
    for each in made:
        assert comparable(each) == spec[as_told(each)]


def workload_of(manifest: dict[str, Any]) -> str:
    [owner] = manifest["metadata"]["ownerReferences"]
    name = owner["name"].rpartition("-")[0] if owner["kind"] == "ReplicaSet" else owner["name"]
    return f"{owner['kind']} {manifest['metadata']['namespace']}/{name}"


def node_of(manifest: dict[str, Any]) -> str:
    if manifest["metadata"]["ownerReferences"][0]["kind"] != "DaemonSet":
        return ""
    terms = manifest["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(terms["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def as_told(manifest: dict[str, Any]) -> tuple[str, str, str]:
    name = manifest["metadata"]["name"] if "StatefulSet" in workload_of(manifest) else ""
    return workload_of(manifest), node_of(manifest), name


def comparable(manifest: dict[str, Any]) -> dict[str, Any]:
    """Without what the API server and a service account's admission add to every pod."""
    spec = {key: value for key, value in manifest["spec"].items() if key not in OWN_OF_THE_SERVER}
    spec["containers"] = [
        {key: value for key, value in each.items() if key != "volumeMounts"} for each in spec["containers"]
    ]
    if spec.get("priorityClassName") == GLOBAL_DEFAULT:
        del spec["priorityClassName"]
    kept = [each for each in spec.get("volumes", ()) if not each["name"].startswith("kube-api-access-")]
    spec["volumes"] = kept
    from_admission = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    spec["tolerations"] = sorted(
        (
            each
            for each in spec.get("tolerations", ())
            if not (each.get("key") in from_admission and each.get("tolerationSeconds") == 300)
        ),
        key=lambda each: sorted(each.items()),
    )
    labels = dict(manifest["metadata"]["labels"])
    for key in (*RANDOM_LABELS, *LABELS_FROM_BINDING):
        labels.pop(key, None)
    return {"labels": labels, "spec": spec}


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
@pytest.mark.parametrize(
    ("replicas", "there", "missing"), [(None, 0, 1), (3, 0, 3), (3, 2, 1), (3, 5, 0), (0, 0, 0), (0, 2, 0)]
)
def test_replicas(kind: str, replicas: int | None, there: int, missing: int) -> None:
    owner = "web-5d8f9c7b4" if kind == "Deployment" else "web"
    items = [workload(kind, replicas=replicas), *(pod(f"p{number}", owner) for number in range(there))]
    assert len(pods_of(made_of(items))) == missing


def test_finished_and_going_pods_do_not_count_and_orphans_do() -> None:
    items = [
        workload("ReplicaSet", replicas=4),
        pod("done", "web", phase="Failed"),
        pod("going", "web", deletionTimestamp="2026-01-01T00:00:00Z"),
        pod("orphan"),
        pod("other", "web-2"),
    ]
    assert len(pods_of(made_of(items))) == 3


def test_pods_of_the_newest_replica_set_belong_to_the_deployment() -> None:
    def replica_set(name: str, replicas: int, revision: str) -> dict[str, Any]:
        made = workload("ReplicaSet", replicas=replicas)
        made["metadata"] = {
            "name": name,
            "namespace": "shop",
            "annotations": {"deployment.kubernetes.io/revision": revision},
            "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": True}],
        }
        return made

    items = [
        workload("Deployment", replicas=5),
        replica_set("web-old", 1, "9"),
        replica_set("web-new", 4, "10"),
        replica_set("web-gone", 0, "11"),
        pod("a", "web-old"),
        pod("b", "web-new"),
    ]
    made = pods_of(made_of(items))
    assert [each["metadata"]["ownerReferences"][0]["name"] for each in made] == ["web-new"] * 3


def test_a_deployment_without_replica_set_gets_one() -> None:
    [made] = made_of([workload("Deployment", replicas=2)])
    [owner] = made.beside
    digest = owner["metadata"]["labels"]["pod-template-hash"]
    assert (owner["kind"], owner["metadata"]["name"]) == ("ReplicaSet", f"web-{digest}")
    assert owner["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": digest}
    for each in made.pods:
        assert each["metadata"]["labels"] == {"app": "web", "pod-template-hash": digest}
        assert each["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]
        assert each["metadata"]["name"].startswith(f"web-{digest}-")
    assert len({each["metadata"]["name"] for each in made.pods}) == 2


def test_the_same_file_gives_the_same_pods() -> None:
    items = [workload("Deployment", replicas=9), job(parallelism=3), node("n"), workload("DaemonSet", "agent")]
    assert made_of(items) == made_of(items)


def test_daemons_are_where_the_controller_puts_them() -> None:
    daemon = workload("DaemonSet", "agent")
    daemon["spec"]["template"]["spec"] |= {
        "nodeSelector": {"pool": "a"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["not-me"]}]}
                    ]
                }
            },
            "podAffinity": {},
        },
    }
    cordoned = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    items = [
        daemon,
        node("plain"),
        node("cordoned", unschedulable=True, taints=[cordoned]),
        node("not-me"),
        node("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}]),
        node("full", taints=[{"key": "full", "effect": "PreferNoSchedule"}]),
        node("has-it"),
        {**node("other-pool"), "metadata": {"name": "other-pool"}},
        {**pod("there", "agent", "DaemonSet"), "spec": {"nodeName": "has-it"}},
    ]
    made = pods_of(made_of(items))
    assert [node_of(each) for each in made] == ["plain", "cordoned", "full"]
    assert "podAffinity" in made[0]["spec"]["affinity"]


def test_a_stateful_set_has_ordinals_and_claims() -> None:
    claim = {
        "metadata": {"name": "data", "labels": {"x": "y"}},
        "spec": {"resources": {"requests": {"storage": "1Gi"}}},
    }
    database = workload(
        "StatefulSet",
        "db",
        replicas=3,
        ordinals={"start": 2},
        serviceName="db",
        volumeClaimTemplates=[claim],
    )
    there = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-4", "namespace": "shop"},
    }
    [made] = made_of([database, pod("db-2", "db", "StatefulSet"), there])
    assert [each["metadata"]["name"] for each in made.pods] == ["db-3", "db-4"]
    assert [each["metadata"]["name"] for each in made.beside] == ["data-db-3"]
    assert made.beside[0]["metadata"]["labels"] == {"x": "y", "app": "db"}
    assert made.pods[0]["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-3"}},
    ]
    assert made.pods[1]["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "4"


@pytest.mark.parametrize(
    ("spec", "status", "there", "pods", "later"),
    [
        ({}, {}, [], 1, 0),
        ({"completions": 1}, {}, [], 1, 0),
        ({"completions": 5, "parallelism": 2}, {}, [], 2, 3),
        ({"completions": 5, "parallelism": 2}, {"succeeded": 4}, [], 1, 0),
        ({"completions": 5, "parallelism": 2}, {}, ["Running"], 1, 3),
        ({"completions": 5, "parallelism": 2}, {}, ["Succeeded", "Succeeded", "Succeeded", "Succeeded"], 1, 0),
        ({"completions": 5, "suspend": True}, {}, [], 0, 0),
        ({"completions": 5}, {"conditions": [{"type": "Complete", "status": "True"}]}, [], 0, 0),
        ({"parallelism": 3}, {"succeeded": 1}, ["Running"], 0, 0),
        ({"parallelism": 0}, {}, [], 0, 0),
    ],
)
def test_jobs(spec: dict[str, Any], status: dict[str, Any], there: list[str], pods: int, later: int) -> None:
    owned = [pod(f"p{number}", "load", "Job", phase) for number, phase in enumerate(there)]
    [made] = made_of([{**job(**spec), "status": status}, *owned])
    assert (len(made.pods), made.later) == (pods, later)


def test_an_indexed_job_numbers_its_pods() -> None:
    made = pods_of(made_of([job(completions=2, parallelism=2, completionMode="Indexed")]))
    key = "batch.kubernetes.io/job-completion-index"
    assert [(each["metadata"]["annotations"][key], each["spec"]["hostname"]) for each in made] == [
        ("0", "load-0"),
        ("1", "load-1"),
    ]


@pytest.mark.parametrize(
    ("uid", "suspend", "pods", "waits"), [("", False, 2, False), ("u", False, 0, True), ("", True, 0, False)]
)
def test_a_cron_job_of_a_manifest_has_the_pods_of_one_run(uid: str, suspend: bool, pods: int, waits: bool) -> None:
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "shop", "uid": uid},
        "spec": {"suspend": suspend, "jobTemplate": {"spec": job(parallelism=2)["spec"]}},
    }
    [made] = made_of([cron])
    assert (len(made.pods), made.waits) == (pods, waits)
    assert Counter(each["kind"] for each in made.beside) == ({"Job": 1} if pods else {})
    for each in made.pods:
        assert each["metadata"]["ownerReferences"][0]["name"] == made.beside[0]["metadata"]["name"]


def test_a_job_of_a_cron_job_gets_its_pods() -> None:
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "shop", "uid": "u"},
    }
    owned = job(parallelism=2)
    owned["metadata"]["ownerReferences"] = [{"kind": "CronJob", "name": "nightly", "controller": True}]
    items = [{**cron, "spec": {"jobTemplate": {"spec": owned["spec"]}}}, owned]
    assert len(pods_of(made_of(items))) == 2


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (workload("Deployment", template=None), "Deployment shop/web: spec.template: Required value"),
        (workload("Deployment", labels=False), "Deployment shop/web: spec.selector: Required value"),
        (workload("Deployment", replicas=-1), "spec.replicas: Invalid value: -1"),
        (workload("Deployment", replicas="many"), "spec.replicas: expected a whole number"),
        (workload("Deployment", replicas=MOST_PODS + 1), "100,001 pods are asked for"),
        (
            workload("Deployment", template={"spec": {"containers": []}}),
            "spec.template.spec.containers: Required value",
        ),
        (workload("Deployment", template={"spec": {"containers": 5}}), "spec.template.spec.containers"),
        (
            workload("DaemonSet", selector={"matchLabels": {"app": "other"}}),
            "spec.template.metadata.labels: Invalid value",
        ),
        (workload("StatefulSet", selector={"matchExpressions": [{"key": "a", "operator": "Near"}]}), "spec.selector"),
        (job(parallelism=-1), "Job shop/load: spec.parallelism"),
        (
            {
                "apiVersion": "batch/v1",
                "kind": "CronJob",
                "metadata": {"name": "c", "namespace": "shop"},
                "spec": {"jobTemplate": {"spec": {"parallelism": -1, "template": {}}}},
            },
            "CronJob shop/c: spec.parallelism",
        ),
    ],
)
def test_what_the_api_server_refuses_of_a_workload_is_said(bad: dict[str, Any], words: str) -> None:
    [made] = made_of([bad])
    assert words in str(made.error)
    assert made.pods == []
