"""How long a large cluster takes from one JSON file to a run that can be stepped, and how much memory.

The file looks like ``kubectl get nodes,pods -A -o json``: 5,000 nodes and 150,000 placed pods of 500 workloads. Every
stage runs in a process of its own, as in the product: the reader (``read`` and ``choose``), then the engine's child
with its first batch.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from framework.configuration.presets import preset
from schedweb.engine import frames
from schedweb.engine.batch import Gatherer
from schedweb.engine.child import prepare
from schedweb.engine.frames import Begin
from schedweb.snapshots.reader import Request, answer

CREATED = "2026-01-01T00:00:00Z"
START = 1_767_225_600_000_000_000
MIB = 1024


def node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    conditions = [
        {
            "type": kind,
            "status": status,
            "lastTransitionTime": CREATED,
            "lastHeartbeatTime": CREATED,
            "reason": "Kubelet",
        }
        for kind, status in (("MemoryPressure", "False"), ("DiskPressure", "False"), ("Ready", "True"))
    ]
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone{number % 3}",
        "node.kubernetes.io/instance-type": "m5.4xlarge",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-uid-{number}", "creationTimestamp": CREATED, "labels": labels},
        "spec": {"podCIDR": f"10.{number % 250}.0.0/24", "providerID": f"cloud:///{name}"},
        "status": {"allocatable": amounts, "capacity": amounts, "conditions": conditions},
    }


def pod(number: int, nodes: int, workloads: int) -> dict[str, Any]:
    app = f"app-{number % workloads}"
    container = {
        "name": "main",
        "image": f"registry.example.com/{app}:1.2.3",
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": "MODE", "value": "production"}, {"name": "LEVEL", "value": "info"}],
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "token"}],
    }
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{app}-5d8f",
        "uid": f"rs-{app}",
        "controller": True,
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": CREATED, "lastProbeTime": None}
        for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-5d8f-{number}",
            "generateName": f"{app}-5d8f-",
            "namespace": f"team-{number % 20}",
            "uid": f"pod-uid-{number}",
            "resourceVersion": str(1000 + number),
            "creationTimestamp": CREATED,
            "labels": {"app": app, "pod-template-hash": "5d8f"},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": f"node-{number % nodes}",
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "restartPolicy": "Always",
            "priority": 0,
            "preemptionPolicy": "PreemptLowerPriority",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "containers": [container],
            "topologySpreadConstraints": [spread],
            "tolerations": [
                {
                    "effect": "NoExecute",
                    "key": f"node.kubernetes.io/{what}",
                    "operator": "Exists",
                    "tolerationSeconds": 300,
                }
                for what in ("not-ready", "unreachable")
            ],
            "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
        },
        "status": {
            "phase": "Running",
            "podIP": f"10.0.{number % 250}.{number // 250 % 250}",
            "startTime": CREATED,
            "qosClass": "Burstable",
            "conditions": conditions,
        },
    }


def write_cluster(path: Path, nodes: int, pods: int, workloads: int) -> None:
    with path.open("w") as file:
        file.write('{"apiVersion": "v1", "kind": "List", "items": [\n')
        made = [*map(node, range(nodes))]
        file.write(",\n".join(map(json.dumps, made)))
        for number in range(pods):
            file.write(",\n" + json.dumps(pod(number, nodes, workloads)))
        file.write("\n]}\n")


def stage(name: str, directory: Path) -> None:
    """In a process of its own: prints what it took."""
    began = time.perf_counter()
    said = STAGES[name](directory)
    seconds, cpu = time.perf_counter() - began, time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MIB
    print(json.dumps({"seconds": round(seconds, 2), "cpu_seconds": round(cpu, 2), "peak_mib": peak, **said}))


def read(directory: Path) -> dict[str, Any]:
    gc.disable()
    request = Request(
        task="read",
        source=str(directory / "cluster.json"),
        target=str(directory / "payload"),
        index=str(directory / "index"),
    )
    said = answer(request)
    assert not said.error, said.error
    return {"pods": said.counts["pods"], "payload_mib": round((directory / "payload").stat().st_size / MIB**2, 1)}


def choose(directory: Path) -> dict[str, Any]:
    gc.disable()
    source, target, index = (str(directory / name) for name in ("payload", "chosen", "index"))
    said = answer(Request(task="choose", source=source, target=target, index=index))
    assert not said.error, said.error
    return {}


def engine(directory: Path) -> dict[str, Any]:
    text = preset("default")
    assert text is not None
    payload = (directory / "chosen").read_bytes()
    begin = Begin(
        payload=payload,
        configuration=text.text,
        seed=1,
        ties="seeded",
        approvals="hold",
        clock="virtual",
        start=START,
        speed="max",
        journal=[],
        position=0,
        digest="",
        is_stored=False,
        checkpoint=None,
        checkpoint_seconds=60,
    )
    began = time.perf_counter()
    prepared = prepare(begin)
    ready = time.perf_counter() - began
    gatherer = Gatherer(prepared.player)
    pods, (nodes, _, _), columns = gatherer.pods(), gatherer.nodes(), gatherer.columns(whole=True)
    batch = time.perf_counter() - began - ready
    size = len(frames._ENCODER.encode((pods, nodes, columns)))
    return {"prepare": round(ready, 2), "first_batch": round(batch, 2), "batch_mib": round(size / MIB**2, 1)}


STAGES: dict[str, Callable[[Path], dict[str, Any]]] = {"read": read, "choose": choose, "engine": engine}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=150_000)
    parser.add_argument("--workloads", type=int, default=500)
    parser.add_argument("--directory", type=Path, help="keeps the files there (default: a temporary directory)")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.stage:
        stage(chosen.stage, chosen.directory)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = chosen.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / "cluster.json"
        if not file.exists():
            write_cluster(file, chosen.nodes, chosen.pods, chosen.workloads)
        print(f"{chosen.nodes:,} nodes, {chosen.pods:,} pods, {file.stat().st_size / MIB**2:,.0f} MiB of JSON")
        total = 0.0
        for name in STAGES:
            command = [sys.executable, "-m", "scripts.bench_import", "--stage", name, "--directory", str(directory)]
            said = msgspec.json.decode(subprocess.run(command, check=True, capture_output=True).stdout)
            total += said["seconds"]
            print(f"{name}: {said}")
        print(f"together: {total:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
