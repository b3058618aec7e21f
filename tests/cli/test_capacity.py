"""``capacity``: text, JSON, exit status, and errors that name what was wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from framework.cli.main import main
from tests.cli.test_simulate import SHOP


@pytest.fixture
def shop(tmp_path: Path) -> str:
    path = tmp_path / "shop.json"
    path.write_bytes(gzip.decompress(SHOP.read_bytes()))
    return str(path)


def test_how_many_more_of_a_pod_and_what_stops_the_next(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", "-f", shop, "--pod", "data/kafka-0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 more like data/kafka-0 fit."
    assert lines[1].startswith("The next: 0/36 nodes are available: ")
    assert "ip-10-0-2-12     1  node(s) didn't match pod anti-affinity rules (InterPodAffinity)" in lines
    assert "  24 nodes: node(s) didn't match Pod's node affinity/selector (NodeAffinity)" in lines


def test_how_many_nodes_until_all_fit_as_json(shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", "-f", shop, "--node", "ip-10-0-3-11", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["nodes"], found["helped"], found["with_one_less"]) == (2, 2, 1)
    assert len(found["never"]) == 45


def test_who_is_left_with_one_less_is_told_beside_who_always_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text("""
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "1", memory: 4Gi, pods: "1"}}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: main, image: app, resources: {requests: {cpu: "2"}}}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: small}
spec:
  replicas: 3
  selector: {matchLabels: {app: small}}
  template:
    metadata: {labels: {app: small}}
    spec: {containers: [{name: main, image: app, resources: {requests: {cpu: "1"}}}]}
""")
    assert main(["capacity", "-f", str(cluster), "--node", "small", "--limit", "9"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "2 more nodes like small for 2 pending pods; with 1, 1 would be left.",
        "1 pod stays pending even with 9 of them:",
    ]


def test_one_node_for_one_pod(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text("""
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "1", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: big}
spec: {containers: [{name: main, image: app, resources: {requests: {cpu: "2"}}}]}
""")
    large = tmp_path / "large.yaml"
    large.write_text("""
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "10"}}
""")
    assert main(["capacity", "-f", str(cluster), "--node", str(large)]) == 0
    assert capsys.readouterr().out == "1 more node like large for 1 pending pod; with 0, 1 would be left.\n"
    assert main(["capacity", "-f", str(cluster), "--pod", "big"]) == 1
    assert capsys.readouterr().out.startswith("0 more like default/big fit.\nThe next: 0/1 nodes are available: ")
    assert main(["capacity", "-f", str(cluster), "--pod", "bigger"]) == 2
    assert capsys.readouterr().err == "bigger: neither a pod of the cluster nor a file\n"
    assert main(["capacity", "-f", str(cluster), "--pod", str(large)]) == 2
    assert capsys.readouterr().err == f"{large}: holds 0 pods, and one is asked about\n"
