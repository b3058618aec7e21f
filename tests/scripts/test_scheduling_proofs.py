"""What scripts.chaos.scheduling proves of a cluster is not so where somebody did it wrong."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from scripts.chaos.real_cluster import SHOP, Planned, RealCluster, Window
from scripts.chaos.scheduling_proofs import Counted, Told, bound_twice, of_evictions, of_pod, pods_of, without_lease
from scripts.tcp_proxy import TcpProxy
from tests.apiserver.access import EVERYTHING
from tests.apiserver.client import Client
from tests.apiserver.manifests import pod

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
PODS = f"/api/v1/namespaces/{SHOP}/pods"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealCluster]:
    with RealCluster(tmp_path, [], pods=5, seed=1) as made:
        yield made


def worker(real: RealCluster, name: str) -> Client:
    return Client(real.server, real.server.user(name, EVERYTHING))


def lead(client: Client, holder: str) -> None:
    lease: Any = {"metadata": {"name": "ours", "namespace": "kube-system"}, "spec": {"holderIdentity": holder}}
    lease |= {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    if client.send("POST", LEASES, lease).status == 409:
        found = client.get(f"{LEASES}/ours").body
        assert client.send("PUT", f"{LEASES}/ours", {**found, "spec": lease["spec"]}).status == 200


def bind(client: Client, name: str, uid: str) -> int:
    body = {"metadata": {"name": name, "uid": uid}, "target": {"kind": "Node", "name": "open-0"}}
    return client.send("POST", f"{PODS}/{name}/binding", body).status


def test_who_writes_without_the_lease_is_named(real: RealCluster) -> None:
    first, second = worker(real, "first"), worker(real, "second")
    lead(first, "a")
    plain = real.probe(1)
    assert bind(first, plain, real.made[plain].uid) == 201
    counted = Counted()
    assert not list(without_lease(real, counted))
    assert counted.writes == 1
    lead(second, "b")
    late = real.probe(2)
    began = datetime.now(UTC)
    assert bind(first, late, real.made[late].uid) == 201
    [wrong] = without_lease(real, Counted())
    assert "(first)" in wrong
    # Unless it was on its way since the Lease was its own.
    real.windows.append(Window("first", began, datetime.now(UTC)))
    counted = Counted()
    assert not list(without_lease(real, counted))
    assert counted.late == 1


def test_a_pod_that_moves_and_one_that_nobody_bound_are_named(real: RealCluster) -> None:
    client = worker(real, "first")
    name = real.probe(1)
    assert bind(client, name, real.made[name].uid) == 201
    assert bind(client, name, real.made[name].uid) == 409
    real.server.settle()
    assert not list(bound_twice(real))
    real.server.change("pods", name, SHOP, by=lambda it: it["spec"].update(nodeName="open-1"))
    other = real.probe(2)
    real.server.change("pods", other, SHOP, by=lambda it: it["spec"].update(nodeName="open-1"))
    assert len(list(bound_twice(real))) == 2


def test_evictions_that_nobody_needed_are_named(real: RealCluster) -> None:
    client = worker(real, "first")
    assert not list(of_evictions(real, Counted()))
    for name in ("low-0-0", "low-1-0"):
        uid = real.server.get("pods", name, SHOP)["metadata"]["uid"]
        assert client.send("DELETE", f"{PODS}/{name}", {"preconditions": {"uid": uid}}).status == 200
        real.server.remove("pods", name, SHOP)
    wrong = list(of_evictions(real, Counted()))
    assert [each.split(" ", 1)[1] for each in wrong] == [
        "pods were evicted for 0 that needed room",
        "pods were evicted against their budget, with others left",
    ]


def test_a_pod_that_is_pending_without_a_true_reason_is_named(real: RealCluster) -> None:
    real.make(Planned("big", "huge"))
    real.make(Planned("asked", "asks"))
    message = "0/9 nodes are available: 9 Insufficient cpu."
    told = Told(
        {made.uid: ("unschedulable", "") for made in real.made.values()},
        {made.uid: ("unschedulable", message) for made in real.made.values()},
        {real.made["asked"].uid: ["approved"]},
    )

    def say(name: str, text: str) -> None:
        said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": text}
        real.server.change("pods", name, SHOP, by=lambda it: it["status"].update(conditions=[said]))

    def wrong(name: str) -> list[str]:
        return list(of_pod(real.made[name], pods_of(real), told))

    assert len(wrong("big")) == 2, "nothing is said"
    say("big", message)
    assert wrong("big") == []
    say("asked", message)
    assert [each.split(": ")[1] for each in wrong("asked")] == [
        "pending, though it was approved",
        "not today is why, and what is said is ('False', 'Unschedulable', '0/9 nodes are available",
    ]
    real.server.add(pod("asked", SHOP, on="open-0", metadata={"uid": real.made["asked"].uid}))
    assert "in the cluster" in wrong("asked")[0]


def test_who_connects_while_nobody_listens_is_turned_away_and_the_next_served() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    proxy = TcpProxy("127.0.0.1", port)
    try:
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=30) as turned_away:
            assert turned_away.recv(1) == b""
        with socket.create_server(("127.0.0.1", port)) as again:
            again.settimeout(30)
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=30) as client:
                served, _ = again.accept()
                client.sendall(b"x")
                served.settimeout(30)
                assert served.recv(1) == b"x"
                served.close()
    finally:
        proxy.close()
