"""A cluster with a few nodes and pods behind a stand-in API server, and a kubeconfig that leads to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node, pod

CONTEXT = "prod"
SECRET = "hunter2-of-the-application"
WAIT_SECONDS = 60.0


def until(is_so: Callable[[], Any]) -> None:
    """Waits until it is so, whatever the machine is busy with."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so"
        time.sleep(0.02)


def replicas(count: int) -> list[dict[str, Any]]:
    """Pods of one workload, with what must not be kept of them."""
    env = [{"name": "PASSWORD", "value": SECRET}]
    return [
        pod(
            f"web-{number}",
            "shop",
            on="" if number % 10 == 0 else f"n{number % 3}",
            metadata={
                "annotations": {"vault.example.com/token": SECRET},
                "ownerReferences": [
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs-web", "controller": True}
                ],
            },
            spec={"containers": [{"name": "main", "image": "web:1", "env": env}]},
        )
        for number in range(count)
    ]


@pytest.fixture
def cluster(api_server: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    api_server.add(*(node(f"n{number}") for number in range(3)), *replicas(25))
    api_server.add(pod("over", "shop", on="n1", status={"phase": "Succeeded"}))
    token = api_server.user("reader", READER)
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT)
    monkeypatch.setenv("KUBECONFIG", str(path))
    api_server.requests.clear()
    yield api_server
    sent = {(each.method, each.resource) for each in api_server.requests if each.method != "GET"}
    assert sent <= {("POST", "selfsubjectaccessreviews")}, "a cluster that is looked at is never written to"
