"""Files and manifests for the tests of snapshots."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from framework.objects import Pod
from schedweb.snapshots import queue, services
from schedweb.snapshots.cluster import Cluster

DATA = Path(__file__).parents[2] / "data" / "cluster-shop"
EXPORT_JSON = DATA / "kubectl-export.json.gz"
EXPORT_YAML = DATA / "kubectl-export.yaml.gz"


def unpacked(packed: Path, into: Path) -> Path:
    target = into / packed.stem
    target.write_bytes(gzip.decompress(packed.read_bytes()))
    return target


def make_node(name: str, *, cpu: str = "4") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }


def make_pod(
    name: str,
    namespace: str,
    *,
    cpu: str = "100m",
    node: str = "",
    labels: dict[str, str] | None = None,
    containers: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    default = [{"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}.{name}", "labels": labels or {}},
        "spec": {
            **({"nodeName": node} if node else {}),
            "containers": default if containers is None else containers,
        },
        "status": {"phase": "Running" if node else "Pending"},
    }


def told(cluster: Cluster) -> str:
    """What is wrong with objects of the file."""
    return "\n".join(str(problem.words) for problem in cluster.problems)


def decoded_pods(cluster: Cluster) -> dict[str, Pod]:
    return {each.key: each for each in cluster.objects() if isinstance(each, Pod)}


def read_next() -> None:
    """The worker's part, in the test's own process; the reader stays a process of its own."""
    found = queue.next_import()
    if found is not None:
        services.import_read(import_id=found)
