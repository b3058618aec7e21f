"""A run that is the cluster's scheduler, and the command: what they write, as the cluster shows it."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.processes import ROOT, Playground
from tests.apiserver.pod_groups import GATES, POD_GROUPS
from tests.live.clusters import Account, Cluster, StandIn
from tests.live.conftest import Command, roles_in
from tests.live.desk import CONTEXT, OURS, WITH_APPROVALS, Desk, until

ASKS = {"metadata": {"labels": {"approval": "needed"}}}


def test_approved_rejected_and_stopped(cluster: Cluster, scheduler: Account, desk: Desk) -> None:
    node = cluster.node("n1")
    run = desk.schedule()
    cluster.pod("plain", OURS)
    cluster.pod("good", OURS, **ASKS)
    cluster.pod("bad", OURS, **ASKS)
    cluster.pod("big", OURS, cpu="900")
    cluster.pod("other", "another")
    until("it is bound", lambda: cluster.node_of("plain") == node)
    until("it waits", lambda: desk.column(run, "good") == "waiting")
    until("it waits", lambda: desk.column(run, "bad") == "waiting")
    until("its node is announced", lambda: cluster.get("Pod", "good")["status"].get("nominatedNodeName") == node)
    assert not cluster.node_of("good")

    desk.decide(run, "approve", "good", "in time")
    until("it is bound", lambda: cluster.node_of("good") == node)
    desk.decide(run, "reject", "bad", "not today")
    until("it is told", lambda: "not today" in cluster.condition("bad").get("message", ""))
    assert cluster.condition("bad")["reason"] == "Unschedulable"
    assert cluster.condition("good")["status"] == "True"
    assert "nominatedNodeName" not in cluster.get("Pod", "good")["status"]
    until("all is said", lambda: {"Approved", "Scheduled"} <= set(cluster.reasons("good")))
    until("all is said", lambda: {"Rejected", "FailedScheduling"} <= set(cluster.reasons("bad")))
    [scheduled] = [each for each in cluster.events("plain") if each["reason"] == "Scheduled"]
    assert scheduled["message"] == f"Successfully assigned {cluster.namespace}/plain to {node}"
    assert (scheduled["type"], scheduled["action"], scheduled["reportingComponent"]) == ("Normal", "Binding", OURS)
    notes = [each["message"] for each in cluster.events("bad") if each["reason"] == "Rejected"]
    assert len(notes) == 1
    assert notes[0].endswith(": not today")

    until("it is told why", lambda: cluster.condition("big").get("reason") == "Unschedulable")
    said = cluster.condition("big")
    assert "Insufficient cpu" in said["message"]
    assert (said["status"], said["observedGeneration"]) == ("False", 1)
    assert not cluster.condition("other"), "it is another scheduler's"

    desk.stop(run)
    assert desk.scheduling(run)["stopped_by"]
    cluster.pod("late", OURS)
    until("its Lease is given back", lambda: not _lease(cluster)["spec"].get("holderIdentity"))
    assert not cluster.condition("late")
    assert not cluster.node_of("late")


def _lease(cluster: Cluster) -> Any:
    return cluster.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/scheduling-playground")


def test_a_victim_is_told_and_goes_and_the_pod_takes_its_place(
    cluster: Cluster, scheduler: Account, desk: Desk
) -> None:
    node = cluster.node("n1", cpu="1")
    cluster.pod("low", OURS, cpu="900m", spec={"nodeName": node})
    run = desk.schedule()
    cluster.pod("high", OURS, cpu="900m", spec={"priority": 1000})
    until(
        "the victim terminates",
        lambda: "deletionTimestamp" in (cluster.find("Pod", "low") or {"metadata": {"deletionTimestamp"}})["metadata"],
    )
    victim = cluster.find("Pod", "low")
    if victim is not None:  # with kubelets it may be gone
        told = next(each for each in victim["status"]["conditions"] if each["type"] == "DisruptionTarget")
        assert (told["status"], told["reason"]) == ("True", "PreemptionByScheduler")
        assert told["message"] == f"{OURS}: preempting to accommodate a higher priority pod"
        until("it is nominated", lambda: cluster.get("Pod", "high")["status"].get("nominatedNodeName") == node)
        cluster.remove("Pod", "low")
    until("it is bound", lambda: cluster.node_of("high") == node)
    high = cluster.get("Pod", "high")
    assert "nominatedNodeName" not in high["status"]
    until("it is said", lambda: "Preempted" in cluster.reasons("low"))
    [note] = [each for each in cluster.events("low") if each["reason"] == "Preempted"]
    assert note["message"] == f"Preempted by pod {high['metadata']['uid']} on node {node}"
    until("it is shown", lambda: desk.column(run, "high") == "bound")


def test_a_volume_that_waits_for_its_first_pod(cluster: Cluster, scheduler: Account, desk: Desk) -> None:
    cluster.node("n1")
    node = cluster.node("n2")
    of = cluster.namespace
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": of, "volumeMode": "Filesystem"}
    here = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    cluster.create(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": of},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        }
    )
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": of},
            "spec": {
                **common,
                "capacity": {"storage": "1Gi"},
                "local": {"path": "/mnt", "fsType": "ext4"},
                "mountOptions": ["noatime"],
                "nodeAffinity": {"required": {"nodeSelectorTerms": [here]}},
            },
            "status": {"phase": "Available"},
        }
    )
    claim = cluster.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c1"},
            "spec": {**common, "resources": {"requests": {"storage": "1Gi"}}},
        }
    )
    run = desk.schedule()
    cluster.pod("p1", OURS, spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c1"}}]})
    until("the volume is promised", lambda: cluster.get("PersistentVolume", of)["spec"].get("claimRef"))
    volume = cluster.get("PersistentVolume", of)
    assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
    assert (volume["spec"]["mountOptions"], volume["spec"]["local"]["fsType"]) == (["noatime"], "ext4")
    _bound_by_a_controller(cluster, of)
    until("it is bound", lambda: cluster.node_of("p1") == node)
    until("it is said", lambda: "Scheduled" in cluster.reasons("p1"))
    assert [each["purpose"] for each in desk.writes(run)] == ["bind", "volume", "status"]


def _bound_by_a_controller(cluster: Cluster, volume: str) -> None:
    """Where there is one, it has done so already."""
    if cluster.get("PersistentVolumeClaim", "c1")["status"].get("phase") == "Bound":
        return
    completed = {"pv.kubernetes.io/bind-completed": "yes"}
    cluster.patch(
        "PersistentVolumeClaim", "c1", {"metadata": {"annotations": completed}, "spec": {"volumeName": volume}}
    )
    cluster.patch("PersistentVolume", volume, {"status": {"phase": "Bound"}}, "/status")
    cluster.patch("PersistentVolumeClaim", "c1", {"status": {"phase": "Bound"}}, "/status")


def test_devices_of_a_claim_that_is_shared_and_of_an_extended_resource(
    cluster: Cluster, scheduler: Account, desk: Desk
) -> None:
    node, of = cluster.node("n1"), cluster.namespace
    driver, extended, group = f"{of}.example.com", f"example.com/{of}", "resource.k8s.io/v1"
    chooses = [{"cel": {"expression": f"device.driver == '{driver}'"}}]
    told = {"driver": driver, "parameters": {"mode": "shared"}}
    spec = {"selectors": chooses, "config": [{"opaque": told}], "extendedResourceName": extended}
    cluster.create({"apiVersion": group, "kind": "DeviceClass", "metadata": {"name": of}, "spec": spec})
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    offered = {"driver": driver, "nodeName": node, "pool": pool, "devices": [{"name": "d0"}, {"name": "d1"}]}
    cluster.create({"apiVersion": group, "kind": "ResourceSlice", "metadata": {"name": of}, "spec": offered})
    exactly = {"deviceClassName": of, "allocationMode": "ExactCount", "count": 1}
    asked = {"devices": {"requests": [{"name": "g", "exactly": exactly}]}}
    cluster.create({"apiVersion": group, "kind": "ResourceClaim", "metadata": {"name": "c1"}, "spec": asked})
    run = desk.schedule()
    uses = {"resourceClaims": [{"name": "g", "resourceClaimName": "c1"}]}
    cluster.pod("p1", OURS, spec=uses)
    until("p1 is bound", lambda: cluster.node_of("p1") == node)
    cluster.pod("p2", OURS, spec=uses)
    until("p2 is bound", lambda: cluster.node_of("p2") == node)
    status = cluster.get("ResourceClaim", "c1")["status"]
    assert [each["name"] for each in status["reservedFor"]] == ["p1", "p2"]
    assert [each["pool"] for each in status["allocation"]["devices"]["results"]] == [node]
    assert [each["opaque"] for each in status["allocation"]["devices"]["config"]] == [told]
    assert status["allocation"]["allocationTimestamp"]

    amounts = {"requests": {extended: "1"}, "limits": {extended: "1"}}
    cluster.pod("p3", OURS, spec={"containers": [{"name": "main", "image": "app:1", "resources": amounts}]})
    until("p3 is bound", lambda: cluster.node_of("p3") == node)
    named = cluster.get("Pod", "p3")["status"]["extendedResourceClaimStatus"]
    made = cluster.get("ResourceClaim", named["resourceClaimName"])
    assert made["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert [each["name"] for each in made["status"]["reservedFor"]] == ["p3"]
    until("it is said", lambda: "Scheduled" in cluster.reasons("p3"))
    purposes = [each["purpose"] for each in desk.writes(run)]
    assert [each for each in purposes if each != "status"] == [
        *("bind", "claim_of_pod", "devices", "protect_claim", "create_claim"),
        *("bind", "devices"),
        *("bind", "devices", "protect_claim"),
    ]


def test_who_is_bound_by_another_waits_no_longer_and_is_not_said_to_have_failed(
    cluster: Cluster, scheduler: Account, desk: Desk
) -> None:
    node = cluster.node("n1")
    cluster.node("n2")
    run = desk.schedule()
    cluster.pod("taken", OURS, **ASKS)
    until("it waits", lambda: desk.column(run, "taken") == "waiting")
    cluster.bind("taken", node)
    until("it is bound", lambda: desk.column(run, "taken") == "bound")
    cluster.pod("next", OURS)
    until("the next is bound", lambda: cluster.node_of("next"))
    assert cluster.condition("taken").get("reason") != "SchedulerError"
    assert "FailedScheduling" not in cluster.reasons("taken")
    assert {each["name"] for each in desk.writes(run, purpose="bind")} == {"next"}


def test_a_gang_waits_for_room_and_its_pod_group_says_so(
    cluster: Cluster, scheduler: Account, desk: Desk, command: Command
) -> None:
    """Of an alpha API, which a cluster has where its administrator switched it on."""
    if isinstance(cluster, StandIn):
        cluster.server.register(POD_GROUPS)
        cluster.grant(scheduler, roles_in(command("check", CONTEXT).stdout, "look"))
        cluster.grant(scheduler, roles_in(command("check", CONTEXT).stdout, "schedule"))
    elif not cluster.serves(POD_GROUPS):
        pytest.skip(f"the cluster does not serve {POD_GROUPS.api_version} podgroups")

    def said(group: str) -> dict[str, tuple[str, str]]:
        found = cluster.get("PodGroup", group).get("status", {}).get("conditions", [])
        return {each["type"]: (each["status"], each["reason"]) for each in found}

    node = cluster.node("n1", cpu="2")
    version = desk.configured("gangs", GATES + WITH_APPROVALS.lstrip())
    run = desk.schedule(configuration_version=version)
    spec = {"schedulingPolicy": {"gang": {"minCount": 3}}}
    cluster.create({"apiVersion": POD_GROUPS.api_version, "kind": "PodGroup", "metadata": {"name": "g"}, "spec": spec})
    members = [f"m{number}" for number in range(3)]
    for name in members:
        cluster.pod(name, OURS, cpu="900m", spec={"schedulingGroup": {"podGroupName": "g"}})
    until("it is refused", lambda: said("g") == {"PodGroupScheduled": ("False", "Unschedulable")})
    assert not any(map(cluster.node_of, members))
    other = cluster.node("n2", cpu="2")
    until("they are bound", lambda: all(map(cluster.node_of, members)))
    assert sorted(map(cluster.node_of, members)) in ([node, node, other], [node, other, other])
    until("it is said", lambda: said("g") == {"PodGroupScheduled": ("True", "Scheduled")})
    until("all is known", lambda: {each["result"] for each in desk.writes(run)} == {"done"})
    assert len(desk.writes(run, purpose="pod_group")) >= 2


def test_a_dry_run_changes_nothing(cluster: Cluster, scheduler: Account, desk: Desk) -> None:
    full = cluster.node("full", cpu="1")
    cluster.node("small", cpu="100m")
    cluster.pod("low", OURS, cpu="900m", spec={"nodeName": full})
    cluster.pod("fits", OURS, cpu="100m")
    cluster.pod("big", OURS, cpu="900")
    cluster.pod("high", OURS, cpu="900m", spec={"priority": 1000})

    def versions() -> dict[str, str]:
        return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in cluster.all("Pod")}

    before = versions()
    run = desk.schedule(dry_run=True)

    def would(purpose: str, *names: str) -> bool:
        done = {each["name"] for each in desk.writes(run, purpose=purpose) if each["result"] == "done"}
        return set(names) <= done

    until("it would be bound", lambda: would("bind", "fits"))
    until("the victim would be deleted", lambda: would("evict", "low"))
    until("they would be told", lambda: would("status", "big", "high"))
    desk.stop(run)
    assert versions() == before
    assert not cluster.all("Event")
    with contextlib.suppress(LookupError):
        assert {each.partition("?")[2] for each in cluster.writes_of(scheduler)} == {"dryRun=All"}


def test_the_command_is_a_scheduler_until_it_is_told_to_stop(
    cluster: Cluster, scheduler: Account, installation: Playground, tmp_path: Path
) -> None:
    node = cluster.node("n1", cpu="1")
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{schedulerName: {OURS}}}]\n",
        encoding="utf-8",
    )
    record = tmp_path / "record"
    about = ["--i-mean", CONTEXT, "--configuration", str(configuration), "--scheduler-name", OURS]
    limits = ["--namespace", cluster.namespace, "--record", str(record)]
    process = subprocess.Popen(
        [sys.executable, "manage.py", "cluster", "schedule", CONTEXT, *about, *limits],
        cwd=ROOT,
        env=installation.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        cluster.pod("p1", OURS, cpu="600m")
        cluster.pod("p2", OURS, cpu="600m", metadata={"labels": {"second": "yes"}})
        until("one has room", lambda: cluster.node_of("p1") or cluster.node_of("p2"))
        placed, left = ("p1", "p2") if cluster.node_of("p1") else ("p2", "p1")
        until("the other is told", lambda: cluster.condition(left).get("reason") == "Unschedulable")
        until("it is said", lambda: cluster.reasons(placed) == ["Scheduled"])
        cluster.remove("Pod", placed)
        until("then it has room, too", lambda: cluster.node_of(left) == node)
    finally:
        process.send_signal(signal.SIGTERM)
        said, complaint = process.communicate(timeout=120)
    assert process.returncode == 0, complaint
    assert f"{cluster.namespace}/{placed} bound to {node}" in said
    steps = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert all("outcome" in each or "write" in each for each in steps)
    assert not _lease(cluster)["spec"].get("holderIdentity")
