"""Nothing of these writes: rights, snapshots, following, shadows."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from schedweb.clusters.reading.kinds import STANDARD
from scripts.debian import KUBECTL
from scripts.processes import bare_environment
from scripts.site import Site, Unfinished
from tests.live.clusters import Account, Cluster
from tests.live.conftest import Command
from tests.live.desk import CONTEXT, Desk, until

ANOTHER = "another"
"""A schedulerName that nobody serves: the test decides itself."""
OF_ANOTHER = f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {ANOTHER}
"""
MESSAGE = "0/1 nodes are available: 1 Insufficient cpu."


@pytest.fixture(autouse=True)
def nothing_is_written(reader: Account, cluster: Cluster) -> Iterator[None]:
    yield
    try:
        assert cluster.writes_of(reader) == []
    except LookupError as unknown:
        pytest.skip(f"passed, but whether anything was written was not looked at: {unknown}")


@pytest.fixture
def kubectl(contexts: Path) -> Any:
    program = KUBECTL.find()
    if program is None:
        pytest.skip(KUBECTL.skipped)
    environment = bare_environment() | {"KUBECONFIG": str(contexts)}

    def run(*arguments: str) -> str:
        return subprocess.check_output([program, *arguments], env=environment, text=True, timeout=120)

    return run


def test_check_says_who_one_is_and_what_is_missing(reader: Account, command: Command, cluster: Cluster) -> None:
    said = json.loads(command("check", CONTEXT, "--json").stdout)
    modes = {each["mode"]: (each["granted"], each["of"]) for each in said["modes"]}
    granted, of = modes["look"]
    assert granted == of >= 22
    assert modes["schedule"][0] == 0
    assert said["user"] == reader.user
    assert said["version"].startswith("v1.")


def test_a_snapshot_is_what_an_import_of_the_same_objects_is(
    cluster: Cluster, command: Command, site: Site, kubectl: Any
) -> None:
    on = cluster.node("n1")
    cluster.pod("runs", ANOTHER, spec={"nodeName": on})
    cluster.pod("waits", ANOTHER, cpu="900")
    kinds = ",".join(f"{each.plural}.{each.group}" if each.group else each.plural for each in STANDARD)

    def is_same() -> bool:
        taken = json.loads(command("snapshot", CONTEXT, "--json").stdout)
        text = kubectl("get", kinds, "--all-namespaces", "--output", "json")
        imported = site.import_snapshot(text, "by kubectl")
        there = site.get(f"/api/v1/snapshots/{taken['id']}/")
        assert {"runs", "waits"} <= {each["metadata"]["name"] for each in json.loads(text)["items"]}
        assert there["counts"]["pods"] >= 2
        return bool(taken["digest"] == imported["digest"] and taken["counts"] == imported["counts"])

    # Others may change a real cluster between two looks at it.
    with cluster.still():
        until("both are of the same moment, and the same", is_same)


def test_a_followed_pod_comes_waits_with_its_reason_and_goes(cluster: Cluster, desk: Desk) -> None:
    on = cluster.node("n1")
    run = desk.follow()
    assert desk.column(run, "late") == ""
    cluster.pod("late", ANOTHER)
    until("it has come", lambda: desk.column(run, "late") == "active")
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE}
    cluster.patch("Pod", "late", {"status": {"conditions": [told]}}, "/status")
    until("it is unschedulable", lambda: desk.column(run, "late") == "unschedulable")
    page = desk.site.get(f"/api/v1/runs/{run}/pods/{cluster.namespace}/late/")
    assert MESSAGE in json.dumps(page)
    cluster.bind("late", on)
    until("it is bound", lambda: desk.column(run, "late") == "bound")
    assert desk.pod(run, "late")["node"] == on
    cluster.remove("Pod", "late")
    until("it is gone", lambda: desk.column(run, "late") == "")


def test_a_shadow_says_where_it_decides_otherwise(cluster: Cluster, desk: Desk) -> None:
    full, empty = cluster.node("full"), cluster.node("empty")
    run = desk.follow(configuration_version=desk.configured(ANOTHER, OF_ANOTHER), shadow=True)

    def kind(name: str) -> Any:
        rows = desk.site.get(f"/api/v1/runs/{run}/shadow/decisions/?kind=all&q={cluster.namespace}/{name}")["results"]
        return rows[0] if rows else None

    def decided(name: str, on: str) -> Any:
        cluster.pod(name, ANOTHER, cpu="1")
        until("it is known", lambda: desk.column(run, name) == "active")
        cluster.bind(name, on)
        until("it is judged", lambda: kind(name))
        return kind(name)

    assert decided("p1", full)["kind"] == "tie"
    other = decided("p2", full)
    assert (other["kind"], other["real_node"], other["own_node"]) == ("other_node", full, empty)
    assert other["plugin"] == "NodeResourcesFit"
    assert decided("p3", empty)["kind"] == "same"


def test_kube_scheduler_is_agreed_with(cluster: Cluster, desk: Desk) -> None:
    """With its own configuration there is nothing to disagree about."""
    if not cluster.is_real:
        pytest.skip("no kube-scheduler stands beside the stand-in")
    for number in range(6):
        cluster.node(f"n{number}", cpu=str(4 + number % 3))
    run = desk.follow(shadow=True)
    cluster.pod("p0", "default-scheduler", cpu="300m")
    try:
        until("kube-scheduler is there", lambda: cluster.node_of("p0"))
    except Unfinished:
        pytest.skip("no kube-scheduler binds pods of this cluster")
    for number in range(1, 40):
        cluster.pod(f"p{number}", "default-scheduler", cpu=f"{100 + 50 * (number % 7)}m")
        until("it is bound", partial(cluster.node_of, f"p{number}"))

    def summary() -> Any:
        found = desk.site.get(f"/api/v1/runs/{run}/shadow/?namespace={cluster.namespace}")
        return found if found["decisions"] + found["not_judged"] >= 40 else None

    until("all are judged", summary)
    found = summary()
    assert (found["different"], found["not_judged"]) == (0, 0), found
    assert found["same"] + found["tie"] == found["decisions"] == 40
